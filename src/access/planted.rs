//! One bug for each invariant of access.md §11, which a test switches on to see that the generated histories find it.
//!
//! Outside of test builds there are none: every answer is a constant no.

/// The bugs, in the order of the invariants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    /// 1: `load_tools` takes any installed name.
    LoadsForOthers,
    /// 2: an offer is sorted by name, for the provider's cache.
    SortsTheOffer,
    /// 3: an entry gates a name only for the toolset that it names.
    GatesOwnersOnly,
    /// 4: a load counts by its call and not by its ending.
    CountsAskedLoads,
    /// 5: an accepted build replaces the names of the one before.
    ForgetsNames,
    /// 6: a refused toolset may be built again.
    ForgetsRefusals,
    /// 7: a report shows what is held as offered.
    CountsWithheld,
    /// 8: a stop ends a build's leader and not who joined it.
    DropsJoined,
    /// 9: what a person allowed is not looked at again before it runs.
    TrustsTheCard,
    /// 10: the floor reaches a name only in the toolset that it names.
    FloorsOwnersOnly,
    /// 11: the toolset is not in the wire name of what was loaded.
    WiresByArrival,
    /// 12: a report leaves out what is pending.
    HidesPending,
}

/// Whether this test planted it.
#[cfg(not(test))]
pub(crate) const fn planted(_: Bug) -> bool {
    false
}

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Whether this test planted it.
#[cfg(test)]
pub(crate) fn planted(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// Plants one in this thread, or none.
#[cfg(test)]
pub(crate) fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

//! Assembly of an agent's system message, and the words the run itself says to a model.
//!
//! A system message is fixed for an agent's life; nothing here rewrites one.

/// What an empty answer is followed by.
pub const NUDGE: &str = include_str!("../../assets/prompts/nudge.md").trim_ascii();

/// What the forced last answer at the cap is asked with.
pub const WRAP_UP: &str = include_str!("../../assets/prompts/wrap_up.md").trim_ascii();

/// What a title is asked with.
pub const TITLE: &str = include_str!("../../assets/prompts/title.md").trim_ascii();

/// The system message: opener, the guidance of resident and preloaded toolsets in held order, the names line (R4), with
/// a blank line between. Absent and blank pieces leave no trace.
pub fn assemble<'a>(opener: &'a str, guidance: impl IntoIterator<Item = &'a str>, names: Option<&'a str>) -> String {
    std::iter::once(opener)
        .chain(guidance)
        .chain(names)
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r4_guidance_stands_between_opener_and_names_line() {
        let message = assemble("You help.\n", [" Guidance one.", "", "Guidance two."], Some("Also available: a."));
        assert_eq!(message, "You help.\n\nGuidance one.\n\nGuidance two.\n\nAlso available: a.");
        assert_eq!(assemble("", [], None), "");
    }
}

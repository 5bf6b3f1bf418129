//! What a run does, as scripts that read like transcripts, and what it never does, over generated histories.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test reads its scripts, and writes them when it is asked to")]

mod audited;
mod bounds;
mod conditions;
mod forest;
mod house;
mod properties;
mod script;
mod stops;
mod team;
mod tree;
mod wiring;

macro_rules! scripts {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            script::play(stringify!($name));
        })+

        #[test]
        fn every_script_is_played() {
            let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs/scripts");
            let mut files: Vec<_> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            files.sort();
            let mut played = vec![$(stringify!($name).to_owned()),+];
            played.sort();
            assert_eq!(files, played);
        }
    };
}

scripts! {
    a12_a_name_that_is_not_held_gets_a_result
    a12_send_email_is_a_result_and_never_a_call
    a_failed_model_call_is_tried_again_and_nothing_is_recorded_twice
    a_model_call_that_fails_for_good_keeps_its_words_and_no_calls
    a_plain_answer
    a_refusal_is_a_failure_and_leaves_no_trace_in_the_history
    a_truncated_empty_answer_is_a_failure_and_is_not_nudged
    arguments_cut_by_the_output_limit_are_not_no_arguments
    arguments_that_do_not_fit_are_one_result
    arguments_that_do_not_parse_never_run_and_never_become_empty
    calls_run_and_the_model_reads_their_results_in_call_order
    cap_a_wrap_up_that_calls_runs_nothing_and_an_empty_one_fails
    cap_calls_are_answered_and_the_wrap_up_offers_none
    cap_words_that_join_give_a_fresh_budget
    cap_words_that_wait_lift_it
    inputs_that_nothing_waits_for_change_nothing
    nudge_an_empty_answer_is_asked_again_once_per_call
    nudge_words_that_wait_take_its_place
    o3_dispatch_is_checked_again_after_the_answer
    o3_nobody_is_asked_about_what_cannot_run
    o5_an_offer_shrinks_and_grows_while_what_is_held_stays
    o6_what_was_called_stays_in_the_request_when_its_tool_is_absent
    one_at_a_time_in_call_order
    p12_what_is_open_at_the_programs_end_is_interrupted
    p12_unattended_calls_that_are_gated_are_auto_denied
    p13_every_answer_is_recorded_in_its_own_words
    p14_several_cards_are_open_together_and_each_is_its_own
    p16_a_grant_covers_this_exact_call_from_then_on
    p16_an_edited_call_can_be_denied_stopped_and_switched_off
    p16_an_edited_call_is_asked_again_and_its_result_says_what_ran
    p16_no_grant_for_a_floor_tool
    p2_core_tools_are_gated_like_any_other
    r10_a_refused_build_is_said_to_the_model_and_the_person
    r12_what_was_loaded_is_preloaded_and_a_denied_load_is_not
    r5_available_tools_is_answered_here
    r7_r8_a_load_appends_names_the_holder_and_brings_its_guidance
    r8_guidance_comes_with_the_load_and_the_prompt_paid_nothing_before
    r9_a_failed_build_answers_both
    r9_a_load_that_was_stopped_holds_nothing
    r9_two_loads_of_one_name_join_one_build
    reopen_a_call_without_a_result_reads_as_interrupted
    reopen_numbering_goes_on_and_results_stand_in_call_order
    said_while_running_joins_at_the_next_round
    stop_before_the_model_says_a_word
    stop_ends_every_open_call
    stop_while_it_waits_to_try_again
    stop_while_the_model_speaks
    w3_a_mode_withholds_from_the_next_call_on_and_at_dispatch_at_once
    w6_a_guests_turn_calls_what_it_may_and_leaves_no_load_behind
}

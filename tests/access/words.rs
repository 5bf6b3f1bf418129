//! Words from outside: whatever a table or a model says, access answers in clean text and never panics.

use crate::common::*;
use kokua::access::*;
use proptest::prelude::*;

const TOOLSETS: [&str; 5] = ["a", "b", "c", "d", "e"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_a_table_or_a_model_says_panics(
        names in prop::collection::vec("\\PC{0,12}", 0..6), written in prop::collection::vec("\\PC{0,16}", 0..6),
        wire in "\\PC{0,80}",
    ) {
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        let entries_: Vec<&str> = written.iter().map(String::as_str).collect();
        let mut declarations = declare(vec![
            agent("assistant", 10).available(&texts).resident(&texts).confirm(&entries_).delegates_to(&texts),
            agent(texts.first().unwrap_or(&"x"), 20).all(),
        ]);
        declarations.floor = entries(&entries_, 3).entries;
        declarations.disabled = words(&texts, 4);
        drop(World::new(declarations, registry(&TOOLSETS)));

        let world = started(
            declare(vec![agent("assistant", 10).available(&["a", "b"]).resident(&["a"])]),
            registry(&TOOLSETS),
            &[("a", &["read"])],
        );
        let held = world.fresh(&agent_name("assistant"));
        let offered: Vec<&HeldTool> = held.tools().iter().collect();
        for text in [
            world.unknown_tool(Life::new(&agent_name("assistant"), &held), &offered, &wire),
            world.available_tools(Life::new(&agent_name("assistant"), &held), &wire),
            world.may_load(Life::new(&agent_name("assistant"), &held), &wire).map_or_else(|text| text, |name| name.to_string()),
        ] {
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}

use super::*;
use crate::ui::theme::{Colours, Theme};
#[test]
fn first() {
    let theme = Theme::shipped("default", Colours::Ansi).unwrap();
    for (name, text) in crate::ui::theme::SHIPPED {
        assert_eq!(Theme::parse(text).unwrap().name(), name);
    }
    let mut t = Transcript::new();
    let a = t.push(Block::Assistant { agent: "assistant".into(), text: String::new() });
    for i in 0..100 {
        t.append_text(a, &format!("word {i} "));
    }
    for (w, h) in [(80, 24), (1, 1), (20, 3), (200, 60)] {
        let window = t.render(w, h, &theme);
        for l in &window.lines {
            println!("{l}");
            assert!(l.width() <= w as usize);
        }
        println!("{} {}", window.above, window.below);
    }
}

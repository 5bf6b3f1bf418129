use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::*;
use crate::ui::theme::{Colours, SHIPPED, Theme};

fn text_of(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

/// Text with everything in it that has broken a terminal before.
pub(crate) fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zA-Z0-9 .,;:!?()\\[\\]{}<>*_`~#|/\\\\-]{1,12}",
        2 => Just("\n".to_owned()),
        1 => Just(" \n\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("漢字とかな、ァ「引用」。".to_owned()),
        1 => Just("👩‍👩‍👧🇫🇷❤️👍🏽".to_owned()),
        1 => Just("e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}".to_owned()),
        1 => Just("\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J\u{90}x\u{9c}".to_owned()),
        1 => Just("\u{202e}abc\u{200b}\u{feff}\u{ad}".to_owned()),
        1 => Just("ﾊﾞﾋﾟ ক্ষ لا".to_owned()),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn no_space(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

#[test]
fn clean_takes_away_what_could_draw_outside_its_cell() {
    let table = [
        ("plain\ntext", "plain\ntext"),
        ("a\u{1b}[31mred\u{1b}[0m", "ared"),
        ("a\u{1b}]0;title\u{7}b\u{1b}]8;;http://x\u{1b}\\c", "abc"),
        ("a\u{9b}2Jb\u{1b}cd\u{1b}(Be", "abde"),
        ("never ended \u{1b}]0;title\nnext", "never ended \nnext"),
        ("half \u{1b}[3\nnext", "half \nnext"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("over\u{8}\u{8}strike\0\u{7f}", "overstrike"),
        ("a\tb\n\tc\tdd\te", "a   b\n    c   dd  e"),
        ("rm \u{202e}txt.exe\u{2069}\u{200b}\u{feff}", "rm txt.exe"),
        ("👩\u{200d}👩 ❤\u{fe0f} 👍\u{1f3fd} 🇫🇷 1\u{fe0f}\u{20e3}", "👩👩 ❤ 👍 FR 1"),
        ("z\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", "z\u{301}\u{301}\u{301}\u{301}"),
        ("\u{301}lone", "lone"),
        ("tags \u{e0041}\u{e0042}", "tags "),
        ("a\u{2028}b\u{85}c", "a\nb\nc"),
        ("ﾊﾞ", "ﾊ゛"),
    ];
    for (raw, cleaned) in table {
        assert_eq!(clean(raw), cleaned, "{raw:?}");
    }
    assert_eq!(clean_line("  two\n words\u{1b}[m "), "two words");
}

#[test]
fn p15_visible_shows_what_clean_takes_away() {
    let table = [
        ("echo ok\rrm -rf /", "echo ok␍rm -rf /"),
        ("\u{1b}[2K", "␛[2K"),
        ("a\u{202e}b", "a⟨U+202E⟩b"),
        ("a\u{200b}b\u{a0}c", "a⟨U+200B⟩b⟨U+00A0⟩c"),
        ("tab\tline\nnext\u{7f}", "tab␉line\nnext␡"),
        ("\u{9b}2J", "⟨U+009B⟩2J"),
        ("👩\u{200d}👧", "👩⟨U+200D⟩👧"),
        ("\u{e0041}", "⟨U+E0041⟩"),
        ("\u{301}x\u{301}", "⟨U+0301⟩x\u{301}"),
    ];
    for (raw, shown) in table {
        assert_eq!(visible(raw), shown, "{raw:?}");
    }
}

#[test]
fn widths_are_those_of_cells() {
    for (text, columns) in [("abc", 3), ("漢字", 4), ("e\u{301}", 1), ("ﾊ", 1), ("", 0), ("👩", 2)] {
        assert_eq!(width(text), columns, "{text}");
    }
    assert_eq!(truncate("漢字かな", 5), "漢字…");
    assert_eq!(truncate("漢字かな", 4), "漢…");
    assert_eq!(truncate("word two", 6), "word…");
    assert_eq!(truncate("word", 4), "word");
    assert_eq!(truncate("word", 0), "");
    assert_eq!(width::fit("ab", 4), "ab  ");
}

#[test]
fn wrap_breaks_where_a_reader_would() {
    let words = |text: &str, width: usize| text_of(&Wrap::words(width).lines(&[Span::raw(text)]));
    assert_eq!(words("the quick brown fox", 10), ["the quick", "brown fox"]);
    assert_eq!(words("a  b   c", 3), ["a", "b", "c"], "only white space at a break goes away");
    assert_eq!(words("a  b", 4), ["a  b"]);
    assert_eq!(words("supercalifragilistic", 8), ["supercal", "ifragili", "stic"]);
    assert_eq!(words("well-known fact", 6), ["well-", "known", "fact"]);
    assert_eq!(
        words("-1 --flag", 4),
        ["-1", "--fl", "ag"],
        "a dash before a word is not a hyphen, but a long word breaks"
    );
    assert_eq!(words("漢字「かな」。", 6), ["漢字", "「か", "な」。"]);
    assert_eq!(words("  indented\n\nnext \n", 20), ["  indented", "", "next", ""]);
    assert_eq!(words("exact\nfit", 5), ["exact", "fit"]);
    assert_eq!(words("exact \nfit", 5), ["exact", "fit"]);
    assert_eq!(words("", 5), [""]);
    assert_eq!(words("漢", 1), ["·"]);
    let code = text_of(&Wrap::anywhere(4).lines(&[Span::raw("a  b  c ")]));
    assert_eq!(code, ["a  b", "  c "]);
    let code = |text: &'static str, columns| {
        text_of(&Wrap { breaks: Breaks::Code, ..Wrap::words(columns) }.lines(&[Span::raw(text)]))
    };
    assert_eq!(code("cargo build --release --all", 18), ["cargo build ", "--release --all"]);
    assert_eq!(code("cp a-very-long-path-without-a-space b", 18), ["cp a-very-long-pat", "h-without-a-space ", "b"]);
    assert_eq!(code("full     wide", 4), ["full", "    ", "wide"]);
    assert_eq!(code("    indented words", 12), ["    indented", "words"]);
    let (first, rest) = ([Span::raw("1. ")], [Span::raw("   ")]);
    let hanging = text_of(&Wrap::words(10).indented(&first, &rest).lines(&[Span::raw("one two three")]));
    assert_eq!(hanging, ["1. one two", "   three"]);
    let narrow = text_of(&Wrap::words(4).indented(&first, &rest).lines(&[Span::raw("one two")]));
    assert_eq!(narrow, ["1.on", "  e", "  tw", "  o"], "an indent never takes more than half");
}

#[test]
fn diffs_keep_their_signs() {
    let theme = Theme::plain();
    let mut out = Vec::new();
    let text = "--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n one\n--- two\n-three\n+two \n\\ No newline at end of file\n";
    diff::append(text, &diff::Page { width: 40, theme: &theme, indent: &[Span::raw("  ")] }, &mut out);
    let expected: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    assert_eq!(text_of(&out), expected);
    let theme = Theme::shipped("default", Colours::Ansi).unwrap();
    let mut out = Vec::new();
    diff::append(text, &diff::Page { width: 40, theme: &theme, indent: &[] }, &mut out);
    let dashes = out.iter().find(|line| line.to_string() == "--- two").unwrap();
    assert_eq!(dashes.spans[0].style, theme.style(crate::ui::theme::Role::Removed), "inside a hunk dashes are content");
}

#[test]
fn every_shipped_theme_has_a_style_for_every_role() {
    for (name, text) in SHIPPED {
        assert_eq!(Theme::parse(text).unwrap().name(), name);
        assert!(Theme::shipped(name, Colours::Ansi).is_ok());
    }
    let bare = Theme::shipped("default", Colours::None).unwrap();
    assert_eq!(bare.clone().without_colours(), bare, "NO_COLOR leaves no colour");
    let error = Theme::shipped("nigth", Colours::Ansi).unwrap_err();
    assert_eq!(error.to_string(), "there is no theme \"nigth\"; there is default, mono, high-contrast");
    let error = Theme::parse("name = \"x\"\n[styles]\ntext = { fg = \"grurple\" }").unwrap_err();
    assert_eq!(error.to_string(), "theme x: text: \"grurple\" is no colour");
    let error = Theme::parse("name = \"x\"\n[styles]\ntext = {}").unwrap_err();
    assert!(error.to_string().starts_with("theme x: no style for dim, bar, "), "{error}");
}

#[test]
fn only_a_waiting_decision_has_a_filled_warm_pair() {
    use crate::ui::theme::Role;
    for (name, _) in SHIPPED {
        let theme = Theme::shipped(name, Colours::Ansi).unwrap();
        for role in Role::ALL.iter().filter(|role| **role != Role::Decision) {
            assert_eq!(theme.style(*role).bg, None, "{name}: {}", role.name());
        }
    }
}

#[test]
fn a_mark_on_a_space_is_not_lost_where_the_line_breaks() {
    let lines = Wrap::words(2).lines(&[Span::raw("A,aa \u{11c92}")]);
    assert_eq!(text_of(&lines).concat(), "A,aa \u{11c92}");
}

proptest! {
    #[test]
    fn clean_is_the_same_for_every_cut(text in nasty(), cut in any::<prop::sample::Index>()) {
        let whole = clean(&text).into_owned();
        let at = text.floor_char_boundary(cut.index(text.len() + 1));
        let (mut cleaner, mut out) = (Cleaner::default(), String::new());
        cleaner.push(&text[..at], &mut out);
        cleaner.push(&text[at..], &mut out);
        prop_assert_eq!(&out, &whole);
        prop_assert_eq!(clean(&whole), whole.as_str(), "cleaning twice changes nothing");
        prop_assert!(!whole.chars().any(|character| character.is_control() && character != '\n'));
    }

    #[test]
    fn visible_leaves_nothing_for_clean_to_take(text in nasty()) {
        let shown = visible(&text);
        prop_assert_eq!(clean(&shown), shown.as_str());
    }

    #[test]
    fn wrapped_lines_fit_and_lose_no_word(text in nasty(), columns in 1_usize..40, breaks in prop_oneof![Just(Breaks::Words), Just(Breaks::Anywhere), Just(Breaks::Code)]) {
        let text = clean(&text).into_owned();
        let middle = text.floor_char_boundary(text.len() / 2);
        let spans = [Span::raw(text[..middle].to_owned()), Span::raw(text[middle..].to_owned())];
        let lines = Wrap { breaks, ..Wrap::words(columns) }.lines(&spans);
        for line in &lines {
            let line = line.to_string();
            prop_assert!(width(&line) <= columns, "{:?} in {}", line, columns);
        }
        if columns > 1 {
            let joined = text_of(&lines).concat();
            prop_assert_eq!(no_space(&joined), no_space(&text));
            if breaks == Breaks::Anywhere {
                prop_assert_eq!(joined, text.replace('\n', ""));
            }
        }
    }

    #[test]
    fn what_was_measured_is_what_cells_take(text in nasty()) {
        let text = clean_line(&text);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 400, 1));
        let (end, _) = buffer.set_stringn(0, 0, &text, 400, ratatui::style::Style::new());
        prop_assert_eq!(usize::from(end), width(&text).min(400));
    }

    #[test]
    fn truncated_text_fits(text in nasty(), max in 0_usize..30) {
        let text = clean_line(&text);
        prop_assert!(width(&truncate(&text, max)) <= max);
        let spans = wrap::truncate_spans(vec![Span::raw(text.clone()), Span::raw("tail of it")], max);
        prop_assert!(spans.iter().map(|span| width(&span.content)).sum::<usize>() <= max);
    }
}

#[test]
fn p15_json_for_an_editor_shows_what_deceives_as_an_escape_that_means_the_same() {
    let value = serde_json::json!({"command": "ls \u{202e}\u{a0}\u{e0041} é"});
    let text = visible_json(&serde_json::to_string_pretty(&value).unwrap());
    assert_eq!(text, "{\n  \"command\": \"ls \\u202e\\u00a0\\udb40\\udc41 é\"\n}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
}

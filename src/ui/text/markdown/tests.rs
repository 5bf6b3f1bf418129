use proptest::prelude::*;

use super::*;
use crate::ui::text::tests::nasty;
use crate::ui::text::width;
use crate::ui::theme::Colours;

const SAMPLE: &str = include_str!("sample.md");

fn theme() -> Theme {
    Theme::shipped("default", Colours::Ansi).unwrap()
}

fn shown(text: &str, columns: usize) -> String {
    let lines = lines(text, columns, &theme());
    lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_page_at_three_widths() {
    for columns in [100, 60, 24] {
        insta::assert_snapshot!(format!("page_{columns}"), shown(SAMPLE, columns));
    }
}

#[test]
fn styles_of_a_line() {
    let lines = lines("a **b** *c* `d` [e](http://f) ~~g~~ <http://h>", 80, &theme());
    let spans: Vec<String> = lines[0].spans.iter().map(|span| format!("{:?} {:?}", span.content, span.style)).collect();
    insta::assert_snapshot!(spans.join("\n"));
}

#[test]
fn code_gets_its_roles() {
    let lines = lines("```rust\n// why\nfn main() { let x = \"a\"; 42 }\n```\n", 80, &theme());
    let spans: Vec<String> =
        lines.iter().flat_map(|line| &line.spans).map(|span| format!("{:?} {:?}", span.content, span.style)).collect();
    insta::assert_snapshot!(spans.join("\n"));
}

#[test]
fn incomplete_markdown_shows_what_is_there() {
    let table = [
        ("**bold", "**bold"),
        ("`code", "`code"),
        ("[link](http://", "[link](http://"),
        ("```rust\nlet x", "│ let x"),
        ("```", "│"),
        ("```\nline\n``", "│ line\n│ ``"),
        ("```\nline\n```", "│ line"),
        ("| a | b |", "| a | b |"),
        ("| a | b |\n|---|---|", "a │ b\n──┼──"),
        ("1.", "1."),
        ("- a\n  1.", "- a\n  1."),
        ("> ", "│"),
        ("#", "#"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text, 40), expected, "{text:?}");
    }
}

#[test]
fn nothing_written_is_hidden() {
    let table = [
        ("[text][1]\n\n[1]: http://example.org \"t\"", "[text][1]\n\n[1]: http://example.org \"t\""),
        ("[safe](http://evil)", "safe (http://evil)"),
        ("![alt](pic.png)", "[image: alt] (pic.png)"),
        ("<http://x.org> <a@b.c>", "http://x.org a@b.c"),
        ("<div>\nhi <b>you</b>\n</div>", "<div>\nhi <b>you</b>\n</div>"),
        ("one\ntwo", "one\ntwo"),
        ("> [a]: http://b\n> c", "│ c\n[a]: http://b"),
        ("&#x202e;&#27;[2Jx", "[2Jx"),
        ("<!-- hidden -->", "<!-- hidden -->"),
    ];
    for (text, expected) in table {
        assert_eq!(shown(text, 60), expected, "{text:?}");
    }
}

#[test]
fn a_table_that_cannot_have_columns_has_lines() {
    let text =
        "| name | what it does | since |\n|---|---|---|\n| fs | reads files | 1 |\n| web | fetches pages | 2 |\n";
    insta::assert_snapshot!(shown(text, 14));
}

/// Lines as [`Transcript`](crate::ui::transcript::Transcript) gets them: piece by piece, code continued.
fn streamed(text: &str, cuts: &[usize], columns: usize) -> Vec<Line<'static>> {
    use crate::ui::transcript::{Block, Transcript};
    let theme = theme();
    let mut transcript = Transcript::new();
    let id = transcript.push(Block::Assistant { agent: "a".into(), text: String::new() });
    let columns = u16::try_from(columns).unwrap();
    let mut from = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = text.floor_char_boundary(cut.max(from));
        transcript.append_text(id, &text[from..cut]);
        transcript.render(columns, 9, &theme);
        from = cut;
    }
    transcript.render(columns, 2_000, &theme).lines
}

#[test]
fn a_page_streams_to_the_same_lines_cut_at_every_byte() {
    let whole = streamed(SAMPLE, &[], 70);
    let every: Vec<usize> = (0..SAMPLE.len()).collect();
    assert!(streamed(SAMPLE, &every, 70) == whole);
    for cut in (0..SAMPLE.len()).step_by(7) {
        assert!(
            streamed(SAMPLE, &[cut], 70) == whole,
            "cut at {cut}: {:?}",
            &SAMPLE[..SAMPLE.floor_char_boundary(cut)]
        );
    }
}

#[test]
fn texts_that_are_hard_to_cut_stream_to_the_same_lines() {
    let table = [
        "```\ncode\n``` x\nmore\n```\nend",
        "[a]: b\n'tit\nle'\n\nend\n",
        "* a\n|||\n\n[a]: a\n2)a\naaaaa ",
        "para\n#\n#no heading\n-\n-no rule\n",
        "> a\n>\n> - b\n>\n\nend",
        "~~~~\n~~~\n~~~~ \nend",
    ];
    for text in table {
        let whole = streamed(text, &[], 60);
        let every: Vec<usize> = (0..text.len()).collect();
        assert!(streamed(text, &every, 60) == whole, "{text:?}");
        for cut in 0..text.len() {
            assert!(streamed(text, &[cut], 60) == whole, "{text:?} cut at {cut}");
        }
    }
}

/// Lines that begin blocks, end them, or look as if they did.
fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-z ]{0,20}",
        1 => "#{1,7} ?[a-z]{0,5}",
        1 => " {0,5}[-*+] [a-z]{0,5}",
        1 => " {0,5}[0-9]{1,2}[.)] ?[a-z]{0,5}",
        1 => " {0,3}(```|~~~|````)[a-z]{0,4}",
        1 => "(---|===|\\*\\*\\*|-|=)",
        1 => "> {0,2}[a-z#-]{0,5}",
        1 => "\\| ?[a-z]{0,3} ?\\| ?[a-z]{0,3} ?\\|",
        1 => "\\|? ?:?-{1,3}:? ?\\| ?-{1,3}:? ?\\|?",
        1 => "\\[[a-c]\\]:( [a-z]{1,4}( \"[a-z]{0,3}\"?)?)?",
        1 => "\\[[a-c]\\](\\[[a-c]\\])?[*_`]{0,2}",
        1 => "</?(div|b|pre|x)>[a-z]{0,3}",
        1 => "['\"][a-z]{0,3}['\"]?",
        1 => "    [a-z]{0,4}",
        1 => "(<!--|-->|<\\?|\\?>)",
        2 => Just(String::new()),
    ];
    proptest::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_cut_of_a_stream_gives_the_same_lines(
        text in prop_oneof![3 => markdown(), 1 => nasty()],
        mut cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        columns in 20_usize..80,
    ) {
        let mut cuts: Vec<usize> = cuts.drain(..).map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        prop_assert_eq!(streamed(&text, &cuts, columns), streamed(&text, &[], columns));
    }

    #[test]
    fn lines_fit_at_any_width(text in prop_oneof![markdown(), nasty()], columns in 1_usize..50) {
        for line in lines(&text, columns, &theme()) {
            let line = line.to_string();
            prop_assert!(width(&line) <= columns, "{:?} in {}", line, columns);
        }
    }

    #[test]
    fn pieces_are_the_whole_text(text in prop_oneof![markdown(), nasty()]) {
        let cut = split(&text);
        prop_assert!(cut.settled <= cut.ranges.len());
        let joined: String = cut.ranges.iter().map(|range| &text[range.clone()]).collect();
        prop_assert_eq!(joined, text);
    }

    #[test]
    fn every_word_shows(text in markdown()) {
        // Letters alone: markup may go, words may not. Info strings, titles and entities are markup.
        let keep = |text: &str| text.split(|c: char| !c.is_ascii_lowercase()).filter(|w| w.len() > 5).map(str::to_owned).collect::<Vec<_>>();
        let shown = lines(&text, 1_000, &theme()).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        let have = keep(&shown);
        for word in keep(&text) {
            prop_assert!(have.contains(&word), "{:?} of {:?} is not in {:?}", word, text, shown);
        }
    }
}

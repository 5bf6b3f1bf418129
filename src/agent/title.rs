//! A conversation's title: asked of a model, read from its answer, and what stands in until there is one.
//!
//! It makes no call; its driver does, and a failure is silent.

use super::message::{CallKind, Message, Request, ToolChoice, UserMessage, UserOrigin};
use super::prompt;

/// A title is cut to this many characters, at a word where one ends in time.
pub const TITLE_LIMIT: usize = 40;

/// At most this many characters of the first words go into the request.
const WORDS_LIMIT: usize = 2_000;

/// The request for a title of a conversation that begins with `words`: no tools, the first 2,000 characters.
pub fn title_request(words: &str) -> Request {
    let text = words.chars().take(WORDS_LIMIT).collect();
    Request {
        kind: CallKind::Title,
        system: prompt::TITLE.to_owned(),
        messages: vec![Message::User(UserMessage { text, origin: UserOrigin::Person })],
        tools: Vec::new(),
        tool_choice: ToolChoice::None,
    }
}

/// The title in a model's answer: its last line that says anything, without quotes, marks and a full stop at its ends,
/// at most [`TITLE_LIMIT`] characters. `None` when nothing is left.
pub fn title_from(answer: &str) -> Option<String> {
    answer.lines().rev().map(bare).find(|line| !line.is_empty()).map(|line| cut(&line))
}

/// What a conversation is called until it has a title: the first words said, on one line.
pub fn placeholder(words: &str) -> String {
    cut(&one_line(words))
}

/// One line, with every control character and run of blanks made one blank.
fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bare(line: &str) -> String {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '*' | '#' | '“' | '”' | '„' | '‘' | '’' | '«' | '»' | '.' | ':')
    };
    one_line(line).trim_matches(ends).to_owned()
}

fn cut(line: &str) -> String {
    let Some((end, next)) = line.char_indices().nth(TITLE_LIMIT) else { return line.to_owned() };
    let head = line.get(..end).unwrap_or(line);
    let whole = if next.is_whitespace() { head } else { head.rsplit_once(' ').map_or(head, |(words, _)| words) };
    whole.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_that_says_something_is_the_title() {
        for (answer, title) in [
            ("Tidy the build folder", Some("Tidy the build folder")),
            ("Let me think.\n\n\"Tidy the build folder.\"\n\n", Some("Tidy the build folder")),
            ("**Tidy: build**", Some("Tidy: build")),
            ("Title:\n“Zürich\ttrip”", Some("Zürich trip")),
            ("", None),
            (" \n \"\" \n ...", None),
            ("\u{1b}[31mred", Some("[31mred")),
        ] {
            assert_eq!(title_from(answer).as_deref(), title, "{answer:?}");
        }
    }

    #[test]
    fn a_title_is_cut_at_a_word_and_never_inside_a_character() {
        let long = "one two three four five six seven eight nine ten";
        assert_eq!(title_from(long).unwrap(), "one two three four five six seven eight");
        let solid = "ü".repeat(90);
        assert_eq!(title_from(&solid).unwrap(), "ü".repeat(40));
        assert_eq!(placeholder("  hello\n there "), "hello there");
    }

    #[test]
    fn the_request_carries_no_tools_and_bounded_words() {
        let request = title_request(&"é".repeat(5_000));
        assert_eq!(request.kind, CallKind::Title);
        assert!(request.tools.is_empty());
        let Some(Message::User(message)) = request.messages.first() else { panic!("a user message") };
        assert_eq!(message.text.chars().count(), 2_000);
    }
}

//! The memory file as lines: facts, and everything else a person may have written, which is kept as it is.

/// What a new file begins with.
pub(super) const HEADER: &str = "# Memory\n\nOne fact a line. Edit freely; it is read at every call.\n\n";

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    /// A fact without its bullet.
    Fact { bullet: String, text: String },
    /// A heading, an empty line or prose.
    Other(String),
}

/// The file's lines in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Notes(Vec<Line>);

impl Notes {
    /// A fact is a list item: a line that begins with `-`, `*` or `+` and a space, after any indentation.
    pub(super) fn parse(text: &str) -> Self {
        Self(text.lines().map(line).collect())
    }

    /// The file's text again: what was not changed is as it was, with `\n` at the end of each line.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::new();
        for line in &self.0 {
            match line {
                Line::Fact { bullet, text: fact } => text.extend([bullet.as_str(), fact, "\n"]),
                Line::Other(other) => text.extend([other.as_str(), "\n"]),
            }
        }
        text
    }

    /// The facts in file order.
    pub(super) fn facts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|line| match line {
            Line::Fact { text, .. } => Some(text.as_str()),
            Line::Other(_) => None,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.facts().next().is_none()
    }

    /// Which line holds the fact that reads like `text`, whatever its spaces, case, bullet or last full stop.
    pub(super) fn position(&self, text: &str) -> Option<usize> {
        let wanted = normal(text);
        self.0.iter().position(|line| matches!(line, Line::Fact { text, .. } if normal(text) == wanted))
    }

    pub(super) fn push(&mut self, fact: &str) {
        self.0.push(Line::Fact { bullet: "- ".to_owned(), text: fact.to_owned() });
    }

    pub(super) fn set(&mut self, at: usize, fact: &str) {
        if let Some(Line::Fact { text, .. }) = self.0.get_mut(at) {
            fact.clone_into(text);
        }
    }

    /// Takes a line out; the text of its fact.
    pub(super) fn remove(&mut self, at: usize) -> String {
        match self.0.remove(at) {
            Line::Fact { text, .. } | Line::Other(text) => text,
        }
    }
}

fn line(text: &str) -> Line {
    let rest = text.trim_start();
    let fact = ["- ", "* ", "+ "].iter().find_map(|bullet| rest.strip_prefix(bullet)).map(str::trim);
    match fact {
        Some(fact) if !fact.is_empty() => {
            let bullet = text.split_once(fact).map_or("- ", |(bullet, _)| bullet);
            Line::Fact { bullet: bullet.to_owned(), text: fact.to_owned() }
        }
        _ => Line::Other(text.to_owned()),
    }
}

fn normal(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("- ").unwrap_or(text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    words.trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_wrote_beside_the_facts_is_kept() {
        let text = "# Mine\n\n* likes tea\n  - indented  \nprose\n- \n";
        let mut notes = Notes::parse(text);
        assert_eq!(notes.facts().collect::<Vec<_>>(), ["likes tea", "indented"]);
        notes.push("new");
        assert_eq!(notes.to_text(), "# Mine\n\n* likes tea\n  - indented\nprose\n- \n- new\n");
    }

    #[test]
    fn a_fact_is_found_whatever_its_spaces_case_and_full_stop() {
        let notes = Notes::parse("- Likes  green tea.\n");
        for text in ["likes green tea", "- Likes green tea.", " LIKES green   tea "] {
            assert_eq!(notes.position(text), Some(0), "{text}");
        }
        assert_eq!(notes.position("likes tea"), None);
    }

    proptest::proptest! {
        #[test]
        fn a_file_survives_being_read_and_written(text in "([-*#]? ?[a-zé ]{0,12}\n){0,8}") {
            let once = Notes::parse(&text);
            proptest::prop_assert_eq!(Notes::parse(&once.to_text()), once);
        }
    }
}

//! Patterns on words, for rehearsal scripts: literal text, `*` for anything, `{name}` to catch something.
//!
//! Pure, and bounded: a pattern that would search for too long does not match.

use std::collections::BTreeMap;
use std::ops::Range;

/// Steps of one match; far more than a sentence needs.
const FUEL: u32 = 50_000;
/// Characters that are looked at.
const TEXT_LIMIT: usize = 4000;

/// What a catch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anything that is not blank.
    Anything,
    /// One word.
    Word,
    /// Digits.
    Number,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Literal(char),
    Space,
    Any,
    Catch(String, Kind),
}

/// A parsed pattern. Case does not matter, nor how much space there is; it has to match the whole text, but for
/// `.`, `!` and `?` at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Step>);

impl Pattern {
    /// Parses `run {command}`, `stream {n:number}*`, `read {path:word}`. `{{` is a brace.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut chars = text.trim().chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '*' => steps.push(Step::Any),
                '{' if chars.next_if_eq(&'{').is_some() => steps.push(Step::Literal('{')),
                '{' => {
                    let mut inner = String::new();
                    loop {
                        match chars.next() {
                            Some('}') => break,
                            Some(c) => inner.push(c),
                            None => return Err(format!("'{text}': a brace is not closed")),
                        }
                    }
                    let (name, kind) = inner.split_once(':').unwrap_or((&inner, ""));
                    let kind = match kind {
                        "" => Kind::Anything,
                        "word" => Kind::Word,
                        "number" => Kind::Number,
                        other => return Err(format!("'{text}': '{other}' is no kind of catch; write word or number")),
                    };
                    if name.is_empty() {
                        return Err(format!("'{text}': a catch has no name"));
                    }
                    steps.push(Step::Catch(name.to_owned(), kind));
                }
                c if c.is_whitespace() => {
                    if steps.last() != Some(&Step::Space) {
                        steps.push(Step::Space);
                    }
                }
                c => steps.push(Step::Literal(c)),
            }
        }
        Ok(Self(steps))
    }

    /// The names it catches.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|step| match step {
            Step::Catch(name, _) => Some(name.as_str()),
            Step::Literal(_) | Step::Space | Step::Any => None,
        })
    }

    /// What it catches in `text`, if it matches. A catch takes as little as it can, a word or number all of it. Only the
    /// first 4,000 characters are looked at.
    pub fn matches(&self, text: &str) -> Option<BTreeMap<String, String>> {
        let text: Vec<char> = text.trim().chars().take(TEXT_LIMIT).collect();
        let mut search = Search { end: text.len(), caught: Vec::new(), fuel: FUEL };
        let matched = search.step(&self.0, &text);
        let value = |range: Range<usize>| -> String { text.get(range).unwrap_or_default().iter().collect() };
        let caught = search.caught.into_iter();
        matched.then(|| caught.map(|(name, range)| (name.to_owned(), value(range).trim().to_owned())).collect())
    }
}

/// A match in the making.
struct Search<'a> {
    /// Characters of the whole text.
    end: usize,
    caught: Vec<(&'a str, Range<usize>)>,
    fuel: u32,
}

impl<'a> Search<'a> {
    fn step(&mut self, steps: &'a [Step], text: &[char]) -> bool {
        let Some(left) = self.fuel.checked_sub(1) else { return false };
        self.fuel = left;
        let Some((first, rest)) = steps.split_first() else {
            return text.iter().all(|c| matches!(c, '.' | '!' | '?'));
        };
        match first {
            Step::Literal(wanted) => match text.split_first() {
                Some((c, after)) if c == wanted || c.to_lowercase().eq(wanted.to_lowercase()) => self.step(rest, after),
                _ => false,
            },
            Step::Space => {
                let blank = text.iter().take_while(|c| c.is_whitespace()).count();
                blank > 0 && self.step(rest, text.get(blank..).unwrap_or_default())
            }
            Step::Any => (0..=text.len()).any(|at| self.step(rest, text.get(at..).unwrap_or_default())),
            Step::Catch(name, kind) => lengths(*kind, rest.is_empty(), text).any(|length| {
                let (head, tail) = text.split_at(length.min(text.len()));
                if head.iter().all(|c| c.is_whitespace()) {
                    return false;
                }
                let start = self.end - text.len();
                self.caught.push((name, start..start + head.len()));
                let matched = self.step(rest, tail);
                if !matched {
                    self.caught.pop();
                }
                matched
            }),
        }
    }
}

/// How much a catch may take, in the order to try.
fn lengths(kind: Kind, last: bool, text: &[char]) -> std::ops::RangeInclusive<usize> {
    match kind {
        // The last catch takes its own punctuation along.
        Kind::Anything if last => text.len()..=text.len(),
        Kind::Anything => 1..=text.len(),
        // A word may end a sentence: `read Cargo.toml.`
        Kind::Word => {
            let most = text.iter().take_while(|c| !c.is_whitespace()).count();
            let word = text.get(..most).unwrap_or_default();
            let punctuation = word.iter().rev().take_while(|c| matches!(c, '.' | ',' | '!' | '?' | ';' | ':')).count();
            if punctuation < most { most - punctuation..=most } else { most..=most }
        }
        Kind::Number => {
            let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
            digits..=digits
        }
    }
}

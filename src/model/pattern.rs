//! Patterns on words, for rehearsal scripts: literal text, `*` for anything, `{name}` to catch something.
//!
//! Pure, and bounded: a pattern that would search for too long does not match.

use std::collections::BTreeMap;

/// Steps of one match; far more than a sentence needs.
const FUEL: u32 = 400_000;

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

    /// What it catches in `text`, if it matches. A catch takes as little as it can, a word or number all of it.
    pub fn matches(&self, text: &str) -> Option<BTreeMap<String, String>> {
        let text: Vec<char> = text.trim().chars().collect();
        let mut caught = Vec::new();
        let mut fuel = FUEL;
        step(&self.0, &text, &mut caught, &mut fuel).then(|| caught.into_iter().collect())
    }
}

fn step(steps: &[Step], text: &[char], caught: &mut Vec<(String, String)>, fuel: &mut u32) -> bool {
    let Some(left) = fuel.checked_sub(1) else { return false };
    *fuel = left;
    let Some((first, rest)) = steps.split_first() else {
        return text.iter().all(|c| matches!(c, '.' | '!' | '?'));
    };
    match first {
        Step::Literal(wanted) => match text.split_first() {
            Some((c, after)) if c == wanted || c.to_lowercase().eq(wanted.to_lowercase()) => {
                step(rest, after, caught, fuel)
            }
            _ => false,
        },
        Step::Space => {
            let blank = text.iter().take_while(|c| c.is_whitespace()).count();
            blank > 0 && step(rest, text.get(blank..).unwrap_or_default(), caught, fuel)
        }
        Step::Any => (0..=text.len()).any(|end| step(rest, text.get(end..).unwrap_or_default(), caught, fuel)),
        Step::Catch(name, kind) => {
            let mut lengths = lengths(*kind, rest.is_empty(), text);
            lengths.any(|length| {
                let (head, tail) = text.split_at(length.min(text.len()));
                let value: String = head.iter().collect();
                if value.trim().is_empty() {
                    return false;
                }
                caught.push((name.clone(), value.trim().to_owned()));
                let matched = step(rest, tail, caught, fuel);
                if !matched {
                    caught.pop();
                }
                matched
            })
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

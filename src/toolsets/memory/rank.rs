//! Ranks facts against a query by the words they share, rarer words first. Small and exact: it knows no meanings.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation as _;

/// Facts that share a word with the query, and facts that only share something like one.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Ranked {
    /// Best first; equal ones newest first.
    pub(super) hits: Vec<String>,
    /// Likewise. Only facts that are no hit.
    pub(super) near: Vec<String>,
}

/// Words of a query that are looked at.
const MAX_QUERY_WORDS: usize = 50;

/// Words that say nothing about which fact is meant.
const STOP_WORDS: [&str; 34] = [
    "a", "an", "and", "are", "at", "be", "by", "do", "does", "for", "from", "has", "have", "in", "is", "it", "my",
    "of", "on", "or", "that", "the", "their", "they", "this", "to", "user", "user's", "was", "what", "when", "where",
    "who", "with",
];

/// Ranks `facts` against `query`.
pub(super) fn rank<'a>(facts: impl Iterator<Item = &'a str>, query: &str) -> Ranked {
    let facts: Vec<(&str, Vec<String>)> = facts.map(|fact| (fact, words(fact))).collect();
    let mut holders: BTreeMap<&str, u32> = BTreeMap::new();
    for (_, words) in &facts {
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            *holders.entry(word).or_default() += 1;
        }
    }
    let total = f64::from(u32::try_from(facts.len()).unwrap_or(u32::MAX));
    let weight = |word: &str| (1.0 + total / f64::from(holders.get(word).copied().unwrap_or(1))).ln();
    let mut wanted = words(query);
    let telling: Vec<String> = wanted.iter().filter(|word| !STOP_WORDS.contains(&word.as_str())).cloned().collect();
    if !telling.is_empty() {
        wanted = telling;
    }
    wanted.truncate(MAX_QUERY_WORDS);
    wanted.sort();
    wanted.dedup();

    let mut hits = Vec::new();
    let mut near = Vec::new();
    for (age, (fact, words)) in facts.iter().rev().enumerate() {
        let (mut exact, mut close) = (0.0, 0.0);
        for word in &wanted {
            match words.iter().map(|other| likeness(word, other)).max().unwrap_or(Likeness::None) {
                Likeness::Same => exact += weight(word),
                Likeness::Stem => exact += weight(word) / 2.0,
                Likeness::Typo => close += weight(word),
                Likeness::None => {}
            }
        }
        if exact > 0.0 {
            hits.push((exact + close / 4.0, age, *fact));
        } else if close > 0.0 {
            near.push((close, age, *fact));
        }
    }
    let sorted = |mut list: Vec<(f64, usize, &str)>| {
        list.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        list.into_iter().map(|(_, _, fact)| fact.to_owned()).collect()
    };
    Ranked { hits: sorted(hits), near: sorted(near) }
}

fn words(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    None,
    /// A letter or two apart.
    Typo,
    /// One begins with the other: `run`, `runs`; at least three characters.
    Stem,
    Same,
}

fn likeness(a: &str, b: &str) -> Likeness {
    if a == b {
        return Likeness::Same;
    }
    let (length_a, length_b) = (a.chars().count(), b.chars().count());
    let (short, short_chars, long, long_chars) =
        if length_a <= length_b { (a, length_a, b, length_b) } else { (b, length_b, a, length_a) };
    if short_chars >= 3 && long.starts_with(short) && long_chars <= short_chars + 3 {
        return Likeness::Stem;
    }
    let allowed = match long_chars {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    };
    if long_chars - short_chars <= allowed && allowed > 0 && distance(short, long) <= allowed {
        Likeness::Typo
    } else {
        Likeness::None
    }
}

/// Edits from one word to the other; two letters swapped are one.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(x != y)).min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: [&str; 5] = [
        "Lives in Berlin",
        "Works at Acme in Berlin as an engineer",
        "Likes green tea",
        "Is allergic to peanuts",
        "住在东京",
    ];

    fn ranked(query: &str) -> Ranked {
        rank(FACTS.into_iter(), query)
    }

    #[test]
    fn rarer_words_count_more_and_common_ones_nothing() {
        assert_eq!(ranked("where does the user work in berlin").hits[0], FACTS[1], "work is rarer than berlin");
        assert_eq!(ranked("Berlin").hits, [FACTS[1], FACTS[0]], "equal: newest first");
        assert_eq!(ranked("the user is in").hits.len(), 3, "a query of nothing but common words still looks");
    }

    #[test]
    fn stems_hit_and_typos_are_near() {
        assert_eq!(ranked("peanut").hits, [FACTS[3]]);
        let typo = ranked("Berlni");
        assert_eq!((typo.hits.len(), typo.near.len()), (0, 2));
        assert_eq!(ranked("quantum chromodynamics"), Ranked::default());
        assert_eq!(ranked("东京").hits, [FACTS[4]]);
    }

    #[test]
    fn distances() {
        let table = [("", "", 0), ("abc", "abd", 1), ("abc", "acb", 1), ("kitten", "sitting", 3), ("", "ab", 2)];
        for (a, b, expected) in table {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}

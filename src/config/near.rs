//! Near misses: which of the known words was probably meant. Nothing here decides that a word is wrong.

/// At most `most` of `candidates` that `word` may have been meant as, nearest first, else in their own order.
pub(super) fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let letters: Vec<char> = word.chars().take(65).flat_map(char::to_lowercase).collect();
    if letters.is_empty() || letters.len() > 64 {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.chars().flat_map(char::to_lowercase).collect();
            let allowed = (letters.len().max(other.len()) / 3).clamp(1, 4);
            let distance = distance(&letters, &other);
            (distance <= allowed && distance < other.len()).then_some((distance, candidate))
        })
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.dedup_by_key(|(_, name)| *name);
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Insertions, removals, replacements and swaps of neighbours between two words.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let mut cost = (at(&last, j) + usize::from(a != b)).min(at(&last, j + 1) + 1).min(at(&row, j) + 1);
            if i > 0 && j > 0 && from.get(i - 1) == Some(b) && to.get(j - 1) == Some(a) {
                cost = cost.min(at(&before, j - 1) + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn slips_of_the_hand_are_near_and_other_words_are_not() {
        let known = ["available", "resident", "confirm", "review"];
        assert_eq!(near("avialable", known, 2), ["available"]);
        assert_eq!(near("Confirm", known, 2), ["confirm"]);
        assert_eq!(near("reveiw", known, 2), ["review"]);
        assert!(near("temperature", known, 2).is_empty());
        assert!(near("x", known, 2).is_empty());
        assert!(near("", known, 2).is_empty());
    }
}

//! Fresh ids, random numbers and secrets. Only what is called a secret may be used as one.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

/// A fresh id: UUID version 7, lower case with hyphens (36 characters), ascending with time.
pub fn new_id() -> String {
    uuid::Uuid::now_v7().hyphenated().to_string()
}

/// 64 fresh random bits, for jitter.
pub fn random() -> u64 {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    // A keyed hash of a counter: the standard library seeds the key from the system, and no number is drawn twice.
    RandomState::new().hash_one(DRAWN.fetch_add(1, Ordering::Relaxed))
}

/// 32 bytes that nobody can guess, from the system.
///
/// # Errors
/// The system has none.
pub fn secret() -> std::io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{new_id, random};

    #[test]
    fn ids_are_distinct_and_ascend() {
        let ids: Vec<String> = (0..1000).map(|_| new_id()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert!(ids.iter().all(|id| id.len() == 36 && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f' | '-'))));
    }

    #[test]
    fn random_numbers_use_every_bit() {
        let (ones, zeros) = (0..256).map(|_| random()).fold((0, 0), |(ones, zeros), n| (ones | n, zeros | !n));
        assert_eq!((ones, zeros), (u64::MAX, u64::MAX));
    }
}

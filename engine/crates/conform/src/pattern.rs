//! The bytes that checks write and expect, and what a difference means.

use crate::finding::Symptom;
use assay_drive::data::{Base, Data};
use assay_spec::DataSpec;
use std::sync::{Arc, Mutex, PoisonError};

/// The first bytes of each sector are a number that also depends on which write it was.
const SECTOR: usize = 512;
const NUMBER: usize = 8;

/// The data generated from a seed.
#[derive(Clone)]
pub(crate) struct Pattern {
    base: Arc<Base>,
    spec: DataSpec,
    seed: u64,
}

impl Pattern {
    pub(crate) fn new(seed: u64, spec: DataSpec) -> Self {
        Pattern { base: Base::new(&spec, seed), spec, seed }
    }

    /// A pattern without zeros or duplicates. Patterns are cached, since checks ask for them record by record.
    pub(crate) fn plain(seed: u64) -> Self {
        static KNOWN: Mutex<Vec<Pattern>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = known.iter().find(|pattern| pattern.seed == seed) {
            return pattern.clone();
        }
        let new = Pattern::new(seed, DataSpec::default());
        known.push(new.clone());
        new
    }

    /// The bytes that belong at `offset` of an object.
    pub(crate) fn bytes(&self, object: u64, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        Data::new(&self.base, &self.spec, self.seed, object).fill(offset, &mut bytes, &mut None);
        bytes
    }
}

/// The first difference between expected and found bytes.
pub(crate) struct Difference {
    pub(crate) symptom: Symptom,
    /// Index of the first different byte, from the start of what was read.
    pub(crate) index: usize,
    pub(crate) expected: u8,
    pub(crate) found: u8,
}

/// Finds the first different byte and classifies the difference. `before` is the data that may have been there earlier,
/// or `None` if there was none. With `numbered`, the sector numbers are not compared, since a later write of the same
/// data has other numbers. `offset` is the offset of the first byte in the object.
pub(crate) fn compare(
    expected: &[u8],
    found: &[u8],
    before: Option<&[u8]>,
    offset: u64,
    numbered: bool,
) -> Option<Difference> {
    let counts = |index: &usize| !numbered || (offset as usize + index) % SECTOR >= NUMBER;
    let differs = |index: &usize| expected[*index] != found[*index];
    let index = (0..expected.len().min(found.len())).filter(counts).find(differs)?;
    let same = |other: &[u8], from: usize, to: usize| {
        (from..to).filter(counts).all(|index| other.get(index) == found.get(index))
    };
    let (mut new, mut old, mut zero, mut parts) = (0, 0, 0, 0);
    for from in (0..found.len()).step_by(SECTOR) {
        let to = (from + SECTOR).min(found.len());
        parts += 1;
        if same(expected, from, to) {
            new += 1;
        } else if found[from..to].iter().all(|byte| *byte == 0) {
            zero += 1;
        } else if before.is_some_and(|before| same(before, from, to)) {
            old += 1;
        }
    }
    let symptom = match (new, old, zero) {
        (0, old, 0) if old == parts => Symptom::Stale,
        (0, 0, zero) if zero == parts => Symptom::Zeros,
        (new, old, zero) if new > 0 && new + old + zero == parts => Symptom::Torn,
        _ => Symptom::Corrupt,
    };
    Some(Difference { symptom, index, expected: expected[index], found: found[index] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_a_name() {
        let [new, old] = [1, 2].map(|seed| Pattern::new(seed, DataSpec::default()).bytes(0, 4096, 4096));
        let symptom = |found: &[u8]| compare(&new, found, Some(&old), 4096, true).map(|it| it.symptom);
        assert_eq!(symptom(&new), None);
        assert_eq!(symptom(&old), Some(Symptom::Stale));
        assert_eq!(symptom(&[0; 4096]), Some(Symptom::Zeros));
        assert_eq!(symptom(&[&new[..2048], &old[2048..]].concat()), Some(Symptom::Torn));
        assert_eq!(symptom(&[&new[..2048], &[0; 2048]].concat()), Some(Symptom::Torn));
        let mut flipped = new.clone();
        flipped[1000] ^= 1;
        let found = compare(&new, &flipped, Some(&old), 4096, true).unwrap();
        assert_eq!((found.symptom, found.index), (Symptom::Corrupt, 1000));
        assert_eq!((found.expected, found.found), (new[1000], new[1000] ^ 1));
    }

    #[test]
    fn the_number_of_a_write_is_no_difference_unless_it_is_known() {
        let new = Pattern::new(1, DataSpec::default()).bytes(0, 0, 1024);
        let mut other = new.clone();
        other[515] ^= 1;
        assert!(compare(&new, &other, None, 0, true).is_none());
        assert_eq!(compare(&new, &other, None, 0, false).map(|it| it.index), Some(515));
    }
}

//! Which objects of a lane are there.

use std::collections::BTreeSet;

/// The objects of a lane that are there: all from `low` up to `high` but those that are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct There {
    /// The oldest one.
    pub low: u64,
    /// Number of the next one to be made.
    pub high: u64,
    /// Are not there: could not be stored, or were removed before the oldest one.
    pub missing: BTreeSet<u64>,
    /// A bit for each that was fetched since it was stored, as far as this job knows.
    fetched: Vec<u64>,
}

impl There {
    /// These numbers, without gaps.
    pub fn first(count: u64) -> Self {
        There { high: count, ..There::default() }
    }

    pub(super) fn has(&self, object: u64) -> bool {
        (self.low..self.high).contains(&object) && !self.missing.contains(&object)
    }

    /// The same objects, told from number 0 on, so that those that were removed can be made again.
    pub(super) fn renumbered(mut self) -> Self {
        if self.low == self.high {
            return There::default();
        }
        self.missing.extend(0..self.low);
        There { low: 0, ..self }
    }

    /// How many of the first `count` numbers are there; `low` is 0.
    pub(super) fn among(&self, count: u64) -> u64 {
        let end = count.min(self.high);
        end - self.missing.range(..end).count() as u64
    }

    /// Takes the oldest ones away: the first of them, and of how many numbers from it on, `most` at most. Such as are
    /// missing may be among them, the first and the last are there.
    pub(super) fn take(&mut self, most: u64) -> Option<(u64, u64)> {
        let first = (self.low..self.high).find(|object| self.has(*object))?;
        let end = self.high.min(first.saturating_add(most));
        let last = (first..end).rev().find(|object| self.has(*object)).unwrap_or(first);
        self.missing = self.missing.split_off(&(last + 1));
        self.low = last + 1;
        Some((first, last + 1 - first))
    }

    /// An object has been fetched; whether it had been before.
    pub(super) fn fetch(&mut self, object: u64) -> bool {
        let (word, bit) = ((object / 64) as usize, 1 << (object % 64));
        if self.fetched.len() <= word {
            self.fetched.resize(word + 1, 0);
        }
        let before = self.fetched[word] & bit != 0;
        self.fetched[word] |= bit;
        before
    }

    /// An object has been stored: nobody has fetched what it is now.
    pub(super) fn store(&mut self, object: u64) {
        if let Some(word) = self.fetched.get_mut((object / 64) as usize) {
            *word &= !(1 << (object % 64));
        }
    }

    pub(super) fn remove(&mut self, object: u64) {
        self.missing.insert(object);
        while self.low < self.high && self.missing.remove(&self.low) {
            self.low += 1;
        }
    }
}

//! Which objects of a lane exist.

use std::collections::BTreeSet;

/// The existing objects of a lane: all from `low` up to `high` except missing ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PresentObjects {
    /// Number of the oldest one.
    pub low: u64,
    /// Number of the next one to be stored.
    pub high: u64,
    /// Objects that do not exist: they could not be stored, or were removed although they were not the oldest.
    pub missing: BTreeSet<u64>,
    /// A bit for each object that was fetched since it was stored, as far as this job knows.
    fetched: Vec<u64>,
}

impl PresentObjects {
    /// The objects 0 to `count`, without gaps.
    pub fn first(count: u64) -> Self {
        PresentObjects { high: count, ..PresentObjects::default() }
    }

    pub(super) fn has(&self, object: u64) -> bool {
        (self.low..self.high).contains(&object) && !self.missing.contains(&object)
    }

    /// The same objects, counted from number 0, so that removed ones can be stored again.
    pub(super) fn renumbered(mut self) -> Self {
        if self.low == self.high {
            return PresentObjects::default();
        }
        self.missing.extend(0..self.low);
        PresentObjects { low: 0, ..self }
    }

    /// Number of existing objects among the first `count`; `low` is 0.
    pub(super) fn among(&self, count: u64) -> u64 {
        let end = count.min(self.high);
        end - self.missing.range(..end).count() as u64
    }

    /// Remove the oldest objects; returns the first one and the count of numbers from it on, `most` at most. Some in
    /// between may be missing; the first and the last exist.
    pub(super) fn take(&mut self, most: u64) -> Option<(u64, u64)> {
        let first = (self.low..self.high).find(|object| self.has(*object))?;
        let end = self.high.min(first.saturating_add(most));
        let last = (first..end).rev().find(|object| self.has(*object)).unwrap_or(first);
        self.missing = self.missing.split_off(&(last + 1));
        self.low = last + 1;
        Some((first, last + 1 - first))
    }

    /// Note a fetch of an object; returns whether it had been fetched before.
    pub(super) fn fetch(&mut self, object: u64) -> bool {
        let (word, bit) = ((object / 64) as usize, 1 << (object % 64));
        if self.fetched.len() <= word {
            self.fetched.resize(word + 1, 0);
        }
        let before = self.fetched[word] & bit != 0;
        self.fetched[word] |= bit;
        before
    }

    /// Note that an object was stored: its new contents have not been fetched.
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

//! Bounds on walks through the pages of a list, as a service may claim that its list never ends. Everything that walks
//! from page to page does so by `Pages`, which limits the entries, the time without new entries and the time in all,
//! each more strictly once the process is asked to stop.

use assay_core::{clock, heartbeat, Fault};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

const SECOND: u64 = 1_000_000_000;
/// Longest time without new entries, unless the user sets another.
const PATIENCE_NS: u64 = 60 * SECOND;
/// The same once the process is asked to stop.
const STOPPING_PATIENCE_NS: u64 = 3 * SECOND;
/// Longest time for removing what a killed job has left; the workbench waits 90 s for it.
const LEFTOVERS_NS: u64 = if cfg!(test) { SECOND / 20 } else { 75 * SECOND };
/// Longest token for a next page: keys have at most 1 KiB, and a few times that as JSON or encoded.
pub(crate) const MAX_TOKEN_BYTES: usize = 16 << 10;
/// Most entries of one page: a thousand are asked for.
pub(crate) const MAX_PAGE_ENTRIES: usize = 10_000;

/// Why something outside operations failed: a fault of the service or the way to it, or a message of this side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A fault of the service, or of the way to it.
    Fault(Fault),
    /// A message.
    Message(String),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Trouble::Fault(fault)
    }
}

/// The bounds of one walk through pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Most entries there can be; a service that lists more makes them up.
    pub(crate) entries: u64,
    /// Longest time of the whole walk, in nanoseconds.
    pub(crate) ns: u64,
}

impl Bounds {
    /// The bounds of a removal of at most so many entries; none if that is not known, as the job that made them is
    /// gone.
    pub(crate) fn of_removal(entries: Option<u64>) -> Self {
        let ns = if entries.is_some() { heartbeat::REMOVAL_LIMIT_NS } else { LEFTOVERS_NS };
        Bounds { entries: entries.unwrap_or(u64::MAX), ns }
    }

    /// The bounds of a list whose length others decide.
    pub(crate) fn of_others() -> Self {
        Bounds { entries: 1_000_000_000, ns: 6 * heartbeat::REMOVAL_LIMIT_NS }
    }
}

/// One walk through the pages of a list.
#[derive(Debug)]
pub(crate) struct Pages {
    bounds: Bounds,
    begin: u64,
    /// When a new entry came last.
    new_at: u64,
    /// Hashes of the tokens that pages were asked for with.
    requested: HashSet<u64>,
    new: u64,
    count: u64,
}

impl Pages {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let now = clock::now();
        Pages { bounds, begin: now, new_at: now, requested: HashSet::new(), new: 0, count: 0 }
    }

    /// Notes that a page has come with so many new entries, and returns the token of the next page; none if this is the
    /// last.
    ///
    /// # Errors
    /// If the list has no end.
    pub(crate) fn next_page(&mut self, new: u64, next: Option<String>) -> Result<Option<String>, Trouble> {
        let now = clock::now();
        heartbeat::beat();
        self.count += 1;
        self.new += new;
        if new > 0 {
            self.new_at = now;
        }
        let Some(next) = next else { return Ok(None) };
        let stopping = heartbeat::stopping_ns();
        let patience = heartbeat::patience().unwrap_or(PATIENCE_NS);
        let patience = if stopping.is_some() { patience.min(STOPPING_PATIENCE_NS) } else { patience };
        let mut hasher = DefaultHasher::new();
        next.hash(&mut hasher);
        if next.is_empty() || next.len() > MAX_TOKEN_BYTES {
            return self.refuse("says that there is more, and not how to ask for it");
        }
        if !self.requested.insert(hasher.finish()) {
            return self.refuse("asks for the same page again");
        }
        if self.new > self.bounds.entries {
            return self.refuse("names more than can be there");
        }
        if now.saturating_sub(self.new_at) > patience {
            return self.refuse(&format!("has had nothing new for {} s", patience / SECOND));
        }
        if now.saturating_sub(self.begin) > self.bounds.ns
            || stopping.is_some_and(|ns| ns > heartbeat::STOPPING_LIMIT_NS)
        {
            return self.refuse(&format!("takes longer than {} s", now.saturating_sub(self.begin) / SECOND));
        }
        Ok(Some(next))
    }

    fn refuse(&self, why: &str) -> Result<Option<String>, Trouble> {
        Err(Trouble::Message(format!("the service's list has no end: after {} pages it {why}", self.count)))
    }
}

/// Finds out which entries of a sorted list are new, without storing all of them.
#[derive(Debug, Default)]
pub(crate) struct NewEntries {
    name: String,
    /// Marks of the entries with that name: versions, uploads.
    same: HashSet<String>,
}

impl NewEntries {
    /// Whether an entry comes after all earlier ones; `mark` tells entries of one name apart.
    pub(crate) fn is_new(&mut self, name: &str, mark: &str) -> bool {
        if name > self.name.as_str() {
            name.clone_into(&mut self.name);
            self.same.clear();
        }
        name == self.name && self.same.len() < MAX_PAGE_ENTRIES * 100 && self.same.insert(mark.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(turned: Result<Option<String>, Trouble>) -> String {
        match turned {
            Err(Trouble::Message(message)) => message,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_that_ends_is_walked_to_its_end() {
        let mut pages = Pages::new(Bounds::of_removal(Some(10)));
        for page in 0..1000 {
            assert_eq!(pages.next_page(u64::from(page < 10), Some(format!("t{page}"))), Ok(Some(format!("t{page}"))));
        }
        assert_eq!(pages.next_page(0, None), Ok(None));
    }

    #[test]
    fn a_repeated_or_missing_token_or_too_many_entries_is_no_end() {
        let mut pages = Pages::new(Bounds::of_removal(Some(3)));
        pages.next_page(1, Some("a".to_owned())).unwrap();
        pages.next_page(1, Some("b".to_owned())).unwrap();
        assert!(
            message(pages.next_page(1, Some("a".to_owned()))).contains("after 3 pages it asks for the same page again")
        );
        for next in [String::new(), "x".repeat(MAX_TOKEN_BYTES + 1)] {
            assert!(message(pages.next_page(0, Some(next))).contains("not how to ask for it"));
        }
        assert!(message(pages.next_page(1, Some("c".to_owned()))).contains("more than can be there"));
    }

    #[test]
    fn entries_are_new_if_they_follow_all_others() {
        let mut new_entries = NewEntries::default();
        let entries = [("a", ""), ("a", ""), ("b", "1"), ("b", "2"), ("b", "1"), ("a", ""), ("c", "1")];
        let new: Vec<bool> = entries.map(|(name, mark)| new_entries.is_new(name, mark)).to_vec();
        assert_eq!(new, [true, false, true, true, false, false, true]);
    }
}

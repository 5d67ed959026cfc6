//! Going through the pages of a list to its end, which a service may say that it has none. All that goes on from page to
//! page does so by `Pages`, which sets the bounds: how much there can be, since when nothing new has come, how long it may
//! take in all, and less of each once the process is asked to stop.

use assay_core::{clock, heartbeat, Fault};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

const SECOND: u64 = 1_000_000_000;
/// Without a word of the user's, nothing new may come for so long.
const PATIENCE_NS: u64 = 60 * SECOND;
/// The same once the process is asked to stop.
const STOPPING_PATIENCE_NS: u64 = 3 * SECOND;
/// What a job that is gone has left is removed for so long; whoever asks for it waits 90 s.
const GONE_NS: u64 = if cfg!(test) { SECOND / 20 } else { 75 * SECOND };
/// Longest text that says how a next page is asked for: keys have 1 KiB, as JSON or in a code a few times that.
pub(crate) const MOST_TOKEN: usize = 16 << 10;
/// Entries of one page: a thousand are asked for.
pub(crate) const MOST_ON_PAGE: usize = 10_000;

/// Why something outside operations went wrong: what the service has said, or what this side says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// As the service, or the way to it, says.
    Fault(Fault),
    /// In words.
    Words(String),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Trouble::Fault(fault)
    }
}

/// Bounds of a walk through pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Entries that there can be at most: more are made up.
    pub(crate) entries: u64,
    /// Longest time for all of it, in nanoseconds.
    pub(crate) ns: u64,
}

impl Bounds {
    /// Of a removal, where so many entries can be; none: it is not known, as the job is gone that made them.
    pub(crate) fn of_removal(entries: Option<u64>) -> Self {
        let ns = if entries.is_some() { heartbeat::REMOVAL_LIMIT_NS } else { GONE_NS };
        Bounds { entries: entries.unwrap_or(u64::MAX), ns }
    }

    /// Of a list that is as long as somebody else has made it.
    pub(crate) fn of_others() -> Self {
        Bounds { entries: 1_000_000_000, ns: 6 * heartbeat::REMOVAL_LIMIT_NS }
    }
}

/// A walk through the pages of a list.
#[derive(Debug)]
pub(crate) struct Pages {
    bounds: Bounds,
    begin: u64,
    /// When something new came last.
    new_at: u64,
    /// How each page was asked for.
    asked: HashSet<u64>,
    new: u64,
    count: u64,
}

impl Pages {
    pub(crate) fn new(bounds: Bounds) -> Self {
        let now = clock::now();
        Pages { bounds, begin: now, new_at: now, asked: HashSet::new(), new: 0, count: 0 }
    }

    /// A page has come that had so many new entries, and says how the next one is asked for, which is handed back; none
    /// if it is the last.
    ///
    /// # Errors
    /// If the service goes on without end.
    pub(crate) fn turn(&mut self, new: u64, next: Option<String>) -> Result<Option<String>, Trouble> {
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
        if next.is_empty() || next.len() > MOST_TOKEN {
            return self.refuse("says that there is more, and not how to ask for it");
        }
        if !self.asked.insert(hasher.finish()) {
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
        Err(Trouble::Words(format!("the service's list has no end: after {} pages it {why}", self.count)))
    }
}

/// Tells which entries of a list in order are new, without keeping them.
#[derive(Debug, Default)]
pub(crate) struct Newest {
    name: String,
    /// Others of the same name: versions, uploads.
    same: HashSet<String>,
}

impl Newest {
    /// Whether an entry comes behind all before; those of one name are told apart by `mark`.
    pub(crate) fn is_new(&mut self, name: &str, mark: &str) -> bool {
        if name > self.name.as_str() {
            name.clone_into(&mut self.name);
            self.same.clear();
        }
        name == self.name && self.same.len() < MOST_ON_PAGE * 100 && self.same.insert(mark.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(turned: Result<Option<String>, Trouble>) -> String {
        match turned {
            Err(Trouble::Words(words)) => words,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_list_that_ends_is_gone_through() {
        let mut pages = Pages::new(Bounds::of_removal(Some(10)));
        for page in 0..1000 {
            assert_eq!(pages.turn(u64::from(page < 10), Some(format!("t{page}"))), Ok(Some(format!("t{page}"))));
        }
        assert_eq!(pages.turn(0, None), Ok(None));
    }

    #[test]
    fn what_asks_for_the_same_or_for_nothing_or_names_too_much_has_no_end() {
        let mut pages = Pages::new(Bounds::of_removal(Some(3)));
        pages.turn(1, Some("a".to_owned())).unwrap();
        pages.turn(1, Some("b".to_owned())).unwrap();
        assert!(words(pages.turn(1, Some("a".to_owned()))).contains("after 3 pages it asks for the same page again"));
        for next in [String::new(), "x".repeat(MOST_TOKEN + 1)] {
            assert!(words(pages.turn(0, Some(next))).contains("not how to ask for it"));
        }
        assert!(words(pages.turn(1, Some("c".to_owned()))).contains("more than can be there"));
    }

    #[test]
    fn new_is_what_comes_behind() {
        let mut newest = Newest::default();
        let told = [("a", ""), ("a", ""), ("b", "1"), ("b", "2"), ("b", "1"), ("a", ""), ("c", "1")];
        let new: Vec<bool> = told.map(|(name, mark)| newest.is_new(name, mark)).to_vec();
        assert_eq!(new, [true, false, true, true, false, false, true]);
    }
}

//! How many operations on each file are done, for those that wait for them.

use crate::order::{After, Counts, Need};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Longest wait before a thread looks whether the replay is to stop.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Places at which threads wait; files share them.
const PLACES: usize = 64;

#[derive(Debug, Default)]
struct Done {
    all: AtomicU32,
    changes: AtomicU32,
    opens: AtomicU32,
}

#[derive(Debug, Default)]
struct Place {
    waiting: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Operations that have ended, by file.
#[derive(Debug)]
pub(crate) struct Progress {
    files: Vec<Done>,
    places: Vec<Place>,
}

impl Progress {
    pub(crate) fn new(files: usize) -> Self {
        let files = std::iter::repeat_with(Done::default).take(files).collect();
        Progress { files, places: std::iter::repeat_with(Place::default).take(PLACES).collect() }
    }

    fn is_over(&self, need: &Need) -> bool {
        let done = &self.files[need.file as usize];
        let Counts { all, changes, opens } = need.before;
        // Counts only grow. With `After::All` none behind this operation can have ended.
        let have = |count: &AtomicU32, wanted: u32| count.load(Ordering::SeqCst) >= wanted;
        have(&done.changes, changes)
            && match need.after {
                After::Changes => true,
                After::All => have(&done.all, all),
                After::Opens => have(&done.opens, opens),
            }
    }

    /// Wait for what an operation must follow; false if the replay is to stop.
    pub(crate) fn wait(&self, need: &Need, stop: &AtomicBool) -> bool {
        if self.is_over(need) {
            return true;
        }
        let place = &self.places[need.file as usize % PLACES];
        place.waiting.fetch_add(1, Ordering::SeqCst);
        let mut guard = place.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let over = loop {
            if self.is_over(need) {
                break true;
            }
            if stop.load(Ordering::Relaxed) {
                break false;
            }
            guard = place.changed.wait_timeout(guard, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(guard);
        place.waiting.fetch_sub(1, Ordering::SeqCst);
        over
    }

    /// Count an operation that has ended.
    pub(crate) fn ended(&self, need: &Need) {
        let done = &self.files[need.file as usize];
        if need.opens {
            done.opens.fetch_add(1, Ordering::SeqCst);
        }
        if need.changes {
            done.changes.fetch_add(1, Ordering::SeqCst);
        }
        done.all.fetch_add(1, Ordering::SeqCst);
        let place = &self.places[need.file as usize % PLACES];
        if place.waiting.load(Ordering::SeqCst) > 0 {
            drop(place.lock.lock().unwrap_or_else(PoisonError::into_inner));
            place.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(after: After, (all, changes): (u32, u32), does_change: bool) -> Need {
        Need { file: 0, after, before: Counts { all, changes, opens: 0 }, changes: does_change, opens: false }
    }

    #[test]
    fn a_change_waits_for_all_before_it() {
        let progress = Progress::new(1);
        let stop = AtomicBool::new(false);
        let change = need(After::All, (2, 0), true);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| progress.wait(&change, &stop));
            progress.ended(&need(After::Changes, (0, 0), false));
            progress.ended(&need(After::Changes, (1, 0), false));
            assert!(waits.join().unwrap());
        });
        let user = need(After::Changes, (3, 1), false);
        assert!(!progress.is_over(&user));
        progress.ended(&change);
        assert!(progress.wait(&user, &stop));
    }

    #[test]
    fn a_stop_ends_each_wait() {
        let progress = Progress::new(1);
        assert!(!progress.wait(&need(After::All, (1, 0), true), &AtomicBool::new(true)));
    }
}

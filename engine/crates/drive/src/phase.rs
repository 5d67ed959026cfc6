//! What the lanes of a phase know of each other.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Moments that concern all lanes. Times are monotonic nanoseconds; 0 means not yet.
///
/// A lane looks at `news` after each batch of completions; only when it has changed does it look further.
#[derive(Default)]
pub(crate) struct PhaseShared {
    /// Counts the moments below that have come.
    news: AtomicU32,
    begun: AtomicU32,
    all_begun: AtomicU64,
    first_out: AtomicU64,
    first_end: AtomicU64,
    /// Operations that each lane shall have done in the end, once that is known.
    most: Mutex<Option<u64>>,
    told: Condvar,
}

/// One of the moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Every lane has finished one operation.
    AllBegun = 0,
    /// A lane has no operation left.
    FirstOut = 1,
    /// A lane has ended, flush included.
    FirstEnd = 2,
}

/// All moments, in the order of their numbers.
pub(crate) const MOMENTS: [Moment; 3] = [Moment::AllBegun, Moment::FirstOut, Moment::FirstEnd];

impl PhaseShared {
    fn cell(&self, moment: Moment) -> &AtomicU64 {
        match moment {
            Moment::AllBegun => &self.all_begun,
            Moment::FirstOut => &self.first_out,
            Moment::FirstEnd => &self.first_end,
        }
    }

    /// How many moments have come.
    #[inline]
    pub(crate) fn news(&self) -> u32 {
        self.news.load(Ordering::Relaxed)
    }

    /// When the moment came; none if it has not.
    pub(crate) fn time(&self, moment: Moment) -> Option<u64> {
        Some(self.cell(moment).load(Ordering::Acquire)).filter(|time| *time > 0)
    }

    /// The moment has come, unless it had come before.
    pub(crate) fn announce(&self, moment: Moment, now: u64) {
        let set = self.cell(moment).compare_exchange(0, now, Ordering::AcqRel, Ordering::Relaxed);
        if set.is_ok() {
            self.news.fetch_add(1, Ordering::Release);
        }
    }

    /// Tells the lanes how many operations each shall have done in the end.
    pub(crate) fn tell_most(&self, most: u64) {
        *self.most.lock().expect("nobody panics with it") = Some(most);
        self.told.notify_all();
    }

    /// Waits until that is known, or this long.
    pub(crate) fn wait_for_most(&self, patience: Duration) -> Option<u64> {
        let guard = self.most.lock().expect("nobody panics with it");
        let (most, _) =
            self.told.wait_timeout_while(guard, patience, |most| most.is_none()).expect("nobody panics with it");
        *most
    }

    /// A lane has finished its first operation.
    pub(crate) fn lane_begun(&self, lanes: u32, now: u64) {
        if self.begun.fetch_add(1, Ordering::AcqRel) + 1 == lanes {
            self.announce(Moment::AllBegun, now);
        }
    }
}

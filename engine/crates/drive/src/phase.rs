//! State that the lanes of a phase share.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Moments that concern all lanes, in monotonic nanoseconds; 0 if they have not come.
///
/// A lane reads `moment_count` after each batch of completions, and the moments only if that has changed.
#[derive(Default)]
pub(crate) struct PhaseShared {
    /// Number of the moments below that have come.
    moment_count: AtomicU32,
    begun: AtomicU32,
    all_begun: AtomicU64,
    first_out: AtomicU64,
    first_end: AtomicU64,
    /// Operations that each lane is to have done in the end, once that is known.
    most: Mutex<Option<u64>>,
    max_is_set: Condvar,
}

/// A moment that concerns all lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Every lane has finished one operation.
    AllBegun = 0,
    /// A lane has no operation left.
    FirstOut = 1,
    /// A lane has ended, including its flush.
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

    /// Number of moments that have come.
    #[inline]
    pub(crate) fn moment_count(&self) -> u32 {
        self.moment_count.load(Ordering::Relaxed)
    }

    /// When the moment came; None if it has not.
    pub(crate) fn time(&self, moment: Moment) -> Option<u64> {
        Some(self.cell(moment).load(Ordering::Acquire)).filter(|time| *time > 0)
    }

    /// Note that the moment has come, unless it had come before.
    pub(crate) fn announce(&self, moment: Moment, now: u64) {
        let set = self.cell(moment).compare_exchange(0, now, Ordering::AcqRel, Ordering::Relaxed);
        if set.is_ok() {
            self.moment_count.fetch_add(1, Ordering::Release);
        }
    }

    /// Set the number of operations that each lane is to have done in the end.
    pub(crate) fn set_most(&self, most: u64) {
        *self.most.lock().expect("nobody panics with it") = Some(most);
        self.max_is_set.notify_all();
    }

    /// Wait until that number is known, at most this long.
    pub(crate) fn wait_for_most(&self, patience: Duration) -> Option<u64> {
        let guard = self.most.lock().expect("nobody panics with it");
        let (most, _) =
            self.max_is_set.wait_timeout_while(guard, patience, |most| most.is_none()).expect("nobody panics with it");
        *most
    }

    /// Note that a lane has finished its first operation.
    pub(crate) fn lane_begun(&self, lanes: u32, now: u64) {
        if self.begun.fetch_add(1, Ordering::AcqRel) + 1 == lanes {
            self.announce(Moment::AllBegun, now);
        }
    }
}

//! Notices when this process did not run: a thread wakes on a grid of time and notes how late it was.
//!
//! Source of the method: Gil Tene, jHiccup. A thread that does nothing else is late when the process was stopped, when
//! the hypervisor ran another machine, or when all CPUs that it may use were busy; storage never makes it late.

use crate::histogram::{Histogram, Merged};
use crate::placement;
use crate::resources::{self, RunDelay};
use assay_core::clock;
use assay_spec::{Tuning, Watch};
use rustix::thread::{clock_nanosleep_absolute, ClockId};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Distance of the grid's points. Waking takes a CPU some 15 microseconds in a virtual machine, and what it interrupts
/// may lose far more: a lane that is spinning for its turn to write to a shared file then goes to sleep. With all CPUs
/// busy, points 5 ms apart made reading and writing 3 to 10 % slower, these 1 %.
const INTERVAL_NS: u64 = 20_000_000;
/// The thread needs little stack.
const STACK_BYTES: usize = 64 << 10;
/// The end of a phase that has not ended.
const OPEN: u64 = u64::MAX;

/// The observations so far. Moments are monotonic nanoseconds.
struct Tally {
    start: u64,
    /// The next point of the grid.
    due: u64,
    /// When the thread last ran.
    last_run: u64,
    lateness: Histogram,
    stalls: u64,
    stalled_ns: u64,
    longest_ns: u64,
    /// Time of the stalls in which the thread was not waiting for a CPU; None once that is unknown.
    away_ns: Option<u64>,
}

impl Tally {
    fn new(start: u64) -> Self {
        Tally {
            start,
            due: start.saturating_add(INTERVAL_NS),
            last_run: start,
            lateness: Histogram::default(),
            stalls: 0,
            stalled_ns: 0,
            longest_ns: 0,
            away_ns: Some(0),
        }
    }

    /// Note that the thread runs at `now`. Each point that has passed counts with its lateness: a request that came at
    /// that point would have waited that long (coordinated omission).
    ///
    /// A stall is a lateness of at least one interval. `waited_ns` is the time that the thread was ready to run without
    /// a CPU since it last ran; None if unknown.
    fn woke(&mut self, now: u64, waited_ns: Option<u64>) {
        // The end may become known late, and be before the last observation.
        self.last_run = self.last_run.max(now);
        let late = now.saturating_sub(self.due);
        if late >= INTERVAL_NS {
            self.stalls += 1;
            self.stalled_ns += late;
            self.longest_ns = self.longest_ns.max(late);
            let away = waited_ns.map(|waited| late.saturating_sub(waited));
            self.away_ns = self.away_ns.zip(away).map(|(sum, more)| sum + more);
        }
        while self.due <= now {
            self.lateness.record(now - self.due);
            self.due += INTERVAL_NS;
        }
    }

    /// The results; None if no point of the grid has come. The thread may have run once more after `end`.
    fn watch(mut self, end: u64, cpu_ns: u64) -> Option<Watch> {
        let mut merged = Merged::default();
        merged.add(&self.lateness.take());
        Some(Watch {
            interval_ns: INTERVAL_NS,
            elapsed_ns: end.max(self.last_run).saturating_sub(self.start),
            lateness: merged.summary()?,
            stalls: self.stalls,
            stalled_ns: self.stalled_ns,
            longest_ns: self.longest_ns,
            away_ns: self.away_ns,
            cpu_ns,
        })
    }
}

/// A thread that watches a phase.
pub(crate) struct Watcher {
    end: Arc<AtomicU64>,
    thread: JoinHandle<Option<(Tally, u64)>>,
}

impl Watcher {
    /// Start it on the CPUs of `lanes` lanes; None if that fails.
    pub(crate) fn start(tuning: &Tuning, lanes: u32, start: u64) -> Option<Self> {
        let end = Arc::new(AtomicU64::new(OPEN));
        let (end_moment, tuning) = (Arc::clone(&end), tuning.clone());
        let thread = std::thread::Builder::new()
            .name("watcher".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                placement::near_lanes(&tuning, lanes).ok()?;
                Some(watch(start, &end_moment))
            })
            .ok()?;
        Some(Watcher { end, thread })
    }

    /// The results until now. Waits until the thread wakes.
    pub(crate) fn finish(self) -> Option<Watch> {
        let end = clock::now();
        self.end.store(end, Ordering::Release);
        let (tally, cpu_ns) = self.thread.join().ok()??;
        tally.watch(end, cpu_ns)
    }
}

/// Watch from `start` until the moment that is stored in `end`; also returns the CPU time of that.
fn watch(start: u64, end: &AtomicU64) -> (Tally, u64) {
    placement::precise_timers();
    let mut tally = Tally::new(start);
    let delay = RunDelay::open();
    let mut waited = delay.as_ref().and_then(RunDelay::read);
    loop {
        if tally.due > end.load(Ordering::Acquire) {
            break;
        }
        // Woken early, it finds nothing due and sleeps again.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &clock::timespec(tally.due));
        let now = clock::now().min(end.load(Ordering::Acquire));
        let before = std::mem::replace(&mut waited, delay.as_ref().and_then(RunDelay::read));
        tally.woke(now, waited.zip(before).map(|(to, from)| to.saturating_sub(from)));
    }
    (tally, resources::thread_cpu_ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;
    const START: u64 = 5_000 * MS;

    /// Wakes with these delays, each after the requested time; then the phase ends.
    fn watched(delays: &[u64], waited: Option<u64>) -> (Tally, u64) {
        let mut tally = Tally::new(START);
        let mut now = START;
        for delay in delays {
            now = tally.due + delay;
            tally.woke(now, waited);
        }
        (tally, now)
    }

    #[test]
    fn an_end_that_becomes_known_late_takes_no_time_away() {
        let mut tally = Tally::new(START);
        tally.woke(START + INTERVAL_NS + 1000, None);
        // The thread that ended the phase read the clock before that point, and did not run until the next one.
        let end = START + INTERVAL_NS - 1000;
        tally.woke(end, None);
        let watch = tally.watch(end, 0).unwrap();
        assert_eq!((watch.lateness.count, watch.elapsed_ns), (1, INTERVAL_NS + 1000));
    }

    #[test]
    fn a_stall_shows_up_whole() {
        let (mut delays, stall) = (vec![40_000; 100], 60 * INTERVAL_NS);
        delays[60] = stall;
        let (tally, end) = watched(&delays, Some(0));
        let watch = tally.watch(end, 0).unwrap();
        assert_eq!((watch.stalls, watch.stalled_ns, watch.longest_ns), (1, stall, stall));
        assert_eq!(watch.away_ns, Some(stall));
        assert_eq!(watch.lateness.count, 160);
        // 60 of 160 points are in the stall; a tenth of all, 16 of them, would have waited for 44 intervals or longer.
        assert!(watch.lateness.p90_ns.abs_diff(44 * INTERVAL_NS) < 2 * INTERVAL_NS, "{watch:?}");
        assert!(watch.lateness.max_ns >= stall);
    }

    #[test]
    fn waiting_for_a_cpu_is_not_being_away() {
        const ONE: u64 = INTERVAL_NS;
        let (tally, _) = watched(&[2 * ONE, 10 * ONE], Some(4 * ONE));
        assert_eq!((tally.stalls, tally.stalled_ns, tally.away_ns), (2, 12 * ONE, Some(6 * ONE)));
        let (tally, _) = watched(&[2 * ONE], None);
        assert_eq!((tally.stalled_ns, tally.away_ns), (2 * ONE, None));
    }

    #[test]
    fn what_was_seen_last_belongs_to_the_time() {
        let (tally, end) = watched(&[0; 25], Some(0));
        let watch = tally.watch(end - 2_000, 0).unwrap();
        assert_eq!((watch.lateness.count, watch.elapsed_ns), (25, 25 * INTERVAL_NS));
    }

    #[test]
    fn a_phase_without_a_grid_point_has_no_result() {
        assert!(Tally::new(START).watch(START + INTERVAL_NS - 1, 0).is_none());
    }

    proptest! {
        /// Every point of the grid counts once, and stalls do not overlap.
        #[test]
        fn sums_are_bounded_by_the_time(delays in prop::collection::vec(0..6 * INTERVAL_NS, 1..50)) {
            let (tally, end) = watched(&delays, Some(MS));
            let watch = tally.watch(end, 0).unwrap();
            prop_assert_eq!(watch.lateness.count, watch.elapsed_ns / INTERVAL_NS);
            prop_assert!(watch.stalled_ns <= watch.elapsed_ns);
            prop_assert!(watch.longest_ns <= watch.stalled_ns);
            prop_assert!(watch.stalls * INTERVAL_NS <= watch.stalled_ns);
            prop_assert!(watch.away_ns.unwrap() <= watch.stalled_ns);
        }
    }

    #[test]
    fn a_real_phase_is_watched() {
        let watcher = Watcher::start(&Tuning::default(), 1, clock::now()).unwrap();
        std::thread::sleep(std::time::Duration::from_nanos(5 * INTERVAL_NS));
        let watch = watcher.finish().unwrap();
        assert_eq!(watch.lateness.count, watch.elapsed_ns / watch.interval_ns);
        assert!(watch.lateness.count >= 4, "{watch:?}");
        assert!(watch.cpu_ns < watch.elapsed_ns);
    }
}

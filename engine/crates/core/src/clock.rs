//! The one clock: CLOCK_MONOTONIC in nanoseconds, read without a system call (vDSO).

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{clock_nanosleep_absolute, ClockId};
use rustix::time::{clock_gettime, ClockId as TimeId, Timespec};

/// What the time stamps are called in the events.
pub const NAME: &str = "CLOCK_MONOTONIC";

/// Below this distance a thread waits by looking at the clock, because the kernel would wake it too late.
const SPIN_NS: u64 = 80_000;

/// Whether threads may wait by looking at the clock: not if they outnumber the CPUs.
static SPIN: AtomicBool = AtomicBool::new(true);

/// Says whether waiting threads may keep a CPU busy for the last microseconds.
pub fn allow_spinning(allowed: bool) {
    SPIN.store(allowed, Ordering::Relaxed);
}

/// Nanoseconds since some fixed moment.
#[inline]
pub fn now() -> u64 {
    nanoseconds(clock_gettime(TimeId::Monotonic))
}

/// Nanoseconds since 1970.
pub fn wall() -> u64 {
    nanoseconds(clock_gettime(TimeId::Realtime))
}

/// A duration or a moment as the kernel takes it.
pub fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Waits until `moment` and returns the time then. Sleeps, and where that is allowed looks at the clock at the end.
pub fn wait_until(moment: u64) -> u64 {
    let early = if SPIN.load(Ordering::Relaxed) { SPIN_NS } else { 0 };
    let mut time = now();
    while time < moment {
        if moment - time > early {
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(moment - early));
        } else {
            std::hint::spin_loop();
        }
        time = now();
    }
    time
}

//! The one clock: CLOCK_MONOTONIC in nanoseconds, read without a system call (vDSO).

use rustix::thread::{clock_nanosleep_absolute, ClockId};
use rustix::time::{clock_gettime, ClockId as TimeId, Timespec};

/// What the time stamps are called in the events.
pub const NAME: &str = "CLOCK_MONOTONIC";

/// Below this distance a thread waits by looking at the clock, because the kernel would wake it too late.
const SPIN_NS: u64 = 80_000;

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

/// Waits until `moment` and returns the time then: sleeping first, looking at the clock at the end.
pub fn wait_until(moment: u64) -> u64 {
    let mut time = now();
    while time < moment {
        if moment - time > SPIN_NS {
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(moment - SPIN_NS));
        } else {
            std::hint::spin_loop();
        }
        time = now();
    }
    time
}

/// Sleeps until `moment`; the kernel may wake the thread a little later.
pub fn sleep_until(moment: u64) {
    while now() < moment {
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(moment));
    }
}

//! The only clock: CLOCK_MONOTONIC in nanoseconds, read without a system call.
//!
//! Lanes read the CPU's time stamp counter, calibrated against CLOCK_MONOTONIC, if the kernel itself uses that counter
//! to keep time; this costs a third of a call of the vDSO. Everything else reads the vDSO.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use rustix::thread::{clock_nanosleep_absolute, ClockId};
use rustix::time::{clock_gettime, ClockId as TimeId, Timespec};

/// A thread that has less than this to wait polls the clock, because the kernel would wake it too late.
const SPIN_NS: u64 = 80_000;

/// Whether threads may wait by polling the clock: not if they outnumber the CPUs.
static SPIN: AtomicBool = AtomicBool::new(true);

/// Set whether waiting threads may keep a CPU busy for the last microseconds.
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

/// A duration or moment in nanoseconds as the kernel's type.
pub fn timespec(ns: u64) -> Timespec {
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Wait until `moment` and return the time then. Sleeps, and where that is allowed polls the clock at the end.
pub fn wait_until(moment: u64) -> u64 {
    Clock::of_kernel().wait_until(moment)
}

/// The source of lanes' time, as text for the result.
pub fn source() -> &'static str {
    match origin() {
        Some(_) => "TSC calibrated against CLOCK_MONOTONIC",
        None => "CLOCK_MONOTONIC",
    }
}

/// The same moment on both clocks.
#[derive(Debug, Clone, Copy)]
struct Pair {
    ticks: u64,
    ns: u64,
}

impl Pair {
    /// Read both clocks several times; return the pair between whose readings the least time passed.
    fn read() -> Self {
        let attempt = || {
            let before = ticks();
            let ns = now();
            let after = ticks();
            (after.wrapping_sub(before), Pair { ticks: before + after.wrapping_sub(before) / 2, ns })
        };
        (0..8).map(|_| attempt()).min_by_key(|(gap, _)| *gap).expect("there were tries").1
    }
}

/// The first pair of this process; None if the counter is not reliable.
fn origin() -> Option<Pair> {
    static ORIGIN: OnceLock<Option<Pair>> = OnceLock::new();
    *ORIGIN.get_or_init(|| counter_is_reliable().then(Pair::read))
}

/// Start the calibration. The earlier in the process's life, the better the rate when lanes start.
pub fn start() {
    let _ = origin();
}

/// True if the kernel uses the counter as its clock source: it stops doing so when the counter drifts between CPUs or
/// stops in sleep.
fn counter_is_reliable() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(target_arch = "x86_64") && std::fs::read_to_string(SOURCE).is_ok_and(|name| name.trim() == "tsc")
}

/// The time stamp counter. It is not ordered against other instructions: it may be read some nanoseconds early or late.
#[cfg(target_arch = "x86_64")]
#[inline]
fn ticks() -> u64 {
    // SAFETY: every x86-64 CPU has the instruction; kernels that forbid it do not keep time by it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn ticks() -> u64 {
    now()
}

/// Shortest time over which to calibrate: its rate is right to about ten parts in a million.
const CALIBRATION_NS: u64 = 2_000_000;
/// A clock that is ahead is corrected over this time.
const SLEW_NS: u64 = 1_000_000_000;
/// A shorter time does not give a better rate than the known one.
const MIN_STRETCH_NS: u64 = 5_000_000;
/// If the counter is off by more, it stopped or was set: it is no longer used.
const TRUST_NS: u64 = 10_000_000;
/// Fraction bits of the rate.
const SHIFT: u32 = 32;

/// A lane's source of time: the machine's clock, or one that only tests move.
pub trait TimeSource {
    /// Nanoseconds since some fixed moment.
    fn now(&self) -> u64;

    /// Wait until `moment` and return the time then, as [`wait_until`] does.
    fn wait_until(&self, moment: u64) -> u64;

    /// Correct this clock by the one it is derived from. Call it about once a second.
    fn adjust(&mut self);
}

/// A lane's clock: nanoseconds of CLOCK_MONOTONIC, by the time stamp counter if that is reliable.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    base: Pair,
    /// When both clocks were last compared.
    compared: Pair,
    /// Nanoseconds per tick, times 2^32; 0 if the counter is not used.
    rate: u64,
}

impl Clock {
    /// A calibrated clock; waits up to 2 ms if the process has only just started.
    pub fn new() -> Self {
        let Some(origin) = origin() else {
            return Self::of_kernel();
        };
        while now() < origin.ns + CALIBRATION_NS {
            std::hint::spin_loop();
        }
        let pair = Pair::read();
        Clock { base: pair, compared: pair, rate: rate(origin, pair) }
    }

    /// CLOCK_MONOTONIC by the vDSO.
    fn of_kernel() -> Self {
        let unused = Pair { ticks: 0, ns: 0 };
        Clock { base: unused, compared: unused, rate: 0 }
    }

    #[inline]
    fn at(&self, ticks: u64) -> u64 {
        // A reading just before `adjust` may be used just after it.
        let passed = ticks.saturating_sub(self.base.ticks);
        self.base.ns + ((u128::from(passed) * u128::from(self.rate)) >> SHIFT) as u64
    }
}

impl TimeSource for Clock {
    /// Nanoseconds on the scale of [`now`].
    #[inline]
    fn now(&self) -> u64 {
        if self.rate == 0 {
            return now();
        }
        self.at(ticks())
    }

    /// Follow CLOCK_MONOTONIC, whose rate NTP changes. Never goes back: a clock that is ahead goes slower for a second.
    /// After a suspend or a jump of the counter, use the kernel's clock.
    fn adjust(&mut self) {
        if self.rate == 0 {
            return;
        }
        let pair = Pair::read();
        let shown = self.at(pair.ticks);
        if pair.ticks < self.compared.ticks || shown.abs_diff(pair.ns) > TRUST_NS {
            *self = Self::of_kernel();
            return;
        }
        if pair.ns - self.compared.ns < MIN_STRETCH_NS {
            return;
        }
        let ahead = shown.saturating_sub(pair.ns);
        let rate = rate(self.compared, pair);
        self.rate = rate - (u128::from(rate) * u128::from(ahead) / u128::from(SLEW_NS)) as u64;
        self.base = Pair { ticks: pair.ticks, ns: pair.ns.max(shown) };
        self.compared = pair;
    }

    /// Wait until `moment` and return the time then.
    fn wait_until(&self, moment: u64) -> u64 {
        let early = if SPIN.load(Ordering::Relaxed) { SPIN_NS } else { 0 };
        let mut time = self.now();
        while time < moment {
            if moment - time > early {
                let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(moment - early));
                let kernel = now();
                if kernel.abs_diff(self.now()) > TRUST_NS {
                    return kernel;
                }
            } else {
                std::hint::spin_loop();
            }
            time = self.now();
        }
        time
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

fn rate(from: Pair, to: Pair) -> u64 {
    let ticks = u128::from(to.ticks.wrapping_sub(from.ticks)).max(1);
    (((u128::from(to.ns - from.ns)) << SHIFT) / ticks) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the counter is used, it must agree with the kernel's clock, read before and after it.
    #[test]
    fn a_lane_clock_is_the_kernels() {
        start();
        let mut clock = Clock::new();
        let mut compared = now();
        for round in 0..200 {
            let before = now();
            let between = clock.now();
            let after = now();
            // The rate is right to 50 parts in a million, however much time a busy machine lets pass.
            let off = 10_000 + (after - compared) / 20_000;
            assert!(between + off >= before && between <= after + off, "{before} {between} {after}");
            if round % 50 == 49 {
                let shown = clock.now();
                clock.adjust();
                compared = after;
                assert!(clock.now() >= shown);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn time_never_runs_backwards() {
        let mut clock = Clock::new();
        let mut last = clock.now();
        for step in 0..100_000 {
            if step % 1000 == 0 {
                clock.adjust();
            }
            let time = clock.now();
            assert!(time >= last, "{last} {time}");
            last = time;
        }
    }
}

//! Signs of life of a job: code that waits for storage first states what it waits for, and a watchdog notices when
//! nothing ends any more. A thread in an uninterruptible system call can neither be stopped nor report that it hangs.

use crate::clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// When something last ended, on the monotonic clock.
static LAST: AtomicU64 = AtomicU64::new(0);
/// Silence that the current activity may take beyond the watchdog's limit, in nanoseconds.
static EXPECTED_SILENCE: AtomicU64 = AtomicU64::new(0);
static DOING: Mutex<String> = Mutex::new(String::new());

/// How long silence is tolerated, in nanoseconds; 0 if not set.
static PATIENCE: AtomicU64 = AtomicU64::new(0);
/// When the process was asked to stop, on the monotonic clock; 0 if it was not.
static STOP: AtomicU64 = AtomicU64::new(0);

/// Set how long silence is tolerated.
pub fn set_patience(patience_ns: u64) {
    PATIENCE.store(patience_ns, Ordering::Relaxed);
}

/// How long silence is tolerated, in nanoseconds; None if not set.
pub fn patience() -> Option<u64> {
    Some(PATIENCE.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
}

/// Ask the process to stop: it still removes what it must, but not for long.
pub fn request_stop() {
    let _ = STOP.compare_exchange(0, clock::now().max(1), Ordering::Relaxed, Ordering::Relaxed);
}

/// Nanoseconds since the process was asked to stop; None if it was not.
pub fn stopping_ns() -> Option<u64> {
    let since = STOP.load(Ordering::Relaxed);
    (since > 0).then(|| clock::now().saturating_sub(since))
}

/// Most time for removals after the process was asked to stop.
pub const STOPPING_LIMIT_NS: u64 = 20_000_000_000;
/// Most time for any removal.
pub const REMOVAL_LIMIT_NS: u64 = 3_600_000_000_000;

/// True if a removal that began at `begin` has taken too long: a faulty server may list ever more entries.
pub fn removal_is_too_long(begin: u64) -> bool {
    let stopping = stopping_ns().is_some_and(|ns| ns > STOPPING_LIMIT_NS);
    stopping || clock::now().saturating_sub(begin) > REMOVAL_LIMIT_NS
}

/// Note that something has ended.
pub fn beat() {
    LAST.store(clock::now(), Ordering::Relaxed);
}

/// Note that an activity begins, which may be silent for `expected_ns` beyond the watchdog's limit.
pub fn begin(what: impl Into<String>, expected_ns: u64) {
    *DOING.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    EXPECTED_SILENCE.store(expected_ns, Ordering::Relaxed);
    beat();
}

/// The current activity, and for how many nanoseconds nothing has ended beyond what was expected.
pub fn silence() -> (String, u64) {
    let quiet = clock::now().saturating_sub(LAST.load(Ordering::Relaxed));
    let doing = DOING.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (doing, quiet.saturating_sub(EXPECTED_SILENCE.load(Ordering::Relaxed)))
}

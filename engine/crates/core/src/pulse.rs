//! Signs of life of a job: whoever waits for storage says before what it waits for, and a watchdog hears when nothing
//! ends any more. A thread in an uninterruptible system call can neither be told to stop nor say so itself.

use crate::clock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// When something ended last, on the monotonic clock.
static LAST: AtomicU64 = AtomicU64::new(0);
/// Silence beyond the watchdog's limit that is to be expected of what goes on, in nanoseconds.
static EXPECTED: AtomicU64 = AtomicU64::new(0);
static DOING: Mutex<String> = Mutex::new(String::new());

/// How long silence is borne, in nanoseconds; 0: nobody has said so.
static PATIENCE: AtomicU64 = AtomicU64::new(0);
/// When the process was asked to stop, on the monotonic clock; 0: it was not.
static STOP: AtomicU64 = AtomicU64::new(0);

/// Silence is borne for so long.
pub fn bear(patience_ns: u64) {
    PATIENCE.store(patience_ns, Ordering::Relaxed);
}

/// How long silence is borne, in nanoseconds, if somebody has said so.
pub fn patience() -> Option<u64> {
    Some(PATIENCE.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
}

/// The process is asked to stop: what still has to be removed is removed, but not for long.
pub fn stop() {
    let _ = STOP.compare_exchange(0, clock::now().max(1), Ordering::Relaxed, Ordering::Relaxed);
}

/// For how many nanoseconds it has been asked to stop; none if it has not.
pub fn stopping() -> Option<u64> {
    let since = STOP.load(Ordering::Relaxed);
    (since > 0).then(|| clock::now().saturating_sub(since))
}

/// Once the process is asked to stop, what it still removes may take so long.
pub const STOPPING_NS: u64 = 20_000_000_000;
/// Longest removal of anything.
pub const REMOVAL_NS: u64 = 3_600_000_000_000;

/// Whether a removal that began then has gone on for too long: whoever is asked has always something more.
pub fn is_too_long(begin: u64) -> bool {
    let stopping = stopping().is_some_and(|ns| ns > STOPPING_NS);
    stopping || clock::now().saturating_sub(begin) > REMOVAL_NS
}

/// Something has ended.
pub fn beat() {
    LAST.store(clock::now(), Ordering::Relaxed);
}

/// Something begins, of which `expected_ns` of silence are no bad sign.
pub fn begin(what: impl Into<String>, expected_ns: u64) {
    *DOING.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    EXPECTED.store(expected_ns, Ordering::Relaxed);
    beat();
}

/// What goes on, and for how long nothing has ended, beyond what is expected; in nanoseconds.
pub fn silence() -> (String, u64) {
    let quiet = clock::now().saturating_sub(LAST.load(Ordering::Relaxed));
    let doing = DOING.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (doing, quiet.saturating_sub(EXPECTED.load(Ordering::Relaxed)))
}

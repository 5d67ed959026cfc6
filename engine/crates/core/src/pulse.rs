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

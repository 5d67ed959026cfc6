//! CPU time of this process's threads that are not part of the engine, such as a service that runs in the same process
//! as the engine that tests it. Such threads report their own time here, so that it can be subtracted from what the
//! engine used.

use std::sync::atomic::{AtomicU64, Ordering};

static CPU_NS: AtomicU64 = AtomicU64::new(0);

/// Add CPU time, in nanoseconds, that such a thread has used.
pub fn add_ns(ns: u64) {
    CPU_NS.fetch_add(ns, Ordering::Relaxed);
}

/// CPU time that all such threads reported, in nanoseconds; None if none did.
pub fn total_ns() -> Option<u64> {
    Some(CPU_NS.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
}

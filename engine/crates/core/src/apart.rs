//! CPU time of threads of this process that do not do the engine's work, such as a service that it asks itself. They tell
//! it themselves; whoever tells what the engine used tells this apart.

use std::sync::atomic::{AtomicU64, Ordering};

static CPU_NS: AtomicU64 = AtomicU64::new(0);

/// Such a thread has used this much more CPU time, in nanoseconds.
pub fn used(ns: u64) {
    CPU_NS.fetch_add(ns, Ordering::Relaxed);
}

/// What all such threads have told, in nanoseconds; none if there never was one.
pub fn cpu_ns() -> Option<u64> {
    Some(CPU_NS.load(Ordering::Relaxed)).filter(|ns| *ns > 0)
}

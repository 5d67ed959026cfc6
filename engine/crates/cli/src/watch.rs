//! What is said when storage does not answer: by a thread of its own, since the one that waits cannot.

use assay_core::pulse;
use std::time::Duration;

/// Silence is noticed this late at most.
const LOOK: Duration = Duration::from_millis(100);

/// Leaves the process at once when nothing has ended for longer than `limit_ns`, after `tell` was given what was going
/// on and for how many seconds; it answers with the exit code. Threads that wait for storage are left to the kernel.
pub(crate) fn leave_when_silent(limit_ns: u64, tell: impl FnOnce(&str, u64) -> i32 + Send + 'static) {
    pulse::beat();
    pulse::bear(limit_ns);
    std::thread::spawn(move || loop {
        std::thread::sleep(LOOK);
        let (doing, quiet) = pulse::silence();
        if quiet > limit_ns {
            let code = tell(&doing, limit_ns / 1_000_000_000);
            // SAFETY: ends the process; no destructor could run while a thread is stuck in the kernel.
            unsafe { libc::_exit(code) };
        }
    });
}

/// One line for people.
pub(crate) fn words(doing: &str, seconds: u64) -> String {
    let what = if doing.is_empty() { "opening".to_owned() } else { doing.to_owned() };
    format!("storage does not answer: {what}: nothing has ended for {seconds} s")
}

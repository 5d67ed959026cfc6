//! The message and exit if storage does not respond: by a separate thread, since the one that waits cannot.

use assay_core::heartbeat;
use std::time::Duration;

/// Silence is noticed this late at most.
const LOOK: Duration = Duration::from_millis(100);

/// Exit the process at once when nothing has ended for longer than `limit_ns`, after calling `on_silence` with the
/// current activity and the number of seconds; it returns the exit code. Threads that wait for storage are left to the
/// kernel.
pub(crate) fn exit_when_silent(limit_ns: u64, on_silence: impl FnOnce(&str, u64) -> i32 + Send + 'static) {
    heartbeat::beat();
    heartbeat::set_patience(limit_ns);
    std::thread::spawn(move || loop {
        std::thread::sleep(LOOK);
        let (doing, quiet) = heartbeat::silence();
        if quiet > limit_ns {
            let code = on_silence(&doing, limit_ns / 1_000_000_000);
            // SAFETY: ends the process; no destructor could run while a thread is stuck in the kernel.
            unsafe { libc::_exit(code) };
        }
    });
}

/// One line for users.
pub(crate) fn silence_message(doing: &str, seconds: u64) -> String {
    let what = if doing.is_empty() { "opening".to_owned() } else { doing.to_owned() };
    format!("storage does not answer: {what}: nothing has ended for {seconds} s")
}

//! The control channel: lines on standard input, and signals.

use assay_drive::StopFlag;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::sync::Arc;

static SIGNALLED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    SIGNALLED.store(true, Ordering::Relaxed);
}

/// What comes from outside while a job runs.
pub(crate) struct Control {
    pub(crate) stop: StopFlag,
    go: Receiver<()>,
}

impl Control {
    /// Listens to SIGINT and SIGTERM, and with `attached` to standard input.
    pub(crate) fn listen(attached: bool) -> Self {
        let stop: StopFlag = Arc::new(AtomicBool::new(false));
        let (sender, go) = channel();
        if attached {
            let flag = Arc::clone(&stop);
            std::thread::spawn(move || {
                for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                    let word: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
                    if word["stop"] == true {
                        break;
                    }
                    if word["go"] == true {
                        let _ = sender.send(());
                    } else {
                        eprintln!("warning: control line not understood: {line}");
                    }
                }
                // A stop line or the end of the input: in both cases nobody waits for more.
                flag.store(true, Ordering::Relaxed);
            });
        } else {
            drop(sender);
        }
        Self::catch_signals(Arc::clone(&stop));
        Control { stop, go }
    }

    fn catch_signals(stop: StopFlag) {
        let handler = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
            unsafe { libc::signal(signal, handler) };
        }
        // A file beyond the process's size limit shall be a failed operation (EFBIG), not the end.
        // SAFETY: ignoring a signal installs no code.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        std::thread::spawn(move || loop {
            std::thread::sleep(std::time::Duration::from_millis(50));
            if SIGNALLED.load(Ordering::Relaxed) {
                stop.store(true, Ordering::Relaxed);
            }
        });
    }

    /// Waits for `go`; false if the job is to stop instead.
    pub(crate) fn wait_for_go(&self) -> bool {
        while !self.stop.load(Ordering::Relaxed) {
            match self.go.recv_timeout(std::time::Duration::from_millis(50)) {
                Ok(()) => return true,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return false,
            }
        }
        false
    }
}

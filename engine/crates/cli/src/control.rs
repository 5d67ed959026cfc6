//! The control channel: lines on standard input, and signals.

use crate::run::LineQueue;
use assay_core::{clock, pulse};
use assay_drive::StopFlag;
use assay_spec::{Event, Job, Pong};
use serde_json::Value;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::Duration;

static SIGNALLED: AtomicBool = AtomicBool::new(false);
/// Signals, and a controller that is gone, are noticed this late at most.
const LOOK: Duration = Duration::from_millis(50);

extern "C" fn on_signal(_: libc::c_int) {
    SIGNALLED.store(true, Ordering::Relaxed);
}

/// What comes from outside while a job runs.
pub(crate) struct Control {
    pub(crate) stop: StopFlag,
    /// When to go on, on the monotonic clock; 0: at once.
    go: Receiver<u64>,
}

/// What the thread that reads standard input works with.
struct Reader {
    stop: StopFlag,
    go: Sender<u64>,
    /// When the last line came.
    heard: Arc<AtomicU64>,
    answers: LineQueue,
}

impl Control {
    /// Listens to SIGINT and SIGTERM, and with `attached` to standard input. Pings are answered in `answers`.
    pub(crate) fn listen(attached: bool, job: &Job, answers: LineQueue) -> Self {
        let stop: StopFlag = Arc::new(AtomicBool::new(false));
        let heard = Arc::new(AtomicU64::new(clock::now()));
        let (sender, go) = channel();
        if attached {
            let reader = Reader { stop: Arc::clone(&stop), go: sender, heard: Arc::clone(&heard), answers };
            std::thread::spawn(move || reader.read());
        }
        catch_signals();
        let (flag, lease) = (Arc::clone(&stop), job.lease_ns.filter(|_| attached).unwrap_or(u64::MAX));
        std::thread::spawn(move || loop {
            std::thread::sleep(LOOK);
            let silent = clock::now().saturating_sub(heard.load(Ordering::Relaxed));
            if SIGNALLED.load(Ordering::Relaxed) || silent > lease {
                flag.store(true, Ordering::Relaxed);
            }
        });
        Control { stop, go }
    }

    /// Waits for `go`, which says when; none if the job is to stop instead.
    pub(crate) fn wait_for_go(&self) -> Option<u64> {
        while !self.stop.load(Ordering::Relaxed) {
            pulse::beat();
            match self.go.recv_timeout(LOOK) {
                Ok(at) => return Some(at),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }
}

impl Reader {
    /// Until a stop line or the end of the input: in both cases nobody waits for more.
    fn read(self) {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            self.heard.store(clock::now(), Ordering::Relaxed);
            let word: Value = serde_json::from_str(&line).unwrap_or_default();
            if word["stop"] == true {
                break;
            }
            if !self.obey(&word) {
                eprintln!("warning: control line not understood: {line}");
            }
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the line was understood.
    fn obey(&self, word: &Value) -> bool {
        if word["go"] == true {
            let _ = self.go.send(word["at_ns"].as_u64().unwrap_or(0));
            return true;
        }
        let Some(ping) = word["ping"].as_u64() else { return false };
        let answer = Event::Pong(Pong { ping, at_ns: clock::now() });
        // A reader that is so slow gets no answer; stopping must still be possible.
        let _ = serde_json::to_string(&answer).map(|line| self.answers.try_send(Some(line)));
        true
    }
}

fn catch_signals() {
    let handler = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        unsafe { libc::signal(signal, handler) };
    }
    // A file beyond the process's size limit shall be a failed operation (EFBIG), not the end.
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

//! The control channel: lines on standard input, and signals.

use crate::run::LineQueue;
use assay_core::{clock, heartbeat};
use assay_drive::control::{next_line, parse_command, Command, Go};
use assay_drive::StopFlag;
use assay_spec::{Event, Job, Pong};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::Arc;
use std::time::Duration;

static SIGNALLED: AtomicBool = AtomicBool::new(false);
/// Most stored `go` commands: more than a job has barriers.
const MAX_GOES: usize = 320;
/// Most invalid lines to warn about.
const MAX_WARNINGS: u32 = 10;
/// Signals, and a controller that is gone, are noticed this late at most.
const LOOK: Duration = Duration::from_millis(50);

extern "C" fn on_signal(_: libc::c_int) {
    SIGNALLED.store(true, Ordering::Relaxed);
}

/// The commands and signals to a running job.
pub(crate) struct Control {
    pub(crate) stop: StopFlag,
    /// When to continue, and for how many operations.
    go: Receiver<Go>,
}

/// State of the thread that reads standard input.
struct Reader {
    stop: StopFlag,
    go: SyncSender<Go>,
    /// Time of the last line, in monotonic nanoseconds.
    last_line_ns: Arc<AtomicU64>,
    answers: LineQueue,
}

impl Control {
    /// Handle SIGINT and SIGTERM, and with `attached` standard input. Pings are answered in `answers`.
    pub(crate) fn start(attached: bool, job: &Job, answers: LineQueue) -> Self {
        let stop: StopFlag = Arc::new(AtomicBool::new(false));
        let last_line_ns = Arc::new(AtomicU64::new(clock::now()));
        let (sender, go) = sync_channel(MAX_GOES);
        if attached {
            let reader =
                Reader { stop: Arc::clone(&stop), go: sender, last_line_ns: Arc::clone(&last_line_ns), answers };
            std::thread::spawn(move || reader.read());
        }
        catch_signals();
        let (flag, lease) = (Arc::clone(&stop), job.lease_ns.filter(|_| attached).unwrap_or(u64::MAX));
        std::thread::spawn(move || loop {
            std::thread::sleep(LOOK);
            let silent = clock::now().saturating_sub(last_line_ns.load(Ordering::Relaxed));
            if SIGNALLED.load(Ordering::Relaxed) || silent > lease {
                flag.store(true, Ordering::Relaxed);
            }
            if flag.load(Ordering::Relaxed) {
                heartbeat::request_stop();
            }
        });
        Control { stop, go }
    }

    /// Wait for `go`; returns when to continue, None if the job is to stop instead.
    pub(crate) fn wait_for_go(&self) -> Option<Go> {
        while !self.stop.load(Ordering::Relaxed) {
            heartbeat::beat();
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
    /// Read until a stop line or the end of the input, after which nothing waits for more.
    fn read(self) {
        let (mut input, mut line, mut warnings) = (std::io::stdin().lock(), Vec::new(), 0);
        while let Ok(Some(whole)) = next_line(&mut input, &mut line) {
            let now = clock::now();
            self.last_line_ns.store(now, Ordering::Relaxed);
            match parse_command(&line, now).filter(|_| whole) {
                Some(Command::Stop) => break,
                Some(command) if self.apply(&command) => {}
                _ if warnings < MAX_WARNINGS => {
                    warnings += 1;
                    let shown: String = String::from_utf8_lossy(&line).chars().take(200).collect();
                    stderr_line!("warning: control line not understood: {}", shown.escape_debug());
                }
                _ => {}
            }
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Apply a command; false if it cannot be.
    fn apply(&self, command: &Command) -> bool {
        match *command {
            Command::Go(go) => return self.go.try_send(go).is_ok(),
            Command::Stop => self.stop.store(true, Ordering::Relaxed),
            Command::Ping(ping) => {
                let answer = Event::Pong(Pong { ping, at_ns: clock::now() });
                // A reader that is too slow gets no answer; stopping must still be possible.
                let _ = serde_json::to_string(&answer).map(|line| self.answers.try_send(Some(line)));
            }
        }
        true
    }
}

/// Returns whether a signal has requested to stop; from now on no signal ends the process at once.
pub(crate) fn signalled() -> impl Fn() -> bool {
    catch_signals();
    || SIGNALLED.load(Ordering::Relaxed)
}

fn catch_signals() {
    let handler = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: the handler only stores to an atomic, which is async-signal-safe.
        unsafe { libc::signal(signal, handler) };
    }
    // A file beyond the process's size limit must be a failed operation (EFBIG), not the end of the process.
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

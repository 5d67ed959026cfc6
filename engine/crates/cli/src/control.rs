//! The control channel: lines on standard input, and signals.

use crate::run::LineQueue;
use assay_core::{clock, pulse};
use assay_drive::control::{next_line, word, Go, Word};
use assay_drive::StopFlag;
use assay_spec::{Event, Job, Pong};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::Arc;
use std::time::Duration;

static SIGNALLED: AtomicBool = AtomicBool::new(false);
/// More words to go on than a job has barriers are not kept.
const MOST_GOES: usize = 320;
/// So many lines that are not understood are told of.
const MOST_WARNINGS: u32 = 10;
/// Signals, and a controller that is gone, are noticed this late at most.
const LOOK: Duration = Duration::from_millis(50);

extern "C" fn on_signal(_: libc::c_int) {
    SIGNALLED.store(true, Ordering::Relaxed);
}

/// What comes from outside while a job runs.
pub(crate) struct Control {
    pub(crate) stop: StopFlag,
    /// When to go on, and how far.
    go: Receiver<Go>,
}

/// What the thread that reads standard input works with.
struct Reader {
    stop: StopFlag,
    go: SyncSender<Go>,
    /// When the last line came.
    heard: Arc<AtomicU64>,
    answers: LineQueue,
}

impl Control {
    /// Listens to SIGINT and SIGTERM, and with `attached` to standard input. Pings are answered in `answers`.
    pub(crate) fn listen(attached: bool, job: &Job, answers: LineQueue) -> Self {
        let stop: StopFlag = Arc::new(AtomicBool::new(false));
        let heard = Arc::new(AtomicU64::new(clock::now()));
        let (sender, go) = sync_channel(MOST_GOES);
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
            if flag.load(Ordering::Relaxed) {
                pulse::stop();
            }
        });
        Control { stop, go }
    }

    /// Waits for `go`, which says when; none if the job is to stop instead.
    pub(crate) fn wait_for_go(&self) -> Option<Go> {
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
        let (mut input, mut line, mut warnings) = (std::io::stdin().lock(), Vec::new(), 0);
        while let Ok(Some(whole)) = next_line(&mut input, &mut line) {
            let now = clock::now();
            self.heard.store(now, Ordering::Relaxed);
            match word(&line, now).filter(|_| whole) {
                Some(Word::Stop) => break,
                Some(told) if self.obey(&told) => {}
                _ if warnings < MOST_WARNINGS => {
                    warnings += 1;
                    let shown: String = String::from_utf8_lossy(&line).chars().take(200).collect();
                    tell!("warning: control line not understood: {}", shown.escape_debug());
                }
                _ => {}
            }
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether anything can be done with it.
    fn obey(&self, told: &Word) -> bool {
        match *told {
            Word::Go(go) => return self.go.try_send(go).is_ok(),
            Word::Stop => self.stop.store(true, Ordering::Relaxed),
            Word::Ping(ping) => {
                let answer = Event::Pong(Pong { ping, at_ns: clock::now() });
                // A reader that is so slow gets no answer; stopping must still be possible.
                let _ = serde_json::to_string(&answer).map(|line| self.answers.try_send(Some(line)));
            }
        }
        true
    }
}

/// Whether a signal has asked to stop; from now on none ends the process at once.
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
    // A file beyond the process's size limit shall be a failed operation (EFBIG), not the end.
    // SAFETY: ignoring a signal installs no code.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

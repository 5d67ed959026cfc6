//! One program with all its processes: started, awaited, counted.

use crate::guard::{self, Guard};
use crate::observe::Observer;
use assay_core::{clock, heartbeat};
use assay_spec::{ProcessIo, TaskStates};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::io::{PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// How often to look whether the job is to stop, or the task's time is over.
const LOOK_MS: i32 = 50;
/// Most pieces of output that are read before the program is looked after again.
const READS_AT_ONCE: u32 = 64;
/// How long to wait for processes that were killed.
const KILL_PATIENCE_NS: u64 = 10_000_000_000;

/// What a program and all its processes used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) max_rss_bytes: u64,
    pub(crate) io: Option<ProcessIo>,
}

/// How a program ended.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ended {
    pub(crate) started: u64,
    pub(crate) elapsed: u64,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Why it counts as failed; None if it does not.
    pub(crate) failure: Option<String>,
    pub(crate) left_running: u32,
    pub(crate) used: Used,
    pub(crate) states: Option<TaskStates>,
    pub(crate) output: Output,
}

/// The beginning and the end of what a program prints.
#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    head: Vec<u8>,
    tail: Vec<u8>,
    most: usize,
    /// Something between the two was dropped.
    was_cut: bool,
}

impl Output {
    fn new(most: usize) -> Self {
        Output { most, ..Output::default() }
    }

    fn take(&mut self, piece: &[u8]) {
        let room = (self.most / 2).saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        self.tail.extend_from_slice(&piece[room..]);
        let most = self.most - self.most / 2;
        if self.tail.len() > 2 * most {
            self.tail.drain(..self.tail.len() - most);
            self.was_cut = true;
        }
    }

    /// The first and the last bytes of it, at most `most`, with a line between them if something is left out.
    pub(crate) fn text(&self, most: usize) -> String {
        let all = [self.head.as_slice(), &self.tail].concat();
        let was_cut = self.was_cut || all.len() > most;
        let first = if was_cut { (most / 2).min(self.head.len()) } else { 0 };
        let last = (most - first).min(all.len() - first);
        let between: &[u8] = if was_cut { b"\n[...]\n" } else { b"" };
        String::from_utf8_lossy(&[&all[..first], between, &all[all.len() - last..]].concat()).into_owned()
    }

    /// The last line that is not empty.
    pub(crate) fn last_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(if self.tail.is_empty() { &self.head } else { &self.tail });
        // Binary output says nothing to a reader.
        let is_text = |line: &&str| !line.is_empty() && !line.contains(['\u{fffd}', '\0']);
        let line = text.lines().rev().map(str::trim).find(is_text)?;
        Some(line.chars().take(300).collect())
    }
}

/// Let this process inherit the children of its descendants that end before them, so that they count, too.
pub(crate) fn adopt_orphans() {
    // SAFETY: prctl with these arguments touches no memory.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

/// Run in a session of its own, as a program that was started from a terminal would be.
fn as_a_program(command: &mut Command, guard: RawFd, lane: u32) {
    let prepare = move || {
        // SAFETY: these calls are async-signal-safe and touch no memory but the number on the stack.
        unsafe {
            libc::setsid();
            // The guard must know the group before the program can do anything.
            let group = guard::note(lane, libc::getpid());
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            libc::write(guard, group.as_ptr().cast(), group.len());
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            // The slack of timers that a lane has set would be inherited.
            libc::prctl(libc::PR_SET_TIMERSLACK, 50_000, 0, 0, 0);
        }
        Ok(())
    };
    // SAFETY: the closure calls only async-signal-safe functions.
    unsafe { command.pre_exec(prepare) };
}

/// Run a program until it ends, or kill it when its time is over or the job is to stop.
pub(crate) fn run(
    command: &mut Command,
    lane: u32,
    limit_ns: Option<u64>,
    keep: usize,
    guard: &Guard,
    observer: &Observer,
) -> Ended {
    let started = clock::now();
    let failed = |why: String| Ended { started, failure: Some(why), ..Ended::default() };
    let (reader, child) = match start(command, guard, lane) {
        Ok(started) => started,
        Err(error) => {
            guard.end(lane);
            return failed(format!("{} cannot be started: {error}", command.get_program().to_string_lossy()));
        }
    };
    let pid = child.id() as libc::pid_t;
    observer.begin(pid);
    let mut task = Running { pid, reader, output: Output::new(keep), limit_ns, started, killed: None };
    let ended = task.wait();
    let states = observer.end(pid);
    let mut used = Used { io: read_io(pid), ..Used::default() };
    let outcome = reap(pid, &mut used);
    let left_running = end_group(pid, &mut used);
    guard.end(lane);
    task.drain();
    drop(child);
    let (exit_code, signal) = (libc::WIFEXITED(outcome), libc::WIFSIGNALED(outcome));
    let mut end = Ended {
        started,
        elapsed: ended.saturating_sub(started),
        exit_code: exit_code.then(|| libc::WEXITSTATUS(outcome)),
        signal: signal.then(|| libc::WTERMSIG(outcome)),
        failure: task.killed,
        left_running,
        used,
        states,
        output: task.output,
    };
    if end.failure.is_none() {
        end.failure = failure(&end);
    }
    end
}

fn failure(end: &Ended) -> Option<String> {
    let how = match (end.exit_code, end.signal) {
        (Some(0), _) => return None,
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("killed by signal {}", signal.unwrap_or(0)),
    };
    Some(match end.output.last_line() {
        Some(line) => format!("{how}: {line}"),
        None => how,
    })
}

fn start(command: &mut Command, guard: &Guard, lane: u32) -> std::io::Result<(PipeReader, Child)> {
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    as_a_program(command, guard.descriptor(), lane);
    let child = command.spawn();
    // Otherwise this process keeps the pipe open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: fcntl on a descriptor that is open.
    unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    Ok((reader, child?))
}

struct Running {
    pid: libc::pid_t,
    reader: PipeReader,
    output: Output,
    limit_ns: Option<u64>,
    started: u64,
    /// Why it was killed.
    killed: Option<String>,
}

impl Running {
    /// Wait until the program has ended; returns when.
    fn wait(&mut self) -> u64 {
        let handle: Option<OwnedFd> = Pid::from_raw(self.pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let mut printing = true;
        loop {
            let watched = |fd: i32| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
            // A negative number is ignored.
            let mut fds = [
                watched(handle.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
                watched(if printing { self.reader.as_raw_fd() } else { -1 }),
            ];
            let patience = if handle.is_some() { LOOK_MS } else { 1 };
            // SAFETY: the array has two elements and lives during the call.
            unsafe { libc::poll(fds.as_mut_ptr(), 2, patience) };
            let now = clock::now();
            if self.killed.is_none() {
                // What does not even end when it is killed waits for storage that does not answer.
                heartbeat::beat();
            }
            if has_ended(self.pid) {
                return now;
            }
            if fds[1].revents != 0 {
                printing = self.drain();
            }
            self.kill_if_due(now);
        }
    }

    fn kill_if_due(&mut self, now: u64) {
        if self.killed.is_some() {
            return;
        }
        let over = self.limit_ns.filter(|limit| now.saturating_sub(self.started) > *limit);
        self.killed = match (heartbeat::stopping_ns(), over) {
            (Some(_), _) => Some("stopped from outside".to_owned()),
            (None, Some(limit)) => Some(format!("killed after {} s, its time limit", limit as f64 / 1e9)),
            (None, None) => return,
        };
        // SAFETY: kill takes numbers only; the child leads its own group and was not waited for.
        unsafe { libc::kill(-self.pid, libc::SIGKILL) };
    }

    /// Read what there is, but not for ever from one that prints faster; false at the end of the output.
    fn drain(&mut self) -> bool {
        let mut piece = [0; 16 << 10];
        for _ in 0..READS_AT_ONCE {
            match self.reader.read(&mut piece) {
                Ok(0) => return false,
                Ok(length) => self.output.take(&piece[..length]),
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        }
        true
    }
}

/// Whether a child has ended; it can still be waited for.
fn has_ended(pid: libc::pid_t) -> bool {
    ended(libc::P_PID, pid).is_some()
}

/// A child, among the selected ones, that has ended and can still be waited for.
fn ended(kind: libc::idtype_t, id: libc::pid_t) -> Option<libc::pid_t> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: `info` lives during the call.
    let result = unsafe { libc::waitid(kind, id as libc::id_t, info.as_mut_ptr(), options) };
    // SAFETY: it was zeroed, and waitid fills it or leaves it.
    let pid = unsafe { info.assume_init().si_pid() };
    (result == 0 && pid > 0).then_some(pid)
}

/// Wait for a child that has ended, add what it used, and return its status.
fn reap(pid: libc::pid_t, used: &mut Used) -> i32 {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both live during the call.
    unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    // SAFETY: it was zeroed, and wait4 fills it or leaves it.
    let usage = unsafe { usage.assume_init() };
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    used.user_ns += ns(usage.ru_utime);
    used.system_ns += ns(usage.ru_stime);
    used.max_rss_bytes = used.max_rss_bytes.max(usage.ru_maxrss as u64 * 1024);
    status
}

/// End what a program left of its group, and count it; returns how many processes had to be killed.
fn end_group(group: libc::pid_t, used: &mut Used) -> u32 {
    let begin = clock::now();
    let (mut killed, mut signalled) = (0, false);
    loop {
        while let Some(pid) = ended(libc::P_PGID, group) {
            let io = read_io(pid);
            used.io = used.io.zip(io).map(|(sum, more)| add(sum, more));
            let status = reap(pid, used);
            killed += u32::from(signalled && libc::WIFSIGNALED(status));
        }
        // SAFETY: kill takes numbers only. The group's number stays reserved as long as it has processes.
        signalled = unsafe { libc::kill(-group, libc::SIGKILL) } == 0;
        if !signalled || clock::now().saturating_sub(begin) > KILL_PATIENCE_NS {
            return killed;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        heartbeat::beat();
    }
}

fn add(one: ProcessIo, other: ProcessIo) -> ProcessIo {
    ProcessIo {
        call_read_bytes: one.call_read_bytes + other.call_read_bytes,
        call_write_bytes: one.call_write_bytes + other.call_write_bytes,
        reads: one.reads + other.reads,
        writes: one.writes + other.writes,
        read_bytes: one.read_bytes + other.read_bytes,
        write_bytes: one.write_bytes + other.write_bytes,
    }
}

/// Counts of a process and of all that it has waited for; it may have ended. None if the kernel does not count.
fn read_io(pid: libc::pid_t) -> Option<ProcessIo> {
    parse_io(&std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}

fn parse_io(text: &str) -> Option<ProcessIo> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().parse::<u64>().ok()
    };
    Some(ProcessIo {
        call_read_bytes: value("rchar")?,
        call_write_bytes: value("wchar")?,
        reads: value("syscr")?,
        writes: value("syscw")?,
        read_bytes: value("read_bytes")?,
        write_bytes: value("write_bytes")?.saturating_sub(value("cancelled_write_bytes").unwrap_or(0)),
    })
}

/// Kill the children that are left, such as daemons that tasks started in sessions of their own.
pub(crate) fn kill_leftovers(but: libc::pid_t) {
    let mut used = Used::default();
    for _ in 0..100 {
        while let Some(pid) = ended(libc::P_ALL, 0) {
            reap(pid, &mut used);
        }
        let left: Vec<libc::pid_t> = children().into_iter().filter(|pid| *pid != but).collect();
        if left.is_empty() {
            return;
        }
        for pid in left {
            // SAFETY: kill takes numbers only; a child's number stays reserved until it is waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The children of this process, whichever thread started them.
fn children() -> Vec<libc::pid_t> {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    let of = |path: std::path::PathBuf| std::fs::read_to_string(path.join("children")).unwrap_or_default();
    let listed = threads.flatten().map(|thread| of(thread.path())).collect::<Vec<_>>().join(" ");
    listed.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

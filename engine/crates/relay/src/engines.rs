//! Engine processes: their input, output and exit.

use anyhow::Context;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Bytes of standard error to store, from the end.
const STDERR_BYTES: usize = 8192;
/// A longer line is no engine's line; what was read of it is passed on.
const MAX_LINE_BYTES: usize = 64 << 20;

/// How an engine's exit becomes known, and how it is killed.
enum Life {
    /// A child of this process.
    Child(Child),
    /// A child of another process, which reports the exit code on `link`.
    Remote { link: UnixStream, received: Vec<u8> },
}

/// An engine.
pub struct Engine {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    life: Life,
    to_send: Vec<u8>,
    unfinished: Vec<u8>,
    stderr_bytes: Vec<u8>,
    code: Option<i32>,
}

/// Start `ENGINE run -` with pipes.
///
/// # Errors
/// If it cannot be started.
pub fn spawn(engine: &Path) -> anyhow::Result<Child> {
    Command::new(engine)
        .args(["run", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{}: cannot be started", engine.display()))
}

/// The pipes of a child: standard input, output and error.
///
/// # Errors
/// If one is missing.
pub fn pipes(child: &mut Child) -> anyhow::Result<[OwnedFd; 3]> {
    let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(stderr)) = taken else { anyhow::bail!("the engine has no pipes") };
    Ok([input.into(), output.into(), stderr.into()])
}

impl Engine {
    /// A child of this process.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(engine: &Path) -> anyhow::Result<Self> {
        let mut child = spawn(engine)?;
        let pipes = pipes(&mut child)?;
        Engine::new(pipes, Life::Child(child))
    }

    /// A child of another process, which has passed on the child's pipes.
    ///
    /// # Errors
    /// If a descriptor cannot be made non-blocking.
    pub fn remote(pipes: [OwnedFd; 3], link: UnixStream) -> anyhow::Result<Self> {
        link.set_nonblocking(true)?;
        Engine::new(pipes, Life::Remote { link, received: Vec::new() })
    }

    fn new(pipes: [OwnedFd; 3], life: Life) -> anyhow::Result<Self> {
        for pipe in &pipes {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let [input, output, stderr] = pipes.map(Some);
        let (to_send, unfinished, stderr_bytes) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Engine { input, output, stderr, life, to_send, unfinished, stderr_bytes, code: None })
    }

    /// Descriptors to poll for more output.
    pub fn poll_fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let link = match &self.life {
            Life::Remote { link, .. } if self.code.is_none() => Some(link.as_fd()),
            _ => None,
        };
        let pipes = [&self.output, &self.stderr].into_iter().flatten().map(AsFd::as_fd);
        pipes.chain(link)
    }

    /// Send a line; what the pipe does not take at once follows later.
    pub fn send_line(&mut self, line: &str) {
        if self.input.is_some() {
            self.to_send.extend_from_slice(line.as_bytes());
            self.to_send.push(b'\n');
            self.flush();
        }
    }

    /// Send what is still pending.
    pub fn flush(&mut self) {
        while let (Some(input), false) = (&self.input, self.to_send.is_empty()) {
            match rustix::io::write(input, &self.to_send) {
                Ok(count) => drop(self.to_send.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.hang_up(),
            }
        }
    }

    /// Close the engine's input, upon which it stops by itself.
    pub fn hang_up(&mut self) {
        self.input = None;
        self.to_send.clear();
    }

    /// Send it a signal.
    pub fn signal(&mut self, number: i32) {
        if self.code.is_some() {
            return;
        }
        match &mut self.life {
            Life::Child(child) => kill(child, number),
            Life::Remote { link, .. } => {
                let _ = rustix::io::write(link, format!("{number}\n").as_bytes());
            }
        }
    }

    /// The lines received since the last call.
    pub fn lines(&mut self) -> Vec<String> {
        read_all(&mut self.stderr, &mut self.stderr_bytes);
        let excess = self.stderr_bytes.len().saturating_sub(STDERR_BYTES);
        self.stderr_bytes.drain(..excess);
        read_all(&mut self.output, &mut self.unfinished);
        let end = if self.output.is_none() || self.unfinished.len() > MAX_LINE_BYTES {
            self.unfinished.len()
        } else {
            self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1)
        };
        let rest = self.unfinished.split_off(end);
        let whole = std::mem::replace(&mut self.unfinished, rest);
        String::from_utf8_lossy(&whole).lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    /// The exit code once all output was read, negative for a signal; None before.
    pub fn exit_code(&mut self) -> Option<i32> {
        if self.code.is_none() {
            self.code = match &mut self.life {
                Life::Child(child) => child.try_wait().ok().flatten().map(code_of),
                Life::Remote { link, received } => remote_exit_code(link, received),
            };
        }
        self.code.filter(|_| self.output.is_none())
    }

    /// True if the process has exited, though its output may not have been read.
    pub fn has_exited(&self) -> bool {
        self.code.is_some()
    }

    /// Give up on the rest of its output: another process holds the other end of the pipe.
    pub fn abandon_output(&mut self) {
        self.output = None;
    }

    /// The last non-empty line on standard error; empty if there is none.
    pub fn last_error_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr_bytes).into_owned();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }
}

/// Send a signal to a child that was not waited for; an invalid number does nothing.
pub fn kill(child: &Child, number: i32) {
    if let Some(signal) = rustix::process::Signal::from_named_raw(number) {
        let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
    }
}

/// Exit code, or the negative number of the signal.
pub fn code_of(status: std::process::ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(1))
}

/// Read what is available; the pipe is closed at its end.
fn read_all(pipe: &mut Option<OwnedFd>, into: &mut Vec<u8>) {
    let mut piece = [0; 16384];
    while let Some(open) = pipe {
        match rustix::io::read(open, &mut piece) {
            Ok(0) => *pipe = None,
            Ok(count) => into.extend_from_slice(&piece[..count]),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return,
            Err(_) => *pipe = None,
        }
    }
}

/// The exit code that the engine's parent process reported; -9 if that process is gone itself.
fn remote_exit_code(link: &UnixStream, received: &mut Vec<u8>) -> Option<i32> {
    let mut piece = [0; 64];
    loop {
        match rustix::io::read(link, &mut piece) {
            Ok(0) => return Some(-9),
            Ok(count) => received.extend_from_slice(&piece[..count]),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => {}
            Err(_) => return Some(-9),
        }
        let word = received.strip_suffix(b"\n").map(String::from_utf8_lossy);
        if let Some(word) = word {
            return Some(word.parse().unwrap_or(-9));
        }
        if received.len() < 64 {
            return None;
        }
    }
}

//! Engines as processes: lines in, lines out, and how they end.

use anyhow::Context;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Of standard error so much is kept, from the end.
const KEPT: usize = 8192;
/// A line that is longer is none of an engine's; what has been read of it is passed on.
const MOST_LINE: usize = 64 << 20;

/// What tells how an engine has ended, and can end it.
enum Life {
    /// It is a child of this process.
    Child(Child),
    /// Another process has it as a child, and says so here.
    Afar { link: UnixStream, said: Vec<u8> },
}

/// An engine.
pub struct Engine {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    complaints: Option<OwnedFd>,
    life: Life,
    to_send: Vec<u8>,
    unfinished: Vec<u8>,
    complained: Vec<u8>,
    code: Option<i32>,
}

/// Starts `ENGINE run -` with pipes.
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

/// The pipes of a child: input, output, complaints.
///
/// # Errors
/// If it has not all of them.
pub fn pipes(child: &mut Child) -> anyhow::Result<[OwnedFd; 3]> {
    let taken = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(complaints)) = taken else { anyhow::bail!("the engine has no pipes") };
    Ok([input.into(), output.into(), complaints.into()])
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

    /// A child of another process, which has handed over its pipes.
    ///
    /// # Errors
    /// If the system does not let it.
    pub fn afar(pipes: [OwnedFd; 3], link: UnixStream) -> anyhow::Result<Self> {
        link.set_nonblocking(true)?;
        Engine::new(pipes, Life::Afar { link, said: Vec::new() })
    }

    fn new(pipes: [OwnedFd; 3], life: Life) -> anyhow::Result<Self> {
        for pipe in &pipes {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let [input, output, complaints] = pipes.map(Some);
        let (to_send, unfinished, complained) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Engine { input, output, complaints, life, to_send, unfinished, complained, code: None })
    }

    /// What to wait for until there is more of it.
    pub fn waits_at(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let link = match &self.life {
            Life::Afar { link, .. } if self.code.is_none() => Some(link.as_fd()),
            _ => None,
        };
        let pipes = [&self.output, &self.complaints].into_iter().flatten().map(AsFd::as_fd);
        pipes.chain(link)
    }

    /// Says a line; what the pipe does not take at once follows later.
    pub fn say(&mut self, line: &str) {
        if self.input.is_some() {
            self.to_send.extend_from_slice(line.as_bytes());
            self.to_send.push(b'\n');
            self.send();
        }
    }

    /// Goes on with what was said.
    pub fn send(&mut self) {
        while let (Some(input), false) = (&self.input, self.to_send.is_empty()) {
            match rustix::io::write(input, &self.to_send) {
                Ok(count) => drop(self.to_send.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.hang_up(),
            }
        }
    }

    /// The engine sees the end of its input: it stops by itself.
    pub fn hang_up(&mut self) {
        self.input = None;
        self.to_send.clear();
    }

    /// Sends it a signal.
    pub fn signal(&mut self, number: i32) {
        if self.code.is_some() {
            return;
        }
        match &mut self.life {
            Life::Child(child) => kill(child, number),
            Life::Afar { link, .. } => {
                let _ = rustix::io::write(link, format!("{number}\n").as_bytes());
            }
        }
    }

    /// The lines it has said since the last time.
    pub fn lines(&mut self) -> Vec<String> {
        read_all(&mut self.complaints, &mut self.complained);
        let excess = self.complained.len().saturating_sub(KEPT);
        self.complained.drain(..excess);
        read_all(&mut self.output, &mut self.unfinished);
        let end = if self.output.is_none() || self.unfinished.len() > MOST_LINE {
            self.unfinished.len()
        } else {
            self.unfinished.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place + 1)
        };
        let rest = self.unfinished.split_off(end);
        let whole = std::mem::replace(&mut self.unfinished, rest);
        String::from_utf8_lossy(&whole).lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    /// How it has ended, when nothing more will come of it: exit code, negative if a signal has killed it.
    pub fn ended(&mut self) -> Option<i32> {
        if self.code.is_none() {
            self.code = match &mut self.life {
                Life::Child(child) => child.try_wait().ok().flatten().map(code_of),
                Life::Afar { link, said } => told(link, said),
            };
        }
        self.code.filter(|_| self.output.is_none())
    }

    /// It is a process that is no more, though what it had to say may not have been read.
    pub fn died(&self) -> bool {
        self.code.is_some()
    }

    /// Gives up on what is left in its pipes: somebody else holds their other ends.
    pub fn give_up(&mut self) {
        self.output = None;
    }

    /// The last line on standard error that says something; empty if there is none.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.complained).into_owned();
        text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
    }
}

/// Sends a child that nobody has waited for a signal; what is none does nothing.
pub fn kill(child: &Child, number: i32) {
    if let Some(signal) = rustix::process::Signal::from_named_raw(number) {
        let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), signal);
    }
}

/// Exit code, or the negative number of the signal.
pub fn code_of(status: std::process::ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| -status.signal().unwrap_or(1))
}

/// Reads what there is; the pipe is given up at its end.
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

/// The exit code that the process which has the engine as a child has told; that of a killed one if it is gone itself.
fn told(link: &UnixStream, said: &mut Vec<u8>) -> Option<i32> {
    let mut piece = [0; 64];
    loop {
        match rustix::io::read(link, &mut piece) {
            Ok(0) => return Some(-9),
            Ok(count) => said.extend_from_slice(&piece[..count]),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => {}
            Err(_) => return Some(-9),
        }
        let word = said.strip_suffix(b"\n").map(String::from_utf8_lossy);
        if let Some(word) = word {
            return Some(word.parse().unwrap_or(-9));
        }
        if said.len() < 64 {
            return None;
        }
    }
}

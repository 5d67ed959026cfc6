//! Commands of the controller: lines of its own pipe, or addressed lines for all processes of a launcher.
//!
//! `srun` gives its input to all processes. `mpirun` gives it to the first one only (Open MPI's `--stdin all` loses it
//! for other processes, MPICH has no such option): there the controller appends to a file on storage that all hosts
//! share. A line is `* COMMAND` or `NODE COMMAND`; a command is a line of JSON as an engine reads it, the job first, or
//! `!N`: send the engines signal N.

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest wait for the file, which storage on several hosts may show late.
const FILE_TIMEOUT: Duration = Duration::from_secs(30);
/// A longer line is no command of ours: a job has at most 4 MiB.
const MAX_LINE_BYTES: usize = 5 << 20;

/// The source of commands.
pub enum Source {
    /// A pipe.
    Pipe(std::io::Stdin),
    /// A growing file: opened anew for each read, so that storage over a network shows what is new.
    GrowingFile {
        /// Its path.
        path: PathBuf,
        /// Bytes read so far.
        read: u64,
        /// Since when it has been missing.
        missed: Option<Instant>,
    },
}

impl Source {
    /// A growing file; nothing is opened yet.
    pub fn growing_file(path: PathBuf) -> Self {
        Source::GrowingFile { path, read: 0, missed: None }
    }

    /// The descriptor to poll for more; None if the source must be read periodically.
    pub fn poll_fds(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Source::Pipe(pipe) => Some(pipe.as_fd()),
            Source::GrowingFile { .. } => None,
        }
    }

    /// Append new bytes to `into`; false at the end.
    ///
    /// # Errors
    /// If it cannot be read, or was missing for too long.
    fn more(&mut self, into: &mut Vec<u8>) -> anyhow::Result<bool> {
        match self {
            Source::Pipe(pipe) => {
                // Other processes may share the pipe, so it must not be made non-blocking.
                if !has_more(pipe.as_fd()) {
                    return Ok(true);
                }
                let mut piece = [0; 16384];
                match rustix::io::read(pipe.as_fd(), &mut piece) {
                    Ok(0) => Ok(false),
                    Ok(count) => {
                        into.extend_from_slice(&piece[..count]);
                        Ok(true)
                    }
                    Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(true),
                    Err(error) => Err(error.into()),
                }
            }
            Source::GrowingFile { path, read, missed } => {
                let mut file = match File::open(&*path) {
                    Ok(file) => file,
                    Err(error)
                        if error.kind() == ErrorKind::NotFound
                            && missed.get_or_insert_with(Instant::now).elapsed() < FILE_TIMEOUT =>
                    {
                        return Ok(true);
                    }
                    Err(error) if error.kind() == ErrorKind::NotFound && *read > 0 => return Ok(false),
                    Err(error) => anyhow::bail!(
                        "{}: {error}: the folder of the run must be on storage that all hosts share",
                        path.display()
                    ),
                };
                *missed = None;
                file.seek(SeekFrom::Start(*read))?;
                *read += file.read_to_end(into)? as u64;
                Ok(true)
            }
        }
    }
}

/// True if a pipe can be read without waiting: it has data, or is at its end.
fn has_more(pipe: BorrowedFd<'_>) -> bool {
    let mut places = [PollFd::from_borrowed_fd(pipe, PollFlags::IN)];
    poll(&mut places, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// A command for this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A line for the engines, as they read it.
    Line(String),
    /// Send the engines a signal.
    Signal(i32),
}

/// The commands for one node.
pub struct Commands {
    source: Source,
    /// Lines are addressed; only those for this node are used.
    node: Option<u32>,
    unfinished: Vec<u8>,
    ended: bool,
}

impl Commands {
    /// The commands of a source; of addressed lines those for `node`.
    pub fn new(source: Source, node: Option<u32>) -> Self {
        Commands { source, node, unfinished: Vec::new(), ended: false }
    }

    /// The descriptor to poll for more.
    pub fn poll_fds(&self) -> Option<BorrowedFd<'_>> {
        self.source.poll_fds().filter(|_| !self.ended)
    }

    /// True if the controller is gone.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Read nothing more.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The commands since the last call.
    ///
    /// # Errors
    /// If the source cannot be read, or a line is too long.
    pub fn take(&mut self) -> anyhow::Result<Vec<Command>> {
        if self.ended {
            return Ok(Vec::new());
        }
        self.ended = !self.source.more(&mut self.unfinished)?;
        let Some(end) = self.unfinished.iter().rposition(|byte| *byte == b'\n') else {
            anyhow::ensure!(
                self.unfinished.len() < MAX_LINE_BYTES,
                "a word of the controller has more than {MAX_LINE_BYTES} bytes"
            );
            return Ok(Vec::new());
        };
        let rest = self.unfinished.split_off(end + 1);
        let whole = String::from_utf8_lossy(&std::mem::replace(&mut self.unfinished, rest)).into_owned();
        Ok(whole.lines().filter_map(|line| self.addressed(line)).collect())
    }

    fn addressed(&self, line: &str) -> Option<Command> {
        let Some(node) = self.node else { return Some(Command::Line(line.to_owned())) };
        let (to, command) = line.split_once(' ')?;
        if to != "*" && to.parse() != Ok(node) {
            return None;
        }
        match command.strip_prefix('!') {
            Some(number) => number.parse().ok().map(Command::Signal),
            None => Some(Command::Line(command.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_node_reads_only_lines_addressed_to_it() {
        let commands = Commands::new(Source::growing_file(PathBuf::new()), Some(12));
        let parsed = |line| commands.addressed(line);
        assert_eq!(parsed("* {\"ping\":1}"), Some(Command::Line("{\"ping\":1}".to_owned())));
        assert_eq!(parsed("12 {\"go\":true}"), Some(Command::Line("{\"go\":true}".to_owned())));
        assert_eq!(parsed("1 {\"go\":true}"), None);
        assert_eq!(parsed("123 x"), None);
        assert_eq!(parsed("12 !15"), Some(Command::Signal(15)));
        assert_eq!(parsed("12 !x"), None);
        assert_eq!(parsed("junk"), None);
    }

    #[test]
    fn a_file_is_read_as_it_grows() {
        let path = std::env::temp_dir().join(format!("assay-words-{}", std::process::id()));
        let mut commands = Commands::new(Source::growing_file(path.clone()), Some(0));
        assert_eq!(commands.take().unwrap(), [], "it may come later");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"* one\n0 tw").unwrap();
        assert_eq!(commands.take().unwrap(), [Command::Line("one".to_owned())]);
        assert_eq!(commands.take().unwrap(), []);
        file.write_all(b"o\n1 not\n* three\n").unwrap();
        assert_eq!(commands.take().unwrap(), [Command::Line("two".to_owned()), Command::Line("three".to_owned())]);
        std::fs::remove_file(&path).unwrap();
        assert!(!commands.ended(), "it may be shown again");
    }
}

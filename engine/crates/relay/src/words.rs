//! What the controller says: lines of its own pipe, or lines for all processes of a launcher, of which some are meant.
//!
//! `srun` gives what it reads to all processes. `mpirun` gives it to the first one only (Open MPI's `--stdin all` loses it
//! for processes beside itself, MPICH has no such option): there the controller appends to a file on storage that all
//! hosts share. A line is `* WORD` or `NODE WORD`; a word is a line of JSON as an engine reads it, the job first, or `!N`:
//! send the engines signal N.

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest wait for the file, which storage on several hosts may show late.
const PATIENCE: Duration = Duration::from_secs(30);
/// A longer line is no word of ours: a job has at most 4 MiB.
const MOST: usize = 5 << 20;

/// Where words come from.
pub enum Source {
    /// A pipe.
    Pipe(std::io::Stdin),
    /// A file that grows: opened anew for each look, so that storage over a network tells what is new.
    Grows {
        /// Where it is.
        path: PathBuf,
        /// How far it was read.
        read: u64,
        /// It was not there at that time.
        missed: Option<Instant>,
    },
}

impl Source {
    /// A file that grows; nothing is opened yet.
    pub fn grows(path: PathBuf) -> Self {
        Source::Grows { path, read: 0, missed: None }
    }

    /// What to wait for until there is more; none if it must be looked for now and then.
    pub fn waits_at(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Source::Pipe(pipe) => Some(pipe.as_fd()),
            Source::Grows { .. } => None,
        }
    }

    /// Appends what is new to `into`; false when nothing will ever come any more.
    ///
    /// # Errors
    /// If it cannot be read, or was not there for long.
    fn more(&mut self, into: &mut Vec<u8>) -> anyhow::Result<bool> {
        match self {
            Source::Pipe(pipe) => {
                // Others may share the pipe, so that it is not made one that never blocks.
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
            Source::Grows { path, read, missed } => {
                let mut file = match File::open(&*path) {
                    Ok(file) => file,
                    Err(error)
                        if error.kind() == ErrorKind::NotFound
                            && missed.get_or_insert_with(Instant::now).elapsed() < PATIENCE =>
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

/// Whether a pipe can be read without waiting: there is something, or its end.
fn has_more(pipe: BorrowedFd<'_>) -> bool {
    let mut places = [PollFd::from_borrowed_fd(pipe, PollFlags::IN)];
    poll(&mut places, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
}

/// A word for this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// For the engines, as they read it.
    Line(String),
    /// Send them a signal.
    Signal(i32),
}

/// Words for one node.
pub struct Words {
    source: Source,
    /// Lines are addressed, and these are for that node.
    node: Option<u32>,
    unfinished: Vec<u8>,
    ended: bool,
}

impl Words {
    /// Words of a source; of addressed lines those for `node`.
    pub fn new(source: Source, node: Option<u32>) -> Self {
        Words { source, node, unfinished: Vec::new(), ended: false }
    }

    /// What to wait for until there is more.
    pub fn waits_at(&self) -> Option<BorrowedFd<'_>> {
        self.source.waits_at().filter(|_| !self.ended)
    }

    /// The controller is gone.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Hear nothing more.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// What has come since the last time.
    ///
    /// # Errors
    /// If the source cannot be read, or a line is too long.
    pub fn take(&mut self) -> anyhow::Result<Vec<Word>> {
        if self.ended {
            return Ok(Vec::new());
        }
        self.ended = !self.source.more(&mut self.unfinished)?;
        let Some(end) = self.unfinished.iter().rposition(|byte| *byte == b'\n') else {
            anyhow::ensure!(self.unfinished.len() < MOST, "a word of the controller has more than {MOST} bytes");
            return Ok(Vec::new());
        };
        let rest = self.unfinished.split_off(end + 1);
        let whole = String::from_utf8_lossy(&std::mem::replace(&mut self.unfinished, rest)).into_owned();
        Ok(whole.lines().filter_map(|line| self.meant(line)).collect())
    }

    fn meant(&self, line: &str) -> Option<Word> {
        let Some(node) = self.node else { return Some(Word::Line(line.to_owned())) };
        let (to, word) = line.split_once(' ')?;
        if to != "*" && to.parse() != Ok(node) {
            return None;
        }
        match word.strip_prefix('!') {
            Some(number) => number.parse().ok().map(Word::Signal),
            None => Some(Word::Line(word.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_node_hears_what_is_meant_for_it() {
        let words = Words::new(Source::grows(PathBuf::new()), Some(12));
        let heard = |line| words.meant(line);
        assert_eq!(heard("* {\"ping\":1}"), Some(Word::Line("{\"ping\":1}".to_owned())));
        assert_eq!(heard("12 {\"go\":true}"), Some(Word::Line("{\"go\":true}".to_owned())));
        assert_eq!(heard("1 {\"go\":true}"), None);
        assert_eq!(heard("123 x"), None);
        assert_eq!(heard("12 !15"), Some(Word::Signal(15)));
        assert_eq!(heard("12 !x"), None);
        assert_eq!(heard("junk"), None);
    }

    #[test]
    fn a_file_is_read_as_it_grows() {
        let path = std::env::temp_dir().join(format!("assay-words-{}", std::process::id()));
        let mut words = Words::new(Source::grows(path.clone()), Some(0));
        assert_eq!(words.take().unwrap(), [], "it may come later");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"* one\n0 tw").unwrap();
        assert_eq!(words.take().unwrap(), [Word::Line("one".to_owned())]);
        assert_eq!(words.take().unwrap(), []);
        file.write_all(b"o\n1 not\n* three\n").unwrap();
        assert_eq!(words.take().unwrap(), [Word::Line("two".to_owned()), Word::Line("three".to_owned())]);
        std::fs::remove_file(&path).unwrap();
        assert!(!words.ended(), "it may be shown again");
    }
}

//! The file that marks a directory as Assay's: found, read, written and removed below an open directory.

use crate::place::open_inside;
use assay_core::names::MARKER;
use assay_core::{clock, pulse};
use assay_spec::Mark;
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io::{Read, Write};
use std::time::Duration;

/// Under this name a mark is written before it gets its own.
const MARKER_NEW: &str = ".assay-target.new";
/// A mark is short; of a longer file no more is read.
const MOST_BYTES: u64 = 64 << 10;

/// As long as hosts may remember what others have changed; network file systems do for a second or a few.
const REMEMBERED_NS: u64 = 5_000_000_000;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What is found under the name of the mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A plain file that is not a run's mark: put there by hand, or broken.
    Plain,
    /// A run's mark.
    Mark(Mark),
    /// Something else than a plain file.
    Other,
}

impl Found {
    /// Whether a job that names this run, or none, may work in the directory.
    pub fn admits(&self, run: Option<&str>) -> bool {
        match (self, run) {
            (Found::Plain, None) => true,
            (Found::Mark(mark), run) => mark.identity == run.unwrap_or_default(),
            _ => false,
        }
    }
}

/// Looks for the mark of an open directory. Where hosts share it, one may have replaced or removed the mark, and another
/// one remember it for a while: it is looked at again until that is over.
pub fn read(folder: &OwnedFd) -> Result<Found, Errno> {
    let end = clock::now().saturating_add(REMEMBERED_NS);
    loop {
        match read_once(folder) {
            Err(Errno::STALE | Errno::NOENT) if clock::now() < end => {
                pulse::beat();
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            done => return done,
        }
    }
}

fn read_once(folder: &OwnedFd) -> Result<Found, Errno> {
    let file = match open_inside(folder, MARKER, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(Found::Nothing),
        Err(Errno::LOOP | Errno::XDEV | Errno::NXIO) => return Ok(Found::Other),
        Err(errno) => return Err(errno),
    };
    if FileType::from_raw_mode(fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(Found::Other);
    }
    let mut text = Vec::new();
    match std::fs::File::from(file).take(MOST_BYTES).read_to_end(&mut text) {
        Ok(_) => Ok(serde_json::from_slice(&text).map_or(Found::Plain, Found::Mark)),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

/// Writes the mark, whole or not at all.
pub fn write(folder: &OwnedFd, mark: &Mark) -> Result<(), Errno> {
    remove_cut_short(folder)?;
    let mut value = serde_json::to_value(mark).map_err(|_| Errno::INVAL)?;
    value["written_by"] = "assay".into();
    let text = serde_json::to_string_pretty(&value).map_err(|_| Errno::INVAL)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let file = open_inside(folder, MARKER_NEW, flags, Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH)?;
    let written = writeln!(std::fs::File::from(file), "{text}");
    if let Err(error) = written {
        let _ = unlink(folder, MARKER_NEW);
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    fs::renameat(folder, MARKER_NEW, folder, MARKER)
}

/// Removes a mark that a run may have written, and what is left of writing one.
pub fn remove(folder: &OwnedFd) -> Result<(), Errno> {
    remove_cut_short(folder)?;
    unlink(folder, MARKER)
}

fn remove_cut_short(folder: &OwnedFd) -> Result<(), Errno> {
    if is_mark(folder, MARKER_NEW.as_bytes()) {
        unlink(folder, MARKER_NEW)
    } else {
        Ok(())
    }
}

/// Whether a name in a directory is that of a mark, or of one whose writing was cut short: such a file begins as a mark
/// does. Anything else under that name is somebody else's.
pub fn is_mark(folder: &OwnedFd, name: &[u8]) -> bool {
    if name == MARKER.as_bytes() {
        return true;
    }
    name == MARKER_NEW.as_bytes() && begun(folder).is_ok_and(|text| text.is_empty() || text == *b"{")
}

/// The first byte of a mark that is being written, if there is one.
fn begun(folder: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let file = open_inside(folder, MARKER_NEW, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
    if FileType::from_raw_mode(fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    let mut text = Vec::new();
    let read = std::fs::File::from(file).take(1).read_to_end(&mut text);
    read.map(|_| text).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Removes a name that need not be there.
pub fn unlink(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use std::os::unix::fs::symlink;

    fn mark(identity: &str) -> Mark {
        Mark { run: "run".to_owned(), identity: identity.to_owned(), keep: true, ..Mark::default() }
    }

    #[test]
    fn a_mark_is_what_was_written_last() {
        let ground = Ground::new("mark");
        let folder = ground.folder();
        assert_eq!(read(&folder), Ok(Found::Nothing));
        for identity in ["a", "b"] {
            write(&folder, &mark(identity)).unwrap();
            assert_eq!(read(&folder), Ok(Found::Mark(mark(identity))));
            assert_eq!(ground.names(), [MARKER]);
        }
        remove(&folder).unwrap();
        remove(&folder).unwrap();
        assert_eq!((read(&folder), ground.names().len()), (Ok(Found::Nothing), 0));
    }

    #[test]
    fn what_is_no_mark_is_not_taken_for_one() {
        let ground = Ground::new("mark-other");
        let folder = ground.folder();
        for text in ["", "by hand", "{\"run\": 7}", "[]"] {
            std::fs::write(ground.at(MARKER), text).unwrap();
            assert_eq!(read(&folder), Ok(Found::Plain), "{text}");
        }
        std::fs::rename(ground.at(MARKER), ground.at("real")).unwrap();
        symlink(ground.at("real"), ground.at(MARKER)).unwrap();
        assert_eq!(read(&folder), Ok(Found::Other));
        std::fs::remove_file(ground.at(MARKER)).unwrap();
        std::fs::create_dir(ground.at(MARKER)).unwrap();
        assert_eq!(read(&folder), Ok(Found::Other));
    }

    /// What a writer that was killed has left is taken away; what somebody else has there is not.
    #[test]
    fn a_mark_that_was_cut_short_makes_way() {
        let ground = Ground::new("mark-short");
        let folder = ground.folder();
        for (text, ours) in [("", true), ("{\"ru", true), ("precious", false)] {
            std::fs::write(ground.at(MARKER_NEW), text).unwrap();
            assert_eq!(is_mark(&folder, MARKER_NEW.as_bytes()), ours, "{text}");
            assert_eq!(write(&folder, &mark("a")).is_ok(), ours, "{text}");
            assert_eq!(ground.at(MARKER_NEW).exists(), !ours);
        }
        assert_eq!(std::fs::read(ground.at(MARKER_NEW)).unwrap(), b"precious");
        remove(&folder).unwrap();
        assert_eq!(ground.names(), [MARKER_NEW]);
        assert!(is_mark(&folder, MARKER.as_bytes()) && !is_mark(&folder, b"f0"));
    }
}

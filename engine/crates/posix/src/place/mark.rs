//! The file that marks a directory as Assay's: found, read, written and removed below an open directory.

use crate::place::open_inside;
use assay_core::names::MARKER;
use assay_core::{clock, heartbeat};
use assay_spec::Mark;
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::io::{Read, Write};
use std::time::Duration;

/// Name of a mark while it is written.
const MARKER_NEW: &str = ".assay-target.new";
/// Most bytes to read; a mark is shorter.
const MAX_BYTES: u64 = 64 << 10;

/// For this long hosts may remember an old state; network file systems do for a second or a few.
const REMEMBERED_NS: u64 = 5_000_000_000;
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The file with the name of the mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkFile {
    /// There is none.
    Nothing,
    /// A plain file that is not a run's mark: created by hand, or broken.
    Plain,
    /// A run's mark.
    Mark(Mark),
    /// Something other than a plain file.
    Other,
}

impl MarkFile {
    /// True if a job that names this run, or none, may work in the directory.
    pub fn admits(&self, run: Option<&str>) -> bool {
        match (self, run) {
            (MarkFile::Plain, None) => true,
            (MarkFile::Mark(mark), run) => mark.identity == run.unwrap_or_default(),
            _ => false,
        }
    }
}

/// Read the mark of an open directory. If hosts share it, one may have replaced or removed the mark while another
/// remembers the old one for a while: reading is repeated until that time is over.
pub fn read(folder: &OwnedFd) -> Result<MarkFile, Errno> {
    let end = clock::now().saturating_add(REMEMBERED_NS);
    loop {
        match read_once(folder) {
            Err(Errno::STALE | Errno::NOENT) if clock::now() < end => {
                heartbeat::beat();
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(Errno::NOENT) => return Ok(MarkFile::Nothing),
            done => return done,
        }
    }
}

fn read_once(folder: &OwnedFd) -> Result<MarkFile, Errno> {
    let file = match open_inside(folder, MARKER, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(MarkFile::Nothing),
        Err(Errno::LOOP | Errno::XDEV | Errno::NXIO) => return Ok(MarkFile::Other),
        Err(errno) => return Err(errno),
    };
    if FileType::from_raw_mode(fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(MarkFile::Other);
    }
    let mut text = Vec::new();
    match std::fs::File::from(file).take(MAX_BYTES).read_to_end(&mut text) {
        Ok(_) => Ok(serde_json::from_slice(&text).map_or(MarkFile::Plain, MarkFile::Mark)),
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
    }
}

/// Write the mark, completely or not at all.
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

/// Remove a mark that a run may have written, and an unfinished one.
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

/// True if a name in a directory is that of a mark, or of an unfinished one, which begins as a mark does. Anything else
/// under that name belongs to others.
pub fn is_mark(folder: &OwnedFd, name: &[u8]) -> bool {
    if name == MARKER.as_bytes() {
        return true;
    }
    name == MARKER_NEW.as_bytes() && begun(folder).is_ok_and(|text| text.is_empty() || text == *b"{")
}

/// The first byte of an unfinished mark, if there is one.
fn begun(folder: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let file = open_inside(folder, MARKER_NEW, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?;
    if FileType::from_raw_mode(fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    let mut text = Vec::new();
    let read = std::fs::File::from(file).take(1).read_to_end(&mut text);
    read.map(|_| text).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Remove a file that need not exist.
pub fn unlink(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::TestFolder;
    use std::os::unix::fs::symlink;

    fn mark(identity: &str) -> Mark {
        Mark { run: "run".to_owned(), identity: identity.to_owned(), keep: true, ..Mark::default() }
    }

    #[test]
    fn a_mark_is_what_was_written_last() {
        let test_folder = TestFolder::new("mark");
        let folder = test_folder.folder();
        assert_eq!(read(&folder), Ok(MarkFile::Nothing));
        for identity in ["a", "b"] {
            write(&folder, &mark(identity)).unwrap();
            assert_eq!(read(&folder), Ok(MarkFile::Mark(mark(identity))));
            assert_eq!(test_folder.names(), [MARKER]);
        }
        remove(&folder).unwrap();
        remove(&folder).unwrap();
        assert_eq!((read(&folder), test_folder.names().len()), (Ok(MarkFile::Nothing), 0));
    }

    #[test]
    fn what_is_no_mark_is_not_taken_for_one() {
        let test_folder = TestFolder::new("mark-other");
        let folder = test_folder.folder();
        for text in ["", "by hand", "{\"run\": 7}", "[]"] {
            std::fs::write(test_folder.at(MARKER), text).unwrap();
            assert_eq!(read(&folder), Ok(MarkFile::Plain), "{text}");
        }
        std::fs::rename(test_folder.at(MARKER), test_folder.at("real")).unwrap();
        symlink(test_folder.at("real"), test_folder.at(MARKER)).unwrap();
        assert_eq!(read(&folder), Ok(MarkFile::Other));
        std::fs::remove_file(test_folder.at(MARKER)).unwrap();
        std::fs::create_dir(test_folder.at(MARKER)).unwrap();
        assert_eq!(read(&folder), Ok(MarkFile::Other));
    }

    /// The remains of a killed writer are removed; foreign data is not.
    #[test]
    fn a_mark_that_was_cut_short_makes_way() {
        let test_folder = TestFolder::new("mark-short");
        let folder = test_folder.folder();
        for (text, ours) in [("", true), ("{\"ru", true), ("precious", false)] {
            std::fs::write(test_folder.at(MARKER_NEW), text).unwrap();
            assert_eq!(is_mark(&folder, MARKER_NEW.as_bytes()), ours, "{text}");
            assert_eq!(write(&folder, &mark("a")).is_ok(), ours, "{text}");
            assert_eq!(test_folder.at(MARKER_NEW).exists(), !ours);
        }
        assert_eq!(std::fs::read(test_folder.at(MARKER_NEW)).unwrap(), b"precious");
        remove(&folder).unwrap();
        assert_eq!(test_folder.names(), [MARKER_NEW]);
        assert!(is_mark(&folder, MARKER.as_bytes()) && !is_mark(&folder, b"f0"));
    }
}

//! Removes the directory of a job with what the job has made in it, and nothing else: below descriptors that are opened
//! without following links or crossing mounts, and only under the names that the engine gives.

use crate::place::mark;
use crate::place::open_inside;
use assay_core::names::{is_of_job, job_mark};
use assay_core::{os_message, pulse};
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::ffi::{CStr, CString};

/// Room for the entries that are read at once in each directory on the way down.
const ENTRIES_BYTES: usize = 32 << 10;
/// So many directories are open at a time. What lies deeper is first moved up.
const MAX_LEVELS: u32 = 64;
/// So many things that are still there are named.
const MAX_NAMED: usize = 20;

/// Why something is left alone that lies behind a mount or a link.
const MOUNT: &str = "is a mount: left alone";
const ELSEWHERE: &str = "leads elsewhere (a link or a mount): left alone";
const STILL_THERE: &str = "is still there, although the storage says that it was removed";
const FOREIGN: &str = "was not made by Assay: left alone";
const UNMARKED: &str = "has no mark of this run's jobs: left alone";

/// Something that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Relative to where the removal started.
    pub path: String,
    /// Why it is.
    pub why: String,
    /// Another process may be removing the same.
    pub busy: bool,
}

fn words(errno: Errno) -> String {
    match errno {
        Errno::BUSY => MOUNT.to_owned(),
        Errno::XDEV | Errno::LOOP => ELSEWHERE.to_owned(),
        other => os_message(other.raw_os_error()),
    }
}

fn left(name: &CStr, why: impl Into<String>) -> Vec<Left> {
    vec![Left { path: name.to_string_lossy().into_owned(), why: why.into(), busy: false }]
}

fn refused(name: &CStr, errno: Errno) -> Vec<Left> {
    let busy = matches!(errno, Errno::NOTEMPTY | Errno::EXIST);
    vec![Left { path: name.to_string_lossy().into_owned(), why: words(errno), busy }]
}

/// Removes the directory of a job right below `parent`. One that is empty goes; one that holds something must have the
/// mark of a job of this run, which goes last. If something in it cannot be removed or is not Assay's, all else is.
///
/// Returns what is still there.
pub fn remove(parent: &OwnedFd, name: &str, run: Option<&str>) -> Vec<Left> {
    let Ok(c_name) = CString::new(name) else { return left(c"", "has a zero in its name") };
    match remove_directory(parent, &c_name) {
        Ok(true) => return Vec::new(),
        Ok(false) => {}
        // A file system that is read-only says so of what is not there, too.
        Err(_) if matches!(fs::statat(parent, &*c_name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT)) => {
            return Vec::new()
        }
        Err(errno) => return refused(&c_name, errno),
    }
    let folder = match open_inside(parent, &*c_name, OFlags::DIRECTORY, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::NOENT) => return Vec::new(),
        Err(errno) => return refused(&c_name, errno),
    };
    let marked = job_mark(run);
    match fs::statat(&folder, marked.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {}
        Ok(_) | Err(Errno::NOENT) => return left(&c_name, UNMARKED),
        Err(errno) => return refused(&c_name, errno),
    }
    let mut walk = Walk { top: folder.try_clone().ok(), level: 0, moved: 0, mark: marked.as_bytes(), left: Vec::new() };
    let mut again = false;
    while walk.empty(&folder, name, again) > 0 {
        again = true;
    }
    if !walk.left.is_empty() {
        return walk.left;
    }
    let gone = mark::unlink(&folder, &marked).and_then(|()| remove_directory(parent, &c_name));
    match gone {
        Ok(true) => Vec::new(),
        Ok(false) => refused(&c_name, Errno::NOTEMPTY),
        Err(errno) => refused(&c_name, errno),
    }
}

/// Removes an empty directory; false if it is not empty.
fn remove_directory(parent: &OwnedFd, name: &CStr) -> Result<bool, Errno> {
    pulse::beat();
    match fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// The way down to where things are being removed.
struct Walk<'a> {
    /// The directory that is being removed.
    top: Option<OwnedFd>,
    level: u32,
    /// Directories moved up so far.
    moved: u64,
    /// Name of the job's mark, which stays until all else is gone.
    mark: &'a [u8],
    /// What cannot be removed; the first things.
    left: Vec<Left>,
}

impl Walk<'_> {
    fn keep(&mut self, path: String, why: impl Into<String>, busy: bool) {
        let known = self.left.iter().any(|left| left.path == path);
        if !known && self.left.len() < MAX_NAMED {
            self.left.push(Left { path, why: why.into(), busy });
        }
    }

    /// Goes once through a directory and removes what it finds; returns how much that was. Some file systems pass over
    /// entries when others are removed meanwhile, so this is done until nothing more goes. When it is done `again`,
    /// storage is not believed that it has removed something: there would be no end where it says so and does not.
    fn empty(&mut self, folder: &OwnedFd, path: &str, again: bool) -> u64 {
        self.level += 1;
        let mut room = Vec::with_capacity(ENTRIES_BYTES);
        let _ = fs::seek(folder, fs::SeekFrom::Start(0));
        let mut entries = RawDir::new(folder, room.spare_capacity_mut());
        let mut removed = 0;
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => {
                    let name = entry.file_name();
                    let gone = self.entry(folder, path, name, entry.file_type());
                    removed += u64::from(gone && !(again && self.is_still_there(folder, path, name)));
                }
                // Somebody else has removed it.
                Err(Errno::NOENT) => break,
                Err(errno) => {
                    self.keep(path.to_owned(), words(errno), false);
                    break;
                }
            }
        }
        self.level -= 1;
        removed
    }

    fn is_still_there(&mut self, folder: &OwnedFd, path: &str, name: &CStr) -> bool {
        let there = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if there {
            self.keep(format!("{path}/{}", name.to_string_lossy()), STILL_THERE, false);
        }
        there
    }

    /// Whether the entry is gone now, by our doing.
    fn entry(&mut self, folder: &OwnedFd, path: &str, name: &CStr, kind: FileType) -> bool {
        let at_top = self.level == 1;
        if [c".", c".."].contains(&name) || (at_top && name.to_bytes() == self.mark) {
            return false;
        }
        let here = format!("{path}/{}", name.to_string_lossy());
        if !is_of_job(name.to_bytes()) {
            self.keep(here, FOREIGN, false);
            return false;
        }
        pulse::beat();
        if kind == FileType::Directory {
            return self.directory(folder, &here, name);
        }
        match fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) => true,
            Err(Errno::NOENT) => false,
            // Not every file system says in the listing what is a directory.
            Err(Errno::ISDIR | Errno::PERM) if kind == FileType::Unknown => self.directory(folder, &here, name),
            Err(errno) => {
                self.keep(here, words(errno), false);
                false
            }
        }
    }

    fn directory(&mut self, parent: &OwnedFd, path: &str, name: &CStr) -> bool {
        let mut again = false;
        loop {
            match remove_directory(parent, name) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(errno) => {
                    self.keep(path.to_owned(), words(errno), false);
                    return false;
                }
            }
            if self.level == MAX_LEVELS {
                return match self.move_up(parent, name) {
                    Ok(()) => true,
                    Err(errno) => {
                        self.keep(path.to_owned(), words(errno), false);
                        false
                    }
                };
            }
            let folder = match open_inside(parent, name, OFlags::DIRECTORY, Mode::empty()) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return true,
                Err(errno) => {
                    self.keep(path.to_owned(), words(errno), false);
                    return false;
                }
            };
            let removed = self.empty(&folder, path, again);
            again = true;
            if removed == 0 {
                let below = format!("{path}/");
                if !self.left.iter().any(|left| left.path.starts_with(&below)) {
                    self.keep(path.to_owned(), words(Errno::NOTEMPTY), true);
                }
                return false;
            }
        }
    }

    /// Moves a directory that lies too deep right below the top, where the next round finds it.
    fn move_up(&mut self, parent: &OwnedFd, name: &CStr) -> Result<(), Errno> {
        let top = self.top.as_ref().ok_or(Errno::MFILE)?;
        loop {
            self.moved += 1;
            match fs::renameat(parent, name, top, format!("deep{}", self.moved)) {
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                done => return done,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Ground;
    use std::fs as files;
    use std::os::unix::fs::symlink;

    /// A directory of a job, with this mark in it.
    fn job(ground: &Ground, mark: Option<&str>) {
        files::create_dir(ground.at("job")).unwrap();
        if let Some(mark) = mark {
            files::write(ground.at("job").join(mark), "").unwrap();
        }
    }

    fn removed(ground: &Ground, run: Option<&str>) -> Vec<(String, String)> {
        remove(&ground.folder(), "job", run).into_iter().map(|left| (left.path, left.why)).collect()
    }

    fn still(path: &str, why: &str) -> (String, String) {
        (path.to_owned(), why.to_owned())
    }

    #[test]
    fn what_a_job_has_made_goes_with_its_directory() {
        let ground = Ground::new("remove");
        assert_eq!(removed(&ground, None), [], "nothing is there");
        job(&ground, None);
        assert_eq!(removed(&ground, Some("r")), [], "one that is empty needs no mark");
        job(&ground, Some(".assay-job-r"));
        files::create_dir_all(ground.at("job/t0/b1/d0.3")).unwrap();
        for name in ["f0", "t0/b1/f0.7", "t0/r3.9", "t0/b1/d0.3/f1.1"] {
            files::write(ground.at("job").join(name), "x").unwrap();
        }
        symlink("/etc", ground.at("job/t0/f0.1")).unwrap();
        assert_eq!(removed(&ground, Some("r")), []);
        assert!(ground.names().is_empty() && std::path::Path::new("/etc/passwd").exists());
    }

    #[test]
    fn without_the_mark_of_the_run_nothing_goes() {
        let ground = Ground::new("remove-unmarked");
        job(&ground, Some(".assay-job-other"));
        files::write(ground.at("job/f0"), "precious").unwrap();
        for run in [None, Some("r"), Some("")] {
            assert_eq!(removed(&ground, run), [still("job", UNMARKED)], "{run:?}");
        }
        files::create_dir(ground.at("job/.assay-job")).unwrap();
        assert_eq!(removed(&ground, None), [still("job", UNMARKED)], "a directory is no mark");
        assert_eq!(files::read(ground.at("job/f0")).unwrap(), b"precious");
    }

    /// What is not of a job stays, with the directories above it and the mark; all else goes.
    #[test]
    fn what_is_somebody_elses_stays() {
        let ground = Ground::new("remove-foreign");
        job(&ground, Some(".assay-job"));
        files::create_dir_all(ground.at("job/t0/b0")).unwrap();
        files::create_dir(ground.at("job/notes")).unwrap();
        for name in ["f0", "t0/b0/precious", "t0/f0.1", "notes/f1"] {
            files::write(ground.at("job").join(name), "x").unwrap();
        }
        // The mark is one in the job's own directory only.
        files::write(ground.at("job/t0/.assay-job"), "").unwrap();
        let mut left = removed(&ground, None);
        left.sort();
        let expected = ["job/notes", "job/t0/.assay-job", "job/t0/b0/precious"].map(|path| still(path, FOREIGN));
        assert_eq!(left, expected);
        assert!(!ground.at("job/f0").exists() && !ground.at("job/t0/f0.1").exists());
        assert!(ground.at("job/.assay-job").exists() && ground.at("job/notes/f1").exists());
    }

    #[test]
    fn a_link_in_the_jobs_place_leads_nowhere() {
        let ground = Ground::new("remove-link");
        files::create_dir(ground.at("elsewhere")).unwrap();
        for name in [".assay-job", "f0"] {
            files::write(ground.at("elsewhere").join(name), "").unwrap();
        }
        symlink(ground.at("elsewhere"), ground.at("job")).unwrap();
        let left = removed(&ground, None);
        assert_eq!((left.len(), left[0].0.as_str()), (1, "job"));
        assert_eq!(files::read_dir(ground.at("elsewhere")).unwrap().count(), 2);
        assert!(remove(&ground.folder(), "a\0b", None)[0].why.contains("zero"));
    }

    /// Deeper than directories may be open at a time.
    #[test]
    fn what_lies_deep_goes_as_well() {
        let ground = Ground::new("remove-deep");
        job(&ground, Some(".assay-job"));
        let mut path = ground.at("job/t0");
        for _ in 0..150 {
            path.push("b0");
        }
        files::create_dir_all(&path).unwrap();
        files::write(path.join("f0.0"), "x").unwrap();
        assert_eq!(removed(&ground, None), []);
        assert!(ground.names().is_empty());
    }

    /// So many are named and no more.
    #[test]
    fn of_many_that_stay_some_are_named() {
        let ground = Ground::new("remove-many");
        job(&ground, Some(".assay-job"));
        for number in 0..2 * MAX_NAMED {
            files::write(ground.at(&format!("job/precious{number}")), "").unwrap();
        }
        assert_eq!(removed(&ground, None).len(), MAX_NAMED);
        assert_eq!(files::read_dir(ground.at("job")).unwrap().count(), 2 * MAX_NAMED + 1);
    }
}

//! Removes the directory of a job with what the job has created in it, and nothing else: below descriptors that are
//! opened without following links or crossing mounts, and only names that the engine gives; in the directory of a job's
//! programs also the names that these have given.

use crate::place::mark;
use crate::place::open_inside;
use assay_core::names::{is_of_job, job_mark, PROGRAMS};
use assay_core::refusals::FOREIGN;
use assay_core::{heartbeat, os_message};
use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::ffi::{CStr, CString};

/// Bytes for the entries read at once in each directory on the way down.
const ENTRIES_BYTES: usize = 32 << 10;
/// Most directories open at a time. Deeper ones are first moved up.
const MAX_LEVELS: u32 = 64;
/// Most remaining items to report.
const MAX_NAMED: usize = 20;

/// Reasons for leaving items behind a mount or a link alone.
pub(super) const MOUNT: &str = "is a mount: left alone";
const ELSEWHERE: &str = "leads elsewhere (a link or a mount): left alone";
const STILL_THERE: &str = "is still there, although the storage says that it was removed";
const UNMARKED: &str = "has no mark of this run's jobs: left alone";

/// An item that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftItem {
    /// Path relative to where the removal started.
    pub path: String,
    /// Why it could not be removed.
    pub why: String,
    /// Another process may be removing the same item.
    pub busy: bool,
}

fn reason(errno: Errno) -> String {
    match errno {
        Errno::BUSY => MOUNT.to_owned(),
        Errno::XDEV | Errno::LOOP => ELSEWHERE.to_owned(),
        other => os_message(other.raw_os_error()),
    }
}

fn left(name: &CStr, why: impl Into<String>) -> Vec<LeftItem> {
    vec![LeftItem { path: name.to_string_lossy().into_owned(), why: why.into(), busy: false }]
}

fn refused(name: &CStr, errno: Errno) -> Vec<LeftItem> {
    let busy = matches!(errno, Errno::NOTEMPTY | Errno::EXIST);
    vec![LeftItem { path: name.to_string_lossy().into_owned(), why: reason(errno), busy }]
}

/// Remove the directory of a job directly below `parent`. An empty one needs no mark; one with contents must have the
/// mark of a job of this run, which is removed last. If some items cannot be removed or are not Assay's, all others
/// are.
///
/// Returns what is still there.
pub fn remove(parent: &OwnedFd, name: &str, run: Option<&str>) -> Vec<LeftItem> {
    let Ok(c_name) = CString::new(name) else { return left(c"", "has a zero in its name") };
    match remove_directory(parent, &c_name) {
        Ok(true) => return Vec::new(),
        Ok(false) => {}
        // A read-only file system reports that also for missing names.
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
    let mut walk = Walk {
        top: folder.try_clone().ok(),
        level: 0,
        moved: 0,
        mark: marked.as_bytes(),
        any_name: false,
        left: Vec::new(),
    };
    let mut distrust = false;
    while walk.empty(&folder, name, distrust) > 0 {
        distrust = true;
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

/// Remove an empty directory; false if it is not empty.
fn remove_directory(parent: &OwnedFd, name: &CStr) -> Result<bool, Errno> {
    heartbeat::beat();
    match fs::unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// The state of a recursive removal.
struct Walk<'a> {
    /// The directory that is being removed.
    top: Option<OwnedFd>,
    level: u32,
    /// Directories moved up so far.
    moved: u64,
    /// Name of the job's mark, which stays until everything else is removed.
    mark: &'a [u8],
    /// It is among the files of programs, which have any names.
    any_name: bool,
    /// The first items that cannot be removed.
    left: Vec<LeftItem>,
}

impl Walk<'_> {
    fn keep(&mut self, path: String, why: impl Into<String>, busy: bool) {
        let known = self.left.iter().any(|left| left.path == path);
        if !known && self.left.len() < MAX_NAMED {
            self.left.push(LeftItem { path, why: why.into(), busy });
        }
    }

    /// Go once through a directory and remove its entries; returns how many. Some file systems skip entries when others
    /// are removed meanwhile, so this is repeated until nothing more is removed. With `distrust`, the second time, each
    /// removal is checked: otherwise it would never end if the storage reports removals that do not happen.
    fn empty(&mut self, folder: &OwnedFd, path: &str, distrust: bool) -> u64 {
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
                    removed += u64::from(gone && !(distrust && self.is_still_there(folder, path, name)));
                }
                // Another process has removed it.
                Err(Errno::NOENT) => break,
                Err(errno) => {
                    self.keep(path.to_owned(), reason(errno), false);
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

    /// Remove an entry; returns whether this process has removed it.
    fn entry(&mut self, folder: &OwnedFd, path: &str, name: &CStr, kind: FileType) -> bool {
        let at_top = self.level == 1;
        if [c".", c".."].contains(&name) || (at_top && name.to_bytes() == self.mark) {
            return false;
        }
        let here = format!("{path}/{}", name.to_string_lossy());
        if at_top && name.to_bytes() == PROGRAMS.as_bytes() {
            return self.programs(folder, &here, name);
        }
        if !self.any_name && !is_of_job(name.to_bytes()) {
            self.keep(here, FOREIGN, false);
            return false;
        }
        heartbeat::beat();
        if kind == FileType::Directory {
            return self.directory(folder, &here, name);
        }
        match fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) => true,
            Err(Errno::NOENT) => false,
            // Not every file system reports the type of entries.
            Err(Errno::ISDIR | Errno::PERM) if kind == FileType::Unknown => self.directory(folder, &here, name),
            Err(errno) => {
                self.keep(here, reason(errno), false);
                false
            }
        }
    }

    /// Remove the directory of the programs with all that is in it.
    fn programs(&mut self, parent: &OwnedFd, path: &str, name: &CStr) -> bool {
        let inside = open_inside(parent, name, OFlags::DIRECTORY, Mode::empty()).ok();
        let above = std::mem::replace(&mut self.top, inside);
        self.any_name = true;
        let gone = self.directory(parent, path, name);
        self.any_name = false;
        self.top = above;
        gone
    }

    fn directory(&mut self, parent: &OwnedFd, path: &str, name: &CStr) -> bool {
        let mut distrust = false;
        loop {
            match remove_directory(parent, name) {
                Ok(true) => return true,
                Ok(false) => {}
                Err(errno) => {
                    self.keep(path.to_owned(), reason(errno), false);
                    return false;
                }
            }
            if self.level == MAX_LEVELS {
                return match self.move_up(parent, name) {
                    Ok(()) => true,
                    Err(errno) => {
                        self.keep(path.to_owned(), reason(errno), false);
                        false
                    }
                };
            }
            let folder = match open_inside(parent, name, OFlags::DIRECTORY, Mode::empty()) {
                Ok(folder) => folder,
                Err(Errno::NOENT) => return true,
                Err(errno) => {
                    self.keep(path.to_owned(), reason(errno), false);
                    return false;
                }
            };
            let removed = self.empty(&folder, path, distrust);
            distrust = true;
            if removed == 0 {
                let below = format!("{path}/");
                if !self.left.iter().any(|left| left.path.starts_with(&below)) {
                    self.keep(path.to_owned(), reason(Errno::NOTEMPTY), true);
                }
                return false;
            }
        }
    }

    /// Move a directory that is too deep directly below the top, where the next pass finds it.
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
    use crate::test_folder::TestFolder;
    use std::fs as files;
    use std::os::unix::fs::symlink;

    /// The directory of a job, with this mark in it.
    fn job(test_folder: &TestFolder, mark: Option<&str>) {
        files::create_dir(test_folder.at("job")).unwrap();
        if let Some(mark) = mark {
            files::write(test_folder.at("job").join(mark), "").unwrap();
        }
    }

    fn removed(test_folder: &TestFolder, run: Option<&str>) -> Vec<(String, String)> {
        remove(&test_folder.folder(), "job", run).into_iter().map(|left| (left.path, left.why)).collect()
    }

    fn still(path: &str, why: &str) -> (String, String) {
        (path.to_owned(), why.to_owned())
    }

    #[test]
    fn what_a_job_has_made_goes_with_its_directory() {
        let test_folder = TestFolder::new("remove");
        assert_eq!(removed(&test_folder, None), [], "nothing is there");
        job(&test_folder, None);
        assert_eq!(removed(&test_folder, Some("r")), [], "one that is empty needs no mark");
        job(&test_folder, Some(".assay-job-r"));
        files::create_dir_all(test_folder.at("job/t0/b1/d0.3")).unwrap();
        for name in ["f0", "t0/b1/f0.7", "t0/r3.9", "t0/b1/d0.3/f1.1"] {
            files::write(test_folder.at("job").join(name), "x").unwrap();
        }
        symlink("/etc", test_folder.at("job/t0/f0.1")).unwrap();
        assert_eq!(removed(&test_folder, Some("r")), []);
        assert!(test_folder.names().is_empty() && std::path::Path::new("/etc/passwd").exists());
    }

    #[test]
    fn without_the_mark_of_the_run_nothing_goes() {
        let test_folder = TestFolder::new("remove-unmarked");
        job(&test_folder, Some(".assay-job-other"));
        files::write(test_folder.at("job/f0"), "precious").unwrap();
        for run in [None, Some("r"), Some("")] {
            assert_eq!(removed(&test_folder, run), [still("job", UNMARKED)], "{run:?}");
        }
        files::create_dir(test_folder.at("job/.assay-job")).unwrap();
        assert_eq!(removed(&test_folder, None), [still("job", UNMARKED)], "a directory is no mark");
        assert_eq!(files::read(test_folder.at("job/f0")).unwrap(), b"precious");
    }

    /// Files that are not a job's stay, with the directories above them and the mark; everything else is removed.
    #[test]
    fn foreign_files_stay() {
        let test_folder = TestFolder::new("remove-foreign");
        job(&test_folder, Some(".assay-job"));
        files::create_dir_all(test_folder.at("job/t0/b0")).unwrap();
        files::create_dir(test_folder.at("job/notes")).unwrap();
        for name in ["f0", "t0/b0/precious", "t0/f0.1", "notes/f1"] {
            files::write(test_folder.at("job").join(name), "x").unwrap();
        }
        // Only in the job's own directory the file is a mark.
        files::write(test_folder.at("job/t0/.assay-job"), "").unwrap();
        let mut left = removed(&test_folder, None);
        left.sort();
        let expected = ["job/notes", "job/t0/.assay-job", "job/t0/b0/precious"].map(|path| still(path, FOREIGN));
        assert_eq!(left, expected);
        assert!(!test_folder.at("job/f0").exists() && !test_folder.at("job/t0/f0.1").exists());
        assert!(test_folder.at("job/.assay-job").exists() && test_folder.at("job/notes/f1").exists());
    }

    /// What programs have made has names of their own; such a directory elsewhere is not theirs.
    #[test]
    fn what_programs_have_made_goes_whatever_its_name() {
        let test_folder = TestFolder::new("remove-programs");
        job(&test_folder, Some(".assay-job"));
        let deep: std::path::PathBuf = (0..3 * MAX_LEVELS).map(|level| format!("level{level}")).collect();
        files::create_dir_all(test_folder.at("job/programs/task0").join(deep)).unwrap();
        files::create_dir_all(test_folder.at("job/t0/programs")).unwrap();
        files::create_dir_all(test_folder.at("elsewhere")).unwrap();
        for name in ["programs/out.sam", "programs/task0/.hidden", "t0/programs/precious"] {
            files::write(test_folder.at("job").join(name), "x").unwrap();
        }
        symlink(test_folder.at("elsewhere"), test_folder.at("job/programs/link")).unwrap();
        assert_eq!(removed(&test_folder, None), [still("job/t0/programs", FOREIGN)]);
        assert!(!test_folder.at("job/programs").exists() && test_folder.at("elsewhere").exists());
    }

    #[test]
    fn a_link_in_the_jobs_place_leads_nowhere() {
        let test_folder = TestFolder::new("remove-link");
        files::create_dir(test_folder.at("elsewhere")).unwrap();
        for name in [".assay-job", "f0"] {
            files::write(test_folder.at("elsewhere").join(name), "").unwrap();
        }
        symlink(test_folder.at("elsewhere"), test_folder.at("job")).unwrap();
        let left = removed(&test_folder, None);
        assert_eq!((left.len(), left[0].0.as_str()), (1, "job"));
        assert_eq!(files::read_dir(test_folder.at("elsewhere")).unwrap().count(), 2);
        assert!(remove(&test_folder.folder(), "a\0b", None)[0].why.contains("zero"));
    }

    /// Deeper than the most directories that may be open at a time.
    #[test]
    fn deep_trees_are_removed() {
        let test_folder = TestFolder::new("remove-deep");
        job(&test_folder, Some(".assay-job"));
        let mut path = test_folder.at("job/t0");
        for _ in 0..150 {
            path.push("b0");
        }
        files::create_dir_all(&path).unwrap();
        files::write(path.join("f0.0"), "x").unwrap();
        assert_eq!(removed(&test_folder, None), []);
        assert!(test_folder.names().is_empty());
    }

    /// No more than this are reported.
    #[test]
    fn of_many_that_stay_some_are_named() {
        let test_folder = TestFolder::new("remove-many");
        job(&test_folder, Some(".assay-job"));
        for number in 0..2 * MAX_NAMED {
            files::write(test_folder.at(&format!("job/precious{number}")), "").unwrap();
        }
        assert_eq!(removed(&test_folder, None).len(), MAX_NAMED);
        assert_eq!(files::read_dir(test_folder.at("job")).unwrap().count(), 2 * MAX_NAMED + 1);
    }
}

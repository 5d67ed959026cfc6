//! Directories that a run may use: inspected, claimed with a mark, cleaned of a job's remains, released.
//!
//! Everything works on open directories and follows no symbolic link below them. Names that Assay does not give, and
//! directories without the mark of the requesting run, are left alone and reported.

use crate::place::mark::{self, is_mark, MarkFile};
use crate::place::remove::MOUNT;
use crate::place::{file_id, open_inside, open_root, remove};
use assay_core::names::{is_job_directory, job_mark, MARKER};
use assay_core::{clock, heartbeat, os_message, SetupError};
use assay_spec::{Claim, Look, Mark, PlaceAnswer, PlaceState, Remains, Space};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Access, AtFlags, FileType, FlockOperation, Mode, OFlags, RawDir, RenameFlags, CWD};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A directory that mkfs(8) creates.
const LOST_AND_FOUND: &[u8] = b"lost+found";
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Most names to report; a directory with any belongs to others.
const MAX_NAMES: usize = 4;
/// Most entries to read of a directory.
const MAX_ENTRIES: u32 = 100_000;
/// Prefix of files with which a place is probed; they are removed at once unless the process is killed.
const PROBE: &[u8] = b".assay-probe-";
/// Most attempts to inspect a directory that disappears each time: each of two runs may replace it once meanwhile.
const LOOKS: u32 = 100;

fn failed(path: impl AsRef<Path>, action: &'static str) -> impl FnOnce(Errno) -> SetupError {
    move |errno| SetupError::os(action, path.as_ref().display().to_string(), errno)
}

/// The parent directory and the last name of an absolute path.
fn split(root: &str) -> Result<(PathBuf, String), SetupError> {
    let path = Path::new(root);
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => Ok((parent.to_owned(), name.to_owned())),
        _ => Err(SetupError::new("open", root, "is no path of a directory that could be made")),
    }
}

/// Inspect a path without changing anything.
///
/// # Errors
/// If the kernel refuses access.
pub fn inspect(root: &str) -> Result<Look, SetupError> {
    for _ in 1..LOOKS {
        match inspect_once(root) {
            // The opened directory has been replaced or removed since.
            Err(error) if error.errno() == Some(Errno::NOENT.raw_os_error()) => {}
            done => return done,
        }
    }
    inspect_once(root)
}

fn inspect_once(root: &str) -> Result<Look, SetupError> {
    let mut look = Look {
        path: root.to_owned(),
        real_path: root.to_owned(),
        state: PlaceState::Absent,
        mark: None,
        bad_mark: false,
        names: Vec::new(),
        has_work: false,
        identity: String::new(),
        space: None,
    };
    let (parent, name) = split(root)?;
    match fs::stat(&parent) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::Directory => {
            look.state = PlaceState::ParentNotDirectory;
        }
        Ok(_) => look.state = PlaceState::Absent,
        Err(Errno::NOENT) => look.state = PlaceState::NoParent,
        Err(Errno::NOTDIR) => look.state = PlaceState::ParentNotDirectory,
        Err(errno) => return Err(failed(&parent, "open")(errno)),
    }
    if look.state != PlaceState::Absent {
        return Ok(look);
    }
    if let Ok(real) = std::fs::canonicalize(&parent) {
        look.real_path = real.join(&name).display().to_string();
    }
    let kind = match fs::lstat(root) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        Err(Errno::NOENT) => {
            let writable = fs::accessat(CWD, &parent, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).is_ok();
            look.state = if writable { PlaceState::Absent } else { PlaceState::ReadOnlyParent };
            look.space = space(&parent);
            return Ok(look);
        }
        Err(errno) => return Err(failed(root, "open")(errno)),
    };
    look.state = match kind {
        FileType::Directory => PlaceState::Directory,
        FileType::Symlink => PlaceState::Link,
        _ => PlaceState::NotDirectory,
    };
    look.space = space(if look.state == PlaceState::Directory { Path::new(root) } else { &parent });
    if look.state == PlaceState::Directory {
        look_inside(&open_root(root)?, &mut look).map_err(failed(root, "open"))?;
    }
    Ok(look)
}

/// Space of the file system; None if it has no size of its own, such as ramfs, which has 0 blocks.
fn space(place: &Path) -> Option<Space> {
    let found = fs::statvfs(place).ok().filter(|found| found.f_blocks > 0)?;
    Some(Space {
        block_bytes: found.f_bsize,
        size_bytes: found.f_blocks.saturating_mul(found.f_frsize),
        free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
        files: found.f_files,
        free_files: found.f_favail,
    })
}

fn exists(folder: &OwnedFd, name: &str) -> bool {
    !matches!(fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}

fn identity(folder: &OwnedFd) -> Result<String, Errno> {
    file_id(folder).map(|(device, inode)| format!("{device}:{inode}"))
}

fn look_inside(folder: &OwnedFd, look: &mut Look) -> Result<(), Errno> {
    look.identity = identity(folder)?;
    match mark::read(folder)? {
        MarkFile::Nothing => {}
        MarkFile::Mark(mark) => look.mark = Some(mark),
        MarkFile::Plain | MarkFile::Other => look.bad_mark = true,
    }
    each_name(folder, |name| {
        let run = look.mark.as_ref().map_or("", |mark| mark.run.as_str());
        look.has_work |= is_job_directory(name, run);
        let harmless = is_mark(folder, name) || name == LOST_AND_FOUND;
        if !harmless && look.names.len() < MAX_NAMES {
            look.names.push(String::from_utf8_lossy(name).into_owned());
        }
        // A few names are enough for a directory of others.
        if look.mark.is_some() {
            !look.has_work
        } else {
            look.names.len() < MAX_NAMES
        }
    })?;
    look.names.sort();
    Ok(())
}

/// Call `on_name` with each name except `.` and `..` until it returns false.
fn each_name(folder: &OwnedFd, mut on_name: impl FnMut(&[u8]) -> bool) -> Result<(), Errno> {
    fs::seek(folder, fs::SeekFrom::Start(0))?;
    let mut room = Vec::with_capacity(32 << 10);
    let mut entries = RawDir::new(folder, room.spare_capacity_mut());
    let mut entry_count = 0;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        entry_count += 1;
        if ![b".".as_slice(), b".."].contains(&name) && (!on_name(name) || entry_count > MAX_ENTRIES) {
            return Ok(());
        }
    }
    Ok(())
}

/// All names that `take` accepts, sorted.
fn names(folder: &OwnedFd, take: impl Fn(&[u8]) -> bool) -> Result<Vec<String>, Errno> {
    let mut found = Vec::new();
    each_name(folder, |name| {
        if take(name) {
            found.push(String::from_utf8_lossy(name).into_owned());
        }
        true
    })?;
    found.sort();
    Ok(found)
}

/// Lock a directory for this process until it is closed; false if another process keeps the lock.
fn lock(folder: &OwnedFd, patience_ns: u64) -> bool {
    let end = clock::now().saturating_add(patience_ns);
    loop {
        match fs::flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            // Some file systems cannot lock directories; there the mark has to suffice.
            _ => return true,
        }
        if clock::now() > end {
            return false;
        }
        heartbeat::beat();
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Open and lock the directory at a path, making sure that it is still at the path once locked. None if there is none.
fn open_locked(root: &str, patience_ns: u64) -> Result<Option<OwnedFd>, SetupError> {
    loop {
        let folder = match open_root(root) {
            Ok(folder) => folder,
            Err(error) if error.errno() == Some(Errno::NOENT.raw_os_error()) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !lock(&folder, patience_ns) {
            return Err(SetupError::new("open", root, "is in use by another process: try again later"));
        }
        let now = open_root(root).ok().and_then(|now| file_id(&now).ok());
        // The previous owner of the lock may have put another directory in its place.
        if now == file_id(&folder).ok() {
            return Ok(Some(folder));
        }
    }
}

/// The parent directory, locked if this user may: no other run uses the unfinished name meanwhile.
struct ParentDirectory {
    folder: OwnedFd,
    path: PathBuf,
    name: String,
    /// The name of a directory before it is marked and while it is removed.
    unfinished: String,
}

impl ParentDirectory {
    fn open(root: &str, patience_ns: u64) -> Result<Self, SetupError> {
        let (path, name) = split(root)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::open(&path, flags, Mode::empty()).map_err(failed(&path, "open"))?;
        lock(&folder, patience_ns);
        Ok(ParentDirectory { folder, path, unfinished: format!(".{name}.assay-new"), name })
    }

    fn path_of(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// True if a claim or release of this run was interrupted while the directory had the unfinished name.
    fn has_unfinished_claim(&self, run: &str) -> bool {
        let folder = open_inside(&self.folder, self.unfinished.as_str(), OFlags::DIRECTORY, Mode::empty());
        let found = folder.and_then(|folder| mark::read(&folder));
        matches!(found, Ok(MarkFile::Mark(mark)) if mark.identity == run)
    }

    /// Remove what an interrupted claim or release left under the unfinished name, if it is Assay's.
    fn remove_unfinished(&self) -> Result<(), SetupError> {
        let error = |errno| SetupError::os("remove", self.path_of(&self.unfinished), errno);
        let folder = match open_inside(&self.folder, self.unfinished.as_str(), OFlags::DIRECTORY, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::XDEV) => return Err(SetupError::new("remove", self.path_of(&self.unfinished), MOUNT)),
            // A foreign link or file of that name does no harm until a directory is created.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(errno) => return Err(error(errno)),
        };
        let strangers = names(&folder, |name| !is_mark(&folder, name));
        if let Some(stranger) = strangers.map_err(error)?.first() {
            let message = format!("holds {stranger}, which is not Assay's: left alone");
            return Err(SetupError::new("remove", self.path_of(&self.unfinished), message));
        }
        mark::remove(&folder).map_err(error)?;
        match fs::unlinkat(&self.folder, self.unfinished.as_str(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(error(errno)),
        }
    }

    /// Create the directory under the unfinished name, mark it, and only then give it its own name: it never holds data
    /// unmarked. False if another process created a directory of its name meanwhile, which is left alone.
    fn make(&self, mark: &Mark) -> Result<bool, SetupError> {
        // Only for its owner: every process that can open a directory can also lock it.
        let rights = Mode::RWXU;
        let error = |errno| SetupError::os("create", self.path_of(&self.name), errno);
        fs::mkdirat(&self.folder, self.unfinished.as_str(), rights).map_err(error)?;
        let made = self.make_from_unfinished(mark, rights);
        if !matches!(made, Ok(true)) {
            let removed = self.remove_unfinished();
            if made.is_ok() {
                removed?;
            }
        }
        made.map_err(error)
    }

    fn make_from_unfinished(&self, mark: &Mark, rights: Mode) -> Result<bool, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = fs::openat(&self.folder, self.unfinished.as_str(), flags, Mode::empty())?;
        mark::write(&folder, mark)?;
        // rename(2) would replace a foreign empty directory; mkdir(2) takes the name or fails.
        let name = self.name.as_str();
        let named = fs::mkdirat(&self.folder, name, rights)
            .and_then(|()| fs::renameat(&self.folder, self.unfinished.as_str(), &self.folder, name));
        match named {
            Ok(()) => Ok(true),
            Err(Errno::EXIST | Errno::NOTEMPTY) => Ok(false),
            Err(errno) => Err(errno),
        }
    }
}

/// Create a directory with its mark in one step, or mark an existing one, and remove what a finished run has left in
/// it. Of two runs that claim it at the same time one gets it.
///
/// `patience_ns` is the longest wait for a directory that another process is using, as for the functions below.
///
/// # Errors
/// If it cannot be created or marked. A directory of others is no error: the answer reports what is there.
pub fn claim(request: &Claim, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let parent = ParentDirectory::open(&request.root, patience_ns)?;
    let cut_short = parent.has_unfinished_claim(&request.mark.identity);
    parent.remove_unfinished()?;
    let made = Mark { created_by_assay: true, ..request.mark.clone() };
    if !exists(&parent.folder, &parent.name) && parent.make(&made)? {
        let folder = open_root(&request.root)?;
        return answer(&folder, made, Vec::new()).map_err(failed(&request.root, "open"));
    }
    drop(parent);
    match open_locked(&request.root, patience_ns)? {
        Some(folder) => mark_existing(&folder, request, cut_short),
        // Its run has released it between two of our checks.
        None => Err(SetupError::new("open", &request.root, "has been removed at this moment: try again")),
    }
}

fn answer(folder: &OwnedFd, mark: Mark, left: Vec<Remains>) -> Result<PlaceAnswer, Errno> {
    Ok(PlaceAnswer { identity: identity(folder)?, mark: Some(mark), left, ..PlaceAnswer::default() })
}

/// Mark an open and locked directory, unless it belongs to others. `made`: an earlier process of the run created it and
/// was interrupted before it could mark it.
fn mark_existing(folder: &OwnedFd, request: &Claim, made: bool) -> Result<PlaceAnswer, SetupError> {
    let error = || failed(&request.root, "claim");
    let look = inspect(&request.root)?;
    let is_foreign = look.bad_mark || look.mark.is_none() && !look.names.is_empty();
    let own = |mark: &Mark| mark.identity == request.mark.identity;
    let over = |mark: &Mark| request.over.as_ref() == Some(mark);
    let taken = look.mark.as_ref().is_some_and(|mark| !own(mark) && !over(mark));
    let has_kept_data = look.mark.as_ref().is_some_and(|mark| !own(mark) && mark.keep) && look.has_work;
    if is_foreign || taken || has_kept_data {
        return Ok(PlaceAnswer { look: Some(look), foreign: true, ..PlaceAnswer::default() });
    }
    let made = made && look.mark.is_none();
    let earlier = look.mark.unwrap_or_default();
    let mark = Mark { created_by_assay: made || earlier.created_by_assay, ..request.mark.clone() };
    // The contents belong to the earlier run, and so do the marks of its jobs: they are removed before the new mark is
    // written.
    let left = if earlier.keep { Vec::new() } else { remove_work(folder, &request.root, &earlier).map_err(error())? };
    // Further hosts that share the directory find the mark of the first: writing it again would only disturb the
    // others.
    if mark != earlier {
        mark::write(folder, &mark).map_err(error())?;
    }
    answer(folder, mark, left).map_err(error())
}

/// Remove the directories of a run's jobs and files of probes; returns what is still there.
fn remove_work(folder: &OwnedFd, root: &str, of: &Mark) -> Result<Vec<Remains>, Errno> {
    let mut left = Vec::new();
    for name in names(folder, |name| is_probe(folder, name))? {
        if let Err(errno) = mark::unlink(folder, &name) {
            left.push(Remains { path: format!("{root}/{name}"), why: os_message(errno.raw_os_error()) });
        }
    }
    for name in names(folder, |name| is_job_directory(name, &of.run) || has_job_mark(folder, name, &of.identity))? {
        left.extend(remove_one(folder, root, &name, &of.identity));
    }
    Ok(left)
}

/// True for the files of probes, which are always empty while they have a name.
fn is_probe(folder: &OwnedFd, name: &[u8]) -> bool {
    let numbers = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let Some(rest) = name.strip_prefix(PROBE) else { return false };
    let found = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let empty = |stat: fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_size == 0;
    numbers(rest) && found.is_ok_and(empty)
}

/// True if a job of this run has created and marked the directory of this name.
fn has_job_mark(folder: &OwnedFd, name: &[u8], run: &str) -> bool {
    let marked = job_mark(Some(run).filter(|run| !run.is_empty()));
    let path = [name, b"/", marked.as_bytes()].concat();
    let found = fs::statat(folder, path, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn remove_one(folder: &OwnedFd, root: &str, name: &str, run: &str) -> Vec<Remains> {
    let left = remove::remove(folder, name, Some(run).filter(|run| !run.is_empty()));
    left.into_iter().map(|left| Remains { path: format!("{root}/{}", left.path), why: left.why }).collect()
}

/// Remove the directory of a job in a marked directory, or with `whole` the marked directory itself.
///
/// # Errors
/// If it does not exist, or something could not be inspected.
pub fn clean(
    root: &str,
    directory: &str,
    run: Option<&str>,
    whole: bool,
    lock_ns: u64,
) -> Result<PlaceAnswer, SetupError> {
    if whole {
        release(root, run, lock_ns)
    } else {
        remove_job(root, directory, run, lock_ns)
    }
}

/// The open and locked directory of a run, or the answer if there is none.
fn open_claimed(
    root: &str,
    run: Option<&str>,
    patience_ns: u64,
) -> Result<Result<(OwnedFd, MarkFile), PlaceAnswer>, SetupError> {
    let Some(folder) = open_locked(root, patience_ns)? else {
        return Ok(Err(PlaceAnswer { absent: true, ..PlaceAnswer::default() }));
    };
    let found = mark::read(&folder).map_err(failed(root, "open"))?;
    if found.admits(run) {
        return Ok(Ok((folder, found)));
    }
    let left = vec![Remains { path: root.to_owned(), why: "has no mark of this run: left alone".to_owned() }];
    Ok(Err(PlaceAnswer { foreign: true, left, ..PlaceAnswer::default() }))
}

/// Remove the directory of one job of a run below its marked directory, if it exists.
///
/// # Errors
/// If the marked directory cannot be opened.
pub fn remove_job(root: &str, name: &str, run: Option<&str>, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let (folder, _) = match open_claimed(root, run, patience_ns)? {
        Ok(opened) => opened,
        Err(answer) => return Ok(answer),
    };
    let there = exists(&folder, name);
    let left = remove_one(&folder, root, name, run.unwrap_or_default());
    let removed = if there && left.is_empty() { vec![format!("{root}/{name}")] } else { Vec::new() };
    Ok(PlaceAnswer { removed, left, ..PlaceAnswer::default() })
}

/// Remove what a run created: directories of its jobs, the mark, and the directory itself if Assay created it.
///
/// # Errors
/// If the directory, or its parent, cannot be opened.
pub fn release(root: &str, run: Option<&str>, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let (folder, found) = match open_claimed(root, run, patience_ns)? {
        Ok(opened) => opened,
        Err(mut answer) => {
            if answer.absent && inspect(root)?.state != PlaceState::NoParent {
                let parent = ParentDirectory::open(root, patience_ns)?;
                if let Err(error) = parent.remove_unfinished() {
                    answer.left = vec![Remains { path: parent.path_of(&parent.unfinished), why: error.message }];
                }
            }
            return Ok(answer);
        }
    };
    let mark = if let MarkFile::Mark(mark) = found { mark } else { Mark::default() };
    let error = || failed(root, "remove");
    if mark.keep && !names(&folder, |name| is_job_directory(name, &mark.run)).map_err(error())?.is_empty() {
        return Ok(PlaceAnswer { retained: true, ..PlaceAnswer::default() });
    }
    let left = remove_work(&folder, root, &mark).map_err(error())?;
    if !left.is_empty() {
        return Ok(PlaceAnswer { left, ..PlaceAnswer::default() });
    }
    let others = names(&folder, |name| !is_mark(&folder, name)).map_err(error())?;
    if !mark.created_by_assay || !others.is_empty() {
        mark::remove(&folder).map_err(error())?;
    }
    if !mark.created_by_assay {
        return Ok(PlaceAnswer { removed: vec![format!("{root}/{MARKER}")], ..PlaceAnswer::default() });
    }
    if !others.is_empty() {
        let shown = others[..others.len().min(MAX_NAMES - 1)].join(", ");
        let left = vec![Remains { path: root.to_owned(), why: format!("holds files that are not Assay's: {shown}") }];
        return Ok(PlaceAnswer { left, ..PlaceAnswer::default() });
    }
    remove_root(&folder, root, patience_ns)
}

/// Remove the marked directory itself, which is otherwise empty, under the unfinished name: so nothing that another
/// process puts in its place is ever removed.
fn remove_root(folder: &OwnedFd, root: &str, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let parent = ParentDirectory::open(root, patience_ns)?;
    parent.remove_unfinished()?;
    let (name, unfinished) = (parent.name.as_str(), parent.unfinished.as_str());
    let still = |why: &str| {
        let left = vec![Remains { path: root.to_owned(), why: why.to_owned() }];
        Ok(PlaceAnswer { left, ..PlaceAnswer::default() })
    };
    match fs::renameat(&parent.folder, name, &parent.folder, unfinished) {
        Ok(()) => {}
        Err(Errno::BUSY) => return still(MOUNT),
        Err(errno) => return still(&os_message(errno.raw_os_error())),
    }
    let moved =
        fs::statat(&parent.folder, unfinished, AtFlags::SYMLINK_NOFOLLOW).map(|stat| (stat.st_dev, stat.st_ino));
    if moved != file_id(folder) {
        let flags = RenameFlags::NOREPLACE;
        // Not every file system can rename without replacing; only an empty directory could be replaced.
        let back = match fs::renameat_with(&parent.folder, unfinished, &parent.folder, name, flags) {
            Err(Errno::INVAL | Errno::NOSYS) => fs::renameat(&parent.folder, unfinished, &parent.folder, name),
            done => done,
        };
        if back.is_err() {
            return still(&format!(
                "was replaced at this moment: what was there is {} now",
                parent.path_of(unfinished)
            ));
        }
        return still("was replaced at this moment: left alone");
    }
    parent.remove_unfinished()?;
    Ok(PlaceAnswer { removed: vec![root.to_owned()], ..PlaceAnswer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::TestFolder;

    const SECOND: u64 = 1_000_000_000;

    fn root(test_folder: &TestFolder) -> String {
        test_folder.at("target").display().to_string()
    }

    fn mark(identity: &str) -> Mark {
        Mark { run: "run".to_owned(), identity: identity.to_owned(), ..Mark::default() }
    }

    fn request(test_folder: &TestFolder, identity: &str) -> Claim {
        Claim { root: root(test_folder), mark: mark(identity), over: None }
    }

    #[test]
    fn a_directory_made_meanwhile_is_not_taken() {
        let test_folder = TestFolder::new("claim-meanwhile");
        let parent = ParentDirectory::open(&root(&test_folder), SECOND).unwrap();
        std::fs::create_dir(root(&test_folder)).unwrap();
        assert!(!parent.make(&mark("a")).unwrap());
        assert_eq!(test_folder.names(), ["target"]);
        assert_eq!(std::fs::read_dir(root(&test_folder)).unwrap().count(), 0);
    }

    #[test]
    fn a_claim_replaces_only_the_mark_that_it_names() {
        let test_folder = TestFolder::new("claim-over");
        let first = claim(&request(&test_folder, "a"), SECOND).unwrap().mark.unwrap();
        assert!(first.created_by_assay);
        let refused = claim(&request(&test_folder, "b"), SECOND).unwrap();
        assert!(refused.foreign && refused.mark.is_none());
        assert_eq!(refused.look.unwrap().mark.as_ref(), Some(&first));
        let stale = Claim { over: Some(mark("c")), ..request(&test_folder, "b") };
        assert!(claim(&stale, SECOND).unwrap().foreign);
        let taken = claim(&Claim { over: Some(first), ..request(&test_folder, "b") }, SECOND).unwrap().mark.unwrap();
        assert_eq!((taken.identity.as_str(), taken.created_by_assay), ("b", true));
        assert!(release(&root(&test_folder), Some("a"), SECOND).unwrap().foreign);
        assert_eq!(release(&root(&test_folder), Some("b"), SECOND).unwrap().removed, [root(&test_folder)]);
        assert!(test_folder.names().is_empty());
    }

    #[test]
    fn a_root_that_was_replaced_keeps_its_name() {
        let test_folder = TestFolder::new("claim-replaced");
        claim(&request(&test_folder, "a"), SECOND).unwrap();
        let ours = open_root(&root(&test_folder)).unwrap();
        std::fs::rename(root(&test_folder), test_folder.0.join("moved")).unwrap();
        std::fs::create_dir(root(&test_folder)).unwrap();
        let answer = remove_root(&ours, &root(&test_folder), SECOND).unwrap();
        assert_eq!(answer.left[0].why, "was replaced at this moment: left alone");
        assert!(std::path::Path::new(&root(&test_folder)).is_dir());
        assert_eq!(test_folder.names().len(), 2);
    }

    #[test]
    fn what_comes_and_goes_can_be_looked_at_all_the_time() {
        let test_folder = TestFolder::new("claim-coming");
        let request = request(&test_folder, "a");
        let done = std::sync::atomic::AtomicBool::new(false);
        let over = std::sync::atomic::Ordering::Relaxed;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1000 {
                    claim(&request, SECOND).unwrap();
                    release(&request.root, Some("a"), SECOND).unwrap();
                }
                done.store(true, over);
            });
            while !done.load(over) {
                let look = inspect(&request.root).unwrap();
                assert!(look.names.is_empty(), "{look:?}");
            }
        });
    }

    #[test]
    fn what_is_left_of_an_absent_root_is_named_by_its_own_path() {
        let test_folder = TestFolder::new("claim-unfinished");
        let unfinished = test_folder.0.join(".target.assay-new");
        std::fs::create_dir(&unfinished).unwrap();
        std::fs::write(unfinished.join("precious"), "x").unwrap();
        let answer = release(&root(&test_folder), Some("a"), SECOND).unwrap();
        assert!(answer.absent && answer.removed.is_empty());
        let why = "holds precious, which is not Assay's: left alone";
        assert_eq!(answer.left, [Remains { path: unfinished.display().to_string(), why: why.to_owned() }]);
        std::fs::remove_file(unfinished.join("precious")).unwrap();
        assert_eq!(release(&root(&test_folder), Some("a"), SECOND).unwrap().left, []);
        assert!(test_folder.names().is_empty());
    }

    #[test]
    fn a_plain_mark_admits_jobs_without_a_run_only() {
        for (found, by_hand, by_run) in [
            (MarkFile::Plain, true, false),
            (MarkFile::Mark(mark("")), true, false),
            (MarkFile::Mark(mark("a")), false, true),
            (MarkFile::Mark(mark("b")), false, false),
            (MarkFile::Nothing, false, false),
            (MarkFile::Other, false, false),
        ] {
            assert_eq!((found.admits(None), found.admits(Some("a"))), (by_hand, by_run), "{found:?}");
        }
    }
}

//! Directories that a run may use: looked at, claimed with a mark, cleaned of a job's remains, given back.
//!
//! Everything works on open directories and follows no symbolic link below them. What is there under another name than
//! Assay gives, or without the mark of the run that asks, is left alone and told.

use crate::place::mark::{self, is_mark, Found};
use crate::place::{numbers, open_inside, open_root, remove};
use assay_core::names::{is_job_directory, job_mark, MARKER};
use assay_core::{clock, os_message, pulse, SetupError};
use assay_spec::{Claim, Look, Mark, PlaceAnswer, PlaceState, Remains, Space};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Access, AtFlags, FileType, FlockOperation, Mode, OFlags, RawDir, RenameFlags, CWD};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What mkfs(8) makes.
const LOST_AND_FOUND: &[u8] = b"lost+found";
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// So many names are told; a directory with any is somebody else's.
const MOST_NAMES: usize = 4;
/// Of a directory with more entries the rest is not looked at.
const MOST_ENTRIES: u32 = 100_000;
/// Names of the files with which a place is tried out; they are removed at once unless the process is killed.
const PROBE: &[u8] = b".assay-probe-";
/// So often a directory is looked at that is gone each time: each of two runs may replace it once meanwhile.
const LOOKS: u32 = 10;

fn failed(path: impl AsRef<Path>, action: &'static str) -> impl FnOnce(Errno) -> SetupError {
    move |errno| SetupError::os(action, path.as_ref().display().to_string(), errno)
}

/// The directory above and the last name of an absolute path.
fn split(root: &str) -> Result<(PathBuf, String), SetupError> {
    let path = Path::new(root);
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(parent), Some(name)) => Ok((parent.to_owned(), name.to_owned())),
        _ => Err(SetupError::new("open", root, "is no path of a directory that could be made")),
    }
}

/// Looks at a path without changing anything.
///
/// # Errors
/// If the kernel does not let it be looked at.
pub fn inspect(root: &str) -> Result<Look, SetupError> {
    for _ in 1..LOOKS {
        match inspect_once(root) {
            // The directory that was opened has been replaced or removed since.
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

/// Room of the file system; `None` if it has no size of its own, such as ramfs, which has 0 blocks.
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

fn is_there(folder: &OwnedFd, name: &str) -> bool {
    !matches!(fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}

fn identity(folder: &OwnedFd) -> Result<String, Errno> {
    numbers(folder).map(|(device, inode)| format!("{device}:{inode}"))
}

fn look_inside(folder: &OwnedFd, look: &mut Look) -> Result<(), Errno> {
    look.identity = identity(folder)?;
    match mark::read(folder)? {
        Found::Nothing => {}
        Found::Mark(mark) => look.mark = Some(mark),
        Found::Plain | Found::Other => look.bad_mark = true,
    }
    each_name(folder, |name| {
        let run = look.mark.as_ref().map_or("", |mark| mark.run.as_str());
        look.has_work |= is_job_directory(name, run);
        let harmless = is_mark(folder, name) || name == LOST_AND_FOUND;
        if !harmless && look.names.len() < MOST_NAMES {
            look.names.push(String::from_utf8_lossy(name).into_owned());
        }
        // Of a directory that is somebody else's a few names are enough.
        if look.mark.is_some() {
            !look.has_work
        } else {
            look.names.len() < MOST_NAMES
        }
    })?;
    look.names.sort();
    Ok(())
}

/// Calls `see` with each name but `.` and `..` until it says no.
fn each_name(folder: &OwnedFd, mut see: impl FnMut(&[u8]) -> bool) -> Result<(), Errno> {
    fs::seek(folder, fs::SeekFrom::Start(0))?;
    let mut room = Vec::with_capacity(32 << 10);
    let mut entries = RawDir::new(folder, room.spare_capacity_mut());
    let mut seen = 0;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        seen += 1;
        if ![b".".as_slice(), b".."].contains(&name) && (!see(name) || seen > MOST_ENTRIES) {
            return Ok(());
        }
    }
    Ok(())
}

/// All names that `take` accepts.
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

/// Locks a directory for this process until it is closed; false if another one keeps it.
fn lock(folder: &OwnedFd, patience_ns: u64) -> bool {
    let end = clock::now().saturating_add(patience_ns);
    loop {
        match fs::flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            // Some file systems lock no directories; there the mark has to do.
            _ => return true,
        }
        if clock::now() > end {
            return false;
        }
        pulse::beat();
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Opens and locks the directory of a path: it is the one at the path when the lock is there. None if there is none.
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
        let now = open_root(root).ok().and_then(|now| numbers(&now).ok());
        // Whoever had the lock before may have put another directory in its place.
        if now == numbers(&folder).ok() {
            return Ok(Some(folder));
        }
    }
}

/// The directory above, locked if this user may: no other run works with the unfinished name meanwhile.
struct Above {
    folder: OwnedFd,
    path: PathBuf,
    name: String,
    /// The name under which a directory is before it is marked and while it is removed.
    unfinished: String,
}

impl Above {
    fn open(root: &str, patience_ns: u64) -> Result<Self, SetupError> {
        let (path, name) = split(root)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = fs::open(&path, flags, Mode::empty()).map_err(failed(&path, "open"))?;
        lock(&folder, patience_ns);
        Ok(Above { folder, path, unfinished: format!(".{name}.assay-new"), name })
    }

    fn path_of(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Whether a claim or release of this run was cut short while the directory had the unfinished name.
    fn is_cut_short(&self, run: &str) -> bool {
        let folder = open_inside(&self.folder, self.unfinished.as_str(), OFlags::DIRECTORY, Mode::empty());
        let found = folder.and_then(|folder| mark::read(&folder));
        matches!(found, Ok(Found::Mark(mark)) if mark.identity == run)
    }

    /// Removes what a claim or release that was cut short left under the unfinished name, if it is Assay's.
    fn remove_unfinished(&self) -> Result<(), SetupError> {
        let error = |errno| SetupError::os("remove", self.path_of(&self.unfinished), errno);
        let folder = match open_inside(&self.folder, self.unfinished.as_str(), OFlags::DIRECTORY, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::XDEV) => {
                return Err(SetupError::new("remove", self.path_of(&self.unfinished), "is a mount: left alone"))
            }
            // Somebody else's link or file of that name is in nobody's way until a directory is made.
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

    /// Makes the directory under another name, marks it, and only then gives it its own: it never holds data unmarked.
    /// False if somebody else made one of this name meanwhile, which is left alone.
    fn make(&self, mark: &Mark) -> Result<bool, SetupError> {
        // Its owner's alone: whoever can open a directory can also lock it.
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
        // rename(2) would replace an empty directory of somebody else's; mkdir(2) takes the name or fails.
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

/// Makes a directory with its mark in one step, or marks the one that is there, and removes what a run that is over has
/// left in it. Of two runs that claim it at the same time one gets it.
///
/// `patience_ns` is the longest wait for a directory that another process works on, as for the functions below.
///
/// # Errors
/// If it cannot be made or marked. A directory that is somebody else's is no error: the answer says what is there.
pub fn claim(asked: &Claim, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let above = Above::open(&asked.root, patience_ns)?;
    let cut_short = above.is_cut_short(&asked.mark.identity);
    above.remove_unfinished()?;
    let made = Mark { created_by_assay: true, ..asked.mark.clone() };
    if !is_there(&above.folder, &above.name) && above.make(&made)? {
        let folder = open_root(&asked.root)?;
        return answer(&folder, made, Vec::new()).map_err(failed(&asked.root, "open"));
    }
    drop(above);
    match open_locked(&asked.root, patience_ns)? {
        Some(folder) => mark_existing(&folder, asked, cut_short),
        // Its run has given it back between two looks of ours.
        None => Err(SetupError::new("open", &asked.root, "has been removed at this moment: try again")),
    }
}

fn answer(folder: &OwnedFd, mark: Mark, left: Vec<Remains>) -> Result<PlaceAnswer, Errno> {
    Ok(PlaceAnswer { identity: identity(folder)?, mark: Some(mark), left, ..PlaceAnswer::default() })
}

/// Marks an open and locked directory, unless it is somebody else's. `made`: an earlier part of the run has made it, and
/// had no time to give it its mark.
fn mark_existing(folder: &OwnedFd, asked: &Claim, made: bool) -> Result<PlaceAnswer, SetupError> {
    let error = || failed(&asked.root, "claim");
    let look = inspect(&asked.root)?;
    let foreign = look.bad_mark || look.mark.is_none() && !look.names.is_empty();
    let own = |mark: &Mark| mark.identity == asked.mark.identity;
    let over = |mark: &Mark| asked.over.as_ref() == Some(mark);
    let taken = look.mark.as_ref().is_some_and(|mark| !own(mark) && !over(mark));
    let kept = look.mark.as_ref().is_some_and(|mark| !own(mark) && mark.keep) && look.has_work;
    if foreign || taken || kept {
        return Ok(PlaceAnswer { look: Some(look), foreign: true, ..PlaceAnswer::default() });
    }
    let made = made && look.mark.is_none();
    let earlier = look.mark.unwrap_or_default();
    let mark = Mark { created_by_assay: made || earlier.created_by_assay, ..asked.mark.clone() };
    // What is there is of the earlier run, and the marks of its jobs are its own: they go before it is marked anew.
    let left = if earlier.keep { Vec::new() } else { remove_work(folder, &asked.root, &earlier).map_err(error())? };
    // Of several hosts that share it each finds the mark of the first: to write it anew would only disturb the others.
    if mark != earlier {
        mark::write(folder, &mark).map_err(error())?;
    }
    answer(folder, mark, left).map_err(error())
}

/// Removes the directories of a run's jobs and what trying out the place left; returns what is still there.
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

/// Whether it is a file with which a place was tried out: nothing is ever in one that has a name.
fn is_probe(folder: &OwnedFd, name: &[u8]) -> bool {
    let numbers = |rest: &[u8]| rest.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
    let Some(rest) = name.strip_prefix(PROBE) else { return false };
    let found = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let empty = |stat: fs::Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_size == 0;
    numbers(rest) && found.is_ok_and(empty)
}

/// Whether a job of this run has made and marked the directory of this name.
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

/// Removes the directory of a job in a marked one, or, if it shall be `whole`, the marked one itself.
///
/// # Errors
/// If it is not there, or something could not be looked at.
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

/// The open and locked directory of a run; otherwise the answer that there is none.
fn open_of(
    root: &str,
    run: Option<&str>,
    patience_ns: u64,
) -> Result<Result<(OwnedFd, Found), PlaceAnswer>, SetupError> {
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

/// Removes the directory of one job of a run below its marked directory; there may be none.
///
/// # Errors
/// If the marked directory cannot be opened.
pub fn remove_job(root: &str, name: &str, run: Option<&str>, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let (folder, _) = match open_of(root, run, patience_ns)? {
        Ok(opened) => opened,
        Err(answer) => return Ok(answer),
    };
    let there = is_there(&folder, name);
    let left = remove_one(&folder, root, name, run.unwrap_or_default());
    let removed = if there && left.is_empty() { vec![format!("{root}/{name}")] } else { Vec::new() };
    Ok(PlaceAnswer { removed, left, ..PlaceAnswer::default() })
}

/// Removes what a run made: directories of its jobs, the mark, and the directory itself if Assay made it.
///
/// # Errors
/// If the directory, or the one above it, cannot be opened.
pub fn release(root: &str, run: Option<&str>, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let (folder, found) = match open_of(root, run, patience_ns)? {
        Ok(opened) => opened,
        Err(mut answer) => {
            if answer.absent && inspect(root)?.state != PlaceState::NoParent {
                let above = Above::open(root, patience_ns)?;
                if let Err(error) = above.remove_unfinished() {
                    answer.left = vec![Remains { path: above.path_of(&above.unfinished), why: error.message }];
                }
            }
            return Ok(answer);
        }
    };
    let mark = if let Found::Mark(mark) = found { mark } else { Mark::default() };
    let error = || failed(root, "remove");
    if mark.keep && !names(&folder, |name| is_job_directory(name, &mark.run)).map_err(error())?.is_empty() {
        return Ok(PlaceAnswer { kept: true, ..PlaceAnswer::default() });
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
        let shown = others[..others.len().min(MOST_NAMES - 1)].join(", ");
        let left = vec![Remains { path: root.to_owned(), why: format!("holds files that are not Assay's: {shown}") }];
        return Ok(PlaceAnswer { left, ..PlaceAnswer::default() });
    }
    remove_root(&folder, root, patience_ns)
}

/// Removes the marked directory itself, in which nothing else is, under another name: so no name is ever lost that
/// somebody else has put in its place.
fn remove_root(folder: &OwnedFd, root: &str, patience_ns: u64) -> Result<PlaceAnswer, SetupError> {
    let above = Above::open(root, patience_ns)?;
    above.remove_unfinished()?;
    let (name, unfinished) = (above.name.as_str(), above.unfinished.as_str());
    let still = |why: &str| {
        let left = vec![Remains { path: root.to_owned(), why: why.to_owned() }];
        Ok(PlaceAnswer { left, ..PlaceAnswer::default() })
    };
    match fs::renameat(&above.folder, name, &above.folder, unfinished) {
        Ok(()) => {}
        Err(Errno::BUSY) => return still("is a mount: left alone"),
        Err(errno) => return still(&os_message(errno.raw_os_error())),
    }
    let moved = fs::statat(&above.folder, unfinished, AtFlags::SYMLINK_NOFOLLOW).map(|stat| (stat.st_dev, stat.st_ino));
    if moved != numbers(folder) {
        let flags = RenameFlags::NOREPLACE;
        // Not every file system can rename without replacing; an empty directory is all that could be replaced.
        let back = match fs::renameat_with(&above.folder, unfinished, &above.folder, name, flags) {
            Err(Errno::INVAL | Errno::NOSYS) => fs::renameat(&above.folder, unfinished, &above.folder, name),
            done => done,
        };
        if back.is_err() {
            return still(&format!("was replaced at this moment: what was there is {} now", above.path_of(unfinished)));
        }
        return still("was replaced at this moment: left alone");
    }
    above.remove_unfinished()?;
    Ok(PlaceAnswer { removed: vec![root.to_owned()], ..PlaceAnswer::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// A directory of the test's own, gone afterwards.
    struct Ground(PathBuf);

    impl Ground {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("assay-claim-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(&path).unwrap();
            Ground(path)
        }

        fn root(&self) -> String {
            self.0.join("target").display().to_string()
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    impl Drop for Ground {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn mark(identity: &str) -> Mark {
        Mark { run: "run".to_owned(), identity: identity.to_owned(), ..Mark::default() }
    }

    fn asked(ground: &Ground, identity: &str) -> Claim {
        Claim { root: ground.root(), mark: mark(identity), over: None }
    }

    #[test]
    fn what_somebody_makes_meanwhile_is_not_taken() {
        let ground = Ground::new("meanwhile");
        let above = Above::open(&ground.root(), SECOND).unwrap();
        std::fs::create_dir(ground.root()).unwrap();
        assert!(!above.make(&mark("a")).unwrap());
        assert_eq!(ground.names(), ["target"]);
        assert_eq!(std::fs::read_dir(ground.root()).unwrap().count(), 0);
    }

    #[test]
    fn a_claim_replaces_only_the_mark_it_was_told_of() {
        let ground = Ground::new("over");
        let first = claim(&asked(&ground, "a"), SECOND).unwrap().mark.unwrap();
        assert!(first.created_by_assay);
        let refused = claim(&asked(&ground, "b"), SECOND).unwrap();
        assert!(refused.foreign && refused.mark.is_none());
        assert_eq!(refused.look.unwrap().mark.as_ref(), Some(&first));
        let stale = Claim { over: Some(mark("c")), ..asked(&ground, "b") };
        assert!(claim(&stale, SECOND).unwrap().foreign);
        let taken = claim(&Claim { over: Some(first), ..asked(&ground, "b") }, SECOND).unwrap().mark.unwrap();
        assert_eq!((taken.identity.as_str(), taken.created_by_assay), ("b", true));
        assert!(release(&ground.root(), Some("a"), SECOND).unwrap().foreign);
        assert_eq!(release(&ground.root(), Some("b"), SECOND).unwrap().removed, [ground.root()]);
        assert!(ground.names().is_empty());
    }

    #[test]
    fn a_root_that_was_replaced_keeps_its_name() {
        let ground = Ground::new("replaced");
        claim(&asked(&ground, "a"), SECOND).unwrap();
        let ours = open_root(&ground.root()).unwrap();
        std::fs::rename(ground.root(), ground.0.join("moved")).unwrap();
        std::fs::create_dir(ground.root()).unwrap();
        let answer = remove_root(&ours, &ground.root(), SECOND).unwrap();
        assert_eq!(answer.left[0].why, "was replaced at this moment: left alone");
        assert!(std::path::Path::new(&ground.root()).is_dir());
        assert_eq!(ground.names().len(), 2);
    }

    #[test]
    fn what_comes_and_goes_can_be_looked_at_all_the_time() {
        let ground = Ground::new("coming");
        let asked = asked(&ground, "a");
        let done = std::sync::atomic::AtomicBool::new(false);
        let over = std::sync::atomic::Ordering::Relaxed;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1000 {
                    claim(&asked, SECOND).unwrap();
                    release(&asked.root, Some("a"), SECOND).unwrap();
                }
                done.store(true, over);
            });
            while !done.load(over) {
                let look = inspect(&asked.root).unwrap();
                assert!(look.names.is_empty(), "{look:?}");
            }
        });
    }

    #[test]
    fn what_is_left_of_an_absent_root_is_named_by_its_own_path() {
        let ground = Ground::new("unfinished");
        let unfinished = ground.0.join(".target.assay-new");
        std::fs::create_dir(&unfinished).unwrap();
        std::fs::write(unfinished.join("precious"), "x").unwrap();
        let answer = release(&ground.root(), Some("a"), SECOND).unwrap();
        assert!(answer.absent && answer.removed.is_empty());
        let why = "holds precious, which is not Assay's: left alone";
        assert_eq!(answer.left, [Remains { path: unfinished.display().to_string(), why: why.to_owned() }]);
        std::fs::remove_file(unfinished.join("precious")).unwrap();
        assert_eq!(release(&ground.root(), Some("a"), SECOND).unwrap().left, []);
        assert!(ground.names().is_empty());
    }

    #[test]
    fn a_mark_by_hand_admits_jobs_without_a_run_only() {
        for (found, by_hand, by_run) in [
            (Found::Plain, true, false),
            (Found::Mark(mark("")), true, false),
            (Found::Mark(mark("a")), false, true),
            (Found::Mark(mark("b")), false, false),
            (Found::Nothing, false, false),
            (Found::Other, false, false),
        ] {
            assert_eq!((found.admits(None), found.admits(Some("a"))), (by_hand, by_run), "{found:?}");
        }
    }
}

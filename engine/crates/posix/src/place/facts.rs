//! The type of a directory's file system, and what can be done about the page cache.

use assay_spec::CacheAction;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{self, Access, AtFlags, CWD};
use rustix::io::Errno;

/// File systems that keep their data in memory: tmpfs and ramfs (statfs(2)).
const MEMORY_MAGIC: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// The limits of such a file system.
pub const MEMORY: &str = "the file system is in memory: there is no cache to empty, and none that O_DIRECT bypasses";

/// True if a directory's file system keeps its data in memory.
///
/// # Errors
/// The kernel's errno.
pub fn is_memory(root: &impl AsFd) -> Result<bool, Errno> {
    let stat = fs::fstatfs(root)?;
    #[allow(clippy::unnecessary_cast)]
    Ok(MEMORY_MAGIC.contains(&(stat.f_type as i64)))
}

/// The possible actions on the page cache; adds impossible ones to `limits`.
pub fn cache_actions(limits: &mut Vec<String>) -> Vec<CacheAction> {
    let mut actions = vec![CacheAction::Keep, CacheAction::Evict];
    let effective = AtFlags::EACCESS;
    match fs::accessat(CWD, "/proc/sys/vm/drop_caches", Access::WRITE_OK, effective) {
        Ok(()) => actions.push(CacheAction::Drop),
        Err(_) => limits.push("the page cache cannot be dropped: needs root".to_owned()),
    }
    actions
}

/// Type of the file system from /proc/self/mountinfo, by device number.
pub fn filesystem_name(root: BorrowedFd<'_>) -> String {
    let unknown = || "unknown".to_owned();
    let Ok(stat) = fs::fstat(root) else {
        return unknown();
    };
    let number = format!("{}:{}", fs::major(stat.st_dev), fs::minor(stat.st_dev));
    let Ok(table) = std::fs::read_to_string("/proc/self/mountinfo") else {
        return unknown();
    };
    table
        .lines()
        .filter(|line| line.split(' ').nth(2) == Some(&number))
        .find_map(|line| line.split(" - ").nth(1)?.split(' ').next().map(str::to_owned))
        .unwrap_or_else(unknown)
}

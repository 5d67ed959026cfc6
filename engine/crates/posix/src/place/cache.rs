//! The page cache: how much of a file is in it, and how to evict it.

use assay_core::SetupError;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{self, Advice};
use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags};

/// Bytes mapped at once.
const STRETCH_BYTES: u64 = 1 << 30;

/// The eviction of files from the page cache.
pub struct Eviction {
    files: u64,
    /// Pages that remain; None if unknown.
    left: Option<u64>,
}

impl Default for Eviction {
    fn default() -> Self {
        Eviction { files: 0, left: Some(0) }
    }
}

impl Eviction {
    /// Flush a file and evict it from the cache.
    ///
    /// # Errors
    /// The kernel's errno.
    pub fn evict(&mut self, fd: &OwnedFd) -> Result<(), Errno> {
        fs::fsync(fd)?;
        fs::fadvise(fd, 0, None, Advice::DontNeed)?;
        self.files += 1;
        self.left = self.left.zip(cached_pages(fd)).map(|(sum, pages)| sum + pages);
        Ok(())
    }

    /// What was done, as text for users.
    pub fn description(&self) -> String {
        let unknown = || "the kernel does not report what is left".to_owned();
        let left = self.left.map_or_else(unknown, |pages| format!("{pages} pages left"));
        format!("{} file(s) flushed and evicted with posix_fadvise(DONTNEED), {left}", self.files)
    }
}

/// Drop the host's whole page cache; returns what was done, as text for users.
///
/// # Errors
/// If that is not allowed.
pub fn drop_caches() -> Result<String, SetupError> {
    const CONTROL: &str = "/proc/sys/vm/drop_caches";
    fs::sync();
    match std::fs::write(CONTROL, "3") {
        Ok(()) => Ok(format!("sync, then 3 written to {CONTROL}")),
        Err(error) => Err(SetupError::new("cache", CONTROL, format!("{error}; dropping the cache needs root"))),
    }
}

/// Pages of a file in the page cache; None if unknown.
pub fn cached_pages(fd: &OwnedFd) -> Option<u64> {
    by_cachestat(fd).or_else(|| by_mincore(fd))
}

/// cachestat(2), Linux 6.5.
fn by_cachestat(fd: &OwnedFd) -> Option<u64> {
    const CACHESTAT: libc::c_long = 451;
    // struct cachestat_range { off, len }: a length of 0 means to the end.
    let range = [0_u64; 2];
    // struct cachestat { nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted }
    let mut answer = [0_u64; 5];
    // SAFETY: both arrays have the layout of the structures and live through the call.
    let code = unsafe { libc::syscall(CACHESTAT, fd.as_raw_fd(), range.as_ptr(), answer.as_mut_ptr(), 0) };
    (code == 0).then_some(answer[0])
}

/// mincore(2), which needs the file to be mapped, and to be writable or owned by the caller.
fn by_mincore(fd: &OwnedFd) -> Option<u64> {
    let size = u64::try_from(fs::fstat(fd).ok()?.st_size).ok()?;
    let mut pages = 0;
    for start in (0..size).step_by(STRETCH_BYTES as usize) {
        pages += resident(fd, start, (size - start).min(STRETCH_BYTES) as usize)?;
    }
    Some(pages)
}

/// Resident pages of a part that starts at a page.
fn resident(fd: &OwnedFd, start: u64, length: usize) -> Option<u64> {
    let mut states = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping that nobody else knows, not touched, and removed right away; `states` has a byte per page.
    let code = unsafe {
        let address = mm::mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, fd, start).ok()?;
        let code = libc::mincore(address, length, states.as_mut_ptr());
        let _ = mm::munmap(address, length);
        code
    };
    (code == 0).then(|| states.iter().filter(|state| **state & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::{by_cachestat, by_mincore};
    use crate::test_folder::TestFolder;

    #[test]
    fn both_ways_agree_on_a_file_just_written() {
        let fd = TestFolder::new("residency").file("f0", &vec![7; 100_000]);
        let pages = 100_000_u64.div_ceil(rustix::param::page_size() as u64);
        assert_eq!(by_mincore(&fd), Some(pages));
        assert!(by_cachestat(&fd).is_none_or(|counted| counted == pages));
    }
}

//! What files and devices can do in general, and what a given place can do, found by trying.

use assay_core::SetupError;
use assay_posix::place::{facts, open_unnamed, Place};
use assay_spec::{BackendCapabilities, CacheAction, Layout, Method, Operation, PlaceCapabilities, SyncPolicy};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{self, MapFlags, ProtFlags};

/// What files (`kind` file) or devices (`kind` device) can do anywhere.
pub(crate) fn general(kind: &str) -> BackendCapabilities {
    let device = kind == "device";
    BackendCapabilities {
        kind: kind.to_owned(),
        // A device has no names.
        operations: Operation::of_files().filter(|operation| !device || !operation.needs_tree()).collect(),
        layouts: if device { vec![Layout::Shared] } else { vec![Layout::Separate, Layout::Shared] },
        methods: vec![Method::IoUring, Method::Sync, Method::Threads, Method::Mmap],
        direct: true,
        direct_bypasses_cache: true,
        direct_alignment_bytes: 512,
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync, SyncPolicy::Fdatasync, SyncPolicy::OSync, SyncPolicy::ODsync],
        cache: vec![CacheAction::Keep, CacheAction::Evict, CacheAction::Drop],
        file_sets: !device,
        preallocate: !device,
        verify: true,
        place: None,
    }
}

/// What can be done at `place`.
pub(crate) fn at(place: &Place) -> Result<BackendCapabilities, SetupError> {
    match place {
        Place::Directory { root, .. } => at_directory(place, root),
        Place::Device { path, .. } => at_device(path),
    }
}

/// Numbers of the device below a place, and its free bytes, where known.
type Room = (Option<(u32, u32)>, Option<u64>);

/// What can be done at all of several places: what each of them can, with the coarsest alignment. The free space
/// assumes that each place takes as much as the others; places on one file system share its space.
pub(crate) fn of_all(places: &[Place]) -> Result<BackendCapabilities, SetupError> {
    let mut found = at(&places[0])?;
    let mut room: Vec<Room> = vec![(places[0].device_number(), free_bytes(&found))];
    for place in &places[1..] {
        let other = at(place)?;
        found.methods.retain(|method| other.methods.contains(method));
        found.cache.retain(|action| other.cache.contains(action));
        found.direct &= other.direct;
        found.direct_bypasses_cache &= other.direct_bypasses_cache;
        found.direct_alignment_bytes = found.direct_alignment_bytes.max(other.direct_alignment_bytes);
        found.preallocate &= other.preallocate;
        room.push((place.device_number(), free_bytes(&other)));
        if let (Some(all), Some(other)) = (&mut found.place, other.place) {
            let new = other.limits.into_iter().filter(|limit| !all.limits.contains(limit)).collect::<Vec<_>>();
            all.limits.extend(new.into_iter().map(|limit| format!("{}: {limit}", other.path)));
        }
    }
    if !found.direct {
        found.direct_alignment_bytes = 0;
    }
    if let Some(all) = &mut found.place {
        let share = |(device, free): &Room| {
            let same = room.iter().filter(|(other, _)| device.is_some() && other == device).count().max(1) as u64;
            free.map(|free| free / same)
        };
        let count = places.len();
        if count > 1 {
            all.limits.push(format!("lanes take turns among {count} directories"));
        }
        all.free_bytes = room.iter().map(share).min().flatten().map(|least| least.saturating_mul(count as u64));
    }
    Ok(found)
}

fn free_bytes(found: &BackendCapabilities) -> Option<u64> {
    found.place.as_ref().and_then(|place| place.free_bytes)
}

/// Methods that the kernel offers, with the reason why one is missing.
fn methods(limits: &mut Vec<String>) -> Vec<Method> {
    match assay_posix::uring::probe() {
        Ok(()) => vec![Method::IoUring, Method::Sync, Method::Threads, Method::Mmap],
        Err(reason) => {
            limits.push(format!("no io_uring: {reason}"));
            vec![Method::Sync, Method::Threads, Method::Mmap]
        }
    }
}

fn at_directory(place: &Place, root: &str) -> Result<BackendCapabilities, SetupError> {
    let Place::Directory { root_fd, .. } = place else { unreachable!("called for directories") };
    let mut limits = Vec::new();
    let mut found = general("file");
    let space = fs::fstatvfs(root_fd).map_err(|e| SetupError::os("statvfs", root, e))?;
    let memory = facts::is_memory(root_fd).map_err(|e| SetupError::os("statfs", root, e))?;
    found.methods = methods(&mut limits);
    found.cache = facts::cache_actions(&mut limits);
    if memory {
        found.direct_bypasses_cache = false;
        found.cache = vec![CacheAction::Keep];
        limits.push(facts::MEMORY.to_owned());
    }
    if !can_be_mapped(root_fd, root)? {
        found.methods.retain(|method| *method != Method::Mmap);
        limits.push("no mmap: the file system has no shared mappings of files".to_owned());
    }
    if !can_be_reserved(root_fd, root)? {
        found.preallocate = false;
        limits.push("no space can be reserved for files (fallocate)".to_owned());
    }
    match direct_alignment(root_fd, root)? {
        Some(bytes) => found.direct_alignment_bytes = bytes,
        None => {
            found.direct = false;
            found.direct_alignment_bytes = 0;
            limits.push("the file system refuses O_DIRECT".to_owned());
        }
    }
    found.place = Some(PlaceCapabilities {
        path: root.to_owned(),
        filesystem: facts::filesystem_name(root_fd.as_fd()),
        free_bytes: Some(space.f_bavail.saturating_mul(space.f_frsize)),
        limits,
        absent: String::new(),
    });
    Ok(found)
}

/// The smaller of 512 and 4096 bytes that a direct write may have here; none without O_DIRECT.
fn direct_alignment(root: &OwnedFd, path: &str) -> Result<Option<u64>, SetupError> {
    let error = |errno| SetupError::os("probe", path, errno);
    let buffers = assay_core::Buffers::new(1, 4096, false).map_err(error)?;
    let file = match open_unnamed(root, OFlags::RDWR | OFlags::DIRECT) {
        Err(Errno::INVAL) => return Ok(None),
        other => other.map_err(error)?,
    };
    // SAFETY: the buffer was made just now and nothing else refers to it.
    let data = unsafe { buffers.slice(0, 4096) };
    for bytes in [512, 4096] {
        match rustix::io::pwrite(&file, &data[..bytes], 0) {
            Err(Errno::INVAL) => {}
            // Too little space or a broken device proves nothing about the alignment; a block of 4096 bytes fits
            // anywhere.
            Err(_) => return Ok(Some(4096)),
            Ok(_) => return Ok(Some(bytes as u64)),
        }
    }
    Ok(None)
}

/// Whether space can be reserved for files here; NFS before 4.2 and many file systems in user space have no
/// fallocate(2).
fn can_be_reserved(root: &OwnedFd, path: &str) -> Result<bool, SetupError> {
    let file = open_unnamed(root, OFlags::RDWR).map_err(|errno| SetupError::os("probe", path, errno))?;
    // Some file systems in user space look for the name of the file, which it has lost. Other errors, such as too
    // little space, prove nothing about the file system.
    let reserved = fs::fallocate(&file, FallocateFlags::empty(), 0, 4096);
    Ok(!matches!(reserved, Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOENT)))
}

/// Whether files here can be mapped for writing; some file systems in user space refuse it (ENODEV).
fn can_be_mapped(root: &OwnedFd, path: &str) -> Result<bool, SetupError> {
    let error = |errno| SetupError::os("probe", path, errno);
    let file = open_unnamed(root, OFlags::RDWR).map_err(error)?;
    let (length, protection) = (rustix::param::page_size(), ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: a mapping at an address of the kernel's choice touches nothing of ours, and nothing is read from it.
    match unsafe { mm::mmap(std::ptr::null_mut(), length, protection, MapFlags::SHARED, &file, 0) } {
        Ok(mapping) => {
            // SAFETY: it was made just now, and nothing refers to it.
            let _ = unsafe { mm::munmap(mapping, length) };
            Ok(true)
        }
        Err(Errno::NODEV) => Ok(false),
        // Other errors prove nothing about the file system.
        Err(_) => Ok(true),
    }
}

/// Whether the kernel refuses all writes to a block device, which may be opened for writing all the same.
fn is_read_only(device: &OwnedFd) -> bool {
    let Ok(stat) = fs::fstat(device) else { return false };
    let file = format!("/sys/dev/block/{}:{}/ro", fs::major(stat.st_rdev), fs::minor(stat.st_rdev));
    std::fs::read_to_string(file).is_ok_and(|text| text.trim() == "1")
}

fn at_device(path: &str) -> Result<BackendCapabilities, SetupError> {
    let mut limits = Vec::new();
    let mut found = general("device");
    found.methods = methods(&mut limits);
    found.cache = facts::cache_actions(&mut limits);
    let fd = fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
        .map_err(|e| SetupError::os("open", path, e))?;
    if is_read_only(&fd) {
        let message = "the device is read-only: nothing can be written to it (losetup -r, blockdev --setro)";
        return Err(SetupError::new("open", path, message));
    }
    let size = fs::seek(&fd, fs::SeekFrom::End(0)).map_err(|e| SetupError::os("size", path, e))?;
    let sector = fs::ioctl_blksszget(&fd).map_err(|e| SetupError::os("sector size", path, e))?;
    found.direct_alignment_bytes = u64::from(sector);
    found.place = Some(PlaceCapabilities {
        path: path.to_owned(),
        filesystem: "block".to_owned(),
        free_bytes: Some(size),
        limits,
        absent: String::new(),
    });
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::{names, TestDir};

    #[test]
    fn a_device_has_no_names_and_one_size() {
        let (files, device) = (general("file"), general("device"));
        assert!(files.operations.contains(&Operation::Stat) && !device.operations.contains(&Operation::Stat));
        assert_eq!(device.layouts, [Layout::Shared]);
        assert!(files.file_sets && files.preallocate && !device.file_sets && !device.preallocate);
        assert_eq!((files.kind.as_str(), device.kind.as_str()), ("file", "device"));
    }

    #[test]
    fn a_place_is_tried_and_left_as_it_was() {
        let test_dir = TestDir::new("able");
        let found = at(&Place::directory(&test_dir.root(), "job", None).unwrap()).unwrap();
        let place = found.place.as_ref().unwrap();
        assert_eq!(place.path, test_dir.root());
        assert!(found.methods.contains(&Method::Sync) && found.cache.contains(&CacheAction::Keep));
        assert_eq!(found.direct, found.direct_alignment_bytes > 0);
        let cited = |word: &str| place.limits.iter().any(|limit| limit.contains(word));
        assert_eq!(cited("io_uring"), !found.methods.contains(&Method::IoUring));
        assert_eq!(cited("O_DIRECT"), !found.direct);
        assert_eq!(names(&test_dir.0), [".assay-target"]);
    }

    /// Memory has no cache to empty. Skipped where /dev/shm is missing.
    #[test]
    fn memory_is_no_cache_of_something_else() {
        let root = format!("/dev/shm/assay-file-memory-{}", std::process::id());
        if std::fs::create_dir(&root).is_err() {
            return;
        }
        std::fs::write(format!("{root}/.assay-target"), "").unwrap();
        let found = at(&Place::directory(&root, "job", None).unwrap());
        std::fs::remove_dir_all(&root).unwrap();
        let found = found.unwrap();
        if found.place.as_ref().unwrap().filesystem == "tmpfs" {
            assert_eq!((found.cache, found.direct_bypasses_cache), (vec![CacheAction::Keep], false));
        }
    }
}

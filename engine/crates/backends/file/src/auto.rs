//! How `auto` finds the method for several operations in flight: it tries whether the kernel executes them itself.
//!
//! Operations that would have to wait are passed by the kernel to worker threads of the ring's owner, named `iou-wrk-`
//! and a number, which work like pread and pwrite. These are all operations on files that cannot be used without
//! waiting (tmpfs, many FUSE file systems), buffered writes on most file systems, and direct writes that extend a file.
//! That costs more than threads of our own, and writes to one file are executed one after the other. Sources:
//! io_uring_enter(2), `IOSQE_ASYNC`; io_uring/io-wq.c and `io_write` of the kernel.

use assay_core::{clock, heartbeat, Buffers, Completion, LaneSetup, Op, OpKind, SetupError};
use assay_posix::place::Place;
use assay_posix::uring::{Queue, Ring, Uring};
use assay_spec::{Method, MethodFound, MethodShape, MethodsFound, Operation, SyncPolicy, AHEAD_BYTES};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Advice, FallocateFlags, OFlags};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// How many attempts are made, one after the other; the majority decides.
const ATTEMPTS: usize = 3;
/// Operations of one attempt, unless they are very long or twice the operations in flight are more.
const OPERATIONS: u64 = 32;
const MAX_BYTES: u64 = 4 << 20;
/// So many operations in flight show whether workers are used.
const MAX_DEPTH: u32 = 32;
/// An operation of an attempt that takes longer has failed.
const TIMEOUT_NS: u64 = 10_000_000_000;

/// The method for a phase, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) method: Method,
    pub(crate) reason: String,
}

impl Choice {
    pub(crate) fn new(method: Method, reason: impl Into<String>) -> Self {
        Choice { method, reason: reason.into() }
    }
}

/// The methods found at a place, by direction: its lanes do the same kind of work.
#[derive(Default)]
pub(crate) struct KnownMethods([OnceLock<Choice>; 3]);

impl KnownMethods {
    pub(crate) fn choose(&self, place: &Place, shape: &MethodShape, direction: Direction) -> Choice {
        self.0[direction as usize].get_or_init(|| choose(place, shape, direction)).clone()
    }
}

/// The direction of the data; the kernel may treat each differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    /// Writing what does not exist yet.
    Create,
    Overwrite,
}

impl Direction {
    /// The direction of an operation; for one that reads and writes, that of its writes.
    pub(crate) fn of(operation: Operation) -> Self {
        match (operation.creates(), operation.writes()) {
            (true, _) => Direction::Create,
            (false, true) => Direction::Overwrite,
            (false, false) => Direction::Read,
        }
    }
}

/// The methods for one kind of case.
pub(crate) fn find(place: &Place, shape: &MethodShape) -> MethodsFound {
    let found = |direction| {
        heartbeat::beat();
        let Choice { method, reason } = choose(place, shape, direction);
        MethodFound { method, reason }
    };
    MethodsFound {
        read: found(Direction::Read),
        create: found(Direction::Create),
        overwrite: found(Direction::Overwrite),
    }
}

/// Reasons for a method by the number of operations in flight.
pub(crate) const ONE_IN_FLIGHT: &str = "one operation in flight: io_uring has nothing to batch";
pub(crate) const SEVERAL_IN_FLIGHT: &str = "several operations in flight";

/// The error where the job requests a ring and there is none.
pub(crate) fn no_ring(object: String, why: &str, methods: &str) -> SetupError {
    SetupError::new("open", object, format!("io_uring was requested, but {why}: use method {methods}"))
}

/// The method for one kind of case and a direction.
pub(crate) fn choose(place: &Place, shape: &MethodShape, direction: Direction) -> Choice {
    if shape.queue_depth == 1 {
        return choose_for_one(place, shape, direction);
    }
    if let Err(why) = assay_posix::uring::probe() {
        return Choice::new(Method::Threads, format!("{SEVERAL_IN_FLIGHT}; no io_uring: {why}"));
    }
    let (method, why) = match uses_kernel_workers(place, shape, direction) {
        Some(true) => (Method::Threads, "which the kernel would give to worker threads of its own"),
        Some(false) => (Method::IoUring, "which the kernel does itself"),
        None => (Method::IoUring, "and whether the kernel does them itself could not be tried"),
    };
    Choice::new(method, format!("{SEVERAL_IN_FLIGHT}, {why}"))
}

/// The method for one operation in flight. A ring has nothing to batch then, but leaves time to generate the data of
/// the next long write, unless the kernel's workers must be woken for each.
fn choose_for_one(place: &Place, shape: &MethodShape, direction: Direction) -> Choice {
    let long = shape.direct && direction != Direction::Read && shape.record_size_bytes >= AHEAD_BYTES;
    if long && assay_posix::uring::probe().is_ok() && uses_kernel_workers(place, shape, direction) == Some(false) {
        return Choice::new(Method::IoUring, "one long direct write in flight: the data of the next is made meanwhile");
    }
    Choice::new(Method::Sync, ONE_IN_FLIGHT)
}

/// Longest record of an attempt: the kernel decides by the file, not by the length.
const MAX_RECORD: u64 = 4 << 20;

/// Whether the kernel passes a ring's operations to workers; none if that cannot be tried.
fn uses_kernel_workers(place: &Place, shape: &MethodShape, direction: Direction) -> Option<bool> {
    let shape = &MethodShape { record_size_bytes: shape.record_size_bytes.min(MAX_RECORD), ..*shape };
    let length = shape.record_size_bytes as usize;
    let depth = MAX_DEPTH.min(shape.queue_depth).min((MAX_BYTES / length as u64).max(2) as u32);
    let buffers = Arc::new(Buffers::new(depth as usize, length, false).ok()?);
    let scratch = Scratch::open(place, shape, direction, &buffers)?;
    let setup = LaneSetup { direct: shape.direct, ..LaneSetup::of(0, depth, buffers) };
    let mut uses_kernel_workers = 0;
    for _ in 0..ATTEMPTS {
        scratch.reset()?;
        // Workers belong to the thread that owns the ring, and stay for a while, so each attempt has a thread of its
        // own.
        let one = std::thread::scope(|scope| scope.spawn(|| try_once(&scratch, &setup)).join().ok().flatten());
        uses_kernel_workers += usize::from(one?);
    }
    Some(2 * uses_kernel_workers > ATTEMPTS)
}

/// One attempt: whether workers have appeared.
fn try_once(scratch: &Scratch, setup: &LaneSetup) -> Option<bool> {
    let before = workers();
    let mut ring = Uring::new(setup, Ring { registered: setup.direct, ..Ring::default() }).ok()?;
    ring.attach(scratch.file.try_clone().ok()?, false).ok()?;
    transfer_all(&mut ring, setup, scratch)?;
    let has_new = workers().difference(&before).next().is_some();
    let _ = ring.detach();
    Some(has_new)
}

/// Reads or writes each record once, with as many in flight as wanted; none if one fails.
fn transfer_all(ring: &mut Uring, setup: &LaneSetup, scratch: &Scratch) -> Option<()> {
    let length = setup.buffers.length();
    let kind = if scratch.direction == Direction::Read { OpKind::Read } else { OpKind::Write };
    let (mut free, mut done): (Vec<u32>, Vec<Completion>) = ((0..setup.queue_depth).collect(), Vec::new());
    let (mut started, mut ended) = (0, 0);
    while ended < scratch.count {
        let mut batch = Vec::new();
        while let Some(slot) = free.pop_if(|_| started < scratch.count) {
            let offset = started * length as u64;
            scratch.load_slot(&setup.buffers, slot, offset)?;
            batch.push(Op { kind, count: 1, slot, object: 0, offset, length: length as u64 });
            started += 1;
        }
        ring.submit(&batch);
        ring.reap(&mut done, clock::now() + TIMEOUT_NS);
        if done.is_empty() || done.iter().any(|one| one.result != Ok(length as u64)) {
            return None;
        }
        ended += done.len() as u64;
        free.extend(done.drain(..).map(|one| one.slot));
    }
    Some(())
}

/// Numbers of the threads that the kernel has made for rings of this process (their names: io_uring/io-wq.c).
fn workers() -> BTreeSet<u64> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return BTreeSet::new() };
    tasks
        .flatten()
        .filter(|task| std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.starts_with("iou-wrk-")))
        .filter_map(|task| task.file_name().to_str()?.parse().ok())
        .collect()
}

/// The file that attempts use: a open_unnamed one in the state in which the direction finds files, or the device.
struct Scratch {
    file: OwnedFd,
    direction: Direction,
    /// Records in it.
    count: u64,
    bytes: u64,
    device: bool,
    shape: MethodShape,
}

impl Scratch {
    /// Opens it; none if that is not possible.
    fn open(place: &Place, shape: &MethodShape, direction: Direction, buffers: &Buffers) -> Option<Self> {
        let length = shape.record_size_bytes;
        let direct = if shape.direct { OFlags::DIRECT } else { OFlags::empty() };
        let sync = match shape.sync {
            SyncPolicy::OSync => OFlags::SYNC,
            SyncPolicy::ODsync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        let flags = OFlags::RDWR | direct | sync;
        let device = matches!(place, Place::Device { .. });
        let file = if device { place.open(0, flags).ok()? } else { place.scratch(flags)? };
        let mut count = OPERATIONS.min(MAX_BYTES / length).max(2 * buffers.count() as u64);
        if device {
            count = count.min(fs::seek(&file, fs::SeekFrom::End(0)).ok()? / length);
        } else if direction != Direction::Create {
            fill(&file, count, buffers)?;
        }
        Some(Scratch { file, direction, count, bytes: count * length, device, shape: *shape })
    }

    /// Restores its state before an attempt.
    fn reset(&self) -> Option<()> {
        if self.direction == Direction::Create && !self.device {
            fs::ftruncate(&self.file, 0).ok()?;
            if self.shape.preallocate {
                fs::fallocate(&self.file, FallocateFlags::empty(), 0, self.bytes).ok()?;
            }
        } else if self.direction == Direction::Read && !self.shape.direct {
            fs::fsync(&self.file).ok()?;
            fs::fadvise(&self.file, 0, None, Advice::DontNeed).ok()?;
        }
        Some(())
    }

    /// Prepares a slot: a device is overwritten with its own data.
    fn load_slot(&self, buffers: &Buffers, slot: u32, offset: u64) -> Option<()> {
        if !self.device || self.direction == Direction::Read {
            return Some(());
        }
        // SAFETY: no operation on the slot is in flight, and nothing else refers to it.
        let data = unsafe { buffers.slice(slot, buffers.length()) };
        (rustix::io::pread(&self.file, &mut *data, offset) == Ok(buffers.length())).then_some(())
    }
}

/// Writes so many records; none if there is no space.
fn fill(file: &OwnedFd, count: u64, buffers: &Buffers) -> Option<()> {
    // SAFETY: nothing is in flight, and nothing else refers to the slot.
    let data = unsafe { buffers.slice(0, buffers.length()) };
    data.fill(0xA5);
    let length = data.len() as u64;
    let whole = |number| rustix::io::pwrite(file, &*data, number * length) == Ok(data.len());
    (0..count).all(whole).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_dir::{names, TestDir};

    fn shape(queue_depth: u32) -> MethodShape {
        let (direct, sync, preallocate) = (false, SyncPolicy::None, false);
        MethodShape { record_size_bytes: 4096, queue_depth, direct, sync, preallocate }
    }

    fn place(test_dir: &TestDir) -> Place {
        Place::directory(&test_dir.root(), "job", None).unwrap()
    }

    #[test]
    fn a_direction_is_that_of_the_writes() {
        for (operation, direction) in [
            (Operation::Read, Direction::Read),
            (Operation::StrideRead, Direction::Read),
            (Operation::Write, Direction::Create),
            (Operation::Fwrite, Direction::Create),
            (Operation::Rewrite, Direction::Overwrite),
            (Operation::RandomMix, Direction::Overwrite),
        ] {
            assert_eq!(Direction::of(operation), direction, "{operation:?}");
        }
    }

    #[test]
    fn several_operations_go_to_a_ring_or_to_threads_and_nothing_stays() {
        let test_dir = TestDir::new("found");
        let found = find(&place(&test_dir), &shape(4));
        for one in [&found.read, &found.create, &found.overwrite] {
            assert!(one.reason.starts_with("several operations in flight"), "{found:?}");
            assert!(matches!(one.method, Method::IoUring | Method::Threads), "{found:?}");
        }
        assert_eq!(names(&test_dir.0), [".assay-target"]);
        assert_eq!(find(&place(&test_dir), &shape(1)).create.method, Method::Sync);
    }

    /// What was found holds for all lanes: each direction is tried once at a place.
    #[test]
    fn known_methods_are_not_tried_again() {
        let test_dir = TestDir::new("known");
        let (place, known) = (place(&test_dir), KnownMethods::default());
        let first = known.choose(&place, &shape(2), Direction::Read);
        // A second attempt would find the method for one operation in flight.
        assert_eq!(known.choose(&place, &shape(1), Direction::Read), first);
        assert_eq!(known.choose(&place, &shape(1), Direction::Create).method, Method::Sync);
    }

    /// The file of attempts is in the state in which the direction finds files.
    #[test]
    fn scratch_files_are_full_unless_they_are_to_be_created() {
        let test_dir = TestDir::new("scratch");
        let place = place(&test_dir);
        let buffers = Buffers::new(2, 4096, false).unwrap();
        for (direction, before, preallocate, after) in [
            (Direction::Read, 32 * 4096, false, 32 * 4096),
            (Direction::Overwrite, 32 * 4096, true, 32 * 4096),
            (Direction::Create, 0, false, 0),
            (Direction::Create, 0, true, 32 * 4096),
        ] {
            let shape = MethodShape { preallocate, ..shape(2) };
            let scratch = Scratch::open(&place, &shape, direction, &buffers).unwrap();
            let size = || fs::fstat(&scratch.file).unwrap().st_size;
            assert_eq!((scratch.count, scratch.bytes, size()), (32, 32 * 4096, before), "{direction:?}");
            scratch.reset().unwrap();
            assert_eq!(size(), after, "{direction:?}, reserved: {preallocate}");
        }
        assert_eq!(names(&test_dir.0), [".assay-target"]);
    }

    #[test]
    fn long_records_are_tried_with_few() {
        let test_dir = TestDir::new("long");
        let buffers = Buffers::new(2, 4 << 20, false).unwrap();
        let long = MethodShape { record_size_bytes: 4 << 20, ..shape(2) };
        let scratch = Scratch::open(&place(&test_dir), &long, Direction::Create, &buffers).unwrap();
        assert_eq!((scratch.count, scratch.bytes), (4, 16 << 20));
    }
}

//! How `auto` finds the method for several operations in flight: by asking whether the kernel does them itself.
//!
//! What would have to wait the kernel gives to worker threads of a ring's owner, named `iou-wrk-` and a number, and
//! these do it as pread and pwrite would: all operations on files that cannot be used without waiting (tmpfs, many FUSE
//! file systems), buffered writes on most file systems, direct writes that make a file longer. It costs more than
//! threads of one's own, and writes to one file go one after the other. Source: io_uring_enter(2), `IOSQE_ASYNC`;
//! io_uring/io-wq.c and `io_write` of the kernel.

use assay_core::{clock, heartbeat, Buffers, Completion, LaneSetup, Op, OpKind};
use assay_posix::place::Place;
use assay_posix::uring::{Queue, Ring, Uring};
use assay_spec::{Method, MethodFound, MethodShape, MethodsFound, Operation, SyncPolicy, Tuning, AHEAD_BYTES};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Advice, FallocateFlags, OFlags};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// Each way is tried this often, in turn; the majority decides.
const TRIES: usize = 3;
/// Operations of one try, unless they are very long, or twice what is in flight.
const OPERATIONS: u64 = 32;
const MOST_BYTES: u64 = 4 << 20;
/// With so many in flight it shows.
const MOST_DEPTH: u32 = 32;
/// An operation of a try that takes longer has failed.
const PATIENCE_NS: u64 = 10_000_000_000;

/// How a phase goes to the kernel.
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

/// What was found out at a place, by direction: its lanes have the same kind of work.
#[derive(Default)]
pub(crate) struct Known([OnceLock<Choice>; 3]);

impl Known {
    pub(crate) fn choose(&self, place: &Place, shape: &MethodShape, direction: Direction) -> Choice {
        self.0[direction as usize].get_or_init(|| choose(place, shape, direction)).clone()
    }
}

/// Which way the data goes; for each the kernel may do something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    /// Writing what is not there yet.
    Create,
    Overwrite,
}

impl Direction {
    /// That of an operation; of one that reads and writes, that of its writes.
    pub(crate) fn of(operation: Operation) -> Self {
        match (operation.creates(), operation.writes()) {
            (true, _) => Direction::Create,
            (false, true) => Direction::Overwrite,
            (false, false) => Direction::Read,
        }
    }
}

/// The methods of one kind of case.
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

/// The method for one kind of case and a direction.
pub(crate) fn choose(place: &Place, shape: &MethodShape, direction: Direction) -> Choice {
    if shape.queue_depth == 1 {
        return choose_for_one(place, shape, direction);
    }
    if let Err(why) = assay_posix::uring::probe() {
        return Choice::new(Method::Threads, format!("several operations in flight; no io_uring: {why}"));
    }
    let (method, why) = match handed_on(place, shape, direction) {
        Some(true) => (Method::Threads, "which the kernel would give to worker threads of its own"),
        Some(false) => (Method::IoUring, "which the kernel does itself"),
        None => (Method::IoUring, "and whether the kernel does them itself could not be tried"),
    };
    Choice::new(method, format!("several operations in flight, {why}"))
}

/// The method for one operation in flight. A ring has nothing to batch, but leaves time to make the data of the next long
/// write, unless the kernel's workers have to be woken for each.
fn choose_for_one(place: &Place, shape: &MethodShape, direction: Direction) -> Choice {
    let long = shape.direct && direction != Direction::Read && shape.record_size_bytes >= AHEAD_BYTES;
    if long && assay_posix::uring::probe().is_ok() && handed_on(place, shape, direction) == Some(false) {
        return Choice::new(Method::IoUring, "one long direct write in flight: the data of the next is made meanwhile");
    }
    Choice::new(Method::Sync, "one operation in flight: io_uring has nothing to batch")
}

/// Longer records are tried by such: the kernel decides by the file, not by the length.
const MOST_RECORD: u64 = 4 << 20;

/// Whether the kernel gives a ring's operations to workers; none if that cannot be tried.
fn handed_on(place: &Place, shape: &MethodShape, direction: Direction) -> Option<bool> {
    let shape = &MethodShape { record_size_bytes: shape.record_size_bytes.min(MOST_RECORD), ..*shape };
    let length = shape.record_size_bytes as usize;
    let depth = MOST_DEPTH.min(shape.queue_depth).min((MOST_BYTES / length as u64).max(2) as u32);
    let buffers = Arc::new(Buffers::new(depth as usize, length, false).ok()?);
    let scratch = Scratch::open(place, shape, direction, &buffers)?;
    let setup = LaneSetup {
        lane: 0,
        queue_depth: depth,
        tuning: Tuning::default(),
        direct: shape.direct,
        buffers,
        source: None,
    };
    let mut handed_on = 0;
    for _ in 0..TRIES {
        scratch.reset()?;
        // Workers belong to the thread whose ring it is, and linger: so each try has a thread of its own.
        let one = std::thread::scope(|scope| scope.spawn(|| once(&scratch, &setup)).join().ok().flatten());
        handed_on += usize::from(one?);
    }
    Some(2 * handed_on > TRIES)
}

/// One try.
fn once(scratch: &Scratch, setup: &LaneSetup) -> Option<bool> {
    let before = workers();
    let mut ring = Uring::new(setup, Ring { registered: setup.direct, ..Ring::default() }).ok()?;
    ring.attach(scratch.file.try_clone().ok()?, false).ok()?;
    turn(&mut ring, setup, scratch)?;
    let seen = workers().difference(&before).next().is_some();
    let _ = ring.detach();
    Some(seen)
}

/// Reads or writes each record once, as many in flight as wanted; none if one fails.
fn turn(ring: &mut Uring, setup: &LaneSetup, scratch: &Scratch) -> Option<()> {
    let length = setup.buffers.length();
    let kind = if scratch.direction == Direction::Read { OpKind::Read } else { OpKind::Write };
    let (mut free, mut done): (Vec<u32>, Vec<Completion>) = ((0..setup.queue_depth).collect(), Vec::new());
    let (mut started, mut ended) = (0, 0);
    while ended < scratch.count {
        let mut batch = Vec::new();
        while let Some(slot) = free.pop_if(|_| started < scratch.count) {
            let offset = started * length as u64;
            scratch.lay(&setup.buffers, slot, offset)?;
            batch.push(Op { kind, count: 1, slot, object: 0, offset, length: length as u64 });
            started += 1;
        }
        ring.submit(&batch);
        ring.reap(&mut done, clock::now() + PATIENCE_NS);
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

/// What is tried on: a file without a name in the state in which the direction finds one, or the device.
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
    /// None if it cannot be made.
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
        let mut count = OPERATIONS.min(MOST_BYTES / length).max(2 * buffers.count() as u64);
        if device {
            count = count.min(fs::seek(&file, fs::SeekFrom::End(0)).ok()? / length);
        } else if direction != Direction::Create {
            fill(&file, count, buffers)?;
        }
        Some(Scratch { file, direction, count, bytes: count * length, device, shape: *shape })
    }

    /// Before a try.
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

    /// Gets a slot ready: what is written to a device is what is there.
    fn lay(&self, buffers: &Buffers, slot: u32, offset: u64) -> Option<()> {
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
    use crate::ground::{names, Ground};

    fn shape(queue_depth: u32) -> MethodShape {
        let (direct, sync, preallocate) = (false, SyncPolicy::None, false);
        MethodShape { record_size_bytes: 4096, queue_depth, direct, sync, preallocate }
    }

    fn place(ground: &Ground) -> Place {
        Place::directory(&ground.root(), "job", None).unwrap()
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
        let ground = Ground::new("found");
        let found = find(&place(&ground), &shape(4));
        for one in [&found.read, &found.create, &found.overwrite] {
            assert!(one.reason.starts_with("several operations in flight"), "{found:?}");
            assert!(matches!(one.method, Method::IoUring | Method::Threads), "{found:?}");
        }
        assert_eq!(names(&ground.0), [".assay-target"]);
        assert_eq!(find(&place(&ground), &shape(1)).create.method, Method::Sync);
    }

    /// What is found out holds for all lanes: a place is tried once for each direction.
    #[test]
    fn what_is_known_is_not_tried_again() {
        let ground = Ground::new("known");
        let (place, known) = (place(&ground), Known::default());
        let first = known.choose(&place, &shape(2), Direction::Read);
        // Were it tried again, it would be found with one operation in flight.
        assert_eq!(known.choose(&place, &shape(1), Direction::Read), first);
        assert_eq!(known.choose(&place, &shape(1), Direction::Create).method, Method::Sync);
    }

    /// The file that is tried on is in the state in which the direction finds one.
    #[test]
    fn what_is_tried_on_is_full_unless_it_is_to_be_created() {
        let ground = Ground::new("scratch");
        let place = place(&ground);
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
        assert_eq!(names(&ground.0), [".assay-target"]);
    }

    #[test]
    fn long_records_are_tried_with_few() {
        let ground = Ground::new("long");
        let buffers = Buffers::new(2, 4 << 20, false).unwrap();
        let long = MethodShape { record_size_bytes: 4 << 20, ..shape(2) };
        let scratch = Scratch::open(&place(&ground), &long, Direction::Create, &buffers).unwrap();
        assert_eq!((scratch.count, scratch.bytes), (4, 16 << 20));
    }
}

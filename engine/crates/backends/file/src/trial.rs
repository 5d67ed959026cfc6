//! How `auto` finds the method: a short trial of reads at the place itself, with the job's record, depth and cache mode.

use crate::place::Place;
use crate::sync_io::SyncIo;
use crate::uring::{Queue, Ring, Uring};
use assay_core::{clock, Buffers, Completion, LaneSetup, Op, OpKind};
use assay_spec::Method;
use rustix::fd::OwnedFd;
use rustix::time::{clock_gettime, ClockId};
use std::sync::Arc;

/// Records from here on take so long that the way to the kernel does not matter.
const LARGE_RECORD: usize = 128 << 10;
/// Bytes that are read again and again.
const SCRATCH_BYTES: u64 = 256 << 10;
/// Each way is tried this often, in turn.
const ROUNDS: usize = 3;
/// Operations of one try, or as many as fit in the time.
const OPERATIONS: u64 = 128;
const TRY_NS: u64 = 2_000_000;
/// Operations that take longer than this wait for a device, and one try of each way says enough.
const SLOW_NS: f64 = 20_000.0;
/// A way that is against the rule must be better by this factor, so that repeats of a case choose alike.
const CLEARLY: f64 = 1.5;

/// How a job goes to the kernel.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) method: Method,
    /// With io_uring: register the buffers.
    pub(crate) registered: bool,
    pub(crate) reason: String,
}

/// The choice for a lane's setup. A job that names its method gets it; the rest follows rules and, with `auto`, a trial.
pub(crate) fn choose(place: &Place, setup: &LaneSetup) -> Choice {
    let registered = setup.direct;
    let chosen = |method, reason: &str| Choice { method, registered, reason: reason.to_owned() };
    match setup.method {
        // A job with method protocol is refused before: files have no such method.
        Method::Sync | Method::Mmap | Method::IoUring | Method::Protocol => return chosen(setup.method, "asked for"),
        Method::Auto => {}
    }
    if let Err(why) = crate::uring::probe() {
        return chosen(Method::Sync, &format!("no io_uring: {why}"));
    }
    let rule = match setup.queue_depth {
        1 => chosen(Method::Sync, "one operation in flight: a ring has nothing to batch"),
        _ => chosen(Method::IoUring, "several operations in flight"),
    };
    if setup.buffers.length() >= LARGE_RECORD {
        return rule;
    }
    let Some(scratch) = Scratch::new(place, setup) else {
        return rule;
    };
    if setup.queue_depth == 1 {
        shallow(&scratch, setup, rule)
    } else {
        deep(&scratch, setup, rule)
    }
}

/// What an operation costs in nanoseconds: time, and CPU time of the thread.
#[derive(Debug, Clone, Copy)]
struct Cost {
    time: f64,
    cpu: f64,
}

/// pread or a ring, for one operation in flight.
fn shallow(scratch: &Scratch, setup: &LaneSetup, rule: Choice) -> Choice {
    let costs = Way::calls(scratch, setup).zip(Way::ring(scratch, setup, setup.direct));
    let Some((calls, ring)) = costs.and_then(|(calls, ring)| compare(scratch, setup, calls, ring)) else {
        return rule;
    };
    let figures = format!("in a trial pread took {:.2} us, io_uring {:.2} us", calls.time / 1e3, ring.time / 1e3);
    let method = if ring.time * CLEARLY < calls.time { Method::IoUring } else { Method::Sync };
    Choice { method, reason: format!("one operation in flight; {figures}"), ..rule }
}

/// Registered buffers or plain ones, for a ring with several operations in flight.
fn deep(scratch: &Scratch, setup: &LaneSetup, rule: Choice) -> Choice {
    let costs = Way::ring(scratch, setup, false).zip(Way::ring(scratch, setup, true));
    let Some((plain, fixed)) = costs.and_then(|(plain, fixed)| compare(scratch, setup, plain, fixed)) else {
        return rule;
    };
    let (usual, other) = if rule.registered { (fixed, plain) } else { (plain, fixed) };
    let registered = if other.cpu * CLEARLY < usual.cpu { !rule.registered } else { rule.registered };
    let (plain, fixed) = (plain.cpu / 1e3, fixed.cpu / 1e3);
    let figures = format!("in a trial plain buffers cost {plain:.2} us of CPU, registered ones {fixed:.2} us");
    Choice { registered, reason: format!("several operations in flight; {figures}"), ..rule }
}

/// The least cost of two ways, tried in turn; none if one of them does not work.
fn compare(scratch: &Scratch, setup: &LaneSetup, mut one: Way, mut two: Way) -> Option<(Cost, Cost)> {
    let least = |a: Cost, b: Cost| Cost { time: a.time.min(b.time), cpu: a.cpu.min(b.cpu) };
    let (mut first, mut second) = (one.measure(scratch, setup)?, two.measure(scratch, setup)?);
    let rounds = if first.time.min(second.time) > SLOW_NS { 1 } else { ROUNDS };
    for _ in 1..rounds {
        first = least(first, one.measure(scratch, setup)?);
        second = least(second, two.measure(scratch, setup)?);
    }
    Some((first, second))
}

/// A way to the kernel.
enum Way {
    Calls(SyncIo),
    Ring(Box<Uring>),
}

impl Way {
    fn calls(scratch: &Scratch, setup: &LaneSetup) -> Option<Self> {
        Some(Way::Calls(SyncIo::new(scratch.open(setup)?, false, Arc::clone(&setup.buffers))))
    }

    fn ring(scratch: &Scratch, setup: &LaneSetup, registered: bool) -> Option<Self> {
        let mut ring = Uring::new(setup, Ring { registered, ..Ring::default() }).ok()?;
        ring.attach(scratch.open(setup)?, false).ok()?;
        Some(Way::Ring(Box::new(ring)))
    }

    fn turn(&mut self, ops: &[Op], done: &mut Vec<Completion>) {
        match self {
            Way::Calls(calls) => {
                done.extend(ops.iter().map(|op| Completion { slot: op.slot, result: calls.execute(op) }));
            }
            Way::Ring(ring) => {
                ring.submit(ops);
                ring.reap(done, clock::now() + 1_000_000_000);
            }
        }
    }

    /// Keeps as many reads in flight as the job will, for a while; none if one fails.
    fn measure(&mut self, scratch: &Scratch, setup: &LaneSetup) -> Option<Cost> {
        let depth = setup.queue_depth.min(setup.buffers.count() as u32);
        let length = setup.buffers.length() as u64;
        let (mut free, mut done): (Vec<u32>, Vec<Completion>) = ((0..depth).collect(), Vec::new());
        let (mut started, mut ended, mut failed, mut batch) = (0, 0, false, Vec::new());
        let (begin, cpu) = (clock::now(), thread_cpu());
        loop {
            let more = !failed && started < OPERATIONS.max(u64::from(depth)) && clock::now() < begin + TRY_NS;
            if more {
                for slot in free.drain(..) {
                    let offset = started * length % scratch.bytes;
                    batch.push(Op { kind: OpKind::Read, slot, length: length as u32, offset });
                    started += 1;
                }
            }
            self.turn(&batch, &mut done);
            batch.clear();
            for completion in done.drain(..) {
                ended += 1;
                free.push(completion.slot);
                failed |= completion.result != Ok(length as u32);
            }
            if !more && ended == started {
                if failed {
                    return None;
                }
                let each = |ns: u64| ns as f64 / ended as f64;
                return Some(Cost { time: each(clock::now() - begin), cpu: each(thread_cpu() - cpu) });
            }
        }
    }
}

/// A file without a name, or the device, to read from.
struct Scratch<'a> {
    place: &'a Place,
    file: Option<OwnedFd>,
    bytes: u64,
}

impl<'a> Scratch<'a> {
    /// None if nothing can be written there.
    fn new(place: &'a Place, setup: &LaneSetup) -> Option<Self> {
        let length = setup.buffers.length() as u64;
        let bytes = SCRATCH_BYTES / length * length;
        let file = match place {
            Place::Device { .. } => None,
            Place::Directory { .. } => {
                let file = place.scratch(setup.direct)?;
                write(&file, bytes as usize)?;
                Some(file)
            }
        };
        Some(Scratch { place, file, bytes })
    }

    fn open(&self, setup: &LaneSetup) -> Option<OwnedFd> {
        match &self.file {
            Some(file) => file.try_clone().ok(),
            None => self.place.open_to_read(setup.direct),
        }
    }
}

/// Makes a file that long; none if there is no space.
fn write(file: &OwnedFd, bytes: usize) -> Option<()> {
    let buffer = Buffers::new(1, bytes, false).ok()?;
    // SAFETY: the buffer was made just now and nothing else refers to it.
    let data = unsafe { buffer.slice(0, bytes) };
    data.fill(0xA5);
    rustix::io::pwrite(file, &*data, 0).is_ok_and(|written| written == bytes).then_some(())
}

fn thread_cpu() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

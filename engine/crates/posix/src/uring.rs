//! io_uring with a registered file.

use crate::sync_io::{close, SyncIo};
use assay_core::Fault;
use assay_core::{clock, Buffers, Completion, LaneSetup, Op, OpKind};
use assay_spec::{name_kinds, object_kinds, program_kinds};
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{opcode, squeue, IoUring};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;

/// The only slot of the registered file table.
const FILE: Fixed = Fixed(0);
/// A kernel thread that polls for submissions goes to sleep after this many milliseconds without one.
const SQPOLL_IDLE_MS: u32 = 1000;

/// How a ring is set up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ring {
    /// Register the buffers: less work per operation with O_DIRECT, more with the page cache.
    pub registered: bool,
    /// A kernel thread polls for submissions.
    pub sqpoll: bool,
    /// Completions are polled for.
    pub iopoll: bool,
}

/// A ring of one thread with one file.
pub struct Uring {
    ring: IoUring,
    set_up: Ring,
    deferred: bool,
    buffers: Arc<Buffers>,
    data_only: bool,
    fd: Option<OwnedFd>,
    /// Per slot: whether its operation is in flight.
    busy: Vec<bool>,
    state: State,
}

/// Operations of a ring.
#[derive(Default)]
pub struct State {
    /// Operations submitted to the kernel.
    pub in_flight: usize,
    /// Completions of operations executed without the ring.
    pub early: Vec<Completion>,
    /// The ring has failed with this errno; the kernel may still own the operations in flight.
    pub broken: Option<i32>,
}

/// How a lane's operations of any kind enter a ring and complete.
pub trait Queue {
    /// The ring and its operations.
    fn state(&mut self) -> (&mut IoUring, &mut State);

    /// Add entries for operations; returns how many there was room for.
    fn push(&mut self, ops: &[Op]) -> usize;

    /// Append the completions that are available.
    fn collect(&mut self, done: &mut Vec<Completion>);

    /// Fail each operation in flight once, because the ring does not work any more.
    fn fail_all(&mut self, done: &mut Vec<Completion>, errno: i32);

    /// As for `Lane::submit`.
    #[inline]
    fn submit(&mut self, ops: &[Op]) -> usize {
        let (_, state) = self.state();
        if let Some(errno) = state.broken {
            state.early.extend(ops.iter().map(|op| Completion::of_os(op.slot, Err(errno))));
            return ops.len();
        }
        self.push(ops)
    }

    /// Execute one operation while nothing else is in flight.
    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let mut done = std::mem::take(&mut self.state().1.early);
        self.submit(std::slice::from_ref(op));
        while done.is_empty() {
            self.reap(&mut done, u64::MAX);
        }
        let result = done[0].result;
        done.clear();
        self.state().1.early = done;
        result
    }

    /// As for `Lane::reap`.
    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let before = done.len();
        done.append(&mut self.state().1.early);
        loop {
            self.collect(done);
            let (ring, state) = self.state();
            let satisfied = done.len() > before || state.in_flight == 0;
            if satisfied && is_submitted(ring) {
                return;
            }
            let wait = if satisfied { None } else { deadline.checked_sub(clock::now()).filter(|ns| *ns > 0) };
            if let Err(errno) = enter(ring, wait) {
                state.broken = Some(errno);
                self.fail_all(done, errno);
                return;
            }
            if wait.is_none() {
                self.collect(done);
                return;
            }
        }
    }
}

/// True if the kernel has the pushed entries, or its thread will take them by itself.
#[inline]
fn is_submitted(ring: &mut IoUring) -> bool {
    let sqpoll = ring.params().is_setup_sqpoll();
    let queue = ring.submission();
    if sqpoll {
        !queue.need_wakeup()
    } else {
        queue.is_empty()
    }
}

/// Check that the kernel lets this process have a ring.
pub fn probe() -> Result<(), String> {
    usable(2, Ring::default()).map(|_| ())
}

/// A ring that can wait until a time.
///
/// # Errors
/// Why there is none.
pub fn open(entries: u32, set_up: Ring) -> Result<(IoUring, bool), String> {
    let (ring, deferred) = build(entries, set_up).map_err(|error| format!("the kernel refuses it ({error})"))?;
    if !ring.params().is_feature_ext_arg() {
        return Err("the kernel is older than 5.11".to_owned());
    }
    Ok((ring, deferred))
}

/// A ring with all kernel features that lanes need.
fn usable(entries: u32, set_up: Ring) -> Result<(IoUring, bool), String> {
    let (ring, deferred) = open(entries, set_up)?;
    ring.submitter()
        .register_files_sparse(1)
        .map_err(|error| format!("no file table can be registered: the kernel is older than 5.19 ({error})"))?;
    Ok((ring, deferred))
}

/// A ring for one thread, with deferred task work if the kernel has it (6.1 and later) and the setup allows it.
fn build(entries: u32, set_up: Ring) -> std::io::Result<(IoUring, bool)> {
    let mut builder = IoUring::builder();
    builder.setup_clamp();
    if set_up.iopoll {
        builder.setup_iopoll();
    }
    if set_up.sqpoll {
        builder.setup_sqpoll(SQPOLL_IDLE_MS);
        return builder.build(entries).map(|ring| (ring, false));
    }
    match builder.clone().setup_single_issuer().setup_defer_taskrun().build(entries) {
        Ok(ring) => Ok((ring, true)),
        Err(_) => builder.build(entries).map(|ring| (ring, false)),
    }
}

impl Uring {
    /// A ring for the lane; must be used on the thread that created it.
    pub fn new(setup: &LaneSetup, mut set_up: Ring) -> Result<Self, String> {
        let entries = setup.queue_depth.next_power_of_two().max(2);
        let (ring, deferred) = usable(entries, set_up)?;
        let buffers = Arc::clone(&setup.buffers);
        if set_up.registered {
            let vectors: Vec<libc::iovec> = (0..buffers.count() as u32)
                .map(|slot| libc::iovec { iov_base: buffers.pointer(slot).cast(), iov_len: buffers.length() })
                .collect();
            // SAFETY: the mapping outlives the ring, since the ring's owner holds an Arc of it.
            set_up.registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        }
        let busy = vec![false; buffers.count()];
        Ok(Uring { ring, set_up, deferred, buffers, data_only: false, fd: None, busy, state: State::default() })
    }

    /// The ring's setup, as text for users.
    pub fn description(&self) -> String {
        let buffers = if self.set_up.registered { "registered buffers" } else { "plain buffers" };
        let mut text = format!("io_uring with registered file, {buffers}");
        let parts = [
            (self.deferred, ", single issuer, deferred task work"),
            (self.set_up.sqpoll, ", submissions polled for by a kernel thread"),
            (self.set_up.iopoll, ", completions polled for"),
        ];
        parts.iter().filter(|(on, _)| *on).for_each(|(_, words)| text.push_str(words));
        text
    }

    /// Set the file of the next operations.
    pub fn attach(&mut self, fd: OwnedFd, data_only: bool) -> rustix::io::Result<()> {
        let update = self.ring.submitter().register_files_update(0, &[fd.as_raw_fd()]);
        update.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        self.fd = Some(fd);
        self.data_only = data_only;
        if self.set_up.iopoll {
            self.try_polling()?;
        }
        Ok(())
    }

    /// Execute a first read: only it reveals a file system or device that cannot be polled.
    fn try_polling(&mut self) -> rustix::io::Result<()> {
        let length = self.buffers.length() as u64;
        self.submit(&[Op { kind: OpKind::Read, count: 1, slot: 0, object: 0, offset: 0, length }]);
        let mut done = Vec::new();
        self.reap(&mut done, u64::MAX);
        let unable = |completion: &Completion| completion.result == Err(Fault::os(libc::EOPNOTSUPP));
        if done.iter().any(unable) {
            return Err(Errno::OPNOTSUPP);
        }
        Ok(())
    }

    /// Close the file.
    pub fn detach(&mut self) -> rustix::io::Result<()> {
        let _ = self.ring.submitter().register_files_update(0, &[-1]);
        self.fd.take().map_or(Ok(()), close)
    }
}

impl Queue for Uring {
    fn state(&mut self) -> (&mut IoUring, &mut State) {
        (&mut self.ring, &mut self.state)
    }

    #[inline]
    fn push(&mut self, ops: &[Op]) -> usize {
        let how = Entries { buffers: &self.buffers, registered: self.set_up.registered, data_only: self.data_only };
        let mut queue = self.ring.submission();
        let mut taken = 0;
        for op in ops {
            if op.kind == OpKind::Sync && self.set_up.iopoll {
                // A ring that polls can only read and write.
                let fd = self.fd.as_ref().expect("a file is attached");
                self.state.early.push(Completion::of_os(op.slot, SyncIo::flush(fd, self.data_only)));
                continue;
            }
            // SAFETY: the slot belongs to the kernel until the completion; the buffers outlive the ring.
            if unsafe { queue.push(&how.entry(op)) }.is_err() {
                break;
            }
            self.busy[op.slot as usize] = true;
            taken += 1;
        }
        self.state.in_flight += taken;
        ops.len().min(taken + self.state.early.len())
    }

    fn fail_all(&mut self, done: &mut Vec<Completion>, errno: i32) {
        for (slot, busy) in self.busy.iter_mut().enumerate().filter(|(_, busy)| **busy) {
            *busy = false;
            done.push(Completion::of_os(slot as u32, Err(errno)));
        }
        self.state.in_flight = 0;
    }

    #[inline]
    fn collect(&mut self, done: &mut Vec<Completion>) {
        for entry in self.ring.completion() {
            let (slot, code) = (entry.user_data() as u32, entry.result());
            // After `fail_all` a completion may still arrive; its operation has already been counted, and no other
            // follows.
            if std::mem::take(&mut self.busy[slot as usize]) {
                self.state.in_flight -= 1;
                done.push(Completion::of_os(slot, if code >= 0 { Ok(code as u32) } else { Err(-code) }));
            }
        }
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if self.state.broken.is_some() || self.state.in_flight > 0 {
            // Buffers that the kernel may still read and write must stay where they are.
            std::mem::forget(Arc::clone(&self.buffers));
        }
    }
}

/// Submit the pushed entries to the kernel, and wait up to `wait_ns` for a completion; with None do not wait.
fn enter(ring: &mut IoUring, wait_ns: Option<u64>) -> Result<(), i32> {
    let entered = match wait_ns {
        None if !ring.params().is_setup_sqpoll() => submit_only(ring),
        _ => {
            let ns = wait_ns.unwrap_or(0);
            let time = Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
            // Waiting for one completion, even for no time, makes the kernel run deferred completions.
            ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
        }
    };
    match entered.err().and_then(|error| error.raw_os_error()) {
        // A time-out, a signal, or a full completion queue: the caller tries again.
        None | Some(libc::ETIME | libc::EINTR | libc::EBUSY) => Ok(()),
        Some(libc::EAGAIN) => {
            std::thread::sleep(std::time::Duration::from_micros(100));
            Ok(())
        }
        Some(errno) => Err(errno),
    }
}

/// Submit, and let the kernel run deferred completions. Waiting for no time would do the same, but with a timer and a
/// turn of the scheduler.
fn submit_only(ring: &mut IoUring) -> std::io::Result<usize> {
    const GETEVENTS: u32 = 1;
    let pushed = ring.submission().len() as u32;
    // SAFETY: no argument is passed.
    unsafe { ring.submitter().enter::<libc::sigset_t>(pushed, 0, GETEVENTS, None) }
}

/// Builds submission entries.
struct Entries<'a> {
    buffers: &'a Buffers,
    registered: bool,
    data_only: bool,
}

impl Entries<'_> {
    #[inline]
    fn entry(&self, op: &Op) -> squeue::Entry {
        let data = self.buffers.pointer(op.slot);
        let (index, length) = (op.slot as u16, op.length as u32);
        let entry = match op.kind {
            OpKind::Read if self.registered => {
                opcode::ReadFixed::new(FILE, data, length, index).offset(op.offset).build()
            }
            OpKind::Read => opcode::Read::new(FILE, data, length).offset(op.offset).build(),
            OpKind::Write if self.registered => {
                opcode::WriteFixed::new(FILE, data, length, index).offset(op.offset).build()
            }
            OpKind::Write => opcode::Write::new(FILE, data, length).offset(op.offset).build(),
            OpKind::Sync => {
                let flags = if self.data_only { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
                opcode::Fsync::new(FILE).flags(flags).build()
            }
            name_kinds!() | object_kinds!() | program_kinds!() => {
                unreachable!("a lane of one file has neither names nor objects")
            }
        };
        entry.user_data(u64::from(op.slot))
    }
}

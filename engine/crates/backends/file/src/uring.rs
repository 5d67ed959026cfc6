//! io_uring with a registered file and registered buffers.

use crate::sync_io::close;
use assay_core::{clock, Buffers, Completion, LaneSetup, Op, OpKind};
use io_uring::types::{Fixed, FsyncFlags, SubmitArgs, Timespec};
use io_uring::{opcode, squeue, IoUring};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;

/// The one slot of the registered file table.
const FILE: Fixed = Fixed(0);

pub(crate) struct Uring {
    ring: IoUring,
    buffers: Arc<Buffers>,
    buffers_registered: bool,
    single_issuer: bool,
    data_only: bool,
    fd: Option<OwnedFd>,
    in_flight: usize,
    /// Per slot: whether its operation is in flight.
    busy: Vec<bool>,
}

/// Whether the kernel lets this process have a ring.
pub(crate) fn probe() -> Result<(), String> {
    build(2).map(|_| ()).map_err(|error| error.to_string())
}

/// A ring for one thread, with deferred task work where the kernel has it (6.1 and later).
fn build(entries: u32) -> std::io::Result<(IoUring, bool)> {
    let deferred = IoUring::builder().setup_single_issuer().setup_defer_taskrun().setup_clamp().build(entries);
    match deferred {
        Ok(ring) => Ok((ring, true)),
        Err(_) => IoUring::builder().setup_clamp().build(entries).map(|ring| (ring, false)),
    }
}

impl Uring {
    /// A ring for the lane; must be used on the thread that made it.
    pub(crate) fn new(setup: &LaneSetup) -> Result<Self, String> {
        let entries = setup.queue_depth.next_power_of_two().max(2);
        let (ring, single_issuer) = build(entries).map_err(|error| format!("the kernel refuses it ({error})"))?;
        if !ring.params().is_feature_ext_arg() {
            return Err("the kernel is older than 5.11".to_owned());
        }
        ring.submitter()
            .register_files_sparse(1)
            .map_err(|error| format!("no file table can be registered ({error})"))?;
        let buffers = Arc::clone(&setup.buffers);
        let busy = vec![false; buffers.count()];
        let vectors: Vec<libc::iovec> = (0..buffers.count() as u32)
            .map(|slot| libc::iovec { iov_base: buffers.pointer(slot).cast(), iov_len: buffers.length() })
            .collect();
        // SAFETY: the mapping outlives the ring, since the ring's owner holds an Arc of it.
        let buffers_registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        Ok(Uring { ring, buffers, buffers_registered, single_issuer, data_only: false, fd: None, in_flight: 0, busy })
    }

    /// How the ring is set up, for people.
    pub(crate) fn description(&self) -> String {
        let buffers = if self.buffers_registered { "registered buffers" } else { "plain buffers" };
        let issuer = if self.single_issuer { ", single issuer, deferred task work" } else { "" };
        format!("io_uring with registered file, {buffers}{issuer}")
    }

    /// Makes `fd` the file of the operations to come.
    pub(crate) fn attach(&mut self, fd: OwnedFd, data_only: bool) -> rustix::io::Result<()> {
        let update = self.ring.submitter().register_files_update(0, &[fd.as_raw_fd()]);
        update.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        self.fd = Some(fd);
        self.data_only = data_only;
        Ok(())
    }

    /// Closes the file.
    pub(crate) fn detach(&mut self) -> rustix::io::Result<()> {
        let _ = self.ring.submitter().register_files_update(0, &[-1]);
        self.fd.take().map_or(Ok(()), close)
    }

    pub(crate) fn submit(&mut self, ops: &[Op]) -> usize {
        let mut taken = 0;
        for op in ops {
            let entry = self.entry(op);
            // SAFETY: the slot belongs to the kernel until the completion; the buffers outlive the ring.
            if unsafe { self.ring.submission().push(&entry) }.is_err() {
                break;
            }
            self.busy[op.slot as usize] = true;
            taken += 1;
        }
        self.in_flight += taken;
        taken
    }

    fn entry(&self, op: &Op) -> squeue::Entry {
        let data = self.buffers.pointer(op.slot);
        let index = op.slot as u16;
        let entry = match op.kind {
            OpKind::Read if self.buffers_registered => {
                opcode::ReadFixed::new(FILE, data, op.length, index).offset(op.offset).build()
            }
            OpKind::Read => opcode::Read::new(FILE, data, op.length).offset(op.offset).build(),
            OpKind::Write if self.buffers_registered => {
                opcode::WriteFixed::new(FILE, data, op.length, index).offset(op.offset).build()
            }
            OpKind::Write => opcode::Write::new(FILE, data, op.length).offset(op.offset).build(),
            OpKind::Sync => {
                let flags = if self.data_only { FsyncFlags::DATASYNC } else { FsyncFlags::empty() };
                opcode::Fsync::new(FILE).flags(flags).build()
            }
        };
        entry.user_data(u64::from(op.slot))
    }

    pub(crate) fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        let before = done.len();
        loop {
            self.collect(done);
            let satisfied = done.len() > before || self.in_flight == 0;
            if satisfied && self.ring.submission().is_empty() {
                return;
            }
            let now = clock::now();
            let last = satisfied || now >= deadline;
            if let Err(errno) = self.enter(if last { None } else { Some(deadline - now) }) {
                self.fail_all(done, errno);
                return;
            }
            if last {
                self.collect(done);
                return;
            }
        }
    }

    /// Hands what was pushed to the kernel, and waits up to `wait_ns` for a completion; none means not at all.
    fn enter(&self, wait_ns: Option<u64>) -> Result<(), i32> {
        let ns = wait_ns.unwrap_or(0);
        let time = Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
        // Waiting for one, if only for no time, is what makes the kernel run deferred completions.
        let entered = self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time));
        match entered.err().and_then(|error| error.raw_os_error()) {
            // A time-out, a signal, or a full completion queue: the caller looks again.
            None | Some(libc::ETIME | libc::EINTR | libc::EBUSY) => Ok(()),
            Some(libc::EAGAIN) => {
                std::thread::sleep(std::time::Duration::from_micros(100));
                Ok(())
            }
            Some(errno) => Err(errno),
        }
    }

    /// The ring does not work any more: each operation in flight fails once.
    fn fail_all(&mut self, done: &mut Vec<Completion>, errno: i32) {
        for (slot, busy) in self.busy.iter_mut().enumerate().filter(|(_, busy)| **busy) {
            *busy = false;
            done.push(Completion { slot: slot as u32, result: Err(errno) });
        }
        self.in_flight = 0;
    }

    fn collect(&mut self, done: &mut Vec<Completion>) {
        for entry in self.ring.completion() {
            let (slot, code) = (entry.user_data() as u32, entry.result());
            // After `fail_all` a completion may still come; its operation has already been counted.
            if std::mem::take(&mut self.busy[slot as usize]) {
                self.in_flight -= 1;
                done.push(Completion { slot, result: if code >= 0 { Ok(code as u32) } else { Err(-code) } });
            }
        }
    }
}

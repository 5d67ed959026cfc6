//! io_uring with a registered file and registered buffers.

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
        let vectors: Vec<libc::iovec> = (0..buffers.count() as u32)
            .map(|slot| libc::iovec { iov_base: buffers.pointer(slot).cast(), iov_len: buffers.length() })
            .collect();
        // SAFETY: the mapping outlives the ring, since the ring's owner holds an Arc of it.
        let buffers_registered = unsafe { ring.submitter().register_buffers(&vectors) }.is_ok();
        Ok(Uring { ring, buffers, buffers_registered, single_issuer, data_only: false, fd: None, in_flight: 0 })
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

    /// Lets go of the file.
    pub(crate) fn detach(&mut self) {
        let _ = self.ring.submitter().register_files_update(0, &[-1]);
        self.fd = None;
    }

    pub(crate) fn submit(&mut self, ops: &[Op]) -> usize {
        let mut taken = 0;
        for op in ops {
            let entry = self.entry(op);
            // SAFETY: the slot belongs to the kernel until the completion; the buffers outlive the ring.
            if unsafe { self.ring.submission().push(&entry) }.is_err() {
                break;
            }
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
            let pending = !self.ring.submission().is_empty();
            if satisfied && !pending {
                return;
            }
            let now = clock::now();
            if satisfied || now >= deadline {
                // What was pushed must still reach the kernel.
                let _ = self.ring.submit();
                self.collect(done);
                return;
            }
            self.wait(deadline - now);
        }
    }

    fn wait(&self, ns: u64) {
        let time = Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
        // A time-out (ETIME) or a signal (EINTR) only means that the caller looks again.
        let _ = self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time));
    }

    fn collect(&mut self, done: &mut Vec<Completion>) {
        let before = done.len();
        for entry in self.ring.completion() {
            let code = entry.result();
            let result = if code >= 0 { Ok(code as u32) } else { Err(-code) };
            done.push(Completion { slot: entry.user_data() as u32, result });
        }
        self.in_flight -= done.len() - before;
    }
}

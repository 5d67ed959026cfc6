//! The thread that executes the file's requests on the disk.

use super::filesystem::MAX_REQUEST_BYTES;
use crate::disk::Disk;
use crate::frame::{Command, SECTOR};
use crate::initiator::{Initiator, Memory, Transfer};
use crate::owner::Owner;
use crate::wire::Socket;
use assay_core::{as_errno, clock, Fault, SetupError};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use rustix::event::{eventfd, EventfdFlags};
use rustix::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Most requests in flight.
const SLOTS: usize = 64;
/// Bytes of a slot: a request that begins and ends within sectors touches one more.
const SLOT_BYTES: usize = MAX_REQUEST_BYTES as usize + 2 * SECTOR;
/// Longest wait without an event, in nanoseconds.
const IDLE_NS: u64 = 1_000_000_000;

/// A request of the kernel, with its reply.
pub(super) enum DiskRequest {
    Read { offset: u64, length: usize, reply: ReplyData },
    Write { offset: u64, data: Vec<u8>, reply: ReplyWrite },
    Flush { reply: ReplyEmpty },
}

/// The queue of requests; adding one wakes the thread.
pub(super) struct Queue {
    requests: Sender<DiskRequest>,
    wakeup: Arc<Wakeup>,
}

struct Wakeup {
    fd: OwnedFd,
    must_end: AtomicBool,
}

impl Wakeup {
    fn wake(&self) {
        // If the counter is full, it wakes the thread already.
        let _ = rustix::io::write(&self.fd, &1_u64.to_ne_bytes());
    }
}

impl Queue {
    pub(super) fn put(&self, request: DiskRequest) {
        match self.requests.send(request) {
            Ok(()) => self.wakeup.wake(),
            Err(refused) => refused.0.fail(Errno::EIO),
        }
    }
}

impl DiskRequest {
    fn fail(self, errno: Errno) {
        match self {
            DiskRequest::Read { reply, .. } => reply.error(errno),
            DiskRequest::Write { reply, .. } => reply.error(errno),
            DiskRequest::Flush { reply } => reply.error(errno),
        }
    }

    /// The whole sectors that it touches: offset of the first byte, and number of bytes.
    fn sectors(&self) -> (u64, usize) {
        let (offset, length) = match self {
            DiskRequest::Read { offset, length, .. } => (*offset, *length as u64),
            DiskRequest::Write { offset, data, .. } => (*offset, data.len() as u64),
            DiskRequest::Flush { .. } => (0, 0),
        };
        let sector = SECTOR as u64;
        let begin = offset / sector * sector;
        (begin, ((offset + length).next_multiple_of(sector) - begin) as usize)
    }
}

/// The running thread.
pub(super) struct Worker {
    thread: JoinHandle<()>,
    wakeup: Arc<Wakeup>,
}

/// The thread before it is started.
pub(super) struct PreparedWorker {
    worker_loop: WorkerLoop,
    wakeup: Arc<Wakeup>,
    requests: Sender<DiskRequest>,
}

/// Prepares the thread.
///
/// # Errors
/// If an interface cannot be used.
pub(super) fn prepare(disk: &Arc<Disk>) -> Result<PreparedWorker, SetupError> {
    let failed = |errno| SetupError::os("make", "a thread for the disk", errno);
    let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(failed)?;
    let wakeup = Arc::new(Wakeup { fd, must_end: AtomicBool::new(false) });
    let (mut initiator, owner) = disk.initiator(SLOTS, 1)?;
    initiator.wakeup_fd = wakeup.fd.as_raw_fd();
    let (sender, requests) = channel();
    let worker_loop = WorkerLoop {
        disk: Arc::clone(disk),
        initiator,
        _owner: owner,
        requests,
        wakeup: Arc::clone(&wakeup),
        active: (0..SLOTS).map(|_| None).collect(),
        slot_buffers: (0..SLOTS).map(|_| Vec::new()).collect(),
        free: (0..SLOTS as u32).rev().collect(),
    };
    Ok(PreparedWorker { worker_loop, wakeup, requests: sender })
}

impl PreparedWorker {
    pub(super) fn queue(&self) -> Queue {
        Queue { requests: self.requests.clone(), wakeup: Arc::clone(&self.wakeup) }
    }

    pub(super) fn start(self) -> Worker {
        let PreparedWorker { worker_loop, wakeup, .. } = self;
        Worker { thread: std::thread::spawn(move || worker_loop.run()), wakeup }
    }
}

impl Worker {
    /// Ends the thread once what is in flight has ended.
    pub(super) fn end(self) {
        self.wakeup.must_end.store(true, Ordering::Release);
        self.wakeup.wake();
        let _ = self.thread.join();
    }
}

/// A request in flight.
struct ActiveRequest {
    request: DiskRequest,
    /// Sectors that are written in part are read first.
    reading_first: bool,
}

struct WorkerLoop {
    disk: Arc<Disk>,
    initiator: Initiator<Socket>,
    _owner: Owner,
    requests: Receiver<DiskRequest>,
    wakeup: Arc<Wakeup>,
    active: Vec<Option<ActiveRequest>>,
    slot_buffers: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl WorkerLoop {
    fn run(mut self) {
        loop {
            let must_end = self.wakeup.must_end.load(Ordering::Acquire);
            let _ = rustix::io::read(&self.wakeup.fd, &mut [0; 8]);
            while let Some(slot) = self.free.pop() {
                let Ok(request) = self.requests.try_recv() else {
                    self.free.push(slot);
                    break;
                };
                self.begin(slot, request);
            }
            if must_end && self.free.len() == SLOTS {
                return;
            }
            self.initiator.run_once(clock::now() + IDLE_NS);
            let ended: Vec<_> = self.initiator.finished().collect();
            for (slot, result) in ended {
                self.finish(slot, result.map(drop));
            }
        }
    }

    fn begin(&mut self, slot: u32, request: DiskRequest) {
        let (begin, length) = request.sectors();
        let buffer = &mut self.slot_buffers[slot as usize];
        if buffer.is_empty() {
            buffer.resize(SLOT_BYTES, 0);
        }
        let mut reading_first = false;
        let command = match &request {
            DiskRequest::Read { .. } => Command::Read,
            DiskRequest::Write { offset, data, .. } => {
                reading_first = begin != *offset || length != data.len();
                if !reading_first {
                    buffer[..length].copy_from_slice(data);
                }
                if reading_first {
                    Command::Read
                } else {
                    Command::Write
                }
            }
            DiskRequest::Flush { .. } => match self.disk.flush {
                Some(command) => command,
                None => {
                    self.free.push(slot);
                    return request.fail(Errno::EOPNOTSUPP);
                }
            },
        };
        self.active[slot as usize] = Some(ActiveRequest { request, reading_first });
        self.transfer(slot, command, begin, length);
    }

    fn transfer(&mut self, slot: u32, command: Command, begin: u64, length: usize) {
        self.initiator.start(Transfer {
            command,
            lba: begin / SECTOR as u64,
            sectors: (length / SECTOR) as u64,
            memory: Memory(self.slot_buffers[slot as usize].as_mut_ptr()),
            slot,
            deadline: clock::now().saturating_add(self.disk.target.timeout_ns),
        });
    }

    fn finish(&mut self, slot: u32, result: Result<(), Fault>) {
        let ActiveRequest { request, reading_first } = self.active[slot as usize].take().expect("it was under way");
        let (begin, length) = request.sectors();
        if let (DiskRequest::Write { offset, data, .. }, true, Ok(())) = (&request, reading_first, &result) {
            let at = (offset - begin) as usize;
            self.slot_buffers[slot as usize][at..at + data.len()].copy_from_slice(data);
            self.active[slot as usize] = Some(ActiveRequest { request, reading_first: false });
            return self.transfer(slot, Command::Write, begin, length);
        }
        self.free.push(slot);
        if let Err(fault) = result {
            return request.fail(as_errno(fault).map_or(Errno::EIO, Errno::from_i32));
        }
        match request {
            DiskRequest::Read { offset, length, reply } => {
                let at = (offset - begin) as usize;
                reply.data(&self.slot_buffers[slot as usize][at..at + length]);
            }
            DiskRequest::Write { data, reply, .. } => reply.written(data.len() as u32),
            DiskRequest::Flush { reply } => reply.ok(),
        }
    }
}

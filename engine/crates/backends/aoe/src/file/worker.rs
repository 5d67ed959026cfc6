//! The thread that speaks with the disk for the file.

use super::shown::MOST_BYTES;
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

/// Requests under way at most.
const SLOTS: usize = 64;
/// Room of a slot: a request that begins and ends within sectors touches one more.
const ROOM: usize = MOST_BYTES as usize + 2 * SECTOR;
/// Nothing has to be looked at for so long.
const IDLE_NS: u64 = 1_000_000_000;

/// Something that the kernel wants, and how it is answered.
pub(super) enum Ask {
    Read { offset: u64, length: usize, reply: ReplyData },
    Write { offset: u64, data: Vec<u8>, reply: ReplyWrite },
    Flush { reply: ReplyEmpty },
}

/// Where requests are put; the thread is woken.
pub(super) struct Queue {
    asks: Sender<Ask>,
    bell: Arc<Bell>,
}

struct Bell {
    fd: OwnedFd,
    over: AtomicBool,
}

impl Bell {
    fn ring(&self) {
        // It rings already if its count is full.
        let _ = rustix::io::write(&self.fd, &1_u64.to_ne_bytes());
    }
}

impl Queue {
    pub(super) fn put(&self, ask: Ask) {
        match self.asks.send(ask) {
            Ok(()) => self.bell.ring(),
            Err(refused) => refused.0.fail(Errno::EIO),
        }
    }
}

impl Ask {
    fn fail(self, errno: Errno) {
        match self {
            Ask::Read { reply, .. } => reply.error(errno),
            Ask::Write { reply, .. } => reply.error(errno),
            Ask::Flush { reply } => reply.error(errno),
        }
    }

    /// The whole sectors that it touches: the first byte, and how many bytes.
    fn sectors(&self) -> (u64, usize) {
        let (offset, length) = match self {
            Ask::Read { offset, length, .. } => (*offset, *length as u64),
            Ask::Write { offset, data, .. } => (*offset, data.len() as u64),
            Ask::Flush { .. } => (0, 0),
        };
        let sector = SECTOR as u64;
        let begin = offset / sector * sector;
        (begin, ((offset + length).next_multiple_of(sector) - begin) as usize)
    }
}

/// The thread, while it works.
pub(super) struct Worker {
    thread: JoinHandle<()>,
    bell: Arc<Bell>,
}

/// The thread, before it is started.
pub(super) struct Waiting {
    serving: Serving,
    bell: Arc<Bell>,
    asks: Sender<Ask>,
}

/// Makes the thread ready.
///
/// # Errors
/// If an interface cannot be used.
pub(super) fn prepare(disk: &Arc<Disk>) -> Result<Waiting, SetupError> {
    let failed = |errno| SetupError::os("make", "a thread for the disk", errno);
    let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(failed)?;
    let bell = Arc::new(Bell { fd, over: AtomicBool::new(false) });
    let (mut initiator, owner) = disk.initiator(SLOTS, 1)?;
    initiator.bell = bell.fd.as_raw_fd();
    let (sender, asks) = channel();
    let serving = Serving {
        disk: Arc::clone(disk),
        initiator,
        _owner: owner,
        asks,
        bell: Arc::clone(&bell),
        doing: (0..SLOTS).map(|_| None).collect(),
        rooms: (0..SLOTS).map(|_| Vec::new()).collect(),
        free: (0..SLOTS as u32).rev().collect(),
    };
    Ok(Waiting { serving, bell, asks: sender })
}

impl Waiting {
    pub(super) fn queue(&self) -> Queue {
        Queue { asks: self.asks.clone(), bell: Arc::clone(&self.bell) }
    }

    pub(super) fn start(self) -> Worker {
        let Waiting { serving, bell, .. } = self;
        Worker { thread: std::thread::spawn(move || serving.run()), bell }
    }
}

impl Worker {
    /// Ends the thread when what is under way has ended.
    pub(super) fn end(self) {
        self.bell.over.store(true, Ordering::Release);
        self.bell.ring();
        let _ = self.thread.join();
    }
}

/// A request under way.
struct Doing {
    ask: Ask,
    /// Parts of sectors are read before they are written.
    reading_first: bool,
}

struct Serving {
    disk: Arc<Disk>,
    initiator: Initiator<Socket>,
    _owner: Owner,
    asks: Receiver<Ask>,
    bell: Arc<Bell>,
    doing: Vec<Option<Doing>>,
    rooms: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Serving {
    fn run(mut self) {
        loop {
            let over = self.bell.over.load(Ordering::Acquire);
            let _ = rustix::io::read(&self.bell.fd, &mut [0; 8]);
            while let Some(slot) = self.free.pop() {
                let Ok(ask) = self.asks.try_recv() else {
                    self.free.push(slot);
                    break;
                };
                self.begin(slot, ask);
            }
            if over && self.free.len() == SLOTS {
                return;
            }
            self.initiator.turn(clock::now() + IDLE_NS);
            let ended: Vec<_> = self.initiator.finished().collect();
            for (slot, result) in ended {
                self.finish(slot, result.map(drop));
            }
        }
    }

    fn begin(&mut self, slot: u32, ask: Ask) {
        let (begin, length) = ask.sectors();
        let room = &mut self.rooms[slot as usize];
        if room.is_empty() {
            room.resize(ROOM, 0);
        }
        let mut reading_first = false;
        let command = match &ask {
            Ask::Read { .. } => Command::Read,
            Ask::Write { offset, data, .. } => {
                reading_first = begin != *offset || length != data.len();
                if !reading_first {
                    room[..length].copy_from_slice(data);
                }
                if reading_first {
                    Command::Read
                } else {
                    Command::Write
                }
            }
            Ask::Flush { .. } => match self.disk.flush {
                Some(command) => command,
                None => {
                    self.free.push(slot);
                    return ask.fail(Errno::EOPNOTSUPP);
                }
            },
        };
        self.doing[slot as usize] = Some(Doing { ask, reading_first });
        self.transfer(slot, command, begin, length);
    }

    fn transfer(&mut self, slot: u32, command: Command, begin: u64, length: usize) {
        self.initiator.start(Transfer {
            command,
            lba: begin / SECTOR as u64,
            sectors: (length / SECTOR) as u64,
            memory: Memory(self.rooms[slot as usize].as_mut_ptr()),
            slot,
            deadline: clock::now().saturating_add(self.disk.target.timeout_ns),
        });
    }

    fn finish(&mut self, slot: u32, result: Result<(), Fault>) {
        let Doing { ask, reading_first } = self.doing[slot as usize].take().expect("it was under way");
        let (begin, length) = ask.sectors();
        if let (Ask::Write { offset, data, .. }, true, Ok(())) = (&ask, reading_first, &result) {
            let at = (offset - begin) as usize;
            self.rooms[slot as usize][at..at + data.len()].copy_from_slice(data);
            self.doing[slot as usize] = Some(Doing { ask, reading_first: false });
            return self.transfer(slot, Command::Write, begin, length);
        }
        self.free.push(slot);
        if let Err(fault) = result {
            return ask.fail(as_errno(fault).map_or(Errno::EIO, Errno::from_i32));
        }
        match ask {
            Ask::Read { offset, length, reply } => {
                let at = (offset - begin) as usize;
                reply.data(&self.rooms[slot as usize][at..at + length]);
            }
            Ask::Write { data, reply, .. } => reply.written(data.len() as u32),
            Ask::Flush { reply } => reply.ok(),
        }
    }
}

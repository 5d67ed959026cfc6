//! Commands to one disk: cut into frames, sent, sent again, and told from others' by tag, address and station.

use crate::frame::{self, Address, Body, Command, Mac, SECTOR};
use crate::path::Path;
use crate::status::{of_registers, refused, GARBAGE, TIMED_OUT};
use crate::wire::{self, Outgoing, Wanted, Wire};
use assay_core::{clock, Fault};
use rustix::fd::RawFd;
use std::collections::VecDeque;

/// Frames under way at most: as many as a tag has numbers for.
pub(crate) const MOST_FLIGHTS: usize = 256;
/// What a tag is made of, from the top: a bit that the kernel's own driver leaves to others, which process and lane, how
/// often the place has been used, and the place among the frames under way.
const OWN_BIT: u32 = 1 << 31;
const OWNER_SHIFT: u32 = 20;
const OWNER_MASK: u32 = 0x7ff;
const TURN_SHIFT: u32 = 8;
const TURN_MASK: u32 = 0xfff;
/// The part that all tags of an owner share.
const TAG_MASK: u32 = OWN_BIT | OWNER_MASK << OWNER_SHIFT;
/// Frames that go unanswered on one way before another one is tried.
const MOST_SILENT: u32 = 4;
/// A network that takes no more frames is asked again so much later.
const FULL_NS: u64 = 200_000;

/// Where data comes from or goes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory(pub(crate) *mut u8);

// SAFETY: an address; what is there belongs to the transfer, in whatever thread that is.
unsafe impl Send for Memory {}

/// Something that is to be done, of any length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) command: Command,
    pub(crate) lba: u64,
    /// Sectors; of what moves none 0, of IDENTIFY 1.
    pub(crate) sectors: u64,
    /// Belongs to the initiator until the transfer has ended.
    pub(crate) memory: Memory,
    /// Comes back when it ends; below the number of slots.
    pub(crate) slot: u32,
    /// Not answered by then, it has failed.
    pub(crate) deadline: u64,
}

#[derive(Debug, Clone, Copy)]
struct Work {
    transfer: Transfer,
    /// Sectors for which frames have been made.
    asked: u64,
    /// Frames without an answer.
    pending: u32,
    /// The first part that failed, and why.
    error: Option<(u64, Fault)>,
}

/// A frame under way.
#[derive(Debug, Clone, Copy)]
struct Flight {
    slot: u32,
    tag: u32,
    path: usize,
    /// Where in the transfer, in sectors, and how many.
    at: u64,
    sectors: u8,
    /// When it was last sent, and how often.
    sent_at: u64,
    sent: u32,
}

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Frames sent, those that were sent again among them.
    pub(crate) sent: u64,
    /// Frames sent again.
    pub(crate) again: u64,
    /// Answers to nothing: late, twice, of another disk or station.
    pub(crate) stray: u64,
}

/// Speaks with one disk.
pub(crate) struct Initiator<W> {
    shelf: u16,
    slot: u8,
    owner: u32,
    paths: Vec<Path<W>>,
    /// Those at the other ends of the paths.
    stations: Vec<Mac>,
    /// Sectors of a frame at most.
    pub(crate) sectors: u8,
    works: Vec<Option<Work>>,
    /// Slots with frames still to be made.
    waiting: VecDeque<u32>,
    flights: Vec<Option<Flight>>,
    free: Vec<u8>,
    turns: Vec<u16>,
    /// Of each way, frames that are to be sent.
    outgoing: Vec<Vec<u8>>,
    /// No frame needs to be sent again before this moment.
    next_check: u64,
    /// No frame can be sent before this moment.
    full_until: u64,
    finished: Vec<(u32, Result<u64, Fault>)>,
    pub(crate) counts: Counts,
    /// Ends a wait when there is something to read from it; negative if there is none.
    pub(crate) bell: RawFd,
}

/// The tags that an owner's frames have, for the filter of its sockets.
pub(crate) fn wanted(shelf: u16, slot: u8, owner: u32) -> Wanted {
    Wanted::Answers { shelf, slot, tag: OWN_BIT | (owner & OWNER_MASK) << OWNER_SHIFT, mask: TAG_MASK }
}

impl<W: Wire> Initiator<W> {
    pub(crate) fn new(shelf: u16, slot: u8, owner: u32, paths: Vec<Path<W>>, slots: usize) -> Self {
        Initiator {
            shelf,
            slot,
            owner: owner & OWNER_MASK,
            outgoing: paths.iter().map(|_| Vec::with_capacity(MOST_FLIGHTS)).collect(),
            stations: paths.iter().map(|path| path.to).collect(),
            paths,
            sectors: 1,
            works: vec![None; slots],
            waiting: VecDeque::with_capacity(slots),
            flights: vec![None; MOST_FLIGHTS],
            free: (0..=u8::MAX).rev().collect(),
            turns: vec![0; MOST_FLIGHTS],
            next_check: u64::MAX,
            full_until: 0,
            finished: Vec::with_capacity(slots),
            counts: Counts::default(),
            bell: -1,
        }
    }

    /// Begins a transfer in a slot in which none is under way.
    pub(crate) fn start(&mut self, transfer: Transfer) {
        let slot = transfer.slot;
        debug_assert!(self.works[slot as usize].is_none(), "a slot has one transfer at a time");
        self.works[slot as usize] = Some(Work { transfer, asked: 0, pending: 0, error: None });
        self.waiting.push_back(slot);
    }

    /// What has ended, each with the bytes that were moved.
    pub(crate) fn finished(&mut self) -> std::vec::Drain<'_, (u32, Result<u64, Fault>)> {
        self.finished.drain(..)
    }

    /// Something has ended that nobody has taken.
    pub(crate) fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Makes frames as far as there is room, and sends them.
    pub(crate) fn pump(&mut self, now: u64) {
        while let (Some(&slot), Some(path)) = (self.waiting.front(), self.path_with_room()) {
            if self.free.is_empty() {
                break;
            }
            if self.launch(slot, path, now) {
                self.waiting.pop_front();
            }
        }
        self.send(now);
    }

    /// The way with room that has the fewest frames under way; one that does not answer only if none does.
    fn path_with_room(&self) -> Option<usize> {
        let all = || (0..self.paths.len()).filter(|at| self.paths[*at].has_room());
        let least = |at: &usize| self.paths[*at].in_flight;
        let alive = all().filter(|at| self.paths[*at].silent < MOST_SILENT).min_by_key(least);
        // Silent ones are tried with one frame, so that they are found when they come back.
        alive.or_else(|| all().filter(|at| self.paths[*at].in_flight == 0).min_by_key(least))
    }

    /// Makes the next frame of a transfer; whether that was its last one.
    fn launch(&mut self, slot: u32, path: usize, now: u64) -> bool {
        let work = self.works[slot as usize].as_mut().expect("what waits is under way");
        let sectors = (work.transfer.sectors - work.asked).min(u64::from(self.sectors)) as u8;
        let at = work.asked;
        work.asked += u64::from(sectors);
        work.pending += 1;
        let last = work.asked == work.transfer.sectors;
        let number = self.free.pop().expect("the caller has looked");
        let turn = &mut self.turns[usize::from(number)];
        *turn = turn.wrapping_add(1);
        let tag =
            OWN_BIT | self.owner << OWNER_SHIFT | (u32::from(*turn) & TURN_MASK) << TURN_SHIFT | u32::from(number);
        self.flights[usize::from(number)] = Some(Flight { slot, tag, path, at, sectors, sent_at: now, sent: 0 });
        self.paths[path].in_flight += 1;
        self.outgoing[path].push(number);
        last
    }

    /// The frame of a flight, as it goes out.
    fn outgoing_frame(&self, flight: &Flight) -> Outgoing {
        let path = &self.paths[flight.path];
        let Transfer { command, lba, memory, .. } = self.works[flight.slot as usize].expect("under way").transfer;
        let address = Address { to: path.to, from: path.wire.mac(), shelf: self.shelf, slot: self.slot };
        let head = frame::ata(&address, flight.tag, command, lba + flight.at, flight.sectors);
        let length = if command == Command::Write { usize::from(flight.sectors) * SECTOR } else { 0 };
        Outgoing { head, data: memory.0.wrapping_add(flight.at as usize * SECTOR).cast_const(), length }
    }

    /// Sends what there is to send.
    fn send(&mut self, now: u64) {
        if now < self.full_until {
            return;
        }
        for path in 0..self.paths.len() {
            while !self.outgoing[path].is_empty() {
                let numbers = &self.outgoing[path];
                let of = |number: &u8| self.outgoing_frame(&self.flights[usize::from(*number)].expect("under way"));
                let frames: Vec<Outgoing> = numbers.iter().take(32).map(of).collect();
                match self.paths[path].wire.send(&frames) {
                    Ok(sent) if sent > 0 => self.note_sent(path, sent, now),
                    // Queues are full: they are asked again a little later.
                    Ok(_) | Err(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => {
                        self.full_until = now + FULL_NS;
                        break;
                    }
                    // An interface that is down or gone loses frames like any other loss: whoever waits for them will see.
                    Err(_) => self.note_sent(path, frames.len(), now),
                }
            }
        }
    }

    fn note_sent(&mut self, path: usize, sent: usize, now: u64) {
        for number in self.outgoing[path].drain(..sent) {
            let Some(flight) = &mut self.flights[usize::from(number)] else { continue };
            self.counts.sent += 1;
            self.counts.again += u64::from(flight.sent > 0);
            flight.sent_at = now;
            flight.sent += 1;
            self.next_check = self.next_check.min(now + self.paths[path].patience(flight.sent));
        }
    }

    /// Takes in what has come; whether anything has.
    pub(crate) fn receive(&mut self, now: u64) -> bool {
        let mut any = false;
        for at in 0..self.paths.len() {
            loop {
                let Initiator { paths, flights, works, free, finished, waiting, counts, outgoing, .. } = self;
                let (disk, stations) = ((self.shelf, self.slot), &self.stations);
                let Path { wire, .. } = &mut paths[at];
                let mut answers = [(0_usize, None); 32];
                let mut count = 0;
                let got = wire.receive(|bytes| {
                    let Some(frame) = frame::decode(bytes).filter(|frame| frame.response) else { return };
                    let number = (frame.tag & 0xff) as usize;
                    let known = flights[number].filter(|flight| flight.tag == frame.tag && flight.sent > 0);
                    let ours =
                        (frame.address.shelf, frame.address.slot) == disk && stations.contains(&frame.address.from);
                    let Some(flight) = known.filter(|_| ours) else {
                        counts.stray += 1;
                        return;
                    };
                    let work = works[flight.slot as usize].as_mut().expect("its frames are under way");
                    settle(work, &flight, taken(&frame, &flight, work));
                    flights[number] = None;
                    free.push(number as u8);
                    // It may wait to be sent again.
                    outgoing[flight.path].retain(|waits| usize::from(*waits) != number);
                    answers[count] = (flight.path, (flight.sent == 1).then(|| now.saturating_sub(flight.sent_at)));
                    count += 1;
                    end_if_done(works, waiting, finished, flight.slot);
                });
                for (path, took) in &answers[..count] {
                    paths[*path].answered(*took);
                }
                match got {
                    Ok(frames) if frames > 0 => any = true,
                    _ => break,
                }
            }
        }
        any
    }

    /// Sends again what has had no answer for too long, and gives up what has had none until its deadline.
    pub(crate) fn tend(&mut self, now: u64) {
        if now < self.next_check {
            return;
        }
        let mut next = u64::MAX;
        for number in 0..self.flights.len() {
            let Some(mut flight) = self.flights[number].filter(|flight| flight.sent > 0) else { continue };
            let deadline = self.works[flight.slot as usize].expect("under way").transfer.deadline;
            if now >= deadline {
                self.give_up(number, &flight);
                continue;
            }
            let due = flight.sent_at + self.paths[flight.path].patience(flight.sent);
            if now < due || self.outgoing[flight.path].contains(&(number as u8)) {
                next = next.min(due.max(now + 1)).min(deadline);
                continue;
            }
            self.paths[flight.path].unanswered(flight.sent_at, now);
            self.reroute(&mut flight);
            self.flights[number] = Some(flight);
            self.outgoing[flight.path].push(number as u8);
            next = next.min(now + FULL_NS);
        }
        self.next_check = next;
    }

    /// Another way for a frame whose own way is silent. (A frame that is only late must not overtake itself: a write that
    /// arrives a second time, after a later one to the same place, would undo that.)
    fn reroute(&mut self, flight: &mut Flight) {
        if self.paths[flight.path].silent < MOST_SILENT {
            return;
        }
        let other = (0..self.paths.len())
            .filter(|at| self.paths[*at].silent < MOST_SILENT)
            .min_by_key(|at| self.paths[*at].in_flight);
        if let Some(other) = other {
            self.paths[flight.path].forgotten();
            self.paths[other].in_flight += 1;
            flight.path = other;
        }
    }

    fn give_up(&mut self, number: usize, flight: &Flight) {
        let work = self.works[flight.slot as usize].as_mut().expect("under way");
        settle(work, flight, Err(TIMED_OUT));
        self.flights[number] = None;
        self.free.push(number as u8);
        self.paths[flight.path].forgotten();
        self.outgoing[flight.path].retain(|waits| usize::from(*waits) != number);
        end_if_done(&mut self.works, &mut self.waiting, &mut self.finished, flight.slot);
    }

    /// Waits until something has come, something has to be done, or `until`.
    pub(crate) fn wait(&mut self, now: u64, until: u64) {
        let full = self.outgoing.iter().any(|numbers| !numbers.is_empty());
        let wake = self.next_check.min(until).min(if full { self.full_until.max(now + 1) } else { u64::MAX });
        let mut entries = [libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; 9];
        let last = self.paths.len();
        entries[last].fd = self.bell;
        for (entry, path) in entries.iter_mut().zip(&self.paths) {
            entry.fd = path.wire.descriptor();
        }
        if entries[0].fd >= 0 {
            wire::wait(&mut entries[..=last], wake.saturating_sub(now).min(1_000_000_000));
        }
    }

    /// One turn: takes in, sends again, sends; waits at most until `until` if nothing has ended.
    pub(crate) fn turn(&mut self, until: u64) {
        let now = clock::now();
        self.receive(now);
        self.tend(now);
        self.pump(now);
        if self.finished.is_empty() {
            self.wait(now, until);
        }
    }

    /// Does one thing while nothing else is under way; bytes moved.
    pub(crate) fn call(
        &mut self,
        command: Command,
        lba: u64,
        memory: &mut [u8],
        timeout_ns: u64,
    ) -> Result<u64, Fault> {
        let sectors = match command {
            Command::Flush | Command::FlushExt => 0,
            _ => (memory.len() / SECTOR) as u64,
        };
        let deadline = clock::now() + timeout_ns;
        self.start(Transfer { command, lba, sectors, memory: Memory(memory.as_mut_ptr()), slot: 0, deadline });
        while !self.has_finished() {
            self.turn(deadline);
        }
        let (_, result) = self.finished.pop().expect("it has ended");
        result
    }
}

/// What an answer has brought.
fn taken(frame: &frame::Frame<'_>, flight: &Flight, work: &Work) -> Result<(), Fault> {
    if let Some(error) = frame.error {
        return Err(refused(error));
    }
    let Some(Body::Ata { status, error, data, .. }) = &frame.body else { return Err(GARBAGE) };
    of_registers(*status, *error)?;
    if matches!(work.transfer.command, Command::Read | Command::Identify) {
        let length = usize::from(flight.sectors) * SECTOR;
        let data = data.get(..length).ok_or(GARBAGE)?;
        let to = work.transfer.memory.0.wrapping_add(flight.at as usize * SECTOR);
        // SAFETY: the memory belongs to the transfer until it ends, and has room for all its sectors.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, length) };
    }
    Ok(())
}

/// Notes how a frame's part has ended.
fn settle(work: &mut Work, flight: &Flight, result: Result<(), Fault>) {
    work.pending -= 1;
    if let Err(fault) = result {
        let first = work.error.is_none_or(|(at, _)| flight.at < at);
        if first {
            work.error = Some((flight.at, fault));
        }
        // What has not been asked for will not be.
        work.asked = work.transfer.sectors;
    }
}

fn end_if_done(
    works: &mut [Option<Work>],
    waiting: &mut VecDeque<u32>,
    finished: &mut Vec<(u32, Result<u64, Fault>)>,
    slot: u32,
) {
    let place = &mut works[slot as usize];
    if place.is_some_and(|work| work.error.is_some()) {
        waiting.retain(|other| *other != slot);
    }
    let Some(work) = place.filter(|work| work.pending == 0 && work.asked == work.transfer.sectors) else { return };
    *place = None;
    let bytes = work.transfer.sectors * SECTOR as u64;
    finished.push((slot, work.error.map_or(Ok(bytes), |(_, fault)| Err(fault))));
}

#[cfg(test)]
#[path = "initiator_tests.rs"]
mod tests;

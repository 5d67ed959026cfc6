//! Commands to one disk: split into frames, sent and resent. Answers are matched by tag, address and station.

use crate::frame::{self, Address, Body, Command, Mac, SECTOR};
use crate::path::Path;
use crate::status::{check_registers, refusal, MALFORMED, TIMED_OUT};
use crate::wire::{self, FrameFilter, Outgoing, Wire};
use assay_core::{clock, Fault};
use rustix::fd::RawFd;
use std::collections::VecDeque;

/// Most frames in flight: as many as a tag has numbers for.
pub(crate) const MAX_FLIGHTS: usize = 256;
/// The parts of a tag, from the top: a bit that the kernel's own driver leaves free, the owner (process and lane), how
/// often the place has been used, and the place among the frames in flight.
const OWN_BIT: u32 = 1 << 31;
const OWNER_SHIFT: u32 = 20;
const OWNER_MASK: u32 = 0x7ff;
const TURN_SHIFT: u32 = 8;
const TURN_MASK: u32 = 0xfff;
/// The part that all tags of an owner share.
const TAG_MASK: u32 = OWN_BIT | OWNER_MASK << OWNER_SHIFT;
/// Frames without an answer on one way before another one is tried.
const MAX_SILENT: u32 = 4;
/// How long sending pauses when the network takes no more frames, in nanoseconds.
const FULL_PAUSE_NS: u64 = 200_000;

/// The memory that data comes from or goes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory(pub(crate) *mut u8);

// SAFETY: an address; the memory there belongs to the transfer, in whatever thread that is.
unsafe impl Send for Memory {}

/// One command of any length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) command: Command,
    pub(crate) lba: u64,
    /// Sectors; 0 for commands without data, 1 for IDENTIFY.
    pub(crate) sectors: u64,
    /// Belongs to the initiator until the transfer has ended.
    pub(crate) memory: Memory,
    /// Identifies the transfer when it ends; below the number of slots.
    pub(crate) slot: u32,
    /// The transfer fails if it is not answered by then.
    pub(crate) deadline: u64,
}

#[derive(Debug, Clone, Copy)]
struct ActiveTransfer {
    transfer: Transfer,
    /// Sectors for which frames have been made.
    framed_sectors: u64,
    /// Frames without an answer.
    pending: u32,
    /// The first part that failed, and why.
    error: Option<(u64, Fault)>,
}

/// A frame in flight.
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

/// Counts of frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Frames sent, including those sent again.
    pub(crate) sent: u64,
    /// Frames sent again.
    pub(crate) again: u64,
    /// Answers that match no frame in flight: late, double, or from another disk or station.
    pub(crate) stray: u64,
}

/// Executes commands on one disk.
pub(crate) struct Initiator<W> {
    shelf: u16,
    slot: u8,
    owner: u32,
    paths: Vec<Path<W>>,
    /// The stations at the other ends of the paths.
    stations: Vec<Mac>,
    /// Most sectors of a frame.
    pub(crate) sectors: u8,
    active: Vec<Option<ActiveTransfer>>,
    /// Slots with frames still to be made.
    waiting: VecDeque<u32>,
    flights: Vec<Option<Flight>>,
    free: Vec<u8>,
    turns: Vec<u16>,
    /// By path: frames that must be sent.
    outgoing: Vec<Vec<u8>>,
    /// No frame must be sent again before this time.
    next_check: u64,
    /// No frame can be sent before this time.
    full_until: u64,
    finished: Vec<(u32, Result<u64, Fault>)>,
    pub(crate) counts: Counts,
    /// A descriptor that ends a wait when it becomes readable; negative for none.
    pub(crate) wakeup_fd: RawFd,
}

/// The filter for the tags of an owner's frames.
pub(crate) fn answer_filter(shelf: u16, slot: u8, owner: u32) -> FrameFilter {
    FrameFilter::Answers { shelf, slot, tag: OWN_BIT | (owner & OWNER_MASK) << OWNER_SHIFT, mask: TAG_MASK }
}

impl<W: Wire> Initiator<W> {
    pub(crate) fn new(shelf: u16, slot: u8, owner: u32, paths: Vec<Path<W>>, slots: usize) -> Self {
        Initiator {
            shelf,
            slot,
            owner: owner & OWNER_MASK,
            outgoing: paths.iter().map(|_| Vec::with_capacity(MAX_FLIGHTS)).collect(),
            stations: paths.iter().map(|path| path.to).collect(),
            paths,
            sectors: 1,
            active: vec![None; slots],
            waiting: VecDeque::with_capacity(slots),
            flights: vec![None; MAX_FLIGHTS],
            free: (0..=u8::MAX).rev().collect(),
            turns: vec![0; MAX_FLIGHTS],
            next_check: u64::MAX,
            full_until: 0,
            finished: Vec::with_capacity(slots),
            counts: Counts::default(),
            wakeup_fd: -1,
        }
    }

    /// Begins a transfer in a slot without one.
    pub(crate) fn start(&mut self, transfer: Transfer) {
        let slot = transfer.slot;
        debug_assert!(self.active[slot as usize].is_none(), "a slot has one transfer at a time");
        self.active[slot as usize] = Some(ActiveTransfer { transfer, framed_sectors: 0, pending: 0, error: None });
        self.waiting.push_back(slot);
    }

    /// Takes out the transfers that have ended, with the bytes moved.
    pub(crate) fn finished(&mut self) -> std::vec::Drain<'_, (u32, Result<u64, Fault>)> {
        self.finished.drain(..)
    }

    /// Whether transfers have ended that were not taken out.
    pub(crate) fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Makes frames while there is room, and sends them.
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

    /// The path with room and the fewest frames in flight; one that does not answer only if no other is left.
    fn path_with_room(&self) -> Option<usize> {
        let all = || (0..self.paths.len()).filter(|at| self.paths[*at].has_room());
        let least = |at: &usize| self.paths[*at].in_flight;
        let alive = all().filter(|at| self.paths[*at].silent < MAX_SILENT).min_by_key(least);
        // Silent paths are tried with one frame, which shows when they work again.
        alive.or_else(|| all().filter(|at| self.paths[*at].in_flight == 0).min_by_key(least))
    }

    /// Makes the next frame of a transfer; returns whether it was the last one.
    fn launch(&mut self, slot: u32, path: usize, now: u64) -> bool {
        let state = self.active[slot as usize].as_mut().expect("what waits is under way");
        let sectors = (state.transfer.sectors - state.framed_sectors).min(u64::from(self.sectors)) as u8;
        let at = state.framed_sectors;
        state.framed_sectors += u64::from(sectors);
        state.pending += 1;
        let last = state.framed_sectors == state.transfer.sectors;
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

    /// The frame of a flight, ready to be sent.
    fn outgoing_frame(&self, flight: &Flight) -> Outgoing {
        let path = &self.paths[flight.path];
        let Transfer { command, lba, memory, .. } = self.active[flight.slot as usize].expect("under way").transfer;
        let address = Address { to: path.to, from: path.wire.mac(), shelf: self.shelf, slot: self.slot };
        let head = frame::ata(&address, flight.tag, command, lba + flight.at, flight.sectors);
        let length = if command == Command::Write { usize::from(flight.sectors) * SECTOR } else { 0 };
        Outgoing { head, data: memory.0.wrapping_add(flight.at as usize * SECTOR).cast_const(), length }
    }

    /// Sends the frames that must be sent.
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
                    // Queues are full: try again a little later.
                    Ok(_) | Err(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => {
                        self.full_until = now + FULL_PAUSE_NS;
                        break;
                    }
                    // An interface that is down or gone loses frames like any other loss, which their missing answers
                    // will show.
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
            self.next_check = self.next_check.min(now + self.paths[path].resend_after_ns(flight.sent));
        }
    }

    /// Takes in the frames that have come; returns whether there were any.
    pub(crate) fn receive(&mut self, now: u64) -> bool {
        let mut any = false;
        for at in 0..self.paths.len() {
            loop {
                let Initiator { paths, flights, active, free, finished, waiting, counts, outgoing, .. } = self;
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
                    let state = active[flight.slot as usize].as_mut().expect("its frames are under way");
                    settle(state, &flight, take_answer(&frame, &flight, state));
                    flights[number] = None;
                    free.push(number as u8);
                    // It may be queued for sending again.
                    outgoing[flight.path].retain(|waits| usize::from(*waits) != number);
                    answers[count] = (flight.path, (flight.sent == 1).then(|| now.saturating_sub(flight.sent_at)));
                    count += 1;
                    end_if_done(active, waiting, finished, flight.slot);
                });
                for (path, took) in &answers[..count] {
                    paths[*path].note_answer(*took);
                }
                match got {
                    Ok(frames) if frames > 0 => any = true,
                    _ => break,
                }
            }
        }
        any
    }

    /// Sends frames again that have had no answer for too long, and gives up those past their deadline.
    pub(crate) fn resend_overdue(&mut self, now: u64) {
        if now < self.next_check {
            return;
        }
        let mut next = u64::MAX;
        for number in 0..self.flights.len() {
            let Some(mut flight) = self.flights[number].filter(|flight| flight.sent > 0) else { continue };
            let deadline = self.active[flight.slot as usize].expect("under way").transfer.deadline;
            if now >= deadline {
                self.give_up(number, &flight);
                continue;
            }
            let due = flight.sent_at + self.paths[flight.path].resend_after_ns(flight.sent);
            if now < due || self.outgoing[flight.path].contains(&(number as u8)) {
                next = next.min(due.max(now + 1)).min(deadline);
                continue;
            }
            self.paths[flight.path].note_timeout(flight.sent_at, now);
            self.reroute(&mut flight);
            self.flights[number] = Some(flight);
            self.outgoing[flight.path].push(number as u8);
            next = next.min(now + FULL_PAUSE_NS);
        }
        self.next_check = next;
    }

    /// Moves a frame to another path if its own is silent. (A frame that is only late must not overtake itself: a write
    /// that arrives a second time, after a later one to the same place, would undo that.)
    fn reroute(&mut self, flight: &mut Flight) {
        if self.paths[flight.path].silent < MAX_SILENT {
            return;
        }
        let other = (0..self.paths.len())
            .filter(|at| self.paths[*at].silent < MAX_SILENT)
            .min_by_key(|at| self.paths[*at].in_flight);
        if let Some(other) = other {
            self.paths[flight.path].release();
            self.paths[other].in_flight += 1;
            flight.path = other;
        }
    }

    fn give_up(&mut self, number: usize, flight: &Flight) {
        let state = self.active[flight.slot as usize].as_mut().expect("under way");
        settle(state, flight, Err(TIMED_OUT));
        self.flights[number] = None;
        self.free.push(number as u8);
        self.paths[flight.path].release();
        self.outgoing[flight.path].retain(|waits| usize::from(*waits) != number);
        end_if_done(&mut self.active, &mut self.waiting, &mut self.finished, flight.slot);
    }

    /// Waits until something has come, something must be done, or `until`.
    pub(crate) fn wait(&mut self, now: u64, until: u64) {
        let full = self.outgoing.iter().any(|numbers| !numbers.is_empty());
        let wake = self.next_check.min(until).min(if full { self.full_until.max(now + 1) } else { u64::MAX });
        let mut entries = [libc::pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; 9];
        let last = self.paths.len();
        entries[last].fd = self.wakeup_fd;
        for (entry, path) in entries.iter_mut().zip(&self.paths) {
            entry.fd = path.wire.descriptor();
        }
        if entries[0].fd >= 0 {
            wire::wait(&mut entries[..=last], wake.saturating_sub(now).min(1_000_000_000));
        }
    }

    /// Takes in, sends again, and sends; waits at most until `until` if nothing has ended.
    pub(crate) fn run_once(&mut self, until: u64) {
        let now = clock::now();
        self.receive(now);
        self.resend_overdue(now);
        self.pump(now);
        if self.finished.is_empty() {
            self.wait(now, until);
        }
    }

    /// Executes one command while nothing else is in flight; returns the bytes moved.
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
            self.run_once(deadline);
        }
        let (_, result) = self.finished.pop().expect("it has ended");
        result
    }
}

/// Takes what an answer has brought.
fn take_answer(frame: &frame::Frame<'_>, flight: &Flight, state: &ActiveTransfer) -> Result<(), Fault> {
    if let Some(error) = frame.error {
        return Err(refusal(error));
    }
    let Some(Body::Ata { status, error, data, .. }) = &frame.body else { return Err(MALFORMED) };
    check_registers(*status, *error)?;
    if matches!(state.transfer.command, Command::Read | Command::Identify) {
        let length = usize::from(flight.sectors) * SECTOR;
        let data = data.get(..length).ok_or(MALFORMED)?;
        let to = state.transfer.memory.0.wrapping_add(flight.at as usize * SECTOR);
        // SAFETY: the memory belongs to the transfer until it ends, and has room for all its sectors.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, length) };
    }
    Ok(())
}

/// Notes the result of one frame.
fn settle(state: &mut ActiveTransfer, flight: &Flight, result: Result<(), Fault>) {
    state.pending -= 1;
    if let Err(fault) = result {
        let first = state.error.is_none_or(|(at, _)| flight.at < at);
        if first {
            state.error = Some((flight.at, fault));
        }
        // No more frames of the transfer are made.
        state.framed_sectors = state.transfer.sectors;
    }
}

fn end_if_done(
    active: &mut [Option<ActiveTransfer>],
    waiting: &mut VecDeque<u32>,
    finished: &mut Vec<(u32, Result<u64, Fault>)>,
    slot: u32,
) {
    let place = &mut active[slot as usize];
    if place.is_some_and(|state| state.error.is_some()) {
        waiting.retain(|other| *other != slot);
    }
    let Some(state) = place.filter(|state| state.pending == 0 && state.framed_sectors == state.transfer.sectors) else {
        return;
    };
    *place = None;
    let bytes = state.transfer.sectors * SECTOR as u64;
    finished.push((slot, state.error.map_or(Ok(bytes), |(_, fault)| Err(fault))));
}

#[cfg(test)]
#[path = "initiator_tests.rs"]
mod tests;

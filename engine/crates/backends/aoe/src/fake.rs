//! A disk in memory, and a network to it that loses, doubles, delays and adds frames.

use crate::frame::{self, Body, Command, Frame, Mac, ATA_HEADER, SECTOR};
use crate::wire::{Outgoing, Wire};
use assay_core::random;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

pub(crate) const OURS: Mac = [2, 0, 0, 0, 0, 1];
pub(crate) const THEIRS: Mac = [2, 0, 0, 0, 0, 2];
pub(crate) const OTHERS: Mac = [2, 0, 0, 0, 0, 3];

/// Faults of the network, one in so many frames; 0 is never.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Harm {
    pub(crate) question_lost: u64,
    pub(crate) answer_lost: u64,
    pub(crate) doubled: u64,
    /// Comes after some later frames.
    pub(crate) late: u64,
    /// Comes a second time from another disk, with other data.
    pub(crate) other_disk: u64,
    /// Comes a second time from another station, with other data.
    pub(crate) other_station: u64,
}

/// The disk's sectors, and how many commands it has executed.
pub(crate) struct Store {
    pub(crate) bytes: Vec<u8>,
    pub(crate) commands: u64,
}

pub(crate) struct FakeWire {
    pub(crate) store: Arc<Mutex<Store>>,
    harm: Harm,
    dice: u64,
    answers: VecDeque<Vec<u8>>,
    /// Frames that are sent get lost.
    pub(crate) dead: bool,
    /// Most frames that one call takes.
    pub(crate) room: usize,
}

impl FakeWire {
    pub(crate) fn new(store: &Arc<Mutex<Store>>, harm: Harm) -> Self {
        FakeWire { store: Arc::clone(store), harm, dice: 1, answers: VecDeque::new(), dead: false, room: 32 }
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.dice = random::mix(self.dice.wrapping_add(0x9e37_79b9));
        count > 0 && self.dice.is_multiple_of(count)
    }

    fn serve(&mut self, question: &[u8]) {
        self.serve_as_disk(question);
        let more = [(self.harm.other_disk, 16, 0xff_u8), (self.harm.other_station, 6, 0)];
        for (count, at, xor) in more {
            if self.one_in(count) {
                let Some(mut false_one) = self.answers.back().cloned() else { continue };
                false_one[at] ^= xor;
                if at == 6 {
                    false_one[6..12].copy_from_slice(&OTHERS);
                }
                false_one[ATA_HEADER..].fill(0xee);
                // Before the right one, so that it would be taken first.
                let last = self.answers.len() - 1;
                self.answers.insert(last, false_one);
            }
        }
    }

    fn serve_as_disk(&mut self, question: &[u8]) {
        let Some(Frame { body: Some(Body::Ata { status: command, sectors, lba, data, .. }), .. }) =
            frame::decode(question)
        else {
            return;
        };
        let mut answer = frame::answer(&question[..ATA_HEADER], None);
        // The status and error registers, where `ata` has put the command.
        (answer[27], answer[25]) = (0x40, 0);
        let mut store = self.store.lock().unwrap();
        store.commands += 1;
        let (from, to) = (lba as usize * SECTOR, (lba as usize + usize::from(sectors)) * SECTOR);
        if to > store.bytes.len() {
            (answer[27], answer[25]) = (0x41, 0x10);
        } else if command == Command::Read.code() {
            answer.extend(&store.bytes[from..to]);
        } else if command == Command::Write.code() {
            store.bytes[from..to].copy_from_slice(&data[..to - from]);
        } else if command != Command::Flush.code() {
            (answer[27], answer[25]) = (0x41, 0x04);
        }
        drop(store);
        self.answers.push_back(answer);
    }
}

impl Wire for FakeWire {
    fn mac(&self) -> Mac {
        OURS
    }

    fn send(&mut self, frames: &[Outgoing]) -> Result<usize, i32> {
        let taken = frames.len().min(self.room);
        for frame in &frames[..taken] {
            let mut bytes = frame.head.to_vec();
            if frame.length > 0 {
                // SAFETY: the sender keeps the data until the command has ended.
                bytes.extend(unsafe { std::slice::from_raw_parts(frame.data, frame.length) });
            }
            if self.dead || self.one_in(self.harm.question_lost) {
                continue;
            }
            self.serve(&bytes);
            if self.one_in(self.harm.doubled) {
                self.serve(&bytes);
            }
        }
        if taken == 0 {
            return Err(libc::EAGAIN);
        }
        Ok(taken)
    }

    fn receive(&mut self, mut each: impl FnMut(&[u8])) -> Result<usize, i32> {
        let mut count = 0;
        while count < 32 {
            let Some(answer) = self.answers.pop_front() else { break };
            count += 1;
            if self.one_in(self.harm.answer_lost) {
                continue;
            }
            if !self.answers.is_empty() && self.one_in(self.harm.late) {
                let behind = self.answers.len().min(5);
                self.answers.insert(behind, answer);
                continue;
            }
            each(&answer);
        }
        Ok(count)
    }
}

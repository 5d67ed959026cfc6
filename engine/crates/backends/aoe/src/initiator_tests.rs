//! Commands over a faulty network.

use super::*;
use crate::fake::{FakeWire, Harm, Store, OURS, THEIRS};
use crate::frame::{answer, ATA_HEADER, HEADER};
use assay_spec::FaultDomain;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const TIMEOUT: u64 = 60_000_000_000;

fn store(sectors: usize) -> Arc<Mutex<Store>> {
    Arc::new(Mutex::new(Store { bytes: vec![0; sectors * SECTOR], commands: 0 }))
}

fn initiator(store: &Arc<Mutex<Store>>, harms: &[Harm], window: u32) -> Initiator<FakeWire> {
    let path = |harm: &Harm| Path::new(FakeWire::new(store, *harm), THEIRS, window);
    let mut made = Initiator::new(1, 0, 77, harms.iter().map(path).collect(), 8);
    made.sectors = 2;
    made
}

/// Bytes that differ everywhere.
fn pattern(seed: u64, length: usize) -> Vec<u8> {
    (0..length as u64 / 8).flat_map(|at| assay_core::random::mix(seed << 32 | at).to_le_bytes()).collect()
}

/// Writes and reads several transfers at once, in places that do not overlap, and compares each byte.
fn exchange(initiator: &mut Initiator<FakeWire>, rounds: u64, sectors: usize) {
    for round in 0..rounds {
        let mut data: Vec<Vec<u8>> = (0..8).map(|slot| pattern(round * 8 + slot, sectors * SECTOR)).collect();
        for command in [Command::Write, Command::Read] {
            if command == Command::Read {
                for data in &mut data {
                    data.fill(0xdd);
                }
            }
            for (slot, data) in data.iter_mut().enumerate() {
                let memory = Memory(data.as_mut_ptr());
                let (slot, deadline) = (slot as u32, clock::now() + TIMEOUT);
                let lba = u64::from(slot) * sectors as u64;
                initiator.start(Transfer { command, lba, sectors: sectors as u64, memory, slot, deadline });
            }
            let mut ended = 0;
            while ended < 8 {
                initiator.run_once(clock::now() + TIMEOUT);
                for (slot, result) in initiator.finished() {
                    assert_eq!(result, Ok((sectors * SECTOR) as u64), "{command:?} in slot {slot}");
                    ended += 1;
                }
            }
        }
        for (slot, data) in data.iter().enumerate() {
            assert!(*data == pattern(round * 8 + slot as u64, sectors * SECTOR), "round {round}, slot {slot}");
        }
    }
}

#[test]
fn what_is_written_is_read_with_one_frame_for_each_part() {
    let disk = store(1024);
    let mut initiator = initiator(&disk, &[Harm::default()], 16);
    exchange(&mut initiator, 4, 31);
    // 31 sectors are 16 frames of at most 2.
    assert_eq!(disk.lock().unwrap().commands, 4 * 2 * 8 * 16);
    assert_eq!(initiator.counts, Counts { sent: 4 * 2 * 8 * 16, again: 0, stray: 0 });
}

#[test]
fn frames_that_are_lost_doubled_or_late_change_nothing() {
    let harm = Harm { question_lost: 29, answer_lost: 31, doubled: 7, late: 3, ..Harm::default() };
    let disk = store(1024);
    let mut initiator = initiator(&disk, &[harm], 16);
    exchange(&mut initiator, 4, 31);
    assert!(initiator.counts.again > 0 && initiator.counts.stray > 0, "{:?}", initiator.counts);
}

#[test]
fn answers_of_another_disk_or_station_are_not_taken() {
    let harm = Harm { other_disk: 3, other_station: 4, ..Harm::default() };
    let disk = store(1024);
    let mut initiator = initiator(&disk, &[harm], 16);
    exchange(&mut initiator, 4, 31);
    assert!(initiator.counts.stray > 100, "{:?}", initiator.counts);
}

#[test]
fn what_one_way_does_not_answer_goes_another_way() {
    let disk = store(1024);
    let mut initiator = initiator(&disk, &[Harm::default(), Harm::default()], 4);
    exchange(&mut initiator, 1, 31);
    initiator.paths[0].wire.dead = true;
    exchange(&mut initiator, 1, 31);
    assert!(initiator.counts.again > 0);
    initiator.paths[0].wire.dead = false;
    initiator.paths[1].wire.dead = true;
    exchange(&mut initiator, 1, 31);
}

#[test]
fn a_network_that_takes_few_frames_at_a_time_gets_all() {
    let disk = store(1024);
    let mut initiator = initiator(&disk, &[Harm::default()], 16);
    initiator.paths[0].wire.room = 1;
    exchange(&mut initiator, 1, 31);
    assert_eq!(initiator.counts.again, 0);
}

#[test]
fn a_silent_disk_has_failed_at_the_deadline() {
    let disk = store(64);
    let mut initiator = initiator(&disk, &[Harm::default()], 16);
    initiator.paths[0].wire.dead = true;
    let mut data = [0; 4 * SECTOR];
    assert_eq!(initiator.call(Command::Read, 0, &mut data, 300_000_000), Err(TIMED_OUT));
    initiator.paths[0].wire.dead = false;
    assert_eq!(initiator.call(Command::Read, 0, &mut data, TIMEOUT), Ok(4 * SECTOR as u64));
}

#[test]
fn a_refused_part_fails_the_whole_and_nothing_is_left_of_it() {
    let disk = store(64);
    let mut initiator = initiator(&disk, &[Harm::default()], 4);
    let mut data = vec![0; 40 * SECTOR];
    let beyond = initiator.call(Command::Read, 40, &mut data, TIMEOUT).unwrap_err();
    assert_eq!((beyond.domain(), beyond.code()), (FaultDomain::Aoe, 0x1_4110));
    // No more frames of it are made, and later answers match none.
    let aborted = initiator.call(Command::FlushExt, 0, &mut [], TIMEOUT).unwrap_err();
    assert_eq!(aborted.code(), 0x1_4104);
    assert_eq!(initiator.call(Command::Flush, 0, &mut [], TIMEOUT), Ok(0));
    exchange(&mut initiator, 1, 7);
    assert_eq!(initiator.free.len(), MAX_FLIGHTS);
    assert_eq!(initiator.paths[0].in_flight, 0);
}

/// A network that delivers what a test puts there.
#[derive(Default)]
struct Scripted {
    sent: Vec<Vec<u8>>,
    coming: VecDeque<Vec<u8>>,
}

impl Wire for Scripted {
    fn mac(&self) -> Mac {
        OURS
    }

    fn send(&mut self, frames: &[Outgoing]) -> Result<usize, i32> {
        self.sent.extend(frames.iter().map(|frame| frame.head.to_vec()));
        Ok(frames.len())
    }

    fn receive(&mut self, mut each: impl FnMut(&[u8])) -> Result<usize, i32> {
        Ok(self.coming.pop_front().map_or(0, |frame| {
            each(&frame);
            1
        }))
    }
}

/// Bytes of a read, and of the memory after them.
const READ_BYTES: usize = 2 * SECTOR;
const BYTES_AFTER: usize = SECTOR;
const DEADLINE: u64 = 5_000_000_000;

/// A read in flight as one frame, and its correct answer.
fn reading(memory: &mut [u8]) -> (Initiator<Scripted>, Vec<u8>) {
    let mut initiator = Initiator::new(1, 0, 77, vec![Path::new(Scripted::default(), THEIRS, 4)], 1);
    initiator.sectors = 2;
    let memory = Memory(memory.as_mut_ptr());
    initiator.start(Transfer { command: Command::Read, lba: 6, sectors: 2, memory, slot: 0, deadline: DEADLINE });
    initiator.pump(0);
    let mut right = answer(&initiator.paths[0].wire.sent[0], None);
    (right[HEADER + 3], right[HEADER + 1]) = (0x40, 0);
    right.extend([0xab; READ_BYTES]);
    (initiator, right)
}

/// The result of the read when a changed answer comes; none if that does not end it, and then its memory must be
/// untouched.
fn end_by(change: impl FnOnce(&mut Vec<u8>)) -> Option<Result<u64, Fault>> {
    let mut memory = vec![0; READ_BYTES + BYTES_AFTER];
    let (mut initiator, right) = reading(&mut memory);
    let mut changed = right.clone();
    change(&mut changed);
    initiator.paths[0].wire.coming.push_back(changed);
    initiator.receive(1);
    let end = initiator.finished.pop().map(|(_, result)| result);
    if end.is_none() {
        // The correct answer is still accepted.
        initiator.paths[0].wire.coming.push_back(right);
        initiator.receive(2);
        assert_eq!(initiator.finished.pop(), Some((0, Ok(READ_BYTES as u64))));
    }
    assert_eq!((initiator.free.len(), initiator.paths[0].in_flight), (MAX_FLIGHTS, 0));
    let came = matches!(end, None | Some(Ok(_)));
    assert!(memory[..READ_BYTES].iter().all(|byte| *byte == if came { 0xab } else { 0 }));
    assert!(memory[READ_BYTES..].iter().all(|byte| *byte == 0), "only what was asked for has room");
    end
}

#[test]
fn what_is_no_answer_to_a_frame_leaves_it_under_way() {
    let spoilt: [(&str, usize, u8); 8] = [
        ("another EtherType", 13, 1),
        ("another version of AoE", 14, 0x30),
        ("a question", 14, 0x08),
        ("another station", 6, 0x40),
        ("another slot", 18, 1),
        ("a tag of another owner", 21, 0x10),
        ("a tag of an earlier turn", 22, 1),
        ("a tag of a place that is free", 23, 0x80),
    ];
    for (what, at, flipped) in spoilt {
        assert_eq!(end_by(|frame| frame[at] ^= flipped), None, "{what}");
    }
    for length in 0..HEADER {
        assert_eq!(end_by(|frame| frame.truncate(length)), None, "{length} bytes");
    }
}

#[test]
fn an_answer_that_brings_no_data_fails_the_read() {
    for length in [HEADER, ATA_HEADER - 1, ATA_HEADER, ATA_HEADER + SECTOR, ATA_HEADER + READ_BYTES - 1] {
        assert_eq!(end_by(|frame| frame.truncate(length)), Some(Err(MALFORMED)), "{length} bytes");
    }
    assert_eq!(end_by(|frame| frame[19] = 1), Some(Err(MALFORMED)), "a configuration");
    assert_eq!(end_by(|frame| frame[19] = 200), Some(Err(MALFORMED)), "a command that is not known");
    assert_eq!(end_by(|frame| (frame[14], frame[15]) = (0x1c, 3)), Some(Err(refusal(3))));
    assert_eq!(end_by(|frame| frame[HEADER + 3] = 0x60), Some(check_registers(0x60, 0).map(|()| 0)));
    assert_eq!(
        end_by(|frame| frame.extend([0xcd; BYTES_AFTER])),
        Some(Ok(READ_BYTES as u64)),
        "more than was asked for"
    );
}

#[test]
fn a_read_without_an_answer_is_sent_again_and_ends_at_its_deadline() {
    let mut memory = vec![0; READ_BYTES];
    let (mut initiator, late) = reading(&mut memory);
    let (mut now, mut sent_at) = (0, vec![0]);
    while !initiator.has_finished() {
        now += 10_000_000;
        initiator.resend_overdue(now);
        initiator.pump(now);
        if initiator.paths[0].wire.sent.len() > sent_at.len() {
            sent_at.push(now);
        }
    }
    assert_eq!((now, initiator.finished.pop()), (DEADLINE, Some((0, Err(TIMED_OUT)))));
    let pauses: Vec<u64> = sent_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.len() > 3 && pauses.is_sorted(), "each pause is as long as the one before or longer: {pauses:?}");
    assert!(initiator.paths[0].wire.sent.iter().all(|frame| *frame == initiator.paths[0].wire.sent[0]));
    initiator.paths[0].wire.coming.push_back(late);
    initiator.receive(now);
    assert_eq!((initiator.counts.stray, initiator.free.len()), (1, MAX_FLIGHTS));
    assert!(memory.iter().all(|byte| *byte == 0), "the memory may be somebody else's by now");
}

proptest! {
    #[test]
    fn whatever_comes_a_read_ends_once_and_stays_in_its_memory(
        spoilt in proptest::collection::vec((0_usize..64, any::<u8>()), 0..4),
        length in 0_usize..ATA_HEADER + READ_BYTES + BYTES_AFTER,
        times in 1_usize..4,
    ) {
        let mut memory = vec![0; READ_BYTES + BYTES_AFTER];
        let (mut initiator, mut frame) = reading(&mut memory);
        for (at, byte) in spoilt {
            frame[at] = byte;
        }
        frame.resize(length, 0xab);
        initiator.paths[0].wire.coming.extend(vec![frame; times]);
        initiator.receive(1);
        initiator.resend_overdue(DEADLINE);
        prop_assert_eq!(initiator.finished.len(), 1);
        prop_assert_eq!((initiator.free.len(), initiator.paths[0].in_flight), (MAX_FLIGHTS, 0));
        prop_assert!(memory[READ_BYTES..].iter().all(|byte| *byte == 0));
    }
}

//! Commands through a network that does harm.

use super::*;
use crate::fake::{FakeWire, Harm, Store, THEIRS};
use assay_spec::FaultDomain;
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
                initiator.turn(clock::now() + TIMEOUT);
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
fn a_disk_that_says_nothing_has_failed_when_the_time_is_up() {
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
    // No part of it is asked for any more, and later answers are nobody's.
    let aborted = initiator.call(Command::FlushExt, 0, &mut [], TIMEOUT).unwrap_err();
    assert_eq!(aborted.code(), 0x1_4104);
    assert_eq!(initiator.call(Command::Flush, 0, &mut [], TIMEOUT), Ok(0));
    exchange(&mut initiator, 1, 7);
    assert_eq!(initiator.free.len(), MOST_FLIGHTS);
    assert_eq!(initiator.paths[0].in_flight, 0);
}

//! A lane on a scripted server: what goes wrong on the way, and that each operation ends exactly once.

use crate::fake::{
    accepted, byte_at, commit_results, contents, lane, plain, read_results, status, write_results, Fake, Got, Wire,
    Wish,
};
use crate::xdr::put_u32;
use assay_core::{clock, Buffers, Completion, Fault, Lane, Op, OpKind};
use std::io::Write;
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::Duration;

const READ: u32 = 6;
const WRITE: u32 = 7;
const COMMIT: u32 = 21;
/// Longer than any machine takes to answer.
const LONG_NS: u64 = 600_000_000_000;
const SYNC: Op = Op { kind: OpKind::Sync, count: 1, slot: 0, object: 0, offset: 0, length: 0 };

fn op(kind: OpKind, slot: u32, length: u32) -> Op {
    Op { kind, count: 1, slot, object: 0, offset: u64::from(slot) * 1_000_003, length: u64::from(length) }
}

/// Does these operations at once; completions in order of their slots, one for each.
fn all(lane: &mut dyn Lane, ops: &[Op]) -> Vec<Result<u32, Fault>> {
    assert_eq!(lane.submit(ops), ops.len());
    let mut done: Vec<Completion> = Vec::new();
    while done.len() < ops.len() {
        lane.reap(&mut done, u64::MAX);
    }
    // Were there more than one completion of an operation, it would come now.
    lane.reap(&mut done, clock::now() + 20_000_000);
    done.sort_unstable_by_key(|completion| completion.slot);
    let slots: Vec<u32> = done.iter().map(|completion| completion.slot).collect();
    assert_eq!(slots, ops.iter().map(|op| op.slot).collect::<Vec<_>>(), "one completion for each operation");
    done.iter().map(|ended| plain(ended.result)).collect()
}

fn reads(count: u32, length: u32) -> Vec<Op> {
    (0..count).map(|slot| op(OpKind::Read, slot, length)).collect()
}

/// The slot holds what the file has there.
fn right(buffers: &Buffers, op: &Op, length: usize) -> bool {
    // SAFETY: nothing is in flight.
    let found = unsafe { buffers.slice(op.slot, length) };
    found == contents((op.offset, length as u32))
}

/// Answers READs with the file's contents.
fn answer_read(wire: &mut Wire, got: &Got) {
    assert_eq!(got.number, READ);
    wire.answer(got.xid, &read_results(&contents(got.range()), false));
}

fn answer_reads(wire: &mut Wire, calls: &[Got]) {
    for got in calls {
        answer_read(wire, got);
    }
}

#[test]
fn answers_may_come_in_any_order() {
    let fake = Fake::start(1, |_, mut wire| {
        for round in 0..3 {
            let mut calls = wire.take(4);
            calls.rotate_left(round);
            calls.iter().rev().for_each(|got| answer_read(&mut wire, got));
        }
    });
    let (mut lane, buffers) = lane(fake.address, &Wish::default());
    for _ in 0..3 {
        let ops = reads(4, 4095);
        assert_eq!(all(&mut lane, &ops), [Ok(4095); 4]);
        assert!(ops.iter().all(|op| right(&buffers, op, 4095)));
    }
    fake.join();
}

#[test]
fn answers_may_come_in_fragments_and_pieces() {
    for fragment in [1, 3, 7, 64, 1000] {
        let fake = Fake::start(1, move |_, mut wire| {
            for got in wire.take(4) {
                wire.record(&accepted(got.xid, &read_results(&contents(got.range()), true)), fragment);
            }
        });
        let (mut lane, buffers) = lane(fake.address, &Wish::default());
        let ops = reads(4, 3001);
        assert_eq!(all(&mut lane, &ops), [Ok(3001); 4], "fragments of {fragment}");
        assert!(ops.iter().all(|op| right(&buffers, op, 3001)));
        fake.join();
    }
}

#[test]
fn large_records_are_several_calls_in_flight_together() {
    for links in [1, 3] {
        let fake = Fake::start(links, move |_, mut wire| {
            std::thread::spawn(move || {
                let calls = wire.take(12 / links);
                assert!(calls.iter().all(|got| got.range().1 <= 100_000));
                calls.iter().rev().for_each(|got| answer_read(&mut wire, got));
                wire.next();
            });
        });
        let links = links as u32;
        let wish = Wish { depth: 3, record: 400_000, call_bytes: 100_000, links, ..Wish::default() };
        let (mut lane, buffers) = lane(fake.address, &wish);
        let ops = reads(3, 350_001);
        assert_eq!(all(&mut lane, &ops), [Ok(350_001); 3]);
        assert!(ops.iter().all(|op| right(&buffers, op, 350_001)));
        fake.join();
    }
}

#[test]
fn short_reads_go_on_until_the_file_ends() {
    let fake = Fake::start(1, |_, mut wire| {
        while let Some(got) = wire.next() {
            let (offset, count) = got.range();
            let end = 2500_u64;
            let count = u64::from(count).min(700).min(end.saturating_sub(offset));
            let data = contents((offset, count as u32));
            wire.answer(got.xid, &read_results(&data, offset + count >= end));
        }
    });
    let (mut lane, buffers) = lane(fake.address, &Wish::default());
    let at = |slot, offset, length| Op { kind: OpKind::Read, count: 1, slot, object: 0, offset, length };
    let ops = [at(0, 0, 2100), at(1, 1000, 1500), at(2, 2000, 1000), at(3, 9000, 10)];
    assert_eq!(all(&mut lane, &ops), [Ok(2100), Ok(1500), Ok(500), Ok(0)]);
    assert!(right(&buffers, &ops[0], 2100) && right(&buffers, &ops[1], 1500) && right(&buffers, &ops[2], 500));
}

#[test]
fn an_error_is_one_failed_operation() {
    // One that no version of the protocol has is handed on, too.
    const STATUSES: [u32; 9] = [1, 5, 13, 28, 30, 69, 70, 10006, 4242];
    let fake = Fake::start(1, move |_, mut wire| {
        for number in &STATUSES {
            for (place, got) in wire.take(4).iter().enumerate() {
                match place {
                    1 => wire.answer(got.xid, &status(*number)),
                    _ => answer_read(&mut wire, got),
                }
            }
        }
        assert!(wire.next().is_none(), "nothing is tried again");
    });
    let (mut lane, _) = lane(fake.address, &Wish::default());
    for number in STATUSES {
        assert_eq!(all(&mut lane, &reads(4, 100)), [Ok(100), Err(Fault::nfs(number)), Ok(100), Ok(100)]);
    }
    drop(lane);
    fake.join();
}

#[test]
fn an_error_in_one_part_is_the_records_error() {
    let fake = Fake::start(1, |_, mut wire| {
        for got in wire.take(4) {
            match got.range().0 {
                2000 => wire.answer(got.xid, &status(28)),
                3000 => wire.answer(got.xid, &status(5)),
                _ => wire.answer(got.xid, &write_results(got.range().1, 0, 1)),
            }
        }
    });
    let (mut lane, _) = lane(fake.address, &Wish { call_bytes: 1000, ..Wish::default() });
    assert_eq!(all(&mut lane, &[op(OpKind::Write, 0, 4000)]), [Err(Fault::nfs(28))]);
    fake.join();
}

#[test]
fn writes_carry_their_data_and_short_ones_go_on() {
    let (told, hears) = channel();
    let fake = Fake::start(1, move |_, mut wire| {
        while let Some(got) = wire.next() {
            assert_eq!(got.number, WRITE);
            let ((offset, count), data) = (got.range(), got.data());
            assert_eq!(data, contents((offset, count)), "at {offset}");
            let taken = count.div_ceil(2).max(200).min(count);
            told.send(u64::from(taken)).unwrap();
            wire.answer(got.xid, &write_results(taken, 0, 7));
        }
    });
    let (mut lane, buffers) = lane(fake.address, &Wish { call_bytes: 1001, ..Wish::default() });
    let ops: Vec<Op> = (0..4).map(|slot| op(OpKind::Write, slot, 4093)).collect();
    for op in &ops {
        // SAFETY: nothing is in flight.
        let data = unsafe { buffers.slice(op.slot, 4093) };
        data.iter_mut().enumerate().for_each(|(at, byte)| *byte = byte_at(op.offset + at as u64));
    }
    assert_eq!(all(&mut lane, &ops), [Ok(4093); 4]);
    assert_eq!(hears.try_iter().sum::<u64>(), 4 * 4093, "every byte was taken once");
}

#[test]
fn a_lost_connection_is_made_anew_and_calls_are_sent_again() {
    let fake = Fake::start(3, |number, mut wire| {
        let calls = wire.take(4);
        let whole = accepted(calls[0].xid, &read_results(&contents(calls[0].range()), false));
        match number {
            // Closed in the middle of the head, then in the middle of the data.
            0 => drop(wire.0.write_all(&[0x80, 0, 0])),
            1 => {
                let mut start = Vec::new();
                put_u32(&mut start, whole.len() as u32 | 0x8000_0000);
                start.extend_from_slice(&whole[..whole.len() / 2]);
                let _ = wire.0.write_all(&start);
            }
            _ => answer_reads(&mut wire, &calls),
        }
    });
    let (mut lane, buffers) = lane(fake.address, &Wish::default());
    let ops = reads(4, 4000);
    assert_eq!(all(&mut lane, &ops), [Ok(4000); 4]);
    assert!(ops.iter().all(|op| right(&buffers, op, 4000)));
    fake.join();
}

#[test]
fn calls_keep_their_xid_when_they_are_sent_again() {
    let (told, hears) = channel();
    let fake = Fake::start(2, move |number, mut wire| {
        let calls = wire.take(2);
        told.send(calls.iter().map(|got| got.xid).collect::<Vec<_>>()).unwrap();
        if number == 1 {
            answer_reads(&mut wire, &calls);
        }
    });
    let (mut lane, _) = lane(fake.address, &Wish::default());
    assert_eq!(all(&mut lane, &reads(2, 10)), [Ok(10); 2]);
    assert_eq!(hears.recv().unwrap(), hears.recv().unwrap());
    fake.join();
}

#[test]
fn what_is_no_reply_costs_the_connection_only() {
    let fake = Fake::start(2, |number, mut wire| {
        let got = wire.next().unwrap();
        if number == 0 {
            // An error that is told in gigabytes.
            let mut junk = accepted(got.xid, &[]);
            junk.splice(..0, 0xffff_ffff_u32.to_be_bytes());
            junk.resize(9 << 20, 1);
            let _ = wire.0.write_all(&junk);
        } else {
            answer_read(&mut wire, &got);
        }
    });
    let (mut lane, _) = lane(fake.address, &Wish::default());
    assert_eq!(all(&mut lane, &reads(1, 10)), [Ok(10)]);
    fake.join();
}

#[test]
fn silence_ends_with_the_time_out() {
    let (release, held) = channel::<()>();
    let fake = Fake::start(2, move |number, mut wire| {
        if number == 0 {
            wire.take(3);
            // Keeps the connection open, and silent.
            std::thread::sleep(Duration::from_millis(100));
            held.recv().unwrap();
        } else {
            let got = wire.next().unwrap();
            answer_read(&mut wire, &got);
        }
    });
    let (mut lane, _) = lane(fake.address, &Wish { timeout_ms: 300, ..Wish::default() });
    let begin = clock::now();
    assert_eq!(all(&mut lane, &reads(3, 10)), [Err(Fault::os(libc::ETIMEDOUT)); 3]);
    assert!(clock::now() - begin >= 300_000_000);
    // The next operation finds a new connection.
    release.send(()).unwrap();
    lane.set_timeout(LONG_NS);
    assert_eq!(all(&mut lane, &reads(1, 10)), [Ok(10)]);
    fake.join();
}

#[test]
fn a_server_that_is_not_there_ends_with_the_time_out() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (mut lane, _) = lane(nobody, &Wish { timeout_ms: 200, links: 2, ..Wish::default() });
    assert_eq!(all(&mut lane, &reads(3, 10)), [Err(Fault::os(libc::ETIMEDOUT)); 3]);
    assert_eq!(plain(lane.execute(&op(OpKind::Write, 0, 10))), Err(Fault::os(libc::ETIMEDOUT)));
}

#[test]
fn a_deadline_is_kept_while_nothing_comes() {
    let (release, held) = channel::<()>();
    let fake = Fake::start(1, move |_, mut wire| {
        let got = wire.next().unwrap();
        held.recv().unwrap();
        answer_read(&mut wire, &got);
    });
    let (mut lane, _) = lane(fake.address, &Wish::default());
    lane.submit(&reads(1, 10));
    let mut done = Vec::new();
    let deadline = clock::now() + 30_000_000;
    lane.reap(&mut done, deadline);
    assert!(done.is_empty() && clock::now() >= deadline);
    lane.reap(&mut done, 0);
    assert!(done.is_empty());
    release.send(()).unwrap();
    lane.reap(&mut done, u64::MAX);
    assert_eq!(done, [Completion::of_os(0, Ok(10))]);
    fake.join();
}

/// Answers WRITEs and COMMITs with these verifiers, one after the other; how stable writes say they are.
fn with_verifiers(verifiers: &'static [u64], committed: u32) -> Fake {
    Fake::start(1, move |_, mut wire| {
        for verifier in verifiers {
            let got = wire.next().unwrap();
            match got.number {
                COMMIT => wire.answer(got.xid, &commit_results(*verifier)),
                _ => wire.answer(got.xid, &write_results(got.range().1, committed, *verifier)),
            }
        }
        assert!(wire.next().is_none(), "nothing else was to come");
    })
}

#[test]
fn a_restart_of_the_server_is_lost_data() {
    for (verifiers, outcome) in
        [(&[5, 5, 5], Ok(0)), (&[5, 6, 6], Err(Fault::os(libc::EIO))), (&[5, 5, 6], Err(Fault::os(libc::EIO)))]
    {
        let fake = with_verifiers(verifiers, 0);
        let (mut lane, _) = lane(fake.address, &Wish::default());
        for _ in 0..2 {
            assert_eq!(plain(lane.execute(&op(OpKind::Write, 1, 100))), Ok(100));
        }
        assert_eq!(plain(lane.execute(&SYNC)), outcome, "{verifiers:?}");
        assert_eq!(plain(lane.execute(&SYNC)), Ok(0), "nothing is left to commit");
        drop(lane);
        fake.join();
    }
}

#[test]
fn what_the_server_has_made_stable_is_not_committed() {
    let fake = with_verifiers(&[5], 2);
    let (mut lane, _) = lane(fake.address, &Wish::default());
    assert_eq!(plain(lane.execute(&op(OpKind::Write, 1, 100))), Ok(100));
    assert_eq!(plain(lane.execute(&SYNC)), Ok(0));
    drop(lane);
    fake.join();
}

#[test]
fn a_refused_user_has_no_access() {
    let fake = Fake::start(1, |_, mut wire| {
        let got = wire.next().unwrap();
        let mut denied = Vec::new();
        // MSG_DENIED, AUTH_ERROR, AUTH_TOOWEAK
        for word in [got.xid, 1, 1, 1, 5] {
            put_u32(&mut denied, word);
        }
        wire.record(&denied, usize::MAX);
    });
    let (mut lane, _) = lane(fake.address, &Wish::default());
    assert_eq!(plain(lane.execute(&op(OpKind::Read, 0, 10))), Err(Fault::os(libc::EACCES)));
    fake.join();
}

#[test]
fn a_call_that_is_put_off_is_made_again_as_another() {
    let fake = Fake::start(1, |_, mut wire| {
        let first = wire.next().unwrap();
        wire.answer(first.xid, &status(10008));
        let second = wire.next().unwrap();
        assert_ne!(first.xid, second.xid);
        assert_eq!(first.range(), second.range());
        answer_read(&mut wire, &second);
        while let Some(got) = wire.next() {
            wire.answer(got.xid, &status(10008));
        }
    });
    let (mut lane, _) = lane(fake.address, &Wish::default());
    let begin = clock::now();
    assert_eq!(all(&mut lane, &reads(1, 10)), [Ok(10)]);
    assert!(clock::now() - begin >= 100_000_000, "not at once");
    lane.set_timeout(400_000_000);
    assert_eq!(all(&mut lane, &reads(1, 10)), [Err(Fault::os(libc::ETIMEDOUT))], "nor for ever");
    drop(lane);
    fake.join();
}

//! A lane's file by every method, and requests that cannot be satisfied.

use super::*;
use crate::test_dir::{fill_slot, op, plan, run_all, setup, slot_bytes, TestDir, RECORD};
use assay_core::OpKind;
use std::fs;

fn lane(test_dir: &TestDir, queue_depth: u32) -> FileLane {
    fs::create_dir_all(test_dir.0.join("job")).unwrap();
    let place = Arc::new(Place::directory(&test_dir.root(), "job", None).unwrap());
    FileLane::new(place, 0, 8 * RECORD as u64, setup(0, queue_depth), Arc::default())
}

/// The methods available here; an old or locked kernel has no io_uring.
fn methods() -> Vec<Method> {
    let ring = assay_posix::uring::probe().is_ok().then_some(Method::IoUring);
    [Method::Sync, Method::Threads, Method::Mmap].into_iter().chain(ring).collect()
}

fn by(method: Method, operation: Operation) -> PhasePlan {
    PhasePlan { method, ..plan(operation) }
}

/// Records that each hold their number, written and read in any order by all methods, buffered and direct.
#[test]
fn each_method_puts_records_where_they_belong() {
    let test_dir = TestDir::new("methods");
    let number = |slot: u32| (slot * 5 + 3) % 8;
    for method in methods() {
        for direct in [false, true] {
            let mut lane = lane(&test_dir, 4);
            let buffers = Arc::clone(&lane.setup.buffers);
            fs::write(test_dir.at("f0"), vec![0; 8 * RECORD]).unwrap();
            let writing = PhasePlan { direct, ..by(method, Operation::RandomWrite) };
            let Ok(choice) = lane.begin(&writing) else {
                assert!(direct, "{method:?}");
                continue;
            };
            assert_eq!(choice.method, method);
            let each = |kind, first: u32| -> Vec<Op> {
                let one = |slot| Op { slot, ..op(kind, u64::from(number(first + slot)) * RECORD as u64, RECORD) };
                (0..4).map(one).collect()
            };
            for first in [0, 4] {
                (0..4).for_each(|slot| fill_slot(&buffers, slot, number(first + slot) as u8 + 1));
                let done = run_all(&mut lane, &each(OpKind::Write, first));
                assert!(done.iter().all(|one| one.result == Ok(RECORD as u64)), "{method:?}: {done:?}");
            }
            assert_eq!(lane.execute(&op(OpKind::Sync, 0, 0)), Ok(0));
            lane.end().unwrap();
            let expected: Vec<u8> = (0..8).flat_map(|byte| vec![byte + 1; RECORD]).collect();
            assert!(fs::read(test_dir.at("f0")).unwrap() == expected, "{method:?}, direct {direct}");
            lane.begin(&PhasePlan { direct, ..by(method, Operation::RandomRead) }).unwrap();
            let done = run_all(&mut lane, &each(OpKind::Read, 2));
            assert_eq!(done.len(), 4);
            (0..4).for_each(|slot| assert_eq!(slot_bytes(&buffers, slot), vec![number(2 + slot) as u8 + 1; RECORD]));
            lane.end().unwrap();
        }
    }
}

#[test]
fn where_a_file_ends_reads_are_short() {
    let test_dir = TestDir::new("ends");
    for method in methods().into_iter().filter(|one| *one != Method::Mmap) {
        let mut lane = lane(&test_dir, 2);
        fs::write(test_dir.at("f0"), vec![1; RECORD + 100]).unwrap();
        lane.begin(&by(method, Operation::Read)).unwrap();
        for (offset, there) in [(0, RECORD), (RECORD, 100), (RECORD + 99, 1), (RECORD + 100, 0), (1 << 40, 0)] {
            let done = lane.execute(&op(OpKind::Read, offset as u64, RECORD));
            assert_eq!(done, Ok(there as u64), "{method:?} at {offset}");
        }
        lane.end().unwrap();
    }
}

/// Faults are the kernel's error numbers, with every method.
#[test]
fn what_the_kernel_refuses_is_a_fault() {
    let test_dir = TestDir::new("faults");
    for method in methods().into_iter().filter(|one| *one != Method::Mmap) {
        let mut lane = lane(&test_dir, 2);
        let _ = fs::remove_file(test_dir.at("f0"));
        let error = lane.begin(&by(method, Operation::Read)).unwrap_err();
        assert_eq!((error.action, error.errno()), ("open", Some(libc::ENOENT)), "{method:?}");
        fs::write(test_dir.at("f0"), "x").unwrap();
        lane.begin(&by(method, Operation::Read)).unwrap();
        assert_eq!(lane.execute(&op(OpKind::Write, 0, 1)), Err(Fault::os(libc::EBADF)), "opened for reading");
        assert_eq!(lane.execute(&op(OpKind::Read, u64::MAX - 1, 1)), Err(Fault::os(libc::EINVAL)), "{method:?}");
        lane.end().unwrap();
        assert_eq!(lane.execute(&op(OpKind::Read, 0, 1)), Err(Fault::os(libc::EBADF)), "closed");
        lane.end().unwrap();
    }
}

#[test]
fn a_mapping_needs_the_whole_file() {
    let test_dir = TestDir::new("mapping");
    let mut lane = lane(&test_dir, 1);
    fs::write(test_dir.at("f0"), "").unwrap();
    lane.begin(&by(Method::Mmap, Operation::Write)).unwrap();
    fill_slot(&lane.setup.buffers, 0, 9);
    assert_eq!(lane.execute(&op(OpKind::Write, 7 * RECORD as u64, RECORD)), Ok(RECORD as u64));
    lane.end().unwrap();
    let found = fs::read(test_dir.at("f0")).unwrap();
    assert_eq!((found.len(), found[7 * RECORD - 1], found[7 * RECORD]), (8 * RECORD, 0, 9));
}

/// A blocking channel takes one operation, and executes it when it is reaped.
#[test]
fn a_blocking_lane_takes_one_operation() {
    let test_dir = TestDir::new("one");
    let mut lane = lane(&test_dir, 4);
    fs::write(test_dir.at("f0"), vec![1; 4 * RECORD]).unwrap();
    assert_eq!(lane.begin(&by(Method::Sync, Operation::Read)).unwrap().depth, 1);
    let ops: Vec<Op> = (0..4).map(|slot| Op { slot, ..op(OpKind::Read, 0, RECORD) }).collect();
    assert_eq!((lane.submit(&ops), lane.submit(&ops[1..])), (1, 0));
    let mut done = Vec::new();
    lane.reap(&mut done, 0);
    lane.reap(&mut done, 0);
    assert_eq!(done, [Completion::new(0, Ok(RECORD as u64))]);
    assert_eq!(lane.submit(&[]), 0);
    lane.end().unwrap();
    assert_eq!(lane.begin(&by(Method::Threads, Operation::Read)).unwrap().depth, 4);
    assert_eq!(run_all(&mut lane, &ops).len(), 4);
}

#[test]
fn files_are_opened_as_the_phase_wants() {
    let (read, both) = (OFlags::RDONLY, OFlags::RDWR);
    for (operation, direct, sync, expected) in [
        (Operation::Read, false, SyncPolicy::None, read),
        (Operation::RandomRead, true, SyncPolicy::Fsync, read | OFlags::DIRECT),
        (Operation::Write, false, SyncPolicy::OSync, both | OFlags::SYNC),
        (Operation::RandomMix, true, SyncPolicy::ODsync, both | OFlags::DIRECT | OFlags::DSYNC),
        (Operation::Prepare, false, SyncPolicy::Fdatasync, both),
    ] {
        assert_eq!(FileLane::flags(&PhasePlan { direct, sync, ..plan(operation) }), expected, "{operation:?}");
    }
    let random = |operation: &Operation| is_random(*operation);
    let found: Vec<Operation> = Operation::of_files().filter(random).collect();
    assert_eq!(found, [Operation::RandomRead, Operation::RandomWrite, Operation::RandomMix]);
}

#[test]
fn a_choice_has_a_reason_and_a_batch_size() {
    let test_dir = TestDir::new("choice");
    let mut lane = lane(&test_dir, 64);
    fs::write(test_dir.at("f0"), vec![1; 8 * RECORD]).unwrap();
    let mut begin = |plan: PhasePlan| {
        let choice = lane.begin(&plan);
        lane.end().unwrap();
        choice
    };
    let threads = begin(by(Method::Threads, Operation::Read)).unwrap();
    assert_eq!(
        (threads.reason.as_str(), threads.depth, threads.batch, threads.ahead),
        (REQUESTED_BY_JOB, 64, 64, false)
    );
    if let Ok(direct) = begin(PhasePlan { direct: true, ..by(Method::Threads, Operation::Read) }) {
        assert_eq!(direct.batch, 16);
    }
    let stdio = begin(plan(Operation::Fread)).unwrap();
    assert_eq!((stdio.method, stdio.reason.as_str(), stdio.depth), (Method::Sync, "C stdio", 1));
    if methods().contains(&Method::IoUring) {
        let ring = begin(by(Method::IoUring, Operation::Read)).unwrap();
        assert!(ring.ahead && ring.depth == 64 && ring.reason.starts_with("requested; "), "{ring:?}");
    }
}

#[test]
fn one_operation_in_flight_needs_no_ring() {
    let test_dir = TestDir::new("auto");
    let mut lane = lane(&test_dir, 1);
    fs::write(test_dir.at("f0"), "x").unwrap();
    let choice = lane.begin(&by(Method::Auto, Operation::Read)).unwrap();
    assert_eq!((choice.method, choice.depth), (Method::Sync, 1));
    assert!(choice.reason.starts_with("one operation in flight"));
}

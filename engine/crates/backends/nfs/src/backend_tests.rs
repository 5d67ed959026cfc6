//! The whole backend on a server in memory.

use crate::fake::{contents, plain};
use crate::fake_store::StoreServer;
use crate::kind::open;
use crate::place::Place;
use crate::status::{EXIST, NOENT};
use crate::Exports;
use assay_core::{Backend, Buffers, Fault, Kind, Lane, LaneSetup, Op, OpKind, PhasePlan, SetupError};
use assay_remote::RemoteBackend;
use assay_spec::{Job, Layout, Method, NfsTarget, Operation, SyncPolicy, Target, Tree, Tuning};
use std::sync::Arc;

fn job(target: &NfsTarget, change: impl FnOnce(&mut Job)) -> Job {
    let mut job = Job { target: Target::Nfs(target.clone()), lanes: 3, ..min_job() };
    change(&mut job);
    job
}

/// The least job; the fields that matter here are the caller's.
fn min_job() -> Job {
    Job {
        spec_version: assay_spec::SPEC_VERSION,
        id: "test".to_owned(),
        seed: 0,
        target: Target::Null(assay_spec::NullTarget::default()),
        lanes: 1,
        layout: Layout::Separate,
        block_size_bytes: None,
        file_size_bytes: 100_000,
        record_size_bytes: 50_000,
        queue_depth: 5,
        method: Method::Auto,
        tuning: Tuning::default(),
        tree: None,
        objects: None,
        sizes: None,
        direct: false,
        sync: SyncPolicy::Fsync,
        preallocate: false,
        data: assay_spec::DataSpec::default(),
        phases: Vec::new(),
        interval_ns: 1_000_000_000,
        ranks: 1,
        rank: 0,
        wait_for_go: false,
        lease_ns: None,
        stall_limit_ns: None,
        error_limit: 1,
        keep_files: false,
        order_seed: None,
        reuse_files: false,
        watch: vec![],
    }
}

fn plan(operation: Operation) -> PhasePlan {
    PhasePlan { sync: SyncPolicy::Fsync, needs_data: false, ..PhasePlan::of(operation) }
}

/// A lane and its buffers of 50,000 bytes.
fn open_lane(backend: &RemoteBackend<Place>, lane: u32) -> (Box<dyn Lane>, Arc<Buffers>) {
    let buffers = Arc::new(Buffers::new(5, 50_000, false).unwrap());
    (backend.open_lane(LaneSetup::of(lane, 5, Arc::clone(&buffers))).unwrap(), buffers)
}

/// What is removed at a target, of kind nfs.
fn clean(target: &NfsTarget, whole: bool) -> Result<Vec<String>, SetupError> {
    Exports.clean(&Target::Nfs(target.clone()), whole, 0).map(|answer| answer.removed)
}

/// Does an operation on each number; results in order of the numbers.
fn each(lane: &mut dyn Lane, plan: &PhasePlan, kind: OpKind, numbers: u64, length: u32) -> Vec<Result<u32, Fault>> {
    lane.begin(plan).unwrap();
    let mut results = Vec::new();
    for first in (0..numbers).step_by(5) {
        let count = 5.min(numbers - first);
        let op =
            |slot| Op { kind, count: 1, slot: slot as u32, object: first + slot, offset: 0, length: u64::from(length) };
        let ops: Vec<Op> = (0..count).map(op).collect();
        assert_eq!(lane.submit(&ops), ops.len());
        let mut done = Vec::new();
        while done.len() < ops.len() {
            lane.reap(&mut done, u64::MAX);
        }
        done.sort_unstable_by_key(|completion| completion.slot);
        let slots: Vec<u32> = done.iter().map(|completion| completion.slot).collect();
        assert_eq!(slots, (0..count as u32).collect::<Vec<_>>(), "one completion for each operation");
        results.extend(done.iter().map(|ended| plain(ended.result)));
    }
    lane.end().unwrap();
    results
}

#[test]
fn files_of_several_processes_are_made_written_read_and_removed() {
    let server = StoreServer::start();
    let of_rank = |rank| {
        let job = job(&server.target(), |job| (job.ranks, job.rank) = (2, rank));
        open(&server.target(), &job).unwrap()
    };
    let backends = [of_rank(0), of_rank(1)];
    for backend in &backends {
        backend.prepare().unwrap();
        backend.begin_phase(&plan(Operation::Write)).unwrap();
    }
    let made = ["assay", "assay/.assay-target", "assay/job", "assay/job/f0", "assay/job/f1", "assay/job/f2"];
    let made: Vec<&str> = made.into_iter().chain(["assay/job/f3", "assay/job/f4", "assay/job/f5"]).collect();
    assert_eq!(server.store().paths(0), made);
    let (mut lane, buffers) = open_lane(&backends[1], 4);
    let choice = lane.begin(&plan(Operation::Write)).unwrap();
    assert_eq!((choice.method, choice.depth, choice.batch), (Method::Protocol, 5, 5));
    assert!(choice.reason.contains("rsize 16384, wsize 8192 (server allows 16384 and 8192)"), "{}", choice.reason);
    let data = contents((50_000, 50_000));
    // SAFETY: nothing is in flight.
    unsafe { buffers.slice(1, 50_000) }.copy_from_slice(&data);
    let op = |kind, slot, offset| Op { kind, count: 1, slot, object: 0, offset, length: 50_000 };
    assert_eq!(plain(lane.execute(&op(OpKind::Write, 1, 50_000))), Ok(50_000));
    assert_eq!(plain(lane.execute(&Op { length: 0, ..op(OpKind::Sync, 0, 0) })), Ok(0));
    assert_eq!(plain(lane.execute(&op(OpKind::Read, 2, 50_000))), Ok(50_000));
    // SAFETY: as above.
    assert_eq!(unsafe { buffers.slice(2, 50_000) }, data);
    assert_eq!(plain(lane.execute(&op(OpKind::Read, 2, 90_000))), Ok(10_000), "the file ends there");
    assert_eq!(backends[1].object_name(4), format!("{}:/export/assay/job/f4", server.address));
    backends[1].begin_phase(&plan(Operation::Prepare)).unwrap();
    assert_eq!(plain(lane.execute(&op(OpKind::Read, 2, 50_000))), Ok(50_000), "nothing was emptied");
    backends[1].begin_phase(&plan(Operation::Write)).unwrap();
    assert_eq!(plain(lane.execute(&op(OpKind::Read, 2, 50_000))), Ok(0), "it was emptied");
    backends[0].cleanup().unwrap();
    assert_eq!(server.store().paths(0), [&made[..3], &made[6..]].concat());
    backends[1].cleanup().unwrap();
    backends[1].cleanup().unwrap();
    assert_eq!(server.store().paths(0), made[..2]);
}

#[test]
fn a_shared_file_is_emptied_by_the_first_process_only() {
    let server = StoreServer::start();
    let of_rank = |rank| {
        let shared = |job: &mut Job| (job.ranks, job.rank, job.layout) = (2, rank, Layout::Shared);
        open(&server.target(), &job(&server.target(), shared)).unwrap()
    };
    let (first, second) = (of_rank(0), of_rank(1));
    first.prepare().unwrap();
    second.begin_phase(&plan(Operation::Write)).unwrap();
    let file = server.store().0.len() - 1;
    server.store().0[file].data = vec![1; 10];
    second.begin_phase(&plan(Operation::Write)).unwrap();
    assert_eq!(server.store().0[file].data.len(), 10);
    first.begin_phase(&plan(Operation::Write)).unwrap();
    assert_eq!(server.store().0[file].data.len(), 0);
}

#[test]
fn what_is_not_ours_is_refused() {
    let server = StoreServer::start();
    let alone = open(&server.target(), &job(&server.target(), |_| ())).unwrap();
    let refusal = || alone.prepare().unwrap_err().to_string();
    let root = server.store().add(0, "assay", true);
    server.store().add(root, "precious", false);
    assert!(refusal().contains("is there without .assay-target"), "{}", refusal());
    assert!(clean(&server.target(), true).is_err());
    assert_eq!(server.store().paths(root), ["precious"]);
    server.store().add(root, ".assay-target", false);
    alone.prepare().unwrap();
    assert!(refusal().contains("is already there"), "{}", refusal());
    // A file with a second name somewhere else.
    let folder = server.store().0.len() - 1;
    let file = server.store().add(folder, "f1", false);
    (server.store().0[file].links, server.store().0[file].data) = (2, vec![1; 5]);
    let error = alone.begin_phase(&plan(Operation::Write)).unwrap_err().to_string();
    assert!(error.contains("is not a plain file with one name"), "{error}");
    assert_eq!(server.store().0[file].data.len(), 5);
}

#[test]
fn remains_are_removed_but_no_other_file_system() {
    let server = StoreServer::start();
    let target = server.target();
    assert_eq!(clean(&target, true).unwrap(), Vec::<String>::new());
    open(&target, &job(&target, |_| ())).unwrap().prepare().unwrap();
    let folder = server.store().0.len() - 1;
    for number in 0..50 {
        let below = server.store().add(folder, &format!("b{number}"), true);
        server.store().add(below, "f0.0", false);
        server.store().add(folder, &format!("f{number}"), false);
    }
    let path = format!("{}:/export/assay", server.address);
    assert_eq!(clean(&target, false).unwrap(), [format!("{path}/job")]);
    assert_eq!(server.store().paths(0), ["assay", "assay/.assay-target"]);
    // Another run's job, in which another file system is mounted.
    let other = server.store().add(1, "other", true);
    assert_eq!(clean(&target, true).unwrap(), Vec::<String>::new());
    let foreign = server.store().add(other, "b7", true);
    server.store().0[foreign].file_system = 4;
    server.store().add(foreign, "f7", false);
    let others = NfsTarget { directory: "other".to_owned(), ..target.clone() };
    let error = clean(&others, false).unwrap_err().to_string();
    assert!(error.contains("b7"), "{error}");
    assert_eq!(server.store().paths(foreign), ["f7"]);
    server.store().0[foreign].file_system = 3;
    // Something that no job makes.
    let stranger = server.store().add(other, "thesis", true);
    server.store().add(stranger, "f0", false);
    let error = clean(&others, false).unwrap_err().to_string();
    assert!(error.contains("thesis: was not made by Assay: left alone"), "{error}");
    assert_eq!(server.store().paths(other), ["thesis", "thesis/f0"]);
    let names = server.store().0[other].names.as_mut().unwrap().remove("thesis");
    assert_eq!(names, Some(stranger));
    assert_eq!(clean(&others, false).unwrap(), [format!("{path}/other")]);
    assert_eq!(clean(&target, true).unwrap(), [path]);
    assert_eq!(server.store().paths(0), Vec::<String>::new());
}

#[test]
fn names_are_made_found_and_removed() {
    for (layout, lane) in [(Layout::Separate, 1), (Layout::Shared, 2)] {
        let server = StoreServer::start();
        let tree = Tree { files: 20, depth: 2, width: 2, more: 0, inner: false };
        let with_tree = |job: &mut Job| (job.layout, job.tree) = (layout, Some(tree));
        let backend = open(&server.target(), &job(&server.target(), with_tree)).unwrap();
        backend.prepare().unwrap();
        backend.begin_phase(&plan(Operation::Create)).unwrap();
        let (mut lane, _buffers) = open_lane(&backend, lane);
        let mut one = |operation, kind, numbers, length| each(lane.as_mut(), &plan(operation), kind, numbers, length);
        assert_eq!(one(Operation::Create, OpKind::Create, 10, 10_000), vec![Ok(10_000); 10]);
        let again = one(Operation::Create, OpKind::Create, 20, 0);
        assert_eq!(again, [vec![Err(EXIST); 10], vec![Ok(0); 10]].concat());
        let sizes = [vec![Ok(10_000); 10], vec![Ok(0); 10]].concat();
        assert_eq!(one(Operation::Stat, OpKind::Stat, 20, 0), sizes);
        assert_eq!(one(Operation::Open, OpKind::Open, 20, 0), vec![Ok(0); 20]);
        assert_eq!(one(Operation::Readdir, OpKind::Readdir, 4, 0), vec![Ok(5); 4]);
        assert_eq!(one(Operation::Unlink, OpKind::Unlink, 10, 0), vec![Ok(0); 10]);
        let (gone, there) = (vec![Err(NOENT); 10], vec![Ok(0); 10]);
        for (operation, kind) in [(Operation::Open, OpKind::Open), (Operation::Rename, OpKind::Rename)] {
            assert_eq!(one(operation, kind, 20, 0), [gone.clone(), there.clone()].concat());
        }
        assert_eq!(one(Operation::Stat, OpKind::Stat, 20, 0), vec![Err(NOENT); 20]);
        assert_eq!(one(Operation::Mkdir, OpKind::Mkdir, 20, 0), vec![Ok(0); 20]);
        assert_eq!(one(Operation::Rmdir, OpKind::Rmdir, 19, 0), vec![Ok(0); 19]);
        assert_eq!(one(Operation::Create, OpKind::Sync, 1, 0), [Ok(0)]);
        let top = if layout == Layout::Shared { "t0" } else { "t1" };
        let lane = if layout == Layout::Shared { 2 } else { 1 };
        let expected = [format!("d{lane}.19"), format!("r{lane}.15")];
        let paths = server.store().paths(0);
        for name in expected {
            assert!(paths.contains(&format!("assay/job/{top}/b1/b1/{name}")), "{name}: {paths:?}");
        }
        backend.cleanup().unwrap();
        assert_eq!(server.store().paths(0), ["assay", "assay/.assay-target"]);
    }
}

#[test]
fn lanes_are_spread_over_servers_which_share_no_file() {
    let server = StoreServer::start();
    let mut target = server.target();
    // Two names of one server: its directory is there when it is made for the second time.
    target.servers.push(server.address.to_string());
    let backend = open(&target, &job(&target, |_| ())).unwrap();
    assert_eq!(backend.numbers_in(0), [0, 2]);
    assert_eq!(backend.numbers_in(1), [1]);
    backend.prepare().unwrap();
    backend.begin_phase(&plan(Operation::Write)).unwrap();
    assert_eq!(backend.capabilities().layouts, [Layout::Separate]);
    backend.cleanup().unwrap();
    let shared = open(&target, &job(&target, |job| job.layout = Layout::Shared));
    assert!(shared.err().unwrap().to_string().contains("do not share files"));
}

//! What a rank does with its file, and what it agrees upon with the others, without an MPI.

use crate::backend::MpiBackend;
use crate::ffi::{world, RankInfo, ERROR};
use crate::lane::{stretch, OwnBlocks};
use crate::ranks::{self, Ranks};
use crate::{capability, status, MpiFiles};
use assay_core::{Backend, Buffers, Completion, Fault, Kind, Lane, LaneSetup, Op, OpKind, PhasePlan, SetupError};
use assay_posix::place::Place;
use assay_spec::{CacheAction, FaultDomain, Job, Method, Operation, Target, SPEC_VERSION};
use serde_json::{json, Value};
use std::path::PathBuf;
use std::sync::Arc;

const RECORD: usize = 512;
const ALONE: RankInfo = RankInfo { rank: 0, size: 1, on_host: 0 };
const SECOND: RankInfo = RankInfo { rank: 1, size: 2, on_host: 1 };

/// A marked directory that is removed when it is dropped.
struct Ground(PathBuf);

impl Ground {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("assay-mpiio-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join(".assay-target"), "by hand").unwrap();
        Ground(root)
    }

    fn job(&self, own: RankInfo, layout: &str, changed: &Value) -> Job {
        let mut target = json!({"kind": "mpiio", "root": self.0, "directory": "job"});
        for (key, value) in changed.as_object().unwrap() {
            target[key] = value.clone();
        }
        serde_json::from_value(json!({
            "spec_version": SPEC_VERSION, "id": "test", "target": target, "lanes": 1, "ranks": own.size, "rank": own.rank,
            "layout": layout, "file_size_bytes": 8 * RECORD, "record_size_bytes": RECORD, "phases": [],
        }))
        .unwrap()
    }

    fn backend(&self, own: RankInfo, layout: &str, changed: &Value) -> MpiBackend {
        let job = self.job(own, layout, changed);
        let Target::Mpiio(target) = &job.target else { unreachable!("it is of that kind") };
        let place = Place::directory(&target.root, &target.directory, None).unwrap();
        let able = capability::at(&place).unwrap();
        let backend = MpiBackend::of_rank(own, place, able, (target, &job)).unwrap();
        let _ = std::fs::create_dir(self.0.join("job"));
        backend
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join("job").join(name)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lane(backend: &MpiBackend, queue_depth: u32) -> (Box<dyn Lane>, Arc<Buffers>) {
    let buffers = Arc::new(Buffers::new(queue_depth as usize, RECORD, false).unwrap());
    (backend.open_lane(LaneSetup::of(0, queue_depth, Arc::clone(&buffers))).unwrap(), buffers)
}

/// Sets the values of the other ranks, one agreement after the other.
fn others(answers: &[&[i64]]) {
    world(|world| world.others.extend(answers.iter().map(|values| Ok(values.to_vec()))));
}

fn calls() -> Vec<String> {
    world(|world| std::mem::take(&mut world.calls))
}

fn op(kind: OpKind, slot: u32, record: usize) -> Op {
    Op { kind, count: 1, slot, object: 0, offset: (record * RECORD) as u64, length: RECORD as u64 }
}

const FAILED: Fault = Fault::new(FaultDomain::Mpi, -ERROR);

#[test]
fn what_the_library_answers_is_bytes_or_a_fault() {
    assert_eq!((status::bytes_or_fault(0), status::bytes_or_fault(1 << 40)), (Ok(0), Ok(1 << 40)));
    assert_eq!(status::bytes_or_fault(i64::from(ERROR)), Err(FAILED));
    let error = status::error("open", "f0", ERROR);
    assert_eq!((error.action, error.object.as_str(), error.fault), ("open", "f0", Some(FAILED)));
    assert!(error.message.ends_with(": the disk is tired"), "{error}");
}

/// A single rank sends no message.
#[test]
fn ranks_agree_upon_the_least() {
    let two = Ranks(SECOND);
    assert_eq!(Ranks(ALONE).least([7, -3]), Ok([7, -3]));
    others(&[&[5, 9], &[5, 9]]);
    assert_eq!(two.least([7, -3]), Ok([5, -3]));
    assert_eq!(two.least([4, 10]), Ok([4, 9]));
    world(|world| world.others.push_back(Err(ERROR)));
    assert_eq!(two.least([1]), Err(ERROR));
    assert_eq!(world(|world| world.own_values.clone()), [vec![7, -3], vec![4, 10], vec![1]]);
}

#[test]
fn all_have_it_or_none() {
    let two = Ranks(SECOND);
    let mine = || Err::<u8, _>(SetupError::new("open", "f0", "is mine"));
    others(&[&[1], &[0], &[1], &[0]]);
    assert_eq!(two.all(Ok(7), "f0"), Ok(7));
    let refused = two.all(Ok(7), "f0").unwrap_err();
    assert_eq!(refused.message, "another rank could not, and says why");
    for _ in 0..2 {
        assert_eq!(two.all(mine(), "f0").unwrap_err().message, "is mine");
    }
    assert_eq!(world(|world| world.own_values.clone()), [[1], [1], [0], [0]]);
    world(|world| world.others.push_back(Err(ERROR)));
    let lost = two.all(Ok(7), "f0").unwrap_err();
    assert_eq!((lost.action, lost.object.as_str(), lost.fault), ("agree", "on f0", Some(FAILED)));
}

/// MPI is started once, and this process must be the rank that the job states.
#[test]
fn a_process_is_the_rank_that_its_job_is_for() {
    let ground = Ground::new("rank");
    assert_eq!(ranks::start().unwrap(), RankInfo { rank: 1, size: 3, on_host: 0 });
    let opened = |rank, size| {
        let job = ground.job(RankInfo { rank, size, on_host: 0 }, "separate", &json!({}));
        let Target::Mpiio(target) = &job.target else { unreachable!("it is of that kind") };
        MpiBackend::open(target, &job).map(|backend| backend.object_name(1))
    };
    assert_eq!(opened(1, 3).unwrap(), ground.at("f1").display().to_string());
    assert!(opened(0, 3).unwrap_err().message.contains("is that of rank 0, and this process is MPI's rank 1"));
    assert!(opened(1, 2).unwrap_err().message.contains("has 2 ranks, and MPI has started 3"));
}

#[test]
fn a_directory_is_probed() {
    let ground = Ground::new("able");
    let target = |kind: Value| serde_json::from_value::<Target>(kind).unwrap();
    let found = MpiFiles.probe(&target(json!({"kind": "mpiio", "root": ground.0, "directory": "job"}))).unwrap();
    assert_eq!((found.methods, found.direct), (vec![Method::MpiIo], false));
    assert_eq!(found.place.map(|place| place.path), Some(ground.0.display().to_string()));
    assert!(MpiFiles.general().operations.iter().all(|one| !one.metadata() && !one.stdio()));
    let other = target(json!({"kind": "null"}));
    assert!(MpiFiles.probe(&other).unwrap_err().message.contains("is not of kind mpiio"));
    assert!(MpiFiles.clean(&other, true, 0).is_err());
    std::fs::remove_file(ground.0.join(".assay-target")).unwrap();
    let bare = target(json!({"kind": "mpiio", "root": ground.0, "directory": "job"}));
    assert!(MpiFiles.probe(&bare).unwrap_err().message.starts_with("has no .assay-target"));
}

/// The flags that a file is opened with: 1 create, 2 exclusive, 4 read-only, 8 shared, 16 atomic.
#[test]
fn a_file_is_opened_as_its_phase_and_target_want() {
    let ground = Ground::new("flags");
    for (operation, layout, changed, flags) in [
        (Operation::Write, "separate", json!({}), 1 | 2),
        (Operation::Rewrite, "separate", json!({}), 0),
        (Operation::Read, "shared", json!({}), 4 | 8),
        (Operation::Prepare, "shared", json!({"atomic": true}), 1 | 8 | 16),
        (Operation::RandomMix, "separate", json!({"atomic": true}), 16),
    ] {
        let backend = ground.backend(ALONE, layout, &changed);
        std::fs::write(ground.at("f0"), [0; 8 * RECORD]).unwrap();
        let (mut lane, _) = lane(&backend, 1);
        let choice = lane.begin(&PhasePlan::of(operation)).unwrap();
        assert_eq!((choice.method, in_step(&mut lane)), (Method::MpiIo, false));
        assert_eq!(calls(), [format!("open {} {flags} []", ground.at("f0").display())], "{operation:?}");
        lane.end().unwrap();
        assert_eq!(calls(), ["close"]);
    }
    let hinted = json!({"prefix": "ufs", "hints": {"cb_nodes": "2"}});
    let (mut lane, _) = lane(&ground.backend(ALONE, "separate", &hinted), 1);
    world(|world| world.hints = vec![("romio_cb_read".to_owned(), "enable".to_owned())]);
    let used = lane.begin(&PhasePlan::of(Operation::Read)).unwrap().mpiio.unwrap();
    assert_eq!((used.library.as_str(), used.component.as_str()), ("Fake MPI 1.0", "romio"));
    assert_eq!(used.hints["romio_cb_read"], "enable");
    assert_eq!(calls(), [format!("open ufs:{} 4 [(\"cb_nodes\", \"2\")]", ground.at("f0").display())]);
}

#[test]
fn the_calls_are_those_that_the_target_names() {
    let ground = Ground::new("names");
    let name = |operation, depth, changed: &Value| {
        let backend = ground.backend(ALONE, "shared", changed);
        std::fs::write(ground.at("f0"), [0; 8 * RECORD]).unwrap();
        let (mut lane, _) = lane(&backend, depth);
        let choice = lane.begin(&PhasePlan::of(operation)).unwrap();
        (choice.reason, in_step(&mut lane))
    };
    let (together, common) = (json!({"collective": true}), json!({"pointer": "shared"}));
    let ordered = json!({"pointer": "shared", "collective": true});
    let view = json!({"view": "subarray", "piece_bytes": 128});
    for (operation, depth, changed, calls, in_step) in [
        (Operation::Read, 1, &json!({}), "MPI_File_read_at", false),
        (Operation::RandomMix, 2, &json!({}), "MPI_File_iread_at, MPI_File_iwrite_at", false),
        (Operation::Write, 1, &json!({"pointer": "individual"}), "MPI_File_write", false),
        (Operation::Write, 2, &together, "MPI_File_iwrite_at_all", true),
        // What is missing is written where it belongs, by each rank for itself.
        (Operation::Prepare, 1, &together, "MPI_File_write_at", false),
        (Operation::Prepare, 1, &common, "MPI_File_write_at", false),
        (Operation::Write, 1, &common, "MPI_File_write_shared", false),
        (Operation::Read, 2, &common, "MPI_File_iread_shared", false),
        (Operation::Write, 1, &ordered, "MPI_File_write_ordered", true),
        (Operation::Read, 1, &view, "MPI_File_read_at, in a view of MPI_Type_create_subarray", false),
    ] {
        assert_eq!(name(operation, depth, changed), (calls.to_owned(), in_step), "{changed}");
    }
    assert!(calls().contains(&"view 2 128 4 1 0".to_owned()), "a type is a record of four pieces");
}

/// In a view the library counts only the rank's own blocks, one after the other.
#[test]
fn offsets_in_a_view_are_those_within_the_ranks_own_blocks() {
    let own = OwnBlocks { block: 100, ranks: 3, rank: 1 };
    let found: Vec<u64> = [100, 150, 400, 499, 700].into_iter().map(|offset| own.offset(offset)).collect();
    assert_eq!(found, [0, 50, 100, 199, 200]);
}

#[test]
fn records_go_there_and_back_one_by_one_and_several_at_once() {
    let ground = Ground::new("records");
    let backend = ground.backend(ALONE, "separate", &json!({}));
    backend.begin_phase(&PhasePlan::of(Operation::Write)).unwrap();
    let (mut lane, buffers) = lane(&backend, 4);
    lane.begin(&PhasePlan::of(Operation::RandomWrite)).unwrap();
    // SAFETY: nothing is in flight.
    (0..4).for_each(|slot| unsafe { buffers.slice(slot, RECORD) }.fill(slot as u8 + 1));
    assert_eq!(lane.submit(&[0, 1, 2].map(|slot| op(OpKind::Write, slot, slot as usize))), 3);
    world(|world| world.waiting = 2);
    let mut done = Vec::new();
    while done.len() < 3 {
        lane.reap(&mut done, u64::MAX);
    }
    assert_eq!(done.iter().map(|one| one.slot).collect::<Vec<_>>(), [2, 1, 0]);
    assert_eq!(lane.execute(&op(OpKind::Write, 3, 3)), Ok(RECORD as u64));
    assert_eq!(lane.execute(&op(OpKind::Sync, 0, 0)), Ok(0));
    lane.submit(&[op(OpKind::Sync, 1, 0)]);
    lane.reap(&mut done, 0);
    assert_eq!(done.last(), Some(&Completion::new(1, Ok(0))));
    lane.end().unwrap();
    assert!(calls().contains(&format!("start 1 {} {RECORD}", 2 * RECORD)));
    let expected: Vec<u8> = (1..5).flat_map(|byte| vec![byte; RECORD]).collect();
    assert!(std::fs::read(ground.at("f0")).unwrap() == expected);
    lane.begin(&PhasePlan::of(Operation::Read)).unwrap();
    assert_eq!(lane.execute(&op(OpKind::Read, 0, 3)), Ok(RECORD as u64));
    // SAFETY: as above.
    assert_eq!(unsafe { buffers.slice(0, RECORD) }, [4; RECORD]);
    assert_eq!(lane.execute(&op(OpKind::Read, 0, 9)), Ok(0), "beyond the end");
}

/// A failure is reported once for each operation, with the library's message.
#[test]
fn failures_are_reported_with_the_librarys_message() {
    let ground = Ground::new("fails");
    let backend = ground.backend(ALONE, "separate", &json!({}));
    std::fs::write(ground.at("f0"), [0; 8 * RECORD]).unwrap();
    let (mut lane, _) = lane(&backend, 3);
    let closed = Fault::os(libc::EBADF);
    assert_eq!(lane.execute(&op(OpKind::Read, 0, 0)), Err(closed));
    lane.begin(&PhasePlan::of(Operation::RandomMix)).unwrap();
    let ops = [op(OpKind::Read, 0, 0), op(OpKind::Stat, 1, 0), op(OpKind::Write, 2, 0)];
    for (failing, faults) in [
        ("start", vec![(0, FAILED), (1, Fault::os(libc::EINVAL)), (2, FAILED)]),
        ("transfer", vec![(0, FAILED), (1, Fault::os(libc::EINVAL)), (2, FAILED)]),
        // The library does not say which operation has failed.
        ("some", vec![(0, FAILED), (1, Fault::os(libc::EINVAL)), (2, FAILED)]),
    ] {
        world(|world| world.failing = Some(failing));
        lane.submit(&ops);
        let mut done = Vec::new();
        while done.len() < 3 {
            lane.reap(&mut done, u64::MAX);
        }
        done.sort_by_key(|one| one.slot);
        assert_eq!(done, faults.iter().map(|(slot, fault)| Completion::new(*slot, Err(*fault))).collect::<Vec<_>>());
        lane.reap(&mut done, 0);
        assert_eq!((done.len(), lane.failure_message(2).as_deref()), (3, Some("the disk is tired")), "{failing}");
    }
    // A failed operation is not in flight any more.
    lane.submit(&ops[..1]);
    let mut done = Vec::new();
    lane.reap(&mut done, u64::MAX);
    assert_eq!(done, [Completion::new(0, Err(FAILED))]);
    world(|world| world.failing = Some("transfer"));
    assert_eq!(lane.execute(&op(OpKind::Write, 0, 0)), Err(FAILED));
    for failing in ["sync", "close"] {
        world(|world| world.failing = Some(failing));
        assert_eq!(lane.execute(&op(OpKind::Sync, 0, 0)).is_err(), failing == "sync");
    }
    assert_eq!(lane.end().unwrap_err().fault, Some(FAILED));
    lane.end().unwrap();
}

/// A failure of one rank before a phase is reported to all ranks, and none opens the file.
#[test]
fn a_phase_begins_on_all_ranks_or_on_none() {
    let ground = Ground::new("together");
    let backend = ground.backend(SECOND, "shared", &json!({}));
    let (mut lane, _) = lane(&backend, 1);
    others(&[&[0]]);
    assert_eq!(
        lane.begin(&PhasePlan::of(Operation::Read)).unwrap_err().message,
        "another rank could not, and says why"
    );
    assert_eq!(calls(), Vec::<String>::new());
    std::fs::write(ground.at("f0"), "x").unwrap();
    others(&[&[1], &[1], &[1]]);
    let reserving = PhasePlan { preallocate: true, ..PhasePlan::of(Operation::Prepare) };
    lane.begin(&reserving).unwrap();
    assert_eq!(calls()[1], format!("preallocate {}", 8 * RECORD));
    // Its root disappears before the next phase.
    std::fs::rename(&ground.0, ground.0.with_extension("away")).unwrap();
    backend.begin_phase(&PhasePlan::of(Operation::Read)).unwrap();
    std::fs::rename(ground.0.with_extension("away"), &ground.0).unwrap();
    others(&[&[1]]);
    assert!(lane.begin(&PhasePlan::of(Operation::Read)).unwrap_err().message.contains("moved or replaced"));
    assert_eq!(calls(), Vec::<String>::new());
}

/// Only the first rank makes and empties a shared file, and examines what is there before.
#[test]
fn the_first_rank_makes_a_shared_file() {
    let ground = Ground::new("makes");
    let [first, second] =
        [RankInfo { rank: 0, size: 2, on_host: 0 }, SECOND].map(|own| ground.backend(own, "shared", &json!({})));
    second.begin_phase(&PhasePlan::of(Operation::Write)).unwrap();
    assert!(!ground.at("f0").exists());
    std::fs::write(ground.at("f0"), "old").unwrap();
    first.begin_phase(&PhasePlan::of(Operation::Prepare)).unwrap();
    assert_eq!(std::fs::read(ground.at("f0")).unwrap(), b"old");
    first.begin_phase(&PhasePlan::of(Operation::Write)).unwrap();
    assert_eq!(std::fs::read(ground.at("f0")).unwrap(), b"");
    let own = ground.backend(SECOND, "separate", &json!({}));
    own.begin_phase(&PhasePlan::of(Operation::Write)).unwrap();
    assert!(ground.at("f1").exists());
    assert_eq!(second.object_name(1), ground.at("f0").display().to_string());
    let evicting = PhasePlan { cache: CacheAction::Evict, ..PhasePlan::of(Operation::Read) };
    assert_eq!(second.begin_phase(&evicting).unwrap(), "done by the first rank of this host");
    assert!(first.begin_phase(&evicting).unwrap().starts_with("1 file(s)"));
    assert_eq!(second.cached_bytes(&PhasePlan::of(Operation::Read)), Some(0));
}

#[test]
fn a_link_in_the_files_place_is_not_opened() {
    let ground = Ground::new("link");
    let backend = ground.backend(ALONE, "separate", &json!({}));
    std::fs::write(ground.0.join("precious"), "precious").unwrap();
    std::os::unix::fs::symlink(ground.0.join("precious"), ground.at("f0")).unwrap();
    let (mut lane, _) = lane(&backend, 1);
    assert!(lane.begin(&PhasePlan::of(Operation::Rewrite)).unwrap_err().message.contains("leads out"));
    assert_eq!(calls(), Vec::<String>::new());
    // A new file replaces the link.
    lane.begin(&PhasePlan::of(Operation::Write)).unwrap();
    assert!(ground.at("f0").symlink_metadata().unwrap().is_file());
    assert_eq!(std::fs::read(ground.0.join("precious")).unwrap(), b"precious");
}

/// One operation first, then as many as the slowest rank can do in the time, but not many more than before.
#[test]
fn a_stretch_is_as_long_as_the_slowest_rank_allows() {
    const SECOND_NS: i64 = 1_000_000_000;
    for (before, each, time, count) in [
        (0, 0, i64::MAX, 1),
        (1, SECOND_NS, i64::MAX, 1),
        (1, 5 * SECOND_NS, i64::MAX, 1),
        (1, SECOND_NS / 4, i64::MAX, 4),
        (1, 1, i64::MAX, 64),
        (64, 1, i64::MAX, 64 * 64),
        (i64::MAX, 1, i64::MAX, SECOND_NS),
        // Near the end of the phase's time, half of what is left is used, and at least 50 ms.
        (100, SECOND_NS / 1000, SECOND_NS, 500),
        (100, SECOND_NS / 1000, SECOND_NS / 1000, 50),
        (100, SECOND_NS / 1000, -SECOND_NS, 50),
    ] {
        assert_eq!(stretch(before, each, time), count, "{before} before, {each} ns each, {time} ns left");
    }
}

/// Lanes in step start the same number of operations, at most what the rank with the most has left. A rank that must
/// end ends the phase for all.
#[test]
fn ranks_in_step_agree_upon_a_stretch() {
    let ground = Ground::new("step");
    let backend = ground.backend(SECOND, "shared", &json!({"collective": true}));
    let begun = || {
        std::fs::write(ground.at("f0"), [0; 8 * RECORD]).unwrap();
        let (mut lane, _) = lane(&backend, 1);
        others(&[&[1], &[1], &[1]]);
        lane.begin(&PhasePlan::of(Operation::Read)).unwrap();
        assert!(in_step(&mut lane));
        world(|world| world.own_values.clear());
        lane
    };
    let mut lane = begun();
    // Goes on, operations left, time of each, time left; the second and third are negated.
    others(&[&[1, -100, 0, i64::MAX]]);
    assert_eq!(agree(&mut lane, Some(30)), Ok(1));
    assert_eq!(world(|world| world.own_values[0].clone()), [1, -30, 0, i64::MAX]);
    others(&[&[1, -99, -5_000_000_000, 7]]);
    assert_eq!(agree(&mut lane, Some(29)), Ok(1), "each takes longer than a stretch");
    let own_values = world(|world| world.own_values[1].clone());
    assert!(own_values[..2] == [1, -29] && own_values[2] < 0, "{own_values:?}");
    others(&[&[1, -1, -1, i64::MAX]]);
    assert_eq!(agree(&mut lane, Some(0)), Ok(1), "what the others have left");
    assert_eq!(agree(&mut lane, Some(0)), Ok(0), "no rank is asked again");
    let mut lane = begun();
    others(&[&[0, -100, 0, i64::MAX]]);
    assert_eq!(agree(&mut lane, Some(30)), Ok(0), "another one must end");
    let mut lane = begun();
    others(&[&[1, -100, 0, i64::MAX]]);
    assert_eq!(agree(&mut lane, None), Ok(0));
    world(|world| world.others.push_back(Err(ERROR)));
    assert_eq!(agree(&mut lane, Some(1)), Err(FAILED));
}

fn agree(lane: &mut Box<dyn Lane>, left: Option<u64>) -> Result<u64, Fault> {
    lane.collective().unwrap().agree_count(left, u64::MAX)
}

fn in_step(lane: &mut Box<dyn Lane>) -> bool {
    lane.collective().unwrap().in_step()
}

/// A flush of a shared file is one call of all ranks: if one wants it, all make it.
#[test]
fn ranks_flush_together() {
    let ground = Ground::new("flush");
    std::fs::create_dir_all(ground.at("")).unwrap();
    std::fs::write(ground.at("f0"), [0; 8 * RECORD]).unwrap();
    std::fs::write(ground.at("f1"), [0; 8 * RECORD]).unwrap();
    let begun = |layout, operation| {
        let (mut lane, _) = lane(&ground.backend(SECOND, layout, &json!({})), 1);
        others(&[&[1], &[1], &[1]]);
        lane.begin(&PhasePlan::of(operation)).unwrap();
        lane
    };
    let mut shared = begun("shared", Operation::Rewrite);
    others(&[&[-1], &[0], &[0]]);
    let flushes = |lane: &mut Box<dyn Lane>, wanted| lane.collective().unwrap().flushes(wanted);
    assert_eq!([false, false, true].map(|wanted| flushes(&mut shared, wanted)), [true, false, true]);
    for mut alone in [begun("shared", Operation::Read), begun("separate", Operation::Rewrite)] {
        assert_eq!([false, true].map(|wanted| flushes(&mut alone, wanted)), [false, true]);
    }
}

#[test]
fn ranks_start_together_or_not_at_all() {
    let ground = Ground::new("meet");
    let backend = ground.backend(SECOND, "shared", &json!({}));
    others(&[&[1], &[0], &[1]]);
    let moment = assay_core::clock::now();
    let ranks = backend.collective().unwrap();
    assert!(ranks.barrier(Some(moment)).is_some_and(|at| at >= moment));
    assert_eq!((ranks.barrier(Some(moment)), ranks.barrier(None)), (None, None));
}

#[test]
fn each_rank_removes_its_own_file() {
    let ground = Ground::new("cleanup");
    std::fs::remove_dir_all(ground.0.join("job")).unwrap_or_default();
    let ranks = [RankInfo { rank: 0, size: 2, on_host: 0 }, SECOND].map(|own| {
        let backend = ground.backend(own, "separate", &json!({}));
        let _ = std::fs::remove_dir(ground.0.join("job"));
        backend
    });
    for rank in &ranks {
        rank.prepare().unwrap();
        rank.begin_phase(&PhasePlan::of(Operation::Write)).unwrap();
    }
    ranks[0].cleanup().unwrap();
    assert!(!ground.at("f0").exists() && ground.at("f1").exists());
    ranks[1].cleanup().unwrap();
    assert!(!ground.0.join("job").exists());
}

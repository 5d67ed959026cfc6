//! What a backend makes, empties, refuses and removes in a marked directory.

use crate::test_dir::{begin_lane, fill_slot, names, op, plan, slot_bytes, target, TestDir, RECORD};
use crate::{Devices, Files};
use assay_core::{Backend, Kind, OpKind, SetupError};
use assay_spec::{CacheAction, Layout, Operation};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

fn opened(test_dir: &TestDir, changed: &serde_json::Value) -> Arc<dyn Backend> {
    Files.open(&test_dir.job(changed)).unwrap()
}

fn refusal(test_dir: &TestDir) -> SetupError {
    let Err(error) = Files.open(&test_dir.job(&json!({}))) else { panic!("it was opened") };
    error
}

#[test]
fn only_a_directory_that_is_marked_for_the_run_is_opened() {
    let test_dir = TestDir::bare("marks");
    assert!(refusal(&test_dir).message.starts_with("has no .assay-target"));
    let mark = |identity: &str| json!({"run": "r", "identity": identity, "created_by_assay": false}).to_string();
    fs::write(test_dir.0.join(".assay-target"), mark("other")).unwrap();
    assert!(refusal(&test_dir).message.contains("is not that of this job's run"));
    fs::write(test_dir.0.join(".assay-target"), mark("")).unwrap();
    opened(&test_dir, &json!({}));
    fs::remove_file(test_dir.0.join(".assay-target")).unwrap();
    fs::write(test_dir.0.join("real"), "").unwrap();
    symlink(test_dir.0.join("real"), test_dir.0.join(".assay-target")).unwrap();
    assert!(refusal(&test_dir).message.starts_with("has no .assay-target"), "a link is no mark");
    assert_eq!(names(&test_dir.0), [".assay-target", "real"], "nothing was made");
}

#[test]
fn a_root_is_a_directory_itself() {
    let test_dir = TestDir::new("roots");
    fs::write(test_dir.0.join("file"), "").unwrap();
    symlink(&test_dir.0, test_dir.0.join("link")).unwrap();
    let error = |name: &str| {
        let root = test_dir.0.join(name);
        Files.probe(&target(json!({"kind": "file", "root": root, "directory": "job"}))).unwrap_err()
    };
    assert_eq!(error("missing").errno(), Some(libc::ENOENT));
    for name in ["file", "link"] {
        assert!(error(name).message.contains("not a directory, or a symbolic link"), "{name}");
    }
}

#[test]
fn a_target_of_another_kind_is_refused() {
    let test_dir = TestDir::new("kinds");
    let device = target(json!({"kind": "device", "path": "/dev/null", "destroy": true}));
    let file = target(test_dir.target());
    let job = |target: &assay_spec::Target| test_dir.job(&json!({"target": target, "layout": "shared"}));
    for (kind, other) in [(&Files as &dyn Kind, &device), (&Devices, &file)] {
        let errors = [
            kind.probe(other).err(),
            kind.open(&job(other)).err(),
            kind.clean(other, true, 0).err(),
            kind.methods(other, &[]).err(),
        ];
        for error in errors {
            assert!(error.is_some_and(|error| error.message.starts_with("is not of kind")));
        }
    }
    for path in ["/dev/null", "/dev/assay-none", &test_dir.root()] {
        let target = target(json!({"kind": "device", "path": path, "destroy": true}));
        let error = Devices.probe(&target).unwrap_err();
        assert_eq!(error.action, "open", "{path}");
        assert!(Devices.open(&job(&target)).is_err() && Devices.methods(&target, &[]).is_err());
        assert!(Devices.clean(&target, true, 0).unwrap().removed.is_empty(), "nothing to remove of a device");
    }
}

#[test]
fn a_jobs_directory_is_made_once_and_shared_only_by_processes_of_the_job() {
    let test_dir = TestDir::new("prepare");
    let alone = opened(&test_dir, &json!({}));
    opened(&test_dir, &json!({"reuse_files": true})).prepare().unwrap();
    assert!(!test_dir.0.join("job").exists(), "who finds files makes none");
    alone.prepare().unwrap();
    assert_eq!(test_dir.names(), [".assay-job"]);
    assert!(opened(&test_dir, &json!({})).prepare().unwrap_err().message.starts_with("is already there"));
    opened(&test_dir, &json!({"ranks": 2, "rank": 1, "lanes": 1})).prepare().unwrap();
}

#[test]
fn each_operation_finds_the_files_that_it_needs() {
    let test_dir = TestDir::new("files");
    let backend = opened(&test_dir, &json!({"lanes": 2, "layout": "separate"}));
    backend.prepare().unwrap();
    backend.begin_phase(&plan(Operation::Read)).unwrap();
    assert_eq!(test_dir.names(), [".assay-job"], "reading makes nothing");
    backend.begin_phase(&plan(Operation::Prepare)).unwrap();
    assert_eq!(test_dir.names(), [".assay-job", "f0", "f1"]);
    let size = || fs::metadata(test_dir.at("f1")).unwrap().len();
    for (operation, expected) in [(Operation::Prepare, 3), (Operation::Rewrite, 3), (Operation::Write, 0)] {
        fs::write(test_dir.at("f1"), "old").unwrap();
        backend.begin_phase(&plan(operation)).unwrap();
        assert_eq!(size(), expected, "{operation:?}");
    }
    let reserved = assay_core::PhasePlan { preallocate: true, ..plan(Operation::Write) };
    backend.begin_phase(&reserved).unwrap();
    assert_eq!(size(), 8 * RECORD as u64);
    assert_eq!((backend.object_name(0), backend.object_name(1)), (path(&test_dir, "f0"), path(&test_dir, "f1")));
}

fn path(test_dir: &TestDir, name: &str) -> String {
    test_dir.at(name).display().to_string()
}

#[test]
fn what_does_not_fit_cannot_be_reserved() {
    let test_dir = TestDir::new("reserve");
    let backend = opened(&test_dir, &json!({"file_size_bytes": 1_u64 << 62}));
    backend.prepare().unwrap();
    let reserved = assay_core::PhasePlan { preallocate: true, ..plan(Operation::Write) };
    let error = backend.begin_phase(&reserved).unwrap_err();
    assert!(matches!(error.errno(), Some(libc::EFBIG | libc::ENOSPC)), "{error}");
    assert_eq!((error.action, error.length), ("preallocate", 1 << 62));
    assert_eq!(error.object, path(&test_dir, "f0"));
}

/// Only one process truncates a file that all lanes share.
#[test]
fn a_shared_file_is_emptied_by_the_first_process_only() {
    let test_dir = TestDir::new("shared");
    let process = |rank: u32| opened(&test_dir, &json!({"ranks": 2, "rank": rank, "lanes": 2, "layout": "shared"}));
    process(0).prepare().unwrap();
    let after = |rank, operation| {
        fs::write(test_dir.at("f0"), "old").unwrap();
        process(rank).begin_phase(&plan(operation)).unwrap();
        fs::read(test_dir.at("f0")).unwrap().len()
    };
    assert_eq!((after(1, Operation::Write), after(0, Operation::Write)), (3, 0));
    assert_eq!(process(1).object_name(3), path(&test_dir, "f0"));
    let apart = opened(&test_dir, &json!({"ranks": 2, "rank": 1, "lanes": 2, "layout": "separate"}));
    apart.begin_phase(&plan(Operation::Write)).unwrap();
    assert_eq!(test_dir.names(), [".assay-job", "f0", "f2", "f3"]);
}

#[test]
fn what_stands_in_a_files_place_is_not_written_to() {
    let test_dir = TestDir::new("instead");
    let backend = opened(&test_dir, &json!({}));
    backend.prepare().unwrap();
    let (file, precious) = (test_dir.at("f0"), test_dir.0.join("precious"));
    fs::write(&precious, "precious").unwrap();
    let refused = |reason: &str| {
        for operation in [Operation::Write, Operation::Prepare] {
            let error = backend.begin_phase(&plan(operation)).unwrap_err();
            assert!(error.message.contains(reason), "{error}");
        }
        let mut lane = backend.open_lane(crate::test_dir::setup(0, 1)).unwrap();
        assert!(lane.begin(&plan(Operation::RandomWrite)).unwrap_err().message.contains(reason));
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
    };
    symlink(&precious, &file).unwrap();
    refused("leads out of the marked directory");
    fs::remove_file(&file).unwrap();
    fs::hard_link(&precious, &file).unwrap();
    refused("is not a plain file with one name");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused("is not a plain file with one name");
    fs::remove_dir(&file).unwrap();
    let pipe = std::ffi::CString::new(path(&test_dir, "f0")).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    refused("is not a plain file with one name");
}

#[test]
fn the_jobs_directory_must_stay_the_one_it_was() {
    let test_dir = TestDir::new("replaced");
    let backend = opened(&test_dir, &json!({}));
    backend.prepare().unwrap();
    fs::rename(test_dir.0.join("job"), test_dir.0.join("moved")).unwrap();
    fs::create_dir(test_dir.0.join("job")).unwrap();
    fs::write(test_dir.at("f0"), "precious").unwrap();
    assert_eq!(backend.begin_phase(&plan(Operation::Write)).unwrap_err().errno(), Some(libc::ESTALE));
    assert!(backend.cleanup().unwrap_err().message.contains("is not the directory of this job"));
    assert_eq!(fs::read(test_dir.at("f0")).unwrap(), b"precious");
    fs::remove_dir_all(test_dir.0.join("job")).unwrap();
    symlink(test_dir.0.join("moved"), test_dir.0.join("job")).unwrap();
    assert!(backend.begin_phase(&plan(Operation::Write)).is_err(), "a link is not followed");
    assert_eq!(names(&test_dir.0.join("moved")), [".assay-job"]);
}

#[test]
fn a_root_that_was_moved_is_noticed() {
    let test_dir = TestDir::new("moved");
    let backend = opened(&test_dir, &json!({}));
    backend.still_there().unwrap();
    let other = TestDir::bare("moved-away");
    fs::rename(&test_dir.0, other.0.join("root")).unwrap();
    assert!(backend.still_there().unwrap_err().message.contains("unmounted, moved or replaced"));
    fs::create_dir(&test_dir.0).unwrap();
    assert!(backend.still_there().is_err(), "another directory of the same name");
}

#[test]
fn cleaning_up_removes_what_the_job_made_and_nothing_else() {
    let test_dir = TestDir::new("cleanup");
    let backend = opened(&test_dir, &json!({"lanes": 2, "layout": "separate"}));
    backend.cleanup().unwrap();
    backend.prepare().unwrap();
    backend.begin_phase(&plan(Operation::Write)).unwrap();
    fs::write(test_dir.at("precious"), "x").unwrap();
    assert!(backend.cleanup().unwrap_err().message.contains("Assay has not made"));
    assert_eq!(test_dir.names(), [".assay-job", "precious"]);
    fs::remove_file(test_dir.at("precious")).unwrap();
    backend.cleanup().unwrap();
    backend.cleanup().unwrap();
    assert_eq!(names(&test_dir.0), [".assay-target"]);
}

#[test]
fn a_process_leaves_the_files_of_the_others() {
    let test_dir = TestDir::new("others");
    let process = |rank: u32| opened(&test_dir, &json!({"ranks": 2, "rank": rank, "layout": "separate"}));
    let [first, second] = [process(0), process(1)];
    for one in [&first, &second] {
        one.prepare().unwrap();
        one.begin_phase(&plan(Operation::Write)).unwrap();
    }
    first.cleanup().unwrap();
    assert_eq!(test_dir.names(), [".assay-job", "f1"]);
    second.cleanup().unwrap();
    assert!(!test_dir.0.join("job").exists());
}

/// Lanes use the shares in turn; each share is cleaned up, even if another one fails.
#[test]
fn shares_are_places_of_their_own() {
    let grounds = [TestDir::new("share-0"), TestDir::new("share-1")];
    let mut target = grounds[0].target();
    target["shares"] = json!([grounds[1].root()]);
    let backend = opened(&grounds[0], &json!({"target": target, "lanes": 3, "layout": "separate"}));
    let able = backend.capabilities();
    let limits = &able.place.as_ref().unwrap().limits;
    assert!(limits.contains(&"lanes take turns among 2 directories".to_owned()), "{limits:?}");
    backend.prepare().unwrap();
    backend.begin_phase(&plan(Operation::Write)).unwrap();
    assert_eq!(grounds[0].names(), [".assay-job", "f0", "f2"]);
    assert_eq!(grounds[1].names(), [".assay-job", "f1"]);
    assert_eq!(backend.object_name(1), path(&grounds[1], "f1"));
    fs::write(grounds[0].at("precious"), "").unwrap();
    assert!(backend.cleanup().is_err());
    assert_eq!((grounds[0].names().len(), grounds[1].names().len()), (2, 0));
    fs::rename(&grounds[1].0, grounds[0].0.join("away")).unwrap();
    assert!(backend.still_there().is_err(), "one that is gone is noticed");
}

#[test]
fn a_cache_is_emptied_of_the_files_of_the_phase() {
    let test_dir = TestDir::new("evict");
    let backend = opened(&test_dir, &json!({"lanes": 2, "layout": "separate"}));
    backend.prepare().unwrap();
    let evicting = assay_core::PhasePlan { cache: CacheAction::Evict, ..plan(Operation::Read) };
    let error = backend.begin_phase(&evicting).unwrap_err();
    assert_eq!((error.action, error.errno()), ("open", Some(libc::ENOENT)));
    backend.begin_phase(&plan(Operation::Write)).unwrap();
    fs::write(test_dir.at("f1"), vec![1; 2 * RECORD]).unwrap();
    assert!(backend.cached_bytes(&plan(Operation::Read)).is_none_or(|bytes| bytes >= 2 * RECORD as u64));
    assert!(backend.begin_phase(&evicting).unwrap().starts_with("2 file(s) flushed and evicted"));
    assert_eq!(backend.begin_phase(&plan(Operation::Read)).unwrap(), "");
    assert!(!backend.may_hold_others_data());
}

#[test]
fn cleaning_reports_all_shares() {
    let grounds = [TestDir::new("clean-0"), TestDir::new("clean-1"), TestDir::bare("clean-2")];
    let mut described = grounds[0].target();
    described["shares"] = json!([grounds[1].root()]);
    let backend = opened(&grounds[0], &json!({"target": described, "lanes": 2, "layout": "separate"}));
    backend.prepare().unwrap();
    backend.begin_phase(&plan(Operation::Write)).unwrap();
    let answer = Files.clean(&target(described.clone()), false, 0).unwrap();
    assert!(answer.left.is_empty() && !answer.foreign && !answer.absent, "{answer:?}");
    assert_eq!(answer.removed.len(), 2, "{answer:?}");
    assert!(grounds[0].names().is_empty() && grounds[1].names().is_empty());
    // A share without a mark is foreign, and so is the whole target.
    described["shares"] = json!([grounds[2].root()]);
    assert!(Files.clean(&target(described), false, 0).unwrap().foreign);
}

#[test]
fn a_record_goes_there_and_back() {
    let test_dir = TestDir::new("record");
    let backend = opened(&test_dir, &json!({"layout": Layout::Shared}));
    backend.prepare().unwrap();
    backend.begin_phase(&plan(Operation::Write)).unwrap();
    let (mut lane, buffers) = begin_lane(backend.as_ref(), 0, &plan(Operation::Write));
    fill_slot(&buffers, 0, 7);
    assert_eq!(lane.execute(&op(OpKind::Write, RECORD as u64, RECORD)), Ok(RECORD as u64));
    lane.end().unwrap();
    let (mut lane, buffers) = begin_lane(backend.as_ref(), 0, &plan(Operation::Read));
    fill_slot(&buffers, 0, 1);
    assert_eq!(lane.execute(&op(OpKind::Read, 0, RECORD)), Ok(RECORD as u64));
    assert_eq!(slot_bytes(&buffers, 0), vec![0; RECORD]);
    assert_eq!(lane.execute(&op(OpKind::Read, RECORD as u64, RECORD)), Ok(RECORD as u64));
    assert_eq!(slot_bytes(&buffers, 0), vec![7; RECORD]);
}

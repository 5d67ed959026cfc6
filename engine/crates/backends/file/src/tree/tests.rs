//! The directories of a tree, and that no name leads out of it.

use super::calls::Calls;
use super::leaves::Leaves;
use super::ring::TreeRing;
use super::*;
use crate::test_dir::{fill_slot, names, op, plan, setup, slot_bytes, TestDir, RECORD};
use assay_core::{Fault, LaneSetup, Op, OpKind, PhasePlan, Source};
use assay_spec::{Operation, SyncPolicy};
use std::fs as files;
use std::os::unix::fs::symlink;

fn places(grounds: &[&TestDir]) -> Vec<Arc<Place>> {
    let place = |test_dir: &&TestDir| {
        files::create_dir_all(test_dir.at("")).unwrap();
        Arc::new(Place::directory(&test_dir.root(), "job", None).unwrap())
    };
    grounds.iter().map(place).collect()
}

fn tree(files: u64, depth: u32, width: u32) -> Tree {
    Tree { files, depth, width, more: 0, inner: false }
}

fn job_tree(test_dir: &TestDir, tree: Tree, layout: Layout, lanes: Range<u32>) -> Arc<JobTree> {
    Arc::new(JobTree::new(places(&[test_dir]), tree, layout, lanes))
}

/// A finished tree of one directory for one lane.
fn small(test_dir: &TestDir) -> Arc<JobTree> {
    let job_tree = job_tree(test_dir, tree(8, 0, 1), Layout::Separate, 0..1);
    job_tree.make().unwrap();
    job_tree
}

fn calls(job_tree: &Arc<JobTree>, plan: &PhasePlan) -> (Calls, LaneSetup) {
    let setup = setup(0, 1);
    (Calls::open(Arc::clone(job_tree), &setup, plan).unwrap(), setup)
}

fn numbered(kind: OpKind, object: u64, length: usize) -> Op {
    Op { object, ..op(kind, 0, length) }
}

fn error(errno: i32) -> Result<u64, Fault> {
    Err(Fault::os(errno))
}

#[test]
fn each_lane_has_a_tree_or_all_have_one() {
    for (layout, tops) in [(Layout::Separate, vec!["t2", "t3", "t4"]), (Layout::Shared, vec!["t0"])] {
        let test_dir = TestDir::new(&format!("forest-{}", layout as u8));
        let job_tree = job_tree(&test_dir, tree(8, 2, 2), layout, 2..5);
        job_tree.make().unwrap();
        assert_eq!(test_dir.names(), tops);
        for top in &tops {
            assert_eq!(names(&test_dir.at(top)), ["b0", "b1"]);
            assert_eq!(names(&test_dir.at(&format!("{top}/b1"))), ["b0", "b1"]);
        }
        assert_eq!(job_tree.object_name(3), test_dir.at(tops[tops.len() / 2]).display().to_string());
    }
}

#[test]
fn a_shared_tree_is_made_in_each_place() {
    let grounds = [TestDir::new("forest-place-0"), TestDir::new("forest-place-1")];
    let places = places(&[&grounds[0], &grounds[1]]);
    let job_tree = JobTree::new(places, tree(8, 0, 1), Layout::Shared, 0..5);
    job_tree.make().unwrap();
    for test_dir in &grounds {
        assert_eq!(test_dir.names(), ["t0"]);
    }
    assert_eq!(job_tree.object_name(3), grounds[1].at("t0").display().to_string());
}

/// Directories that exist are completed, once.
#[test]
fn directories_that_are_missing_are_made() {
    let test_dir = TestDir::new("forest-again");
    files::create_dir_all(test_dir.at("t0/b1")).unwrap();
    let job_tree = job_tree(&test_dir, tree(8, 2, 2), Layout::Separate, 0..1);
    job_tree.make().unwrap();
    assert_eq!(names(&test_dir.at("t0/b1")), ["b0", "b1"]);
    files::remove_dir(test_dir.at("t0/b1/b0")).unwrap();
    job_tree.make().unwrap();
    assert_eq!(names(&test_dir.at("t0/b1")), ["b1"], "it was made before");
}

#[test]
fn a_link_in_a_directorys_place_is_refused() {
    let (test_dir, outside) = (TestDir::new("forest-link"), TestDir::bare("forest-outside"));
    files::create_dir_all(test_dir.at("t0")).unwrap();
    symlink(&outside.0, test_dir.at("t0/b0")).unwrap();
    let leading = job_tree(&test_dir, tree(8, 2, 1), Layout::Separate, 0..1);
    let error = leading.make().unwrap_err();
    assert!(error.message.ends_with(": refused"), "{error}");
    let shallow = job_tree(&test_dir, tree(8, 1, 1), Layout::Separate, 0..1);
    let job_folder = shallow.job_folder(0).unwrap();
    let error = shallow.first_leaf(&job_folder, 0).unwrap_err();
    assert!(error.message.ends_with(": refused"), "{error}");
    assert_eq!(error.object, test_dir.at("t0/b0").display().to_string());
    files::remove_file(test_dir.at("t0/b0")).unwrap();
    assert_eq!(shallow.first_leaf(&job_folder, 0).unwrap_err().errno(), Some(libc::ENOENT));
    files::write(test_dir.at("t0/b0"), "").unwrap();
    assert!(shallow.first_leaf(&job_folder, 0).unwrap_err().message.contains("is not a directory"));
    assert!(names(&outside.0).is_empty());
}

#[test]
fn a_name_is_in_the_leaf_of_its_number() {
    let test_dir = TestDir::new("leaf-of");
    let job_tree = job_tree(&test_dir, tree(10, 1, 4), Layout::Separate, 0..1);
    job_tree.make().unwrap();
    assert_eq!(job_tree.names_per_leaf(), 3);
    let job_folder = job_tree.job_folder(0).unwrap();
    let mut path = Vec::new();
    for (number, leaf_names, branch) in [(0, 0..3, 0), (2, 0..3, 0), (3, 3..6, 1), (9, 9..12, 3)] {
        let (leaf, found) = job_tree.leaf_of(&job_folder, 0, number, &mut path).unwrap();
        assert_eq!(found, leaf_names);
        let there = files::metadata(test_dir.at(&format!("t0/b{branch}"))).unwrap();
        let inode = std::os::unix::fs::MetadataExt::ino(&there);
        assert_eq!(place::file_id(&leaf).unwrap().1, inode);
    }
    assert!(job_tree.leaf_of(&job_folder, 1, 0, &mut path).is_err(), "a lane without a tree");
}

/// A leaf is open while an operation uses it, and that of the last operation longer.
#[test]
fn leaves_are_closed_when_no_operation_uses_them() {
    let test_dir = TestDir::new("leaves");
    let job_tree = job_tree(&test_dir, tree(4, 1, 4), Layout::Separate, 0..1);
    job_tree.make().unwrap();
    let mut leaves = Leaves::open(&job_tree, 0).unwrap();
    let (_, first) = leaves.enter(0).unwrap();
    let (_, second) = leaves.enter(1).unwrap();
    assert_ne!(first, second);
    assert_eq!(leaves.count(), 2);
    leaves.leave(first);
    assert_eq!(leaves.count(), 1);
    let (_, third) = leaves.enter(2).unwrap();
    assert_eq!((third, leaves.count()), (first, 2), "its place is free again");
    leaves.leave(third);
    assert_eq!(leaves.count(), 2, "the last one stays open");
    leaves.leave(second);
    assert_eq!(leaves.count(), 1);
    files::remove_dir(test_dir.at("t0/b3")).unwrap();
    assert_eq!(leaves.enter(3), Err(libc::ENOENT));
    assert_eq!(leaves.enter(2).map(|(_, place)| place), Ok(third));
}

#[test]
fn a_link_in_a_names_place_is_not_followed() {
    let (test_dir, outside) = (TestDir::new("name-link"), TestDir::bare("name-outside"));
    let job_tree = small(&test_dir);
    let precious = outside.0.join("precious");
    files::write(&precious, "precious").unwrap();
    symlink(&precious, test_dir.at("t0/f0.0")).unwrap();
    for (operation, kind, expected) in [
        (Operation::Open, OpKind::Open, error(libc::ELOOP)),
        (Operation::Create, OpKind::Create, error(libc::EEXIST)),
        (Operation::Write, OpKind::Open, error(libc::ELOOP)),
        (Operation::Read, OpKind::Open, error(libc::ELOOP)),
        (Operation::Open, OpKind::Read, error(libc::ELOOP)),
        // The link's own size.
        (Operation::Stat, OpKind::Stat, Ok(precious.as_os_str().len() as u64)),
    ] {
        let (mut calls, _) = calls(&job_tree, &plan(operation));
        assert_eq!(calls.execute(&numbered(kind, 0, 5)), expected, "{operation:?}");
    }
    let over = PhasePlan { overwrite: true, ..plan(Operation::Create) };
    assert_eq!(calls(&job_tree, &over).0.execute(&numbered(OpKind::Create, 0, 5)), error(libc::ELOOP));
    assert_eq!(files::read(&precious).unwrap(), b"precious");
    assert_eq!(calls(&job_tree, &plan(Operation::Unlink)).0.execute(&numbered(OpKind::Unlink, 0, 0)), Ok(0));
    assert!(precious.exists() && names(&test_dir.at("t0")).is_empty(), "the link is removed, not the file");
}

/// Files are created, unless those of an earlier job are overwritten.
#[test]
fn files_are_made_with_their_contents() {
    let test_dir = TestDir::new("create");
    let job_tree = small(&test_dir);
    let (mut new, setup) = calls(&job_tree, &plan(Operation::Create));
    fill_slot(&setup.buffers, 0, 7);
    assert_eq!(new.execute(&numbered(OpKind::Create, 3, RECORD)), Ok(RECORD as u64));
    assert_eq!(new.execute(&numbered(OpKind::Create, 3, 1)), error(libc::EEXIST));
    assert_eq!(new.execute(&numbered(OpKind::Create, 4, 0)), Ok(0));
    assert_eq!(files::read(test_dir.at("t0/f0.3")).unwrap(), vec![7; RECORD]);
    let (mut over, setup) = calls(&job_tree, &PhasePlan { overwrite: true, ..plan(Operation::Create) });
    fill_slot(&setup.buffers, 0, 8);
    assert_eq!(over.execute(&numbered(OpKind::Create, 3, 2)), Ok(2));
    assert_eq!(files::read(test_dir.at("t0/f0.3")).unwrap(), [8, 8]);
    let mode = std::os::unix::fs::PermissionsExt::mode(&files::metadata(test_dir.at("t0/f0.3")).unwrap().permissions());
    assert_eq!(mode & 0o177, 0, "the owner's alone");
}

/// Bytes that show where they belong.
struct Places;

impl Source for Places {
    fn fill(&self, object: u64, offset: u64, piece: &mut [u8]) {
        (offset..).zip(piece).for_each(|(at, byte)| *byte = (at / 100 + object) as u8);
    }

    fn length(&self, _object: u64) -> u64 {
        0
    }

    fn check(&self, _slot: u32, _object: u64, _offset: u64, _piece: &[u8]) {}
}

#[test]
fn contents_that_are_longer_than_a_slot_are_made_piece_by_piece() {
    let test_dir = TestDir::new("pieces");
    let job_tree = small(&test_dir);
    let with_source = LaneSetup { source: Some(Arc::new(Places)), ..setup(0, 1) };
    let mut calls = Calls::open(Arc::clone(&job_tree), &with_source, &plan(Operation::Create)).unwrap();
    let length = 2 * RECORD + 777;
    assert_eq!(calls.execute(&numbered(OpKind::Create, 5, length)), Ok(length as u64));
    let expected: Vec<u8> = (0..length).map(|at| (at / 100 + 5) as u8).collect();
    assert!(files::read(test_dir.at("t0/f0.5")).unwrap() == expected);
}

#[test]
fn a_small_file_is_read_whole() {
    let test_dir = TestDir::new("read");
    let job_tree = small(&test_dir);
    files::write(test_dir.at("t0/f0.0"), "abcdef").unwrap();
    let (mut calls, setup) = calls(&job_tree, &plan(Operation::Open));
    fill_slot(&setup.buffers, 0, b'.');
    for (length, there) in [(100, 6), (6, 6), (4, 4), (0, 0)] {
        assert_eq!(calls.execute(&numbered(OpKind::Read, 0, length)), Ok(there));
    }
    assert_eq!(&slot_bytes(&setup.buffers, 0)[..7], b"abcdef.");
    assert_eq!(calls.execute(&numbered(OpKind::Read, 1, 4)), error(libc::ENOENT));
}

/// In a phase on the data of files, one file is open at a time; operations without an open file fail.
#[test]
fn data_is_that_of_the_file_that_is_open() {
    let test_dir = TestDir::new("current");
    let job_tree = small(&test_dir);
    let (mut calls, setup) = calls(&job_tree, &PhasePlan { sync: SyncPolicy::Fsync, ..plan(Operation::Write) });
    for kind in [OpKind::Write, OpKind::Close] {
        assert_eq!(calls.execute(&numbered(kind, 0, 1)), error(libc::EBADF), "{kind:?}");
    }
    for number in [0, 1] {
        assert_eq!(calls.execute(&numbered(OpKind::Open, number, 0)), Ok(0));
        fill_slot(&setup.buffers, 0, b'a' + number as u8);
        assert_eq!(calls.execute(&Op { object: number, ..op(OpKind::Write, 2, 3) }), Ok(3));
        assert_eq!(calls.execute(&numbered(OpKind::Sync, number, 0)), Ok(0));
        assert_eq!(calls.execute(&numbered(OpKind::Read, number, 3)), error(libc::EBADF), "opened for writing");
        assert_eq!(calls.execute(&numbered(OpKind::Close, number, 0)), Ok(0));
    }
    assert_eq!(files::read(test_dir.at("t0/f0.0")).unwrap(), b"\0\0aaa");
    assert_eq!(files::read(test_dir.at("t0/f0.1")).unwrap(), b"\0\0bbb");
    // A write starts anew, a rewrite does not.
    assert_eq!(calls.execute(&numbered(OpKind::Open, 0, 0)), Ok(0));
    assert_eq!((calls.close(), calls.close()), (Ok(()), Ok(())), "what a phase left open is closed once");
    assert_eq!(files::read(test_dir.at("t0/f0.0")).unwrap(), b"");
    let (mut over, _) = self::calls(&job_tree, &plan(Operation::Rewrite));
    assert_eq!(over.execute(&numbered(OpKind::Open, 1, 0)), Ok(0));
    assert_eq!(over.execute(&numbered(OpKind::Open, 7, 0)), error(libc::ENOENT));
    assert_eq!(files::read(test_dir.at("t0/f0.1")).unwrap(), b"\0\0bbb");
}

#[test]
fn a_pipe_in_a_names_place_blocks_no_lane() {
    let test_dir = TestDir::new("pipe");
    let job_tree = small(&test_dir);
    let pipe = std::ffi::CString::new(test_dir.at("t0/f0.0").to_str().unwrap()).unwrap();
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    assert_eq!(calls(&job_tree, &plan(Operation::Open)).0.execute(&numbered(OpKind::Open, 0, 0)), Ok(0));
    assert_eq!(calls(&job_tree, &plan(Operation::Read)).0.execute(&numbered(OpKind::Open, 0, 0)), Ok(0));
    let writing = calls(&job_tree, &plan(Operation::Rewrite)).0.execute(&numbered(OpKind::Open, 0, 0));
    assert!(matches!(writing, Ok(0) | Err(_)));
}

#[test]
fn renaming_replaces_and_a_directory_is_no_file() {
    let test_dir = TestDir::new("rename");
    let job_tree = small(&test_dir);
    files::write(test_dir.at("t0/f0.0"), "new").unwrap();
    files::write(test_dir.at("t0/r0.0"), "old").unwrap();
    files::create_dir(test_dir.at("t0/f0.1")).unwrap();
    let one = |operation, kind, number, renamed| {
        calls(&job_tree, &PhasePlan { renamed, ..plan(operation) }).0.execute(&numbered(kind, number, 0))
    };
    assert_eq!(one(Operation::Rename, OpKind::Rename, 0, false), Ok(0));
    assert_eq!(files::read(test_dir.at("t0/r0.0")).unwrap(), b"new");
    assert_eq!(one(Operation::Stat, OpKind::Stat, 0, false), error(libc::ENOENT));
    assert_eq!(one(Operation::Stat, OpKind::Stat, 0, true), Ok(3));
    assert_eq!(one(Operation::Unlink, OpKind::Unlink, 1, false), error(libc::EISDIR));
    assert_eq!(one(Operation::Write, OpKind::Open, 1, false), error(libc::EISDIR));
    files::create_dir_all(test_dir.at("t0/d0.0/full")).unwrap();
    assert_eq!(one(Operation::Mkdir, OpKind::Mkdir, 0, false), error(libc::EEXIST));
    assert_eq!(one(Operation::Rmdir, OpKind::Rmdir, 0, false), error(libc::ENOTEMPTY));
    assert_eq!(one(Operation::Rmdir, OpKind::Rmdir, 1, false), error(libc::ENOENT));
}

#[test]
fn a_ring_reports_what_it_cannot_do() {
    let test_dir = TestDir::new("obstacle");
    let job_tree = small(&test_dir);
    let Ok(ring) = TreeRing::new(&job_tree, &setup(0, 4)) else { return };
    assert_eq!(ring.depth(), 4);
    assert_eq!(ring.obstacle(Operation::Readdir).as_deref(), Some("io_uring cannot list directories"));
    for operation in [Operation::Read, Operation::Write, Operation::RandomMix] {
        assert_eq!(ring.obstacle(operation).as_deref(), Some("one file after the other is open"));
    }
    assert_eq!(ring.obstacle(Operation::Stat), None);
    let with_source = LaneSetup { source: Some(Arc::new(Places)), ..setup(0, 4) };
    let ring = TreeRing::new(&job_tree, &with_source).unwrap();
    assert_eq!(ring.obstacle(Operation::Create).as_deref(), Some("the contents are longer than a buffer"));
}

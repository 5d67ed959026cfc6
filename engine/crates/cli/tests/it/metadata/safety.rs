//! Nothing but the job's own directory is written to, followed or removed.

use super::jobs::{files, run_after, run_until, tree_job, METHODS, NOTHING, PLACES};
use crate::common::{engine, run, run_output, Marked};
use assay_core::as_errno;
use assay_spec::PhaseStatus;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// A directory of others, with a file in it.
fn precious(below: &str) -> Marked {
    let outside = Marked::new(below);
    fs::write(outside.0.join("precious"), "precious").unwrap();
    outside
}

fn untouched(outside: &Marked) {
    assert_eq!(outside.remains(), ["precious"]);
    assert_eq!(fs::read_to_string(outside.0.join("precious")).unwrap(), "precious");
}

#[test]
fn links_in_place_of_directories_are_refused() {
    for method in METHODS {
        for planted in ["t0", "t1", "t0/b1", "t0/b0/b0", "t2/b2/b1"] {
            for operation in ["create", "mkdir"] {
                let (root, outside) = (Marked::new(PLACES[0]), precious(PLACES[0]));
                let output = run_after(tree_job(&root, method, &[operation], &json!({})), |job| {
                    let link = job.join(planted);
                    fs::create_dir_all(link.parent().unwrap()).unwrap();
                    symlink(&outside.0, link).unwrap();
                });
                assert_eq!(output.code, 1, "{planted}: {output:?}");
                let sample = output.errors()[0];
                assert!(sample.message.contains("symbolic link"), "{planted}: {sample:?}");
                assert!(sample.object.ends_with(&format!("/job/{planted}")), "{sample:?}");
                assert_eq!(root.remains(), NOTHING, "{planted}");
                untouched(&outside);
            }
        }
    }
}

/// Operations that create no directories notice a link in place of one only when they enter it.
#[test]
fn links_in_place_of_directories_are_not_entered() {
    for method in METHODS {
        for (planted, whole) in [("t1", true), ("t1/b0/b0", true), ("t1/b2", false)] {
            for operation in ["stat", "open", "readdir", "rename", "unlink"] {
                let (root, outside) = (Marked::new(PLACES[1]), precious(PLACES[1]));
                assert_eq!(run(&tree_job(&root, method, &["create"], &json!({"keep_files": true}))).code, 0);
                let link = root.0.join("job").join(planted);
                fs::remove_dir_all(&link).unwrap();
                symlink(&outside.0, &link).unwrap();
                let output = run(&tree_job(&root, method, &[operation], &json!({"reuse_files": true})));
                let sample = output.errors()[0];
                assert_eq!((output.code, sample.lane.is_none()), (1, whole), "{planted} {operation}: {output:?}");
                let message = if whole { "symbolic link" } else { "Too many levels of symbolic links" };
                assert!(sample.message.contains(message), "{planted} {operation}: {sample:?}");
                assert_eq!(root.remains(), NOTHING, "{planted} {operation}");
                untouched(&outside);
            }
        }
    }
}

#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    for method in METHODS {
        let (root, outside) = (Marked::new(PLACES[1]), precious(PLACES[1]));
        let change = json!({"keep_files": true, "lanes": 1, "tree": {"files": 2}, "file_size_bytes": 8});
        assert_eq!(run(&tree_job(&root, method, &["create"], &change)).code, 0);
        fs::remove_file(root.0.join("job/t0/f0.1")).unwrap();
        symlink(outside.0.join("precious"), root.0.join("job/t0/f0.1")).unwrap();
        let change = json!({"reuse_files": true, "lanes": 1, "tree": {"files": 2}, "file_size_bytes": 8});
        let output = run(&tree_job(&root, method, &["stat", "open", "rename", "unlink"], &change));
        let failed: Vec<_> =
            output.errors().iter().map(|error| (error.phase, error.number, error.fault.and_then(as_errno))).collect();
        assert_eq!(failed, [(0, 1, None), (1, 1, Some(libc::ELOOP))], "{output:?}");
        assert_eq!(root.remains(), NOTHING);
        untouched(&outside);
    }
}

/// Opening a pipe for reading would wait for a writer.
#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    for method in METHODS {
        let root = Marked::new(PLACES[1]);
        let change = json!({"keep_files": true, "lanes": 1, "tree": {"files": 2}, "file_size_bytes": 0});
        assert_eq!(run(&tree_job(&root, method, &["create"], &change)).code, 0);
        let pipe = root.0.join("job/t0/f0.1");
        fs::remove_file(&pipe).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let change = json!({"reuse_files": true, "lanes": 1, "tree": {"files": 2}, "file_size_bytes": 0});
        assert_eq!(run(&tree_job(&root, method, &["open", "unlink"], &change)).code, 0);
        assert_eq!(root.remains(), NOTHING);
    }
}

#[test]
fn everything_in_the_directory_is_removed_and_nothing_else() {
    for below in PLACES {
        let (root, outside) = (Marked::new(below), precious(below));
        let output = run_after(tree_job(&root, "sync", &["create"], &json!({})), |job| plant(&outside, job));
        assert_eq!(output.code, 0, "{output:?}");
        assert_eq!(root.remains(), NOTHING);
        untouched(&outside);
    }
}

/// Links to the outside, and nested directories, all under names that jobs give.
fn plant(outside: &Marked, job: &Path) {
    symlink(&outside.0, job.join("f7")).unwrap();
    symlink(outside.0.join("precious"), job.join("f8")).unwrap();
    symlink("nowhere", job.join("f9")).unwrap();
    fs::hard_link(outside.0.join("precious"), job.join("f10")).unwrap();
    let mut deep = job.join("b0");
    fs::create_dir(&deep).unwrap();
    for _ in 0..300 {
        deep.push("b1");
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join("f0"), "x").unwrap();
    }
}

#[test]
fn what_no_job_makes_is_left_alone() {
    for below in PLACES {
        let (root, outside) = (Marked::new(below), precious(below));
        let output = run_after(tree_job(&root, "sync", &["create"], &json!({})), |job| {
            plant(&outside, job);
            fs::write(job.join("thesis.tex"), "years of work").unwrap();
            fs::create_dir_all(job.join("t0/photos")).unwrap();
            fs::write(job.join("t0/photos/f0"), "x").unwrap();
        });
        assert_eq!(output.code, 1, "{output:?}");
        let reason = output.bye().reason.clone().unwrap();
        assert!(reason.contains("was not made by Assay: left alone"), "{reason}");
        assert_eq!(files(&root), ["t0/photos/f0", "thesis.tex"]);
        untouched(&outside);
    }
}

#[test]
fn what_a_stopped_job_has_made_is_removed() {
    for method in METHODS {
        for operation in ["create", "mkdir"] {
            let root = Marked::new(PLACES[1]);
            let change = json!({"tree": {"files": 50_000_000, "depth": 2, "width": 9}, "interval_ns": 20_000_000});
            let job = tree_job(&root, method, &[operation], &change);
            let output = run_until(job, |_| {}, Some(r#""event":"interval""#));
            assert_eq!((output.code, output.ends()[0].status), (1, PhaseStatus::Stopped), "{output:?}");
            assert!(output.ends()[0].all_ops() > 0);
            assert_eq!(root.remains(), NOTHING);
        }
    }
}

/// Removing many files takes no memory for each.
#[test]
fn large_directories_are_removed() {
    let memory = [1_000, 100_000].map(|files| {
        let root = Marked::new(PLACES[1]);
        let change = json!({"tree": {"files": files}, "lanes": 2, "file_size_bytes": 0, "layout": "shared"});
        let output = run(&tree_job(&root, "sync", &["create", "mkdir"], &change));
        assert_eq!(output.code, 0, "{output:?}");
        assert_eq!(root.remains(), NOTHING);
        output.bye().max_rss_bytes
    });
    assert!(memory[1] < memory[0] + (4 << 20), "{memory:?}");
}

#[test]
fn a_mount_in_the_tree_is_left_alone() {
    let root = Marked::new(PLACES[0]);
    let change = json!({"reuse_files": true, "lanes": 1, "tree": {"files": 3}});
    let job = tree_job(&root, "sync", &["mkdir", "rmdir"], &change);
    fs::create_dir_all(root.0.join("job/t0/b7")).unwrap();
    fs::write(root.0.join("job/.assay-job"), "").unwrap();
    fs::write(root.0.join("job.json"), job.to_string()).unwrap();
    // In a separate mount namespace, so that the mount ends with the shell.
    let script = "mount -t tmpfs none \"$1/job/t0/b7\" || exit 77; touch \"$1/job/t0/b7/f0\"; \
                  \"$2\" run \"$1/job.json\"; code=$?; test -f \"$1/job/t0/b7/f0\" || exit 99; exit $code";
    let mut command = Command::new("unshare");
    let program = engine().get_program().to_owned();
    let output = command.args(["--mount", "sh", "-c", script, "sh", root.path()]).arg(program).output().unwrap();
    let denied = !output.status.success() && output.stdout.is_empty();
    if denied {
        println!("SKIPPED: no mount can be made here: {}", String::from_utf8_lossy(&output.stderr).trim());
        return;
    }
    let output = run_output(&output);
    assert_eq!(output.code, 1, "{output:?}");
    let reason = output.bye().reason.clone().unwrap();
    assert!(reason.contains("/job/t0/b7") && reason.contains("left alone"), "{reason}");
    assert_eq!(fs::read_dir(root.0.join("job/t0")).unwrap().count(), 1, "all else is gone");
}

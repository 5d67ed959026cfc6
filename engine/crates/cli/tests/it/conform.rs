//! `assay-engine conform`: where it writes, what it leaves, what it refuses.

use crate::common::{conform, engine, signal, Marked};
use rustix::process::Signal;
use serde_json::{json, Value};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// An unused path below /dev/shm; whatever is created there is removed at the end.
struct Nothing(PathBuf);

impl Nothing {
    fn new(name: &str) -> Self {
        Nothing(Path::new("/dev/shm").join(format!("assay-conform-{name}-{}", std::process::id())))
    }

    fn target(&self) -> Value {
        json!({"root": self.0})
    }
}

impl Drop for Nothing {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_directory_is_made_and_goes_again() {
    let place = Nothing::new("made");
    let (code, answer) = conform(&place.target(), &["--only", "ends"]);
    assert_eq!((code, answer["left"].as_array().map(Vec::len)), (0, Some(0)), "{answer}");
    assert!(answer["counts"]["holds"].as_u64().unwrap() >= 6, "{answer}");
    assert!(!place.0.exists());
}

#[test]
fn an_empty_directory_stays_and_loses_its_mark() {
    let place = Nothing::new("empty");
    fs::create_dir(&place.0).unwrap();
    assert_eq!(conform(&place.target(), &["--only", "ends: holes"]).0, 0);
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 0);
}

#[test]
fn a_foreign_directory_is_refused_and_stays() {
    let place = Nothing::new("taken");
    fs::create_dir(&place.0).unwrap();
    fs::write(place.0.join("precious"), "x").unwrap();
    let (code, message) = conform(&place.target(), &[]);
    assert_eq!(code, 2);
    assert!(message.as_str().unwrap().contains("holds something that is not Assay's, such as precious"), "{message}");
    assert_eq!(fs::read_dir(&place.0).unwrap().count(), 1);
    let claimed = Marked::new("/dev/shm");
    let mark = json!({"run": "other", "run_folder": "", "identity": "other-1", "created_by_assay": false}).to_string();
    fs::write(claimed.0.join(".assay-target"), mark).unwrap();
    let (code, message) = conform(&json!({"root": claimed.path()}), &[]);
    assert_eq!(code, 2);
    assert!(message.as_str().unwrap().contains("is claimed by another run"), "{message}");
}

/// A directory that was marked by hand, or for a run that kept its data, contains directories of other jobs.
#[test]
fn what_other_jobs_have_made_stays_and_is_no_fault() {
    let place = Marked::new("/dev/shm");
    let other_job = place.0.join("c0001-r1");
    fs::create_dir(&other_job).unwrap();
    fs::write(other_job.join("f0"), "precious").unwrap();
    let target = json!({"root": place.path()});
    let both = std::thread::scope(|scope| {
        let other = scope.spawn(|| conform(&target, &["--only", "flush"]));
        [conform(&target, &["--only", "names"]), other.join().unwrap()]
    });
    for (code, answer) in both {
        assert_eq!((code, &answer["left"]), (0, &json!([])), "{answer}");
    }
    assert_eq!(place.remains(), ["c0001-r1"]);
    assert_eq!(fs::read_to_string(other_job.join("f0")).unwrap(), "precious");
}

#[test]
fn what_cannot_be_checked_is_refused() {
    for (target, reason) in [
        (json!({"kind": "null"}), "keeps no data"),
        (json!({"kind": "device", "path": "/dev/null", "destroy": true}), "is not a block device"),
        (json!({"kind": "device", "path": "/dev/loop0", "destroy": false}), "must be true"),
        (json!({"kind": "file", "root": "relative"}), "absolute path"),
        (json!({"kind": "cloud"}), "unknown variant"),
        (json!({"kind": "nfs", "servers": ["127.0.0.1:1"], "export": "/x", "mount_port": 1}), "connect 127.0.0.1"),
        (json!([]), "must be a JSON object"),
    ] {
        let (code, message) = conform(&target, &[]);
        assert_eq!(code, 2, "{target}: {message}");
        let message = message.as_str().unwrap();
        assert!(message.contains(reason) && message.trim_end().lines().count() == 1, "{target}: {message}");
    }
    let place = Nothing::new("none");
    assert_eq!(conform(&place.target(), &["--only", "no such check"]).0, 2);
    assert!(!place.0.exists());
}

/// Start the whole suite, and wait until it works.
fn at_work(place: &Nothing) -> std::process::Child {
    let mut command = engine();
    let command = command.args(["conform", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(place.target().to_string().as_bytes()).unwrap();
    let works = || {
        let names = fs::read_dir(&place.0).into_iter().flatten().flatten();
        names.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with("c0001-r"))
    };
    while !works() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended before it began");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_signal_ends_it_and_leaves_nothing() {
    let place = Nothing::new("signal");
    let child = at_work(&place);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let (table, message) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{table}{message}");
    assert!(table.contains("were not done") && message.contains("stopped before the last check"), "{table}{message}");
    assert!(!place.0.exists());
}

#[test]
fn the_next_one_removes_what_a_killed_one_has_left() {
    let place = Nothing::new("killed");
    let mut child = at_work(&place);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    assert!(place.0.join(".assay-target").exists());
    assert_eq!(conform(&place.target(), &["--only", "ends"]).0, 0);
    assert!(!place.0.exists());
}

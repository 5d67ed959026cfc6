//! The engine's refusals of NFS targets without a server.

use crate::common::engine;
use serde_json::{json, Value};
use std::io::Write;
use std::net::TcpListener;
use std::process::Stdio;

/// Standard error of a command that is refused, with a target on standard input.
fn refused(words: &[&str], target: &Value) -> String {
    let mut child = engine();
    let child = child.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(target.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// A target at a port without a listener.
fn nowhere() -> Value {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    json!({"kind": "nfs", "servers": [format!("127.0.0.1:{port}")], "export": "/export", "root": "assay", "directory": "job",
           "mount_port": port})
}

#[test]
fn a_server_that_is_not_there_is_named() {
    for words in [&["clean"][..], &["clean", "--root"], &["capabilities", "--target", "-"]] {
        let message = refused(words, &nowhere());
        assert!(
            message.contains("connect 127.0.0.1:") && message.contains("is the mount service running"),
            "{message}"
        );
    }
}

#[test]
fn only_what_a_job_may_name_is_cleaned() {
    for (field, value) in [("directory", json!("..")), ("root", json!("a/b")), ("export", json!("/a/../b"))] {
        let mut target = nowhere();
        target[field] = value;
        let message = refused(&["clean"], &target);
        assert!(message.contains(&format!("target.{field}")), "{message}");
    }
    let mut target = nowhere();
    target.as_object_mut().unwrap().remove("directory");
    assert!(refused(&["clean"], &target).contains("directory"));
    let missing = refused(&["clean"], &json!({"root": "/mnt"}));
    assert!(missing.contains("the target cannot be read: missing field `kind`"), "{missing}");
    let unknown = refused(&["clean"], &json!({"kind": "tape"}));
    assert!(unknown.contains("the target cannot be read: unknown variant `tape`"), "{unknown}");
}

#[test]
fn where_jobs_leave_nothing_there_is_nothing_to_clean() {
    let mut child = engine();
    let child = child.args(["clean", "--root"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(br#"{"kind": "null"}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &answer["removed"], &answer["error"]), (Some(0), &json!([]), &json!("")));
}

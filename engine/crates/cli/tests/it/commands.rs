//! Programs as the load of a job, with the real engine.

use crate::common::{merged, run, Marked, Session};
use assay_spec::{Event, FaultDomain, PhaseStatus, Task};
use serde_json::{json, Value};
use std::path::PathBuf;
use std::time::Duration;

/// A job that runs a text of the shell for each of `tasks` tasks, on `lanes` lanes.
fn job(root: &Marked, text: &str, tasks: u64, lanes: u64, target: &Value, change: &Value) -> Value {
    let names: Vec<String> = (1..=tasks).map(|task| task.to_string()).collect();
    let mut place = json!({
        "kind": "command", "root": root.path(), "directory": "job", "tasks": names,
        "program": {"words": [text], "shell": true},
    });
    for (key, value) in target.as_object().unwrap() {
        place[key] = value.clone();
    }
    let fields = json!({
        "target": place, "file_size_bytes": 0, "record_size_bytes": 1, "sync": "none", "lanes": lanes,
        "tree": {"files": tasks / lanes, "more": tasks % lanes}, "phases": [{"operation": "run"}],
    });
    merged(fields, change)
}

fn tasks(events: &[Event]) -> Vec<Task> {
    let mut found: Vec<Task> = events
        .iter()
        .filter_map(|event| match event {
            Event::Task(task) => Some(task.clone()),
            _ => None,
        })
        .collect();
    found.sort_by_key(|task| task.task);
    found
}

fn is_running(process: i32) -> bool {
    // A zombie has ended, whoever is to wait for it.
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z"))
}

/// Wait until a process has ended.
fn wait_for_end(process: i32) {
    while is_running(process) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Wait until a task has written its number into a file.
fn number_in(path: &PathBuf) -> i32 {
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if let Some(line) = text.strip_suffix('\n') {
            return line.parse().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_task_is_run_once_and_counted() {
    let root = Marked::new("/var/tmp");
    let prepare = json!({"words": ["dd", "if=/dev/zero", "of=data", "bs=1024", "count=3000"]});
    // A child that its parent has waited for, and one that outlives it, count, too.
    let text = "cat $inputs/data >copy; sh -c 'cat copy >/dev/null'; echo task $task of $tasks";
    let out = run(&job(&root, text, 5, 2, &json!({"prepare": prepare, "output_bytes": 1000}), &json!({})));
    assert_eq!(out.code, 0, "{}", out.stderr);
    let found = tasks(&out.events);
    assert_eq!(found.iter().map(|task| task.task).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert_eq!(found.iter().map(|task| task.lane).collect::<Vec<_>>(), [0, 1, 0, 1, 0]);
    for task in &found {
        assert_eq!((task.exit_code, task.failure.as_deref(), task.left_running), (Some(0), None, 0));
        assert_eq!(task.output.as_deref(), Some(format!("task {} of 5\n", task.task + 1).as_str()));
        let io = task.io.unwrap();
        // Twice the file each way, and what the shell and cat read of their libraries.
        let whole = 2 * 3000 * 1024;
        assert!((whole..whole + 200_000).contains(&io.call_read_bytes), "{io:?}");
        assert!((whole..whole + 100).contains(&io.call_write_bytes), "{io:?}");
        assert!(task.elapsed_ns > 0 && task.max_rss_bytes > 0);
    }
    let end = out.ends()[0].clone();
    assert_eq!((end.status, end.all_ops()), (PhaseStatus::Done, 5));
    assert!(root.remains().is_empty(), "{:?}", root.remains());
}

#[test]
fn a_program_that_fails_is_a_failed_operation_with_its_own_words() {
    let root = Marked::new("/var/tmp");
    let text = "[ $task != 2 ] || { echo no licence >&2; exit 7; }";
    let out = run(&job(&root, text, 3, 1, &json!({}), &json!({})));
    assert_eq!(out.code, 1);
    let found = tasks(&out.events);
    assert_eq!(found.iter().map(|task| task.exit_code).collect::<Vec<_>>(), [Some(0), Some(7), Some(0)]);
    assert_eq!(found[1].failure.as_deref(), Some("exit code 7: no licence"));
    let end = out.ends()[0];
    assert_eq!((end.all_ops(), end.errors[0].count), (2, 1));
    let fault = end.errors[0].fault.unwrap();
    assert_eq!((fault.domain(), fault.code()), (FaultDomain::Program, 7));
    assert!(out.stderr.contains("ended with exit code 7: task 2: no licence"), "{}", out.stderr);
    assert!(root.remains().is_empty());
}

#[test]
fn a_program_that_is_not_there_fails() {
    let root = Marked::new("/var/tmp");
    let program = json!({"words": ["/no/such/program", "$task"], "shell": false});
    let out = run(&job(&root, "", 1, 1, &json!({"program": program}), &json!({})));
    let failure = tasks(&out.events)[0].failure.clone().unwrap();
    assert!(failure.contains("/no/such/program") && failure.contains("cannot be started"), "{failure}");
    assert_eq!(out.code, 1);
}

#[test]
fn a_task_that_takes_too_long_is_killed_with_its_children() {
    let root = Marked::new("/var/tmp");
    let note = root.0.with_extension("pid");
    let text = format!("sleep 1000 & echo $! >{}; wait", note.display());
    let out = run(&job(&root, &text, 1, 1, &json!({"task_limit_ns": 500_000_000}), &json!({})));
    let task = &tasks(&out.events)[0];
    assert_eq!((task.exit_code, task.signal), (None, Some(9)));
    assert_eq!(task.failure.as_deref(), Some("killed after 0.5 s, its time limit"));
    wait_for_end(number_in(&note));
    std::fs::remove_file(&note).unwrap();
    assert!(root.remains().is_empty());
}

#[test]
fn what_a_program_leaves_running_is_killed_and_counted() {
    let root = Marked::new("/var/tmp");
    let note = root.0.with_extension("pid");
    let text = format!("sleep 1000 & echo $! >{}", note.display());
    let out = run(&job(&root, &text, 1, 1, &json!({}), &json!({})));
    assert_eq!((out.code, tasks(&out.events)[0].left_running), (0, 1), "{}", out.stderr);
    wait_for_end(number_in(&note));
    std::fs::remove_file(&note).unwrap();
}

#[test]
fn a_job_that_stops_kills_its_tasks_and_removes_their_files() {
    let root = Marked::new("/var/tmp");
    let note = root.0.with_extension("pid");
    let text = format!("echo data >file; echo $$ >{}; sleep 1000", note.display());
    let mut session = Session::start(&job(&root, &text, 2, 1, &json!({}), &json!({})));
    let process = number_in(&note);
    session.send_line(r#"{"stop":true}"#);
    assert_eq!(session.until("bye")["status"], "stopped");
    session.child.wait().unwrap();
    wait_for_end(process);
    std::fs::remove_file(&note).unwrap();
    assert!(root.remains().is_empty(), "{:?}", root.remains());
}

#[test]
fn an_engine_that_is_killed_takes_its_tasks_with_it() {
    let root = Marked::new("/var/tmp");
    let note = root.0.with_extension("pid");
    let text = format!("sleep 1000 & echo $! >{}; wait", note.display());
    let mut session = Session::start(&job(&root, &text, 1, 1, &json!({}), &json!({})));
    let process = number_in(&note);
    session.child.kill().unwrap();
    session.child.wait().unwrap();
    wait_for_end(process);
    std::fs::remove_file(&note).unwrap();
}

#[test]
fn outputs_are_checked_after_the_clock_has_stopped() {
    let root = Marked::new("/var/tmp");
    let sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let check = json!({"words": ["grep", "-q", "hello", "out"]});
    let good = json!({"outputs": {"out": sha256}, "check": check});
    let out = run(&job(&root, "echo hello >out", 2, 2, &good, &json!({})));
    assert_eq!(out.code, 0, "{}", out.stderr);
    let out = run(&job(&root, "echo $task >out", 1, 1, &json!({"outputs": {"out": sha256}}), &json!({})));
    assert!(out.code == 1 && out.stderr.contains("its SHA-256 is"), "{}", out.stderr);
    let out = run(&job(&root, "echo $task >out", 1, 1, &json!({"check": check}), &json!({})));
    assert!(out.code == 1 && out.stderr.contains("check task 1: exit code 1"), "{}", out.stderr);
    assert!(root.remains().is_empty());
}

#[test]
fn an_output_that_never_ends_is_refused() {
    let root = Marked::new("/var/tmp");
    let sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    for text in ["ln -s /dev/zero out", "mkfifo out"] {
        let out = run(&job(&root, text, 1, 1, &json!({"outputs": {"out": sha256}}), &json!({})));
        assert!(out.code == 1 && out.stderr.contains("is not a regular file"), "{}", out.stderr);
        assert!(root.remains().is_empty());
    }
}

#[test]
fn binary_output_is_not_shown_as_the_reason() {
    let root = Marked::new("/var/tmp");
    let out = run(&job(&root, "echo broken >&2; printf '\\377\\376\\n'; exit 3", 1, 1, &json!({}), &json!({})));
    assert_eq!(tasks(&out.events)[0].failure.as_deref(), Some("exit code 3: broken"));
}

#[test]
fn inputs_are_copied_and_their_contents_are_known() {
    let root = Marked::new("/var/tmp");
    let file = root.0.with_extension("input");
    std::fs::write(&file, "hello\n").unwrap();
    let sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    let input =
        |sha256: &str| json!({"inputs": [{"name": "in.txt", "path": file.to_str().unwrap(), "sha256": sha256}]});
    let out = run(&job(
        &root,
        "cmp $inputs/in.txt ../inputs/in.txt && grep -q hello $inputs/in.txt",
        1,
        1,
        &input(sha256),
        &json!({}),
    ));
    assert_eq!(out.code, 0, "{}", out.stderr);
    let other = sha256.replace('5', "6");
    let out = run(&job(&root, "true", 1, 1, &input(&other), &json!({})));
    assert!(out.code == 2 && out.stderr.contains(&format!("its SHA-256 is {sha256}")), "{}", out.stderr);
    assert!(root.remains().is_empty(), "what a job that is refused has copied is removed: {:?}", root.remains());
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn what_a_long_output_leaves_out_is_marked() {
    let root = Marked::new("/var/tmp");
    let out = run(&job(&root, "seq 100000", 1, 1, &json!({"output_bytes": 100}), &json!({})));
    let text = tasks(&out.events)[0].output.clone().unwrap();
    assert!(text.starts_with("1\n2\n3\n") && text.ends_with("99999\n100000\n") && text.contains("\n[...]\n"), "{text}");
    assert!(text.len() < 120);
}

#[test]
fn the_engines_own_variables_are_not_passed_on() {
    let root = Marked::new("/var/tmp");
    let target = json!({"output_bytes": 1000, "environment": {"COLOUR": "blue"}});
    let text = "echo $COLOUR ${ASSAY_ENGINE-none}; pwd";
    let out = run(&job(&root, text, 1, 1, &target, &json!({})));
    let said = tasks(&out.events)[0].output.clone().unwrap();
    assert_eq!(said, format!("blue none\n{}/job/programs/task0\n", root.path()));
}

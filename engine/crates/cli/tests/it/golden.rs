//! The samples in contract/golden: both sides of the contract accept or refuse the same ones.

use assay_spec::Event;
use std::path::PathBuf;
use std::process::Command;

fn samples(folder: &str) -> Vec<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../contract/golden").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn check(file: &PathBuf) -> (Option<i32>, String) {
    run_engine("check", file)
}

fn run_engine(command: &str, file: &PathBuf) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_assay-engine")).arg(command).arg(file).output().unwrap();
    assert!(output.stdout.is_empty() || command == "run", "check prints nothing");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn good_jobs_are_accepted() {
    let files = samples("jobs");
    assert!(files.len() >= 5);
    for file in files {
        assert_eq!(check(&file), (Some(0), String::new()), "{}", file.display());
    }
}

/// The jobs of the guide; some are shown only in part.
#[test]
fn the_guides_jobs_are_accepted() {
    let guide = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/guides/engine.md");
    let text = std::fs::read_to_string(guide).unwrap();
    let jobs: Vec<&str> = text.split("```json\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!jobs.is_empty());
    for (number, job) in jobs.into_iter().enumerate() {
        let file = std::env::temp_dir().join(format!("assay-guide-{}-{number}.json", std::process::id()));
        let rest = r#"{"spec_version": 2, "id": "guide", "target": {"kind": "null"}"#;
        let whole = if job.starts_with('{') { job.to_owned() } else { format!("{rest}, {job}}}") };
        std::fs::write(&file, whole).unwrap();
        let answer = check(&file);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(answer, (Some(0), String::new()), "{job}");
    }
}

#[test]
fn bad_jobs_are_refused_in_one_line() {
    let files = samples("jobs-bad");
    assert!(files.len() >= 15);
    for file in files {
        let (code, message) = check(&file);
        assert_eq!(code, Some(2), "{}", file.display());
        assert!(
            message.starts_with("error: ") && message.trim_end().lines().count() == 1,
            "{}: {message}",
            file.display()
        );
        assert_eq!(
            self::run_engine("run", &file),
            (code, message),
            "run refuses what check refuses: {}",
            file.display()
        );
    }
}

#[test]
fn events_can_be_read_and_written_unchanged() {
    let mut lines = 0;
    for file in samples("events") {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let event: Event = serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}: {line}", file.display()));
            let again: Event = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
            assert_eq!(event, again);
            lines += 1;
        }
    }
    assert!(lines >= 20, "{lines}");
}

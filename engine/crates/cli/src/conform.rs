//! `assay-engine conform`: does storage do what it should?

use crate::run::print_line;
use crate::subject::Storage;
use crate::{backends, control, target, watch};
use anyhow::bail;
use assay_conform::{Report, Verdict, MIN_FREE_BYTES};
use assay_drive::StopFlag;
use serde_json::json;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// JSON of a target of any kind that keeps data; - is standard input.
    #[arg(default_value = "-")]
    file: String,
    /// Print the report as JSON: every check in every way, with all that is wrong.
    #[arg(long)]
    json: bool,
    /// Only checks that have this text in `group: check (way)`, such as `flush` or `names: rename`.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Seconds after which no further check is begun; those that are left count as not done.
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    limit: u64,
    /// Seconds without any progress after which the storage counts as hung: what was made then stays.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    patience: u64,
}

/// Most files that the checks create at once.
const MIN_FREE_INODES: u64 = 2048;
/// Most paths that could not be removed to report.
const MAX_LEFT: usize = 5;
/// Signals, and the end of the time, are noticed this late at most.
const LOOK: Duration = Duration::from_millis(50);

/// A flag that is set when a signal arrives or the time is over.
fn stop_after(limit: Duration) -> StopFlag {
    let stop = StopFlag::default();
    let (flag, signalled, begin) = (Arc::clone(&stop), control::signalled(), Instant::now());
    std::thread::spawn(move || {
        while !signalled() && begin.elapsed() < limit {
            std::thread::sleep(LOOK);
        }
        flag.store(true, Ordering::Relaxed);
    });
    stop
}

/// Refuse storage that cannot be checked.
fn check_room(storage: &Storage) -> anyhow::Result<()> {
    let able = storage.able();
    if !able.verify {
        bail!("a target of kind {} keeps no data: there is nothing to check", able.kind);
    }
    if let Some(inodes) = storage.free_inodes().filter(|inodes| *inodes < MIN_FREE_INODES) {
        bail!("{inodes} inodes are free, the checks need {MIN_FREE_INODES}: remove files, or name another target");
    }
    let free = able.place.as_ref().and_then(|place| place.free_bytes).unwrap_or(u64::MAX);
    if free < MIN_FREE_BYTES {
        bail!("{free} bytes are free, the checks need {MIN_FREE_BYTES}: make room, or name another target");
    }
    Ok(())
}

fn code(report: &Report, left: &[String]) -> u8 {
    if report.count(Verdict::DoesNotHold) > 0 || !left.is_empty() {
        1
    } else {
        2 * u8::from(report.stopped || report.rows.is_empty())
    }
}

/// Print the report, unless it is empty.
fn print(report: &Report, left: &[String], json: bool) -> anyhow::Result<()> {
    if json {
        let counts = json!({
            "holds": report.count(Verdict::Holds), "does_not_hold": report.count(Verdict::DoesNotHold),
            "not_done": report.count(Verdict::NotDone),
        });
        print_line(&serde_json::to_string_pretty(&json!({ "report": report, "counts": counts, "left": left }))?)?;
    } else if !report.rows.is_empty() {
        print_line(&report.to_string())?;
    }
    Ok(())
}

/// Print what is known when the storage no longer responds; returns the exit code.
fn print_and_exit(so_far: &Mutex<Option<Report>>, json: bool, doing: &str, seconds: u64) -> i32 {
    let known = so_far.try_lock().ok().and_then(|mut report| report.take());
    let code = known.as_ref().map_or(2, |report| code(report, &[]));
    let made = known.is_some();
    let _ = known.map(|report| print(&report, &[], json));
    let words = if made { "; what the check has made may still be there" } else { "" };
    stderr_line!("error: {}{words}", watch::silence_message(doing, seconds));
    i32::from(code)
}

/// Why not all checks were done.
fn stopped_by(begin: Instant, limit: Duration) -> String {
    if control::signalled()() {
        "by a signal".to_owned()
    } else if begin.elapsed() >= limit {
        format!("after the {} s of --limit", limit.as_secs())
    } else {
        "as too much could not be removed".to_owned()
    }
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let text = target::text(&arguments.file)?;
    assay_core::heartbeat::begin("opening the target", 0);
    let so_far = Arc::new(Mutex::new(None));
    let (known, json) = (Arc::clone(&so_far), arguments.json);
    watch::exit_when_silent(arguments.patience.saturating_mul(1_000_000_000), move |doing, seconds| {
        print_and_exit(&known, json, doing, seconds)
    });
    let (begin, limit) = (Instant::now(), Duration::from_secs(arguments.limit));
    let stop = stop_after(limit);
    let mut storage = Storage::claim(&text)?;
    let report = check_room(&storage).map(|()| assay_conform::run(&storage, &arguments.only, &stop, &so_far));
    assay_core::heartbeat::begin("giving the target back", 0);
    let left = storage.release();
    backends::leave(true);
    let report = report?;
    print(&report, &left, arguments.json)?;
    for path in left.iter().take(MAX_LEFT) {
        stderr_line!("error: could not be removed: {path}");
    }
    if left.len() > MAX_LEFT {
        stderr_line!("error: could not be removed: {} more", left.len() - MAX_LEFT);
    }
    if report.stopped {
        stderr_line!("note: stopped before the last check: {}", stopped_by(begin, limit));
    } else if report.rows.is_empty() && arguments.only.is_empty() {
        stderr_line!("error: there is no check of what a target of kind {} offers", report.kind);
    } else if report.rows.is_empty() {
        stderr_line!("error: there is no check with {:?} in its words", arguments.only);
    }
    Ok(ExitCode::from(code(&report, &left)))
}

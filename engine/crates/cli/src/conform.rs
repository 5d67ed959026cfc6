//! `assay-engine conform`: does storage do what it should?

use crate::run::print_line;
use crate::subject::Storage;
use crate::{control, target, watch};
use anyhow::bail;
use assay_conform::{Report, Verdict, LEAST_FREE_BYTES};
use assay_drive::StopFlag;
use serde_json::json;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// JSON of a target of kind file, device or nfs; - is standard input.
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

/// So many paths that could not be removed are told.
const MOST_LEFT: usize = 5;
/// Signals, and the end of the time, are noticed this late at most.
const LOOK: Duration = Duration::from_millis(50);

/// Set when a signal comes or the time is over.
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

/// Refuses storage of which nothing could be said.
fn check_room(storage: &Storage) -> anyhow::Result<()> {
    let able = storage.able();
    if !able.verify {
        bail!("a target of kind {} keeps no data: there is nothing to check", able.kind);
    }
    let free = able.place.as_ref().map_or(u64::MAX, |place| place.free_bytes);
    if free < LEAST_FREE_BYTES {
        bail!("{free} bytes are free, the checks need {LEAST_FREE_BYTES}: make room, or name another target");
    }
    Ok(())
}

fn code(report: &Report, left: &[String]) -> ExitCode {
    if report.count(Verdict::DoesNotHold) > 0 || !left.is_empty() {
        ExitCode::from(1)
    } else if report.stopped || report.rows.is_empty() {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    }
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let text = target::text(&arguments.file)?;
    assay_core::pulse::begin("opening the target", 0);
    watch::leave_when_silent(arguments.patience.saturating_mul(1_000_000_000), |doing, seconds| {
        eprintln!("error: {}; what the check has made may still be there", watch::words(doing, seconds));
    });
    let stop = stop_after(Duration::from_secs(arguments.limit));
    let mut storage = Storage::claim(&text)?;
    let report = check_room(&storage).map(|()| assay_conform::run(&storage, &arguments.only, &stop));
    assay_core::pulse::begin("giving the target back", 0);
    let left = storage.release();
    let report = report?;
    if arguments.json {
        let counts = json!({
            "holds": report.count(Verdict::Holds), "does_not_hold": report.count(Verdict::DoesNotHold),
            "not_done": report.count(Verdict::NotDone),
        });
        let answer = json!({ "report": report, "counts": counts, "left": left });
        print_line(&serde_json::to_string_pretty(&answer)?)?;
    } else {
        print_line(&report.to_string())?;
    }
    for path in left.iter().take(MOST_LEFT) {
        eprintln!("error: could not be removed: {path}");
    }
    if left.len() > MOST_LEFT {
        eprintln!("error: could not be removed: {} more", left.len() - MOST_LEFT);
    }
    if report.stopped {
        eprintln!("note: stopped before the last check: by a signal, after the {} s of --limit, or as too much could not be removed", arguments.limit);
    } else if report.rows.is_empty() {
        eprintln!("error: there is no check with {:?} in its words", arguments.only);
    }
    Ok(code(&report, &left))
}

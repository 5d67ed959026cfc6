//! `assay-engine inspect`, `claim` and `clean`: the directories in which jobs may work.

use crate::run::print_line;
use crate::{backends, target, watch};
use anyhow::{bail, Context};
use assay_core::{heartbeat, SetupError};
use assay_spec::{Claim, LeftJob, PlaceAnswer};
use serde::Serialize;
use serde_json::{json, Value};
use std::process::ExitCode;
use std::time::Duration;

/// How long storage may be silent.
#[derive(clap::Args)]
pub(crate) struct Patience {
    /// Seconds without any progress after which the storage counts as hung.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    patience: Option<u64>,
}

#[derive(clap::Args)]
pub(crate) struct Inspect {
    #[command(flatten)]
    patience: Patience,
    /// Absolute path of a directory that is there or could be made.
    root: String,
}

#[derive(clap::Args)]
pub(crate) struct ClaimArguments {
    #[command(flatten)]
    patience: Patience,
    /// JSON that says what to claim for which run; - is standard input.
    #[arg(default_value = "-")]
    file: String,
}

#[derive(clap::Args)]
pub(crate) struct Clean {
    #[command(flatten)]
    patience: Patience,
    /// Give the whole root back, whatever the target's `directory`; what is not of its run stays.
    #[arg(long)]
    root: bool,
    /// JSON of a target, or of a job: of buckets and tables only what a job can have made is removed; - is standard input.
    #[arg(default_value = "-")]
    file: String,
}

/// Time between two lines that report that the storage still responds.
const WORKING: Duration = Duration::from_secs(5);

/// Longest wait for a directory that another process is using: it may be removing a dead run's data.
const LOCK_SECONDS: u64 = 10;

impl Patience {
    /// Nanoseconds to wait for another process.
    fn lock_ns(&self) -> u64 {
        self.patience.unwrap_or(LOCK_SECONDS).min(LOCK_SECONDS) * 1_000_000_000
    }

    /// Print a line `{"working":true}` now and then while there is progress. If there is none for too long, print the
    /// answer of `silent`, which gets the message, and exit.
    pub(crate) fn watch<A: Serialize + 'static>(&self, doing: String, silent: fn(String) -> A) {
        heartbeat::begin(doing, 0);
        if self.patience.is_some() {
            std::thread::spawn(|| loop {
                std::thread::sleep(WORKING);
                if heartbeat::silence().1 < WORKING.as_nanos() as u64 {
                    let _ = print_line(&json!({ "working": true }).to_string());
                }
            });
        }
        if let Some(seconds) = self.patience {
            watch::exit_when_silent(seconds.saturating_mul(1_000_000_000), move |doing, seconds| {
                let answer = silent(watch::silence_message(doing, seconds));
                let _ = serde_json::to_string(&answer).map(|line| print_line(&line));
                1
            });
        }
    }
}

fn silent(error: String) -> PlaceAnswer {
    PlaceAnswer { error, silent: true, ..PlaceAnswer::default() }
}

/// Print the answer as the last line, and an error also to standard error.
fn print_answer(answer: Result<PlaceAnswer, SetupError>) -> anyhow::Result<ExitCode> {
    let answer = answer.unwrap_or_else(|error| PlaceAnswer { error: error.to_string(), ..PlaceAnswer::default() });
    print_line(&serde_json::to_string(&answer)?)?;
    if answer.error.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("{}", answer.error)
}

pub(crate) fn inspect(arguments: &Inspect) -> anyhow::Result<ExitCode> {
    arguments.patience.watch(format!("looking at {}", arguments.root), silent);
    let look = assay_backend_file::inspect(&arguments.root);
    print_answer(look.map(|look| PlaceAnswer { look: Some(look), ..PlaceAnswer::default() }))
}

pub(crate) fn claim(arguments: &ClaimArguments) -> anyhow::Result<ExitCode> {
    let text = target::text(&arguments.file)?;
    let claim: Claim = serde_json::from_str(&text).context("the claim cannot be read")?;
    claim.validate()?;
    arguments.patience.watch(format!("claiming {}", claim.root), silent);
    print_answer(assay_backend_file::claim(&claim, arguments.patience.lock_ns()))
}

pub(crate) fn clean(arguments: &Clean) -> anyhow::Result<ExitCode> {
    let text = target::text(&arguments.file)?;
    let (target, left) = match left_job(&text)? {
        Some(left) => (left.job.target.clone(), Some(left)),
        None => (target::read(&text, arguments.root.then_some("any"))?, None),
    };
    arguments.patience.watch(format!("cleaning a {} target", target.kind()), silent);
    let (kind, lock_ns) = (backends::kind(&target), arguments.patience.lock_ns());
    print_answer(match left.filter(|_| !arguments.root) {
        Some(left) => kind.clean_job(&left, lock_ns),
        None => kind.clean(&target, arguments.root, lock_ns),
    })
}

/// The job that may have left data, if the text is a job, or a job with its engines' events; None for a target.
fn left_job(text: &str) -> anyhow::Result<Option<LeftJob>> {
    let Ok(Value::Object(mut fields)) = serde_json::from_str::<Value>(text) else { return Ok(None) };
    if fields.contains_key("phases") {
        return Ok(Some(LeftJob { job: crate::job::parse(text)?, uploads: Vec::new(), beyond: Vec::new() }));
    }
    let Some(job) = fields.get("job") else { return Ok(None) };
    let job = crate::job::parse(&job.to_string())?;
    fields.insert("job".to_owned(), serde_json::to_value(&job)?);
    Ok(Some(serde_json::from_value(Value::Object(fields)).context("what is left of the job cannot be read")?))
}

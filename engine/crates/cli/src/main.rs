//! assay-engine: one job in (JSON), events out (NDJSON). It knows nothing of studies, prices or hosts.

mod backends;
mod capabilities;
mod check;
mod clean;
mod control;
mod hello;
mod job;
mod run;
mod schema;
mod target;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The load generator of Assay.
#[derive(Parser)]
#[command(name = "assay-engine", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a job and print its events, one JSON object a line.
    ///
    /// Without FILE the job is the first line of standard input, which stays open as the control channel:
    /// `{"stop":true}` ends the job in order, `{"go":true}` starts one that waits, and its end means that the
    /// controller is gone: the job is stopped and its data removed. With FILE there is no control channel.
    ///
    /// Example: assay-engine run job.json
    Run(run::Arguments),
    /// Check a job without touching any storage.
    ///
    /// Example: assay-engine check job.json
    Check(check::Arguments),
    /// Print what the backends can do, or what can be done at a given place.
    ///
    /// Example: assay-engine capabilities --root /mnt/x/assay
    Capabilities(capabilities::Arguments),
    /// Remove what killed jobs have left in an NFS target.
    ///
    /// FILE holds a job's target as JSON, its `directory` is what is removed, below a `root` that has Assay's mark.
    ///
    /// Example: assay-engine clean --root target.json
    Clean(clean::Arguments),
    /// Print the JSON Schema of jobs, events or capabilities.
    ///
    /// Example: assay-engine schema job
    Schema(schema::Arguments),
}

/// Exit codes: 0 all well, 1 operations failed, 2 refused.
fn main() -> ExitCode {
    assay_core::clock::start();
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::main(&arguments),
        Command::Check(arguments) => check::main(&arguments),
        Command::Capabilities(arguments) => capabilities::main(&arguments),
        Command::Clean(arguments) => clean::main(&arguments),
        Command::Schema(arguments) => schema::main(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

//! `assay-engine survey`: what a trace holds.

use crate::run::print_line;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The trace.
    trace: String,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    print_line(&serde_json::to_string(&assay_replay::contents(&arguments.trace)?)?)?;
    Ok(ExitCode::SUCCESS)
}

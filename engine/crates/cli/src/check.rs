//! `assay-engine check`.

use crate::job;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The job; `-` for one line on standard input.
    #[arg(default_value = "-")]
    file: String,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    job::parse(&job::read(&arguments.file)?)?;
    Ok(ExitCode::SUCCESS)
}

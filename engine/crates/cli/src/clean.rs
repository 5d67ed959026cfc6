//! `assay-engine clean`.

use crate::run::print_line;
use crate::target;
use serde_json::json;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Remove the root, whatever the target's `directory`; it stays if another run's data is in it.
    #[arg(long)]
    root: bool,
    /// JSON of an NFS target; - is standard input.
    #[arg(default_value = "-")]
    file: String,
}

/// Prints `{"removed": [PATH, ...]}`; there may be nothing to remove.
pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let any = arguments.root.then_some("any");
    let target = target::read(&arguments.file, any)?;
    let removed = assay_backend_nfs::clean(&target, arguments.root)?;
    print_line(&json!({ "removed": removed }).to_string())?;
    Ok(ExitCode::SUCCESS)
}

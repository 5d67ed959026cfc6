//! `assay-engine capabilities`.

use crate::backends;
use crate::run::print_line;
use assay_backend_file::FileBackend;
use assay_core::Backend;
use assay_spec::{Capabilities, SPEC_VERSION};
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Try what can be done in this marked directory.
    #[arg(long, conflicts_with = "device")]
    root: Option<String>,
    /// Try what can be done on this block device; nothing is written.
    #[arg(long)]
    device: Option<String>,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let backends = match (&arguments.root, &arguments.device) {
        (Some(root), _) => vec![FileBackend::directory(root, "probe", 1, 1)?.capabilities()],
        (None, Some(device)) => vec![FileBackend::device(device, 1)?.capabilities()],
        (None, None) => backends::general(),
    };
    let answer =
        Capabilities { spec_version: SPEC_VERSION, engine_version: env!("CARGO_PKG_VERSION").to_owned(), backends };
    print_line(&serde_json::to_string_pretty(&answer)?)?;
    Ok(ExitCode::SUCCESS)
}

//! `assay-engine capabilities`.

use crate::backends;
use crate::run::print_line;
use crate::target;
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
    /// Ask the servers of the NFS target in this file (- is standard input); nothing is written.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "device"])]
    target: Option<String>,
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let backends = match (&arguments.root, &arguments.device, &arguments.target) {
        (_, _, Some(file)) => vec![assay_backend_nfs::probe(&target::read(file, Some("any"))?)?],
        (Some(root), ..) => vec![FileBackend::directory(root, "probe", 0..1, 1)?.capabilities()],
        (None, Some(device), None) => vec![FileBackend::device(device, 1)?.capabilities()],
        (None, None, None) => backends::general(),
    };
    let answer =
        Capabilities { spec_version: SPEC_VERSION, engine_version: env!("CARGO_PKG_VERSION").to_owned(), backends };
    print_line(&serde_json::to_string_pretty(&answer)?)?;
    Ok(ExitCode::SUCCESS)
}

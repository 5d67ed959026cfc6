//! `assay-engine capabilities`.

use crate::backends;
use crate::run::print_line;
use crate::target;
use anyhow::Context;
use assay_backend_file::FileBackend;
use assay_core::Backend;
use assay_spec::{BackendCapabilities, Capabilities, FileTarget, SPEC_VERSION};
use serde_json::Value;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Try what can be done in this marked directory.
    #[arg(long, conflicts_with = "device")]
    root: Option<String>,
    /// Try what can be done on this block device; nothing is written.
    #[arg(long)]
    device: Option<String>,
    /// Try the target of kind file or nfs in this file (- is standard input); of a server nothing is asked to write.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "device"])]
    target: Option<String>,
}

/// What can be done at a target that is described by a text.
fn probe(text: &str) -> anyhow::Result<BackendCapabilities> {
    let described: Value = serde_json::from_str(text).context("the target cannot be read")?;
    if described["kind"] == "file" {
        return Ok(FileBackend::directory(&target::file(text, Some("any"))?, 0..1, 1)?.capabilities());
    }
    Ok(assay_backend_nfs::probe(&target::nfs(text, Some("any"))?)?)
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let by_hand = |root: &String| FileTarget { root: root.clone(), directory: "probe".to_owned(), run: None };
    let backends = match (&arguments.root, &arguments.device, &arguments.target) {
        (_, _, Some(file)) => vec![probe(&target::text(file)?)?],
        (Some(root), ..) => vec![FileBackend::directory(&by_hand(root), 0..1, 1)?.capabilities()],
        (None, Some(device), None) => vec![FileBackend::device(device, 1)?.capabilities()],
        (None, None, None) => backends::general(),
    };
    let answer =
        Capabilities { spec_version: SPEC_VERSION, engine_version: env!("CARGO_PKG_VERSION").to_owned(), backends };
    print_line(&serde_json::to_string_pretty(&answer)?)?;
    Ok(ExitCode::SUCCESS)
}

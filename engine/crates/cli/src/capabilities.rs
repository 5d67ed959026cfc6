//! `assay-engine capabilities`.

use crate::backends;
use crate::run::print_line;
use crate::target;
use assay_spec::{Capabilities, DeviceTarget, FileTarget, Target, SPEC_VERSION};
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Try what can be done in this marked directory.
    #[arg(long, conflicts_with = "device")]
    root: Option<String>,
    /// Try what can be done on this block device; nothing is written.
    #[arg(long)]
    device: Option<String>,
    /// Try the target in this file (- is standard input); nothing is written that stays, and of a server nothing is asked
    /// to write.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["root", "device"])]
    target: Option<String>,
}

impl Arguments {
    /// The place to probe; None for general capabilities.
    fn place(&self) -> anyhow::Result<Option<Target>> {
        let directory = "probe".to_owned();
        Ok(match (&self.target, &self.root, &self.device) {
            (Some(file), ..) => Some(target::read(&target::text(file)?, Some("any"))?),
            (None, Some(root), _) => {
                Some(Target::File(FileTarget { root: root.clone(), directory, shares: vec![], run: None }))
            }
            (None, None, Some(path)) => Some(Target::Device(DeviceTarget { path: path.clone(), destroy: true })),
            (None, None, None) => None,
        })
    }
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let backends = match arguments.place()? {
        Some(place) => vec![backends::kind(&place).probe(&place)?],
        None => backends::general_capabilities(),
    };
    let answer = Capabilities {
        spec_version: SPEC_VERSION,
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
        mpi: backends::mpi_library(),
        backends,
    };
    print_line(&serde_json::to_string_pretty(&answer)?)?;
    Ok(ExitCode::SUCCESS)
}

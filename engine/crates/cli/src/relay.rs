//! `assay-engine relay`: several engines of this host as one.

use assay_relay::commands::Source;
use assay_relay::{follow, lead, Launcher, LeadMode, World};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Engines of this host; the lanes of the job are shared out among them.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    tasks: u32,
    /// What has started so many processes on each of several hosts, each of which has one engine: `mpirun` or `srun`.
    #[arg(long, requires = "key")]
    launcher: Option<LauncherName>,
    /// What processes of one host meet by: letters and digits that no other job has.
    #[arg(long)]
    key: Option<String>,
    /// The file of the controller's words, on storage that all hosts share; standard input, which all processes get, if
    /// left out.
    #[arg(long, requires = "launcher")]
    words: Option<PathBuf>,
    /// The engine to start instead of this program.
    #[arg(long)]
    engine: Option<PathBuf>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LauncherName {
    Mpirun,
    Srun,
}

pub(crate) fn main(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let signalled = crate::control::signalled();
    let engine = arguments.engine.map_or_else(std::env::current_exe, Ok)?;
    let (Some(launcher), Some(key)) = (arguments.launcher, arguments.key) else {
        return lead(&engine, LeadMode::Pipe(arguments.tasks), &signalled);
    };
    let launcher = match launcher {
        LauncherName::Mpirun => Launcher::Mpirun,
        LauncherName::Srun => Launcher::Srun,
    };
    let world = World::find(launcher, arguments.tasks, &|name| std::env::var(name).ok())?;
    if world.local > 0 {
        follow(&engine, &key, world.node, world.local, &signalled)?;
        return Ok(ExitCode::SUCCESS);
    }
    let words = arguments.words.map_or_else(|| Source::Pipe(std::io::stdin()), Source::growing_file);
    lead(
        &engine,
        LeadMode::Launched { node: world.node, tasks: arguments.tasks, key: &key, commands: words },
        &signalled,
    )
}

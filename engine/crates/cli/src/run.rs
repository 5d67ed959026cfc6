//! `assay-engine run`.

use crate::control::Control;
use crate::{backends, hello, job};
use assay_core::clock;
use assay_drive::EventSink;
use assay_spec::{Bye, ByeStatus, Event};
use std::io::Write;
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The job; without it, or with `-`, the first line of standard input.
    #[arg(default_value = "-")]
    file: String,
}

/// Prints a line on standard output.
pub(crate) fn print_line(line: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

struct Lines;

impl EventSink for Lines {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        print_line(&serde_json::to_string(event).map_err(std::io::Error::other)?)
    }
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let text = job::read(&arguments.file)?;
    let job = job::parse(&text)?;
    let control = Control::listen(arguments.file == "-");
    let backend = backends::open(&job)?;
    backends::check(&job, &backend.capabilities())?;
    let mut sink = Lines;
    sink.emit(&Event::Hello(hello::event(&job, &text, backend.capabilities())))?;
    let mut go = || !job.wait_for_go || control.wait_for_go();
    let (status, reason) = assay_drive::run(&job, &backend, &mut sink, &control.stop, &mut go);
    if let Some(reason) = &reason {
        eprintln!("{}: {reason}", if status == ByeStatus::Refused { "error" } else { "note" });
    }
    let bye = Bye { status, reason, max_rss_bytes: assay_drive::max_rss_bytes(), at_ns: clock::now() };
    // Nobody may be listening any more; the data has been removed all the same.
    let _ = sink.emit(&Event::Bye(bye));
    Ok(match status {
        ByeStatus::Ok => ExitCode::SUCCESS,
        ByeStatus::Errors | ByeStatus::Stopped => ExitCode::from(1),
        ByeStatus::Refused => ExitCode::from(2),
    })
}

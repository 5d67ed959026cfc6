//! `assay-engine run`.

use crate::control::Control;
use crate::{backends, hello, job, watch};
use assay_core::{clock, creation_log, heartbeat};
use assay_drive::{Ending, EventSink};
use assay_spec::{Bye, ByeStatus, Event, Job};
use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc::{sync_channel, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The job; without it, or with `-`, the first line of standard input.
    #[arg(default_value = "-")]
    file: String,
}

/// Print a line on standard output.
pub(crate) fn print_line(line: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// Most lines that wait while the reader is slow.
const QUEUE: usize = 10_000;
/// A reader that reads nothing for this long counts as gone.
const READER_PATIENCE: Duration = Duration::from_secs(30);

/// Time to write pending lines before the process exits.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// Lines on their way to standard output; None is the end.
pub(crate) type LineQueue = SyncSender<Option<String>>;

/// Writes events on a separate thread, so that a hanging reader cannot keep the engine from stopping.
struct Lines {
    queue: LineQueue,
    writer: JoinHandle<std::io::Result<()>>,
}

impl Lines {
    fn start() -> Self {
        let (queue, lines) = sync_channel::<Option<String>>(QUEUE);
        let writer = std::thread::spawn(move || {
            // Ends at the first line that cannot be written; the next `emit` then fails.
            lines.into_iter().map_while(|line| line).try_for_each(|line| print_line(&line))
        });
        Lines { queue, writer }
    }

    /// Wait a while until everything has been written; returns the error if it was not.
    fn finish(self) -> Option<std::io::Error> {
        let end = Instant::now() + Duration::from_secs(5);
        while matches!(self.queue.try_send(None), Err(TrySendError::Full(_))) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        while !self.writer.is_finished() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.writer.is_finished() {
            return self.writer.join().ok().and_then(Result::err);
        }
        None
    }
}

/// Pass an event to the thread that prints, which may have to wait for the reader.
fn enqueue(queue: &LineQueue, event: &Event) -> std::io::Result<()> {
    let mut line = Some(serde_json::to_string(event).map_err(std::io::Error::other)?);
    let end = Instant::now() + READER_PATIENCE;
    loop {
        line = match queue.try_send(line) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(line)) if Instant::now() < end => line,
            Err(_) => return Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl EventSink for Lines {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        enqueue(&self.queue, event)
    }
}

/// End the process with a `bye` event when the storage does not respond, if the job has a limit for that.
fn exit_on_stall(job: &Job, queue: &LineQueue) {
    let Some(limit) = job.stall_limit_ns else { return };
    let queue = queue.clone();
    heartbeat::begin("opening the target", 0);
    watch::exit_when_silent(limit, move |doing, seconds| {
        let reason = Some(watch::silence_message(doing, seconds));
        let max_rss_bytes = assay_drive::max_rss_bytes();
        let at_ns = clock::now();
        let bye = Event::Bye(Bye { status: ByeStatus::Stalled, reason, left_behind: true, max_rss_bytes, at_ns });
        let _ = serde_json::to_string(&bye).map(|line| queue.try_send(Some(line)));
        // The thread that prints may have earlier lines to print.
        std::thread::sleep(DRAIN_TIME);
        1
    });
}

pub(crate) fn main(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let text = job::read(&arguments.file)?;
    let job = job::parse(&text)?;
    if job.wait_for_go && arguments.file != "-" {
        anyhow::bail!("wait_for_go: give the job on standard input, where go can follow");
    }
    let mut sink = Lines::start();
    let control = Control::start(arguments.file == "-", &job, sink.queue.clone());
    exit_on_stall(&job, &sink.queue);
    let queue = sink.queue.clone();
    // If nothing reads the events, the driver's next event ends the job.
    creation_log::set_sink(move |event| drop(enqueue(&queue, event)));
    let backend = backends::open(&job)?;
    backends::check(&job, &backend.capabilities())?;
    sink.emit(&Event::Hello(hello::event(&job, &text, backend.capabilities())))?;
    let mut go = || control.wait_for_go();
    let Ending { status, reason, left_behind } = assay_drive::run(&job, &backend, &mut sink, &control.stop, &mut go);
    let max_rss_bytes = assay_drive::max_rss_bytes();
    let bye = Bye { status, reason: reason.clone(), left_behind, max_rss_bytes, at_ns: clock::now() };
    // The reader may be gone; the data has been removed all the same.
    let _ = sink.emit(&Event::Bye(bye));
    let written = sink.finish();
    backends::leave(matches!(status, ByeStatus::Ok | ByeStatus::Errors));
    if let Some(error) = written {
        stderr_line!("error: events cannot be written: {error}");
    } else if let Some(reason) = reason {
        stderr_line!("{}: {reason}", if status == ByeStatus::Refused { "error" } else { "note" });
    }
    Ok(match status {
        ByeStatus::Ok => ExitCode::SUCCESS,
        ByeStatus::Errors | ByeStatus::Stopped | ByeStatus::Stalled => ExitCode::from(1),
        ByeStatus::Refused => ExitCode::from(2),
    })
}

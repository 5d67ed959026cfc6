//! assay-engine: one job in (JSON), events out (NDJSON). It knows nothing of studies, prices or other hosts.
//!
//! Two programs have the same commands: `assay-engine`, one file without an MPI library, and `assay-engine-mpi`, which
//! is linked to the MPI of the system that it was built on and has MPI-IO as one more kind (feature `mpiio`).

#[macro_use]
mod stderr_line;
mod aoe;
mod backends;
mod capabilities;
mod check;
mod conform;
mod control;
mod counters;
mod hello;
mod job;
mod methods;
mod places;
mod relay;
mod run;
mod schema;
mod subject;
mod survey;
mod target;
mod watch;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use std::sync::LazyLock;

/// The program's own name.
const NAME: &str = if cfg!(feature = "mpiio") { "assay-engine-mpi" } else { "assay-engine" };

/// The version of the engine, and of the MPI that it is linked to.
fn version() -> &'static str {
    static WORDS: LazyLock<String> = LazyLock::new(|| {
        let own = env!("CARGO_PKG_VERSION");
        backends::mpi_library().map_or(own.to_owned(), |mpi_library| format!("{own} ({mpi_library})"))
    });
    &WORDS
}

/// The load generator of Assay.
#[derive(Parser)]
#[command(name = NAME, version = version(), max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a job and print its events, one JSON object a line.
    ///
    /// Without FILE the job is the first line of standard input, which stays open as the control channel:
    /// `{"stop":true}` ends the job in order, `{"go":true}` starts one that waits, and its end means that the
    /// controller is gone: the job is stopped and its data removed. With FILE there is no control channel.
    ///
    /// Example: assay-engine run job.json
    Run(run::Arguments),
    /// Check a job without touching any storage.
    ///
    /// Example: assay-engine check job.json
    Check(check::Arguments),
    /// Print what the backends can do, or what can be done at a given place.
    ///
    /// Example: assay-engine capabilities --root /mnt/x/assay
    Capabilities(capabilities::Arguments),
    /// Look at a directory in which jobs may be about to work, and change nothing.
    ///
    /// Example: assay-engine inspect /mnt/x/assay
    Inspect(places::Inspect),
    /// Make a directory for the jobs of a run, or mark one that is there; somebody else's is left alone.
    ///
    /// Example: assay-engine claim claim.json
    Claim(places::ClaimArguments),
    /// Remove what killed jobs have left, or give a claimed directory back.
    ///
    /// FILE holds a job's target as JSON, its `directory` is what is removed, below a `root` that has Assay's mark. Of buckets
    /// and tables, which others use, too, it holds the whole job, and only what that can have made is removed.
    /// Only what has a mark of the target's `run` and the names that jobs give is removed; no link is followed and no
    /// mount crossed. What is still there is told.
    ///
    /// Example: assay-engine clean --root target.json
    Clean(places::Clean),
    /// Check whether storage does what it should, byte for byte, and print a table.
    ///
    /// FILE holds a target as JSON: a directory, an NFS export, or a device, which is overwritten and needs
    /// `"destroy": true`. A directory must be new, empty or marked by Assay. The checks are those that the target's
    /// capabilities allow: every operation in every way, what another reader finds before and after a flush and when
    /// the file is opened anew, ends of files, and names. What they make is removed, also after SIGINT. What only a loss
    /// of power would show is not seen.
    ///
    /// Exit codes: 0 all holds, 1 something does not, 2 it could not be checked.
    ///
    /// Example: echo '{"kind": "file", "root": "/mnt/x/assay-conform"}' | assay-engine conform -
    #[command(verbatim_doc_comment)]
    Conform(conform::Arguments),
    /// Find out which method `auto` takes for several operations in flight, by trying.
    ///
    /// The same kind of case then gets the same method on all hosts and in all repeats.
    ///
    /// Example: assay-engine methods question.json
    Methods(methods::Arguments),
    /// Print what links, CPUs and disks of this host have done, one JSON object a line, until standard input ends.
    ///
    /// Example: assay-engine counters --every-ms 1000
    Counters(counters::Arguments),
    /// Run several engines of this host as one: one job in, which is shared out, one stream of events out.
    ///
    /// Standard input and output are as of `run`. With a launcher this is one of many processes that `mpirun` or `srun`
    /// has started: the first of each host talks for all of it, in frames on standard error.
    ///
    /// Example: assay-engine relay --tasks 4
    Relay(relay::Arguments),
    /// Look at disks behind ATA over Ethernet.
    ///
    /// Sending frames needs root or `CAP_NET_RAW`.
    Aoe(aoe::Arguments),
    /// Read a trace to its end, and print what it holds as JSON; one that cannot be replayed is refused.
    ///
    /// Example: assay-engine survey build.trace.gz
    Survey(survey::Arguments),
    /// Print the JSON Schema of jobs, events or capabilities.
    ///
    /// Example: assay-engine schema job
    Schema(schema::Arguments),
}

/// Exit code of a refusal because of missing credentials; of any other it is 2.
const NO_CREDENTIALS: u8 = 3;

/// Entry point of both programs. Exit codes: 0 success, 1 operations failed, 2 refused, 3 refused: no credentials.
pub fn main() -> ExitCode {
    assay_core::clock::start();
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::main(&arguments),
        Command::Check(arguments) => check::main(&arguments),
        Command::Capabilities(arguments) => capabilities::main(&arguments),
        Command::Inspect(arguments) => places::inspect(&arguments),
        Command::Claim(arguments) => places::claim(&arguments),
        Command::Clean(arguments) => places::clean(&arguments),
        Command::Conform(arguments) => conform::main(&arguments),
        Command::Methods(arguments) => methods::main(&arguments),
        Command::Counters(arguments) => counters::main(&arguments),
        Command::Relay(arguments) => relay::main(arguments),
        Command::Aoe(arguments) => aoe::main(&arguments),
        Command::Survey(arguments) => survey::main(&arguments),
        Command::Schema(arguments) => schema::main(&arguments),
    };
    result.unwrap_or_else(|error| {
        stderr_line!("error: {error:#}");
        let setup = error.chain().find_map(|cause| cause.downcast_ref::<assay_core::SetupError>());
        ExitCode::from(if setup.is_some_and(|setup| setup.no_credentials) { NO_CREDENTIALS } else { 2 })
    })
}

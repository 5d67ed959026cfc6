//! assay-switch: helper of the box cluster that runs inside its namespaces, as one small program without dependencies.

mod daemon;
mod forward;
mod init;
mod packets;
mod port;
mod ready;
mod root;

use std::process::ExitCode;

const USAGE: &str = "usage:
  assay-switch init --name HOST --folder DIR [--empty /DIR]... [--bind FROM:TO]...
      Make a host: its own net, mount, pid, uts and ipc namespaces. Prints the process id of its init, waits for a line
      on standard input, sets the host up, prints `ready` and stays. If standard input ends before, nothing stays.
  assay-switch switch --port NAME:DELAY_NS:LOSS_PPM...
      Join interfaces as a learning switch does. A frame is held for the delays of the two ports it passes, and lost with
      the probability of each. Returns when the ports are open; the switch goes on in the background.
  assay-switch ready --within-ms TIME ADDRESS:PORT[/PROGRAM/VERSION]|http://ADDRESS:PORT/PATH...
      Wait until all ports take TCP connections and, with PROGRAM, answer a NULL call of ONC RPC; with http://, a GET
      with a status below 500.";

/// A result whose error is a one-line message.
pub(crate) type Outcome<T> = Result<T, String>;

/// Exit codes: 0 success, 1 not ready in time, 2 invalid arguments or a kernel error.
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = arguments.split_first().map_or(("", &[][..]), |(command, rest)| (command.as_str(), rest));
    let result = match command {
        "init" => init::main(rest),
        "switch" => forward::main(rest),
        "ready" => ready::main(rest),
        _ => Err(USAGE.to_string()),
    };
    result.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        ExitCode::from(2)
    })
}

/// The argument that follows an option.
pub(crate) fn value<'a>(option: &str, arguments: &mut impl Iterator<Item = &'a String>) -> Outcome<&'a str> {
    arguments.next().map(String::as_str).ok_or_else(|| format!("{option} needs a value"))
}

/// Message for the error of the last system call; `what` names what was attempted.
pub(crate) fn last_error(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

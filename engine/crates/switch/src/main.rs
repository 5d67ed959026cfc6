//! assay-switch: what the cluster in a box needs inside its namespaces, in one small program without dependencies.

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

/// What went wrong, in one line.
pub(crate) type Outcome<T> = Result<T, String>;

/// Exit codes: 0 all well, 1 not ready in time, 2 wrong arguments or a refusal of the kernel.
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = words.split_first().map_or(("", &[][..]), |(command, rest)| (command.as_str(), rest));
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

/// The word that follows an option.
pub(crate) fn value<'a>(option: &str, words: &mut impl Iterator<Item = &'a String>) -> Outcome<&'a str> {
    words.next().map(String::as_str).ok_or_else(|| format!("{option} needs a value"))
}

/// The error of the system call just made, with what was tried.
pub(crate) fn last_error(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

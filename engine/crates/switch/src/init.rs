//! The init process of a host: creates its namespaces, sets them up, and then only reaps processes.
//!
//! When it ends, the kernel ends every process of the host, and removes the namespaces with their interfaces and
//! mounts.

use crate::{daemon, last_error, root, value, Outcome};
use std::io::{BufRead, Write};
use std::process::ExitCode;

/// How a host differs from the machine.
#[derive(Default)]
pub(crate) struct Host {
    /// Its host name.
    pub(crate) name: String,
    /// Directory of the box, which hosts see at the same path.
    pub(crate) folder: String,
    /// Empty directories of its own, for mounts. They hide the machine's directories of the same name.
    pub(crate) empty: Vec<String>,
    /// Bind mounts, as (from, to).
    pub(crate) binds: Vec<(String, String)>,
}

pub(crate) fn main(words: &[String]) -> Outcome<ExitCode> {
    let host = parse(words)?;
    let spaces = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC;
    // SAFETY: takes flags only, none of which separates this process's memory or open files.
    if unsafe { libc::unshare(spaces) } != 0 {
        return Err(last_error("namespaces cannot be made"));
    }
    match daemon::fork_sibling()? {
        0 => run_init(&host),
        init => {
            // The caller records the id before it lets the host start.
            print_line(&init.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn parse(words: &[String]) -> Outcome<Host> {
    let mut host = Host::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let given = value(word, &mut words)?.to_string();
        match word.as_str() {
            "--name" => host.name = given,
            "--folder" => host.folder = given,
            "--empty" => host.empty.push(given),
            "--bind" => {
                let (from, to) = given.split_once(':').ok_or_else(|| format!("--bind {given}: write FROM:TO"))?;
                host.binds.push((from.to_string(), to.to_string()));
            }
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if host.name.is_empty() || !host.folder.starts_with('/') {
        return Err("--name and an absolute --folder are needed".to_string());
    }
    Ok(host)
}

fn run_init(host: &Host) -> Outcome<ExitCode> {
    let mut line = String::new();
    let got = std::io::stdin().lock().read_line(&mut line).map_err(|error| format!("standard input: {error}"))?;
    if got == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    daemon::own_session()?;
    root::build(host)?;
    // SAFETY: no handler is installed. When SIGCHLD is ignored, the kernel itself reaps ended processes and orphans.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    print_line("ready")?;
    daemon::release_streams()?;
    loop {
        // SAFETY: has no arguments.
        unsafe { libc::pause() };
    }
}

fn print_line(line: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| format!("standard output: {error}"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_string).collect()
    }

    #[test]
    fn host_options_are_parsed() {
        let host = parse(&words("--name a --folder /run/x --empty /export --bind /run/x/hosts:/etc/hosts")).unwrap();
        assert_eq!((host.name.as_str(), host.folder.as_str()), ("a", "/run/x"));
        assert_eq!(host.empty, ["/export"]);
        assert_eq!(host.binds, [("/run/x/hosts".to_string(), "/etc/hosts".to_string())]);
    }

    #[test]
    fn invalid_options_are_refused() {
        for wrong in ["--name a", "--name a --folder x", "--name a --folder /x --bind y", "--what a", "--name"] {
            assert!(parse(&words(wrong)).is_err(), "{wrong}");
        }
    }
}

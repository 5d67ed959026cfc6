//! assay-faultfs: a file system that passes calls on to a directory and injects faults on command.
//!
//! It is only a tool for tests, not part of the engine, and never shipped. Tests mount it, put a study's target on it,
//! and send commands to its standard input that state which calls fail and how. Each injected fault is a line of its
//! log. It is mounted with mount(2), hence by root, and ends when standard input ends.

mod control;
mod data;
mod entries;
mod fs;
mod log;
mod nodes;
mod rules;

use fuser::{Config, MountOption, Session, SessionACL};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "usage: assay-faultfs BACKING MOUNTPOINT LOG [--cached]
  Pass the directory BACKING on at MOUNTPOINT; append each injected fault to LOG as a line of JSON. Data goes past the
  page cache unless --cached is given. Says `ready`, then answers each line of standard input by one line:
  set FAULT on OPERATION[,OPERATION...] [path GLOB] [after N] [count M] [chance SHARE] [seed N] [delay MS]
      A matching call fails, after the first N of them, M times at most, each with this chance. See the list below.
  clear       forget all rules; calls that hang go on hanging
  release     calls that hang are done
  state       `rules=N injected=N waiting=N`
  quit        unmount and end, as does the end of standard input
FAULT: an errno in small letters, such as enospc, edquot, eio, eintr, estale; short, torn, lost, vanish (at
  the close), corrupt, stale, size (told wrong), forget (a name of a directory), disappear, latency, hang.
OPERATION: lookup getattr setattr readlink mknod mkdir unlink rmdir symlink rename link open create read write flush
  fsync release opendir readdir fsyncdir statfs fallocate, or `any`.";

/// Number of calls that may hang at the same time before others have to wait.
const THREADS: usize = 64;

/// A result whose error is a one-line message.
pub(crate) type Outcome<T> = Result<T, String>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Outcome<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let cached = words.iter().any(|word| word == "--cached");
    words.retain(|word| word != "--cached");
    let [backing, mountpoint, log] = words.as_slice() else {
        return Err(USAGE.to_string());
    };
    let mountpoint = PathBuf::from(mountpoint);
    // Modes from the kernel are used unchanged, since it has already applied the caller's umask.
    rustix::process::umask(rustix::fs::Mode::empty());
    let control = Arc::new(control::Control::new(log::Log::open(log)?));
    let pass_through = fs::PassThrough::new(backing, control.clone(), cached)?;
    let mut config = Config::default();
    config.mount_options =
        vec![MountOption::FSName("assay-faultfs".to_string()), MountOption::DefaultPermissions, MountOption::NoAtime];
    config.acl = SessionACL::All;
    config.n_threads = Some(THREADS);
    let mount_error = |error: std::io::Error| format!("{}: cannot be mounted: {error}", mountpoint.display());
    let session = Session::new(pass_through, &mountpoint, &config).and_then(Session::spawn).map_err(mount_error)?;
    let result = control.serve(std::io::stdin().lock(), std::io::stdout().lock());
    let unmounted = rustix::mount::unmount(&mountpoint, rustix::mount::UnmountFlags::DETACH);
    // The session is not dropped: the exit of the process ends the connection, and calls that still wait get an error.
    std::mem::forget(session);
    match unmounted {
        // It was unmounted by somebody else.
        Ok(()) | Err(rustix::io::Errno::INVAL) => result,
        Err(error) => Err(format!("{}: cannot be unmounted: {error}", mountpoint.display())),
    }
}

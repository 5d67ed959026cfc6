//! Leaving the caller's terminal and pipes behind.

use crate::{last_error, Outcome};
use std::fs::OpenOptions;

/// Fork; the parent gets the child's process id, the child 0.
pub(crate) fn fork() -> Outcome<i32> {
    // SAFETY: this program has one thread, so that the child may go on as if nothing had happened.
    match unsafe { libc::fork() } {
        -1 => Err(last_error("fork")),
        child => Ok(child),
    }
}

/// Fork a child of the caller's parent; this process gets its process id, the child 0.
///
/// Whoever started this process can so reap the child as soon as it ends. An orphan would wait for process 1, which on
/// some machines looks every few seconds only, or never.
pub(crate) fn fork_sibling() -> Outcome<i32> {
    let flags = (libc::CLONE_PARENT | libc::SIGCHLD) as libc::c_long;
    // SAFETY: without a new stack clone(2) is fork(2); this program has one thread.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) } {
        -1 => Err(last_error("fork")),
        child => Ok(child as i32),
    }
}

/// A session of its own, so that Ctrl-C in the caller's terminal does not reach it.
pub(crate) fn own_session() -> Outcome<()> {
    rustix::process::setsid().map(drop).map_err(|error| format!("setsid: {error}"))
}

/// Let go of standard input, output and error, for whose end the caller may wait.
pub(crate) fn release_streams() -> Outcome<()> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null").map_err(|e| format!("/dev/null: {e}"))?;
    rustix::stdio::dup2_stdin(&null)
        .and_then(|()| rustix::stdio::dup2_stdout(&null))
        .and_then(|()| rustix::stdio::dup2_stderr(&null))
        .map_err(|error| format!("/dev/null: {error}"))
}

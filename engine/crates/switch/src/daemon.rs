//! Detaches the process from the caller's terminal and pipes.

use crate::{last_error, Outcome};
use std::fs::OpenOptions;

/// Forks. Returns the child's process id to the parent, and 0 to the child.
pub(crate) fn fork() -> Outcome<i32> {
    // SAFETY: this program has one thread, so the child may continue normally.
    match unsafe { libc::fork() } {
        -1 => Err(last_error("fork")),
        child => Ok(child),
    }
}

/// Forks a child of this process's parent. Returns its process id to this process, and 0 to the child.
///
/// The parent can then reap the child as soon as it ends. An orphan would wait for process 1, which on some machines
/// checks only every few seconds, or never.
pub(crate) fn fork_sibling() -> Outcome<i32> {
    let flags = (libc::CLONE_PARENT | libc::SIGCHLD) as libc::c_long;
    // SAFETY: without a new stack, clone(2) behaves like fork(2), and this program has one thread.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) } {
        -1 => Err(last_error("fork")),
        child => Ok(child as i32),
    }
}

/// Starts a new session, so that Ctrl-C in the caller's terminal does not reach this process.
pub(crate) fn own_session() -> Outcome<()> {
    rustix::process::setsid().map(drop).map_err(|error| format!("setsid: {error}"))
}

/// Closes standard input, output and error, since the caller may wait for them to end.
pub(crate) fn release_streams() -> Outcome<()> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null").map_err(|e| format!("/dev/null: {e}"))?;
    rustix::stdio::dup2_stdin(&null)
        .and_then(|()| rustix::stdio::dup2_stdout(&null))
        .and_then(|()| rustix::stdio::dup2_stderr(&null))
        .map_err(|error| format!("/dev/null: {error}"))
}

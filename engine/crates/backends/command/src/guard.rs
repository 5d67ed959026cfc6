//! A process that outlives this one for a moment: if this one is killed, it kills what tasks still run.

use assay_core::SetupError;
use std::io::{PipeWriter, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Mutex, PoisonError};

/// Most groups at once: one for each lane of a process.
const GROUPS: usize = assay_spec::MAX_LANES as usize;

/// The guard's process, and the pipe on which it learns which groups there are.
pub(crate) struct Guard {
    pipe: Mutex<Option<PipeWriter>>,
    pub(crate) pid: libc::pid_t,
}

impl Guard {
    /// Start the process.
    ///
    /// # Errors
    /// If there is no further process.
    pub(crate) fn start() -> Result<Self, SetupError> {
        let failed = |error: std::io::Error| SetupError::new("start", "the guard of the tasks", error.to_string());
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let read_fd = reader.as_raw_fd();
        // SAFETY: the child calls nothing but async-signal-safe functions, and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(failed(std::io::Error::last_os_error())),
            0 => watch(read_fd),
            pid => Ok(Guard { pipe: Mutex::new(Some(writer)), pid }),
        }
    }

    /// The pipe on which groups are noted.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Note that nothing of a lane's group is left.
    pub(crate) fn end(&self, lane: u32) {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        // A guard that was killed guards nothing; tasks run all the same.
        let _ = pipe.as_mut().map(|pipe| pipe.write_all(&note(lane, 0)));
    }
}

/// What is written to the pipe: the place of a lane, and the group of what it runs; 0 if it runs nothing.
pub(crate) fn note(lane: u32, group: libc::pid_t) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&(lane % GROUPS as u32).to_ne_bytes());
    bytes[4..].copy_from_slice(&group.to_ne_bytes());
    bytes
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.pipe.lock().unwrap_or_else(PoisonError::into_inner).take());
        // SAFETY: the process is a child of this one and was not waited for.
        unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
    }
}

/// Read which lane runs which group, until the other end of the pipe is closed; then kill those that are left.
fn watch(read_fd: i32) -> ! {
    let mut groups = [0_i32; GROUPS];
    // SAFETY: only system calls on descriptors and numbers of this process; no memory is allocated, no lock is taken.
    unsafe {
        libc::setsid();
        for number in 1..=31 {
            libc::signal(number, libc::SIG_IGN);
        }
        // It must keep neither a mount busy nor a reader waiting.
        let between = |first: i32, last: i32| libc::syscall(libc::SYS_close_range, first, last, 0);
        if read_fd > 0 {
            between(0, read_fd - 1);
        }
        between(read_fd + 1, i32::MAX);
        libc::chdir(c"/".as_ptr());
        loop {
            let mut bytes = [0_u8; 8];
            match libc::read(read_fd, bytes.as_mut_ptr().cast(), bytes.len()) {
                8 => {
                    let lane = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize % GROUPS;
                    groups[lane] = i32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
                }
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        for group in groups {
            if group > 0 {
                libc::kill(-group, libc::SIGKILL);
            }
        }
        libc::_exit(0)
    }
}

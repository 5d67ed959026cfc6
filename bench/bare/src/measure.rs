//! Runs another program and says what it took: a small parent, so that its memory does not hide the child's.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// `measure FILE COMMAND ...`: the figures go to FILE, the exit code is the command's.
pub(crate) fn run(words: &[String]) -> Result<u8, String> {
    let [file, program, rest @ ..] = words else {
        return Err("measure needs FILE COMMAND ...".to_owned());
    };
    let (start_ns, start) = (monotonic_ns(), Instant::now());
    let child = Command::new(program).args(rest).spawn().map_err(|error| format!("{program}: {error}"))?;
    let (status, usage) = wait(child.id())?;
    let seconds = start.elapsed().as_secs_f64();
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let (user_ns, system_ns) = (ns(usage.ru_utime), ns(usage.ru_stime));
    let max_rss_bytes = usage.ru_maxrss as u64 * 1024;
    let text = format!(
        r#"{{"start_ns":{start_ns},"seconds":{seconds:.9},"user_ns":{user_ns},"system_ns":{system_ns},"max_rss_bytes":{max_rss_bytes}}}"#
    );
    fs::write(file, text).map_err(|error| format!("{file}: {error}"))?;
    Ok(status.code().map_or(128 + status.signal().unwrap_or(0) as u8, |code| code as u8))
}

fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32).as_nanos() as u64
}

/// The end of the child and what it used, its own children included if it has waited for them.
fn wait(pid: u32) -> Result<(ExitStatus, libc::rusage), String> {
    let mut status = 0;
    loop {
        // SAFETY: all-zero is a valid rusage, and wait4 writes nothing but the two it is given.
        let (done, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(pid as libc::pid_t, &raw mut status, 0, &raw mut usage), usage)
        };
        if done == pid as libc::pid_t {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(format!("wait4: {error}"));
        }
    }
}

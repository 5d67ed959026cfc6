//! What this process has used.

use assay_spec::Resources;

fn usage() -> libc::rusage {
    // SAFETY: rusage is plain numbers, for which zeros are valid, and getrusage only fills it.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    }
}

fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000
}

/// Greatest resident memory so far, in bytes (VmHWM of proc_pid_status(5): getrusage counts from before execve, when
/// this was the process that started us).
pub fn max_rss_bytes() -> u64 {
    let table = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse::<u64>().ok());
    kibibytes.map_or_else(|| usage().ru_maxrss as u64 * 1024, |number| number * 1024)
}

/// What has been used since the process started (getrusage(2), proc_pid_io(5)).
pub(crate) fn snapshot() -> Resources {
    let usage = usage();
    let table = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let field = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name))?;
        line[name.len()..].trim().parse().ok()
    };
    Resources {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        read_bytes: field("read_bytes:"),
        write_bytes: field("write_bytes:"),
    }
}

/// What was used between two snapshots.
pub(crate) fn between(from: &Resources, to: &Resources) -> Resources {
    let difference = |a: Option<u64>, b: Option<u64>| Some(b?.saturating_sub(a?));
    Resources {
        user_ns: to.user_ns - from.user_ns,
        system_ns: to.system_ns - from.system_ns,
        read_bytes: difference(from.read_bytes, to.read_bytes),
        write_bytes: difference(from.write_bytes, to.write_bytes),
    }
}

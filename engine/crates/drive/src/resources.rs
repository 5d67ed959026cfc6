//! Resources used by this process, its host and its device.

use assay_spec::{DeviceUse, HostCpu, Resources};
use std::fs::{read_to_string, File};
use std::os::unix::fs::FileExt;

const SECTOR_BYTES: u64 = 512;
const MILLISECOND: u64 = 1_000_000;
/// Index of the flushes in a device's statistics, since Linux 5.5.
const FLUSHES: usize = 15;

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
/// this was still the parent process).
pub fn max_rss_bytes() -> u64 {
    let table = read_to_string("/proc/self/status").unwrap_or_default();
    let line = table.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|number| number.parse::<u64>().ok());
    kibibytes.map_or_else(|| usage().ru_maxrss as u64 * 1024, |number| number * 1024)
}

/// Memory of the host in bytes (sysinfo(2)).
pub fn host_memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit))
}

/// Reads for how long the thread that opened it was ready to run but had no CPU, since it started (second field of
/// schedstat, Documentation/scheduler/sched-stats.rst of the kernel).
pub(crate) struct RunDelay(File);

impl RunDelay {
    /// Open the calling thread's file; None if the kernel has none.
    pub(crate) fn open() -> Option<Self> {
        File::open("/proc/thread-self/schedstat").ok().map(RunDelay)
    }

    /// The time in nanoseconds; None if unknown.
    pub(crate) fn read(&self) -> Option<u64> {
        let mut buffer = [0; 96];
        let length = self.0.read_at(&mut buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok()?.split_whitespace().nth(1)?.parse().ok()
    }
}

/// Time in which the calling thread was ready to run but had no CPU, in nanoseconds; see [`RunDelay`].
pub(crate) fn cpu_wait_ns() -> Option<u64> {
    RunDelay::open()?.read()
}

/// CPU time of the calling thread since it started.
pub(crate) fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// By how much the wall clock is ahead of the monotonic one. Slewing moves both alike; setting the wall clock moves
/// this.
pub(crate) fn wall_offset_ns() -> i64 {
    let read = |clock| {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: clock_gettime only fills the structure.
        unsafe { libc::clock_gettime(clock, &raw mut time) };
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    };
    read(libc::CLOCK_REALTIME) - read(libc::CLOCK_MONOTONIC)
}

/// The numbers of a line, in order.
fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Use of all CPUs together since the host started; None if unknown.
pub fn host_cpu() -> Option<HostCpu> {
    // SAFETY: sysconf takes and gives a number.
    let ticks = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
    let table = read_to_string("/proc/stat").ok()?;
    // user nice system idle iowait irq softirq steal; guests are counted in user and nice.
    let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = numbers(table.lines().next()?)[..] else {
        return None;
    };
    let tick_ns = 1_000_000_000 / ticks;
    Some(HostCpu {
        busy_ns: (user + nice + system + irq + softirq) * tick_ns,
        idle_ns: (idle + iowait) * tick_ns,
        stolen_ns: steal * tick_ns,
    })
}

/// Use of a device, named `major:minor`, since the host started; None if there is no such device or its use is unknown.
pub fn device_use(device: &str) -> Option<DeviceUse> {
    let line = read_to_string(format!("/sys/dev/block/{device}/stat")).ok()?;
    let numbers = numbers(&line);
    let [reads, _, read_sectors, read_ms, writes, _, write_sectors, write_ms, _, busy_ms, ..] = numbers[..] else {
        return None;
    };
    Some(DeviceUse {
        read_bytes: read_sectors * SECTOR_BYTES,
        write_bytes: write_sectors * SECTOR_BYTES,
        reads,
        writes,
        read_ns: read_ms * MILLISECOND,
        write_ns: write_ms * MILLISECOND,
        busy_ns: busy_ms * MILLISECOND,
        flushes: numbers.get(FLUSHES).copied(),
    })
}

/// Resources used since the process or the host started (getrusage(2), proc_pid_io(5), proc_stat(5)).
///
/// `watched` names further devices as `major:minor`.
pub(crate) fn snapshot(device: Option<(u32, u32)>, watched: &[String]) -> Resources {
    let usage = usage();
    let table = read_to_string("/proc/self/io").unwrap_or_default();
    let field = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name))?;
        line[name.len()..].trim().parse().ok()
    };
    Resources {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
        service_ns: assay_core::excluded_cpu::total_ns(),
        read_bytes: field("read_bytes:"),
        write_bytes: field("write_bytes:"),
        host: host_cpu(),
        device: device.and_then(|(major, minor)| device_use(&format!("{major}:{minor}"))),
        watched: watched.iter().map(|device| device_use(device)).collect(),
    }
}

/// Use of a device between two snapshots.
fn device_between(from: DeviceUse, to: DeviceUse) -> DeviceUse {
    DeviceUse {
        read_bytes: to.read_bytes.saturating_sub(from.read_bytes),
        write_bytes: to.write_bytes.saturating_sub(from.write_bytes),
        reads: to.reads.saturating_sub(from.reads),
        writes: to.writes.saturating_sub(from.writes),
        read_ns: to.read_ns.saturating_sub(from.read_ns),
        write_ns: to.write_ns.saturating_sub(from.write_ns),
        busy_ns: to.busy_ns.saturating_sub(from.busy_ns),
        flushes: from.flushes.zip(to.flushes).map(|(from, to)| to.saturating_sub(from)),
    }
}

/// Use between two snapshots.
pub(crate) fn between(from: &Resources, to: &Resources) -> Resources {
    let difference = |a: Option<u64>, b: Option<u64>| Some(b?.saturating_sub(a?));
    Resources {
        user_ns: to.user_ns.saturating_sub(from.user_ns),
        system_ns: to.system_ns.saturating_sub(from.system_ns),
        service_ns: difference(from.service_ns, to.service_ns),
        read_bytes: difference(from.read_bytes, to.read_bytes),
        write_bytes: difference(from.write_bytes, to.write_bytes),
        host: from.host.zip(to.host).map(|(from, to)| HostCpu {
            busy_ns: to.busy_ns.saturating_sub(from.busy_ns),
            // The kernel's count of idle time may go back a little (proc_stat(5)).
            idle_ns: to.idle_ns.saturating_sub(from.idle_ns),
            stolen_ns: to.stolen_ns.saturating_sub(from.stolen_ns),
        }),
        device: from.device.zip(to.device).map(|(from, to)| device_between(from, to)),
        watched: from
            .watched
            .iter()
            .zip(&to.watched)
            .map(|(from, to)| from.zip(*to).map(|(from, to)| device_between(from, to)))
            .collect(),
    }
}

//! On which CPU a lane runs and on which NUMA node its memory is.

use assay_core::SetupError;
use assay_spec::Tuning;
use rustix::io::Errno;
use rustix::thread::{sched_setaffinity, CpuSet};

/// Bind the calling thread to its CPU and its future memory to its NUMA node, as the job requests.
///
/// # Errors
/// A CPU or node that the host does not have, or that this process may not use.
pub(crate) fn apply(tuning: &Tuning, lane: u32) -> Result<(), SetupError> {
    if let Some(node) = tuning.numa_node {
        bind_memory(node)?;
        if tuning.cpus.is_empty() {
            let cpus = cpus_of(node)?;
            // A node may have memory only.
            return if cpus.is_empty() { Ok(()) } else { run_on(&cpus, &format!("CPUs of NUMA node {node}")) };
        }
    }
    match tuning.cpus.get(lane as usize % tuning.cpus.len().max(1)) {
        Some(cpu) => run_on(&[*cpu], &format!("CPU {cpu}")),
        None => Ok(()),
    }
}

/// Bind the calling thread to the CPUs of `lanes` lanes.
///
/// # Errors
/// As for [`apply`].
pub(crate) fn near_lanes(tuning: &Tuning, lanes: u32) -> Result<(), SetupError> {
    if tuning.cpus.is_empty() {
        return apply(&Tuning { numa_node: tuning.numa_node, ..Tuning::default() }, 0);
    }
    let used = tuning.cpus.len().min(lanes as usize);
    run_on(&tuning.cpus[..used], "the CPUs of the lanes")
}

/// Set the timer slack so that the kernel wakes this thread on time, not up to 50 microseconds later.
pub(crate) fn precise_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

fn run_on(cpus: &[u32], what: &str) -> Result<(), SetupError> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| (**cpu as usize) < CpuSet::MAX_CPU) {
        set.set(*cpu as usize);
    }
    sched_setaffinity(None, &set).map_err(|errno| match errno {
        Errno::INVAL => SetupError::new("pin to", what, "there is none, or this process may not use it"),
        other => SetupError::os("pin to", what, other),
    })
}

/// Take all future memory of this thread from `node` (set_mempolicy(2), MPOL_BIND).
fn bind_memory(node: u32) -> Result<(), SetupError> {
    const MPOL_BIND: libc::c_long = 2;
    let mut mask = [0_u64; 16];
    mask[node as usize / 64] = 1 << (node % 64);
    // SAFETY: the mask lives through the call, and the kernel reads as many bits as it is told to.
    let code = unsafe { libc::syscall(libc::SYS_set_mempolicy, MPOL_BIND, mask.as_ptr(), mask.len() * 64) };
    if code == 0 {
        return Ok(());
    }
    let errno = Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL);
    let object = format!("NUMA node {node}");
    Err(match errno {
        Errno::INVAL => SetupError::new("bind memory to", object, "there is none"),
        other => SetupError::os("bind memory to", object, other),
    })
}

/// While this exists, the calling thread gets a CPU as soon as it is woken, before ordinary threads: so lanes that
/// share CPUs with each other and with servers start together. Where the system does not allow it, nothing changes.
pub(crate) struct Urgent {
    changed: bool,
}

impl Urgent {
    pub(crate) fn new() -> Self {
        // SAFETY: sched_getscheduler takes a number; 0 is the calling thread.
        let ordinary = unsafe { libc::sched_getscheduler(0) } == libc::SCHED_OTHER;
        Urgent { changed: ordinary && schedule(libc::SCHED_FIFO, 1) }
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.changed {
            schedule(libc::SCHED_OTHER, 0);
        }
    }
}

/// Change the calling thread's scheduling policy; returns whether that was allowed.
fn schedule(policy: i32, priority: i32) -> bool {
    // SAFETY: the parameter is plain numbers and lives through the call.
    unsafe {
        let mut parameter: libc::sched_param = std::mem::zeroed();
        parameter.sched_priority = priority;
        libc::sched_setscheduler(0, policy, &raw const parameter) == 0
    }
}

/// CPUs of a node, from sysfs.
fn cpus_of(node: u32) -> Result<Vec<u32>, SetupError> {
    let path = format!("/sys/devices/system/node/node{node}/cpulist");
    let text = std::fs::read_to_string(&path).map_err(|error| SetupError::new("read", &path, error.to_string()))?;
    parse_list(text.trim()).ok_or_else(|| SetupError::new("read", &path, format!("not a list of CPUs: {text}")))
}

/// The numbers of a list such as 0-3,8.
fn parse_list(text: &str) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_urgent_only_while_it_waits() {
        // SAFETY: it takes a number and touches no memory.
        let policy = || unsafe { libc::sched_getscheduler(0) };
        let before = policy();
        let urgent = Urgent::new();
        assert_eq!(policy() == libc::SCHED_FIFO, urgent.changed);
        drop(urgent);
        assert_eq!(policy(), before);
    }

    #[test]
    fn lists_of_cpus_are_understood() {
        assert_eq!(parse_list("0-2,7"), Some(vec![0, 1, 2, 7]));
        assert_eq!(parse_list("5"), Some(vec![5]));
        assert_eq!(parse_list("a-b"), None);
        assert_eq!(parse_list(""), Some(vec![]));
    }
}

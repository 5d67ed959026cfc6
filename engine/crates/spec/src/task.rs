//! What is reported of the programs that a job runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One execution of a command: the program and all processes that it has started, until it ended itself. What it left
/// running was killed then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Number of the task in the target's list, from 0.
    pub task: u32,
    /// Number of the lane among those of all processes.
    pub lane: u32,
    /// Monotonic time of its start.
    pub at_ns: u64,
    /// Time until it ended.
    pub elapsed_ns: u64,
    /// Its exit code; none if a signal ended it, or if it could not be started.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why it has failed; none if it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// CPU time in user space of all its processes (rusage of wait4(2)).
    pub user_ns: u64,
    /// CPU time in the kernel of all its processes.
    pub system_ns: u64,
    /// Greatest resident memory of one of its processes, in bytes.
    pub max_rss_bytes: u64,
    /// Processes that it left running, and that were killed.
    #[serde(default)]
    pub left_running: u32,
    /// Bytes and calls of all its processes; none if the kernel does not count them.
    pub io: Option<ProcessIo>,
    /// What it was seen to do; none if it was too short for a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<TaskStates>,
    /// What it printed on standard output and standard error, if the job wants it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// What a task does, as seen by looking at its threads at intervals (state of proc_pid_stat(5), proc_pid_syscall(5)).
/// Each time counts whole for what was seen at its end. Of several processes those count that its end has waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskStates {
    /// Number of looks.
    pub looks: u64,
    /// A thread was on a CPU, or ready to be.
    pub running_ns: u64,
    /// No thread was running, and one waited for storage: in a call on a file or a file's name, in a page fault, or in
    /// an uninterruptible sleep.
    pub storage_ns: u64,
    /// Neither, and a thread waited in a call on a socket.
    pub network_ns: u64,
    /// None of these: all threads slept, or waited for each other or for something else.
    pub other_ns: u64,
    /// The time that it would have taken if no process had waited for storage, each as far as others waited for it.
    pub ideal_ns: u64,
}

/// Bytes and calls of processes, those that they have waited for included (proc_pid_io(5)). Accesses to mapped memory
/// are no calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessIo {
    /// Bytes that calls such as read(2) returned, from files, caches and pipes (rchar).
    pub call_read_bytes: u64,
    /// Bytes that calls such as write(2) took (wchar).
    pub call_write_bytes: u64,
    /// Such read calls (syscr).
    pub reads: u64,
    /// Such write calls (syscw).
    pub writes: u64,
    /// Bytes fetched from the storage layer (read_bytes).
    pub read_bytes: u64,
    /// Bytes sent to the storage layer, now or later (write_bytes), without those that were removed before
    /// (cancelled_write_bytes).
    pub write_bytes: u64,
}

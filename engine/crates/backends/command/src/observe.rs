//! Looks at what the threads of running tasks do: whether one is on a CPU, or else what they wait for.
//!
//! Nothing is traced: a thread of this process reads /proc at intervals, rarely enough to use a hundredth of a CPU.

use assay_core::clock;
use assay_spec::TaskStates;
use std::collections::HashMap;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(10);
/// Longest time between two looks.
const LONGEST: Duration = Duration::from_millis(500);
/// A look may take this share of the time between two.
const COST_SHARE: u32 = 100;
/// Most processes of a task that are looked at; the rest of a larger tree is ignored.
const MAX_PROCESSES: usize = 1024;

/// What a task does at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// All its threads sleep, wait for each other, or for something else.
    Other,
    /// One waits for a network, none for storage, and none is running.
    Network,
    /// One waits for storage, and none is running.
    Storage,
    /// One is on a CPU or ready to be.
    Running,
}

#[derive(Default)]
struct Shared {
    /// Process of a task -> what was seen of it, and when it was last looked at.
    tasks: HashMap<libc::pid_t, (TaskStates, u64)>,
    is_over: bool,
}

/// The observer of all tasks of this process.
pub(crate) struct Observer {
    shared: Arc<(Mutex<Shared>, Condvar)>,
}

impl Observer {
    /// Start the thread; without one nothing is observed.
    pub(crate) fn start() -> Self {
        let shared = Arc::new((Mutex::new(Shared::default()), Condvar::new()));
        let own = Arc::clone(&shared);
        let _ = std::thread::Builder::new().name("observer".to_owned()).spawn(move || observe(&own));
        Observer { shared }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begin to look at a task.
    pub(crate) fn begin(&self, process: libc::pid_t) {
        self.lock().tasks.insert(process, (TaskStates::default(), clock::now()));
        self.shared.1.notify_one();
    }

    /// Stop looking at a task, which ended at `now`; returns what was seen. None if it was too short for a look.
    pub(crate) fn end(&self, process: libc::pid_t) -> Option<TaskStates> {
        let (states, _) = self.lock().tasks.remove(&process)?;
        (states.looks > 0).then_some(states)
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.lock().is_over = true;
        self.shared.1.notify_one();
    }
}

fn observe(shared: &(Mutex<Shared>, Condvar)) {
    let mut pause = SHORTEST;
    loop {
        let guard = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = shared.1.wait_while(guard, |it| it.tasks.is_empty() && !it.is_over);
        let guard = guard.unwrap_or_else(PoisonError::into_inner);
        if guard.is_over {
            return;
        }
        let processes: Vec<libc::pid_t> = guard.tasks.keys().copied().collect();
        drop(guard);
        std::thread::sleep(pause);
        let begin = clock::now();
        let seen: Vec<_> = processes.into_iter().filter_map(|process| Some((process, look(process)?))).collect();
        let now = clock::now();
        let mut guard = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (process, state) in seen {
            if let Some((states, last)) = guard.tasks.get_mut(&process) {
                add(states, state, now.saturating_sub(*last));
                *last = now;
            }
        }
        drop(guard);
        pause = (Duration::from_nanos(now.saturating_sub(begin)) * COST_SHARE).clamp(SHORTEST, LONGEST);
    }
}

fn add(states: &mut TaskStates, state: State, ns: u64) {
    states.looks += 1;
    let sum = match state {
        State::Running => &mut states.running_ns,
        State::Storage => &mut states.storage_ns,
        State::Network => &mut states.network_ns,
        State::Other => &mut states.other_ns,
    };
    *sum += ns;
}

/// What a process and all its descendants do; None if it has ended.
fn look(process: libc::pid_t) -> Option<State> {
    let (mut to_look_at, mut seen, mut found) = (vec![process], 0, None);
    while let Some(one) = to_look_at.pop() {
        seen += 1;
        let folder = format!("/proc/{one}/task");
        let Ok(threads) = std::fs::read_dir(&folder) else { continue };
        for thread in threads.flatten() {
            let path = thread.path();
            let Some(state) = thread_state(&path) else { continue };
            found = found.max(Some(state));
            if state == State::Running {
                return found;
            }
            let children = std::fs::read_to_string(path.join("children")).unwrap_or_default();
            if seen < MAX_PROCESSES {
                to_look_at.extend(children.split_whitespace().filter_map(|word| word.parse::<libc::pid_t>().ok()));
            }
        }
    }
    found
}

/// What a thread does; None if it has ended.
fn thread_state(thread: &Path) -> Option<State> {
    let stat = std::fs::read_to_string(thread.join("stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let letter = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
    match letter {
        'R' => Some(State::Running),
        'Z' | 'X' | 'T' | 't' => None,
        _ => {
            let call = std::fs::read_to_string(thread.join("syscall")).unwrap_or_default();
            Some(waits_for(&call, letter == 'D', |fd| descriptor(thread, fd)))
        }
    }
}

/// What a descriptor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Descriptor {
    File,
    Socket,
    Other,
}

fn descriptor(thread: &Path, fd: u64) -> Descriptor {
    match std::fs::read_link(thread.join(format!("fd/{fd}"))) {
        // Terminals and the like. Only what lies in memory is looked up: the look must not wait for storage itself.
        Ok(target) if target.starts_with("/dev") && is_character_device(&target) => Descriptor::Other,
        Ok(target) if target.is_absolute() => Descriptor::File,
        Ok(target) if target.to_string_lossy().starts_with("socket:") => Descriptor::Socket,
        _ => Descriptor::Other,
    }
}

fn is_character_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
}

/// What a thread waits for, from its line in /proc/PID/syscall: the number of the call and its arguments; -1 without a
/// call, as in a page fault; `running` if it has just been woken.
fn waits_for(call: &str, uninterruptible: bool, descriptor: impl Fn(u64) -> Descriptor) -> State {
    let mut words = call.split_whitespace();
    let number: i64 = match words.next() {
        Some("running") => return State::Running,
        Some(word) => word.parse().unwrap_or(-1),
        None => -1,
    };
    let first = words.next().and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
    let of_descriptor = || match first.map(&descriptor) {
        Some(Descriptor::File) => State::Storage,
        Some(Descriptor::Socket) => State::Network,
        _ if uninterruptible => State::Storage,
        _ => State::Other,
    };
    if number < 0 {
        return if uninterruptible { State::Storage } else { State::Other };
    }
    if ON_DESCRIPTORS.contains(&number) {
        return of_descriptor();
    }
    if ON_NAMES.contains(&number) {
        return State::Storage;
    }
    if ON_LOCKS.contains(&number) {
        // Of a lock that another process has, the wait can be interrupted; that for a server that keeps locks cannot.
        return if uninterruptible { State::Storage } else { State::Other };
    }
    if ON_NETWORKS.contains(&number) {
        return State::Network;
    }
    // Such a sleep is one of the kernel: it waits for a device or a file system, whatever the call.
    if uninterruptible && !AMONG_PROCESSES.contains(&number) {
        return State::Storage;
    }
    State::Other
}

/// Calls whose first argument is the descriptor of a file, pipe or socket.
const ON_DESCRIPTORS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_syncfs,
    libc::SYS_sync_file_range,
    libc::SYS_fallocate,
    libc::SYS_ftruncate,
    libc::SYS_fstat,
    libc::SYS_getdents64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_splice,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_ioctl,
];
/// Calls on names of files.
const ON_NAMES: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_readlinkat,
    libc::SYS_fchmodat,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_statfs,
    libc::SYS_truncate,
    libc::SYS_getxattr,
    libc::SYS_setxattr,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_sync,
    libc::SYS_msync,
    libc::SYS_io_getevents,
    libc::SYS_io_uring_enter,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getdents,
];
/// Calls that wait for locks of files.
const ON_LOCKS: &[i64] = &[libc::SYS_flock, libc::SYS_fcntl];
/// Calls on sockets.
const ON_NETWORKS: &[i64] = &[
    libc::SYS_connect,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendmmsg,
    libc::SYS_recvmmsg,
];
/// Calls in which processes and threads wait for each other, or for a time.
const AMONG_PROCESSES: &[i64] = &[
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_futex,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    fn of(number: i64, uninterruptible: bool, descriptor: Descriptor) -> State {
        waits_for(&format!("{number} 0x3 0x7ffd 0x1000 0x0 0x0 0x0 0x7f 0x7f"), uninterruptible, |fd| {
            assert_eq!(fd, 3);
            descriptor
        })
    }

    #[test]
    fn a_wait_is_for_what_the_call_works_on() {
        for (number, descriptor, expected) in [
            (libc::SYS_read, Descriptor::File, State::Storage),
            (libc::SYS_read, Descriptor::Socket, State::Network),
            (libc::SYS_read, Descriptor::Other, State::Other),
            (libc::SYS_fsync, Descriptor::File, State::Storage),
            (libc::SYS_unlinkat, Descriptor::Other, State::Storage),
            (libc::SYS_recvfrom, Descriptor::Socket, State::Network),
            (libc::SYS_flock, Descriptor::File, State::Other),
            (libc::SYS_wait4, Descriptor::Other, State::Other),
            (libc::SYS_futex, Descriptor::Other, State::Other),
            (libc::SYS_clock_nanosleep, Descriptor::Other, State::Other),
        ] {
            assert_eq!(of(number, false, descriptor), expected, "{number}");
        }
        // A pipe whose other end is full is no storage; a device that is read through some other descriptor is.
        assert_eq!(of(libc::SYS_read, true, Descriptor::Other), State::Storage);
        assert_eq!(of(libc::SYS_futex, true, Descriptor::Other), State::Other);
        assert_eq!(of(libc::SYS_mmap, true, Descriptor::Other), State::Storage);
        // A server of locks that does not answer.
        assert_eq!(of(libc::SYS_flock, true, Descriptor::File), State::Storage);
    }

    #[test]
    fn a_character_device_is_no_file() {
        let found = |path: &str| {
            let file = std::fs::File::open(path).unwrap();
            descriptor(Path::new("/proc/self"), file.as_raw_fd() as u64)
        };
        assert_eq!(found("/dev/null"), Descriptor::Other);
        assert_eq!(found(env!("CARGO_MANIFEST_DIR")), Descriptor::File);
    }

    #[test]
    fn a_page_fault_is_no_call() {
        let nothing = |_| Descriptor::Other;
        assert_eq!(waits_for("-1 0x7ffd 0x7f", true, nothing), State::Storage);
        assert_eq!(waits_for("-1 0x7ffd 0x7f", false, nothing), State::Other);
        assert_eq!(waits_for("running", false, nothing), State::Running);
        assert_eq!(waits_for("", true, nothing), State::Storage);
    }

    #[test]
    fn the_busiest_thread_decides() {
        assert!(State::Running > State::Storage && State::Storage > State::Network && State::Network > State::Other);
        let mut states = TaskStates::default();
        add(&mut states, State::Storage, 5);
        add(&mut states, State::Running, 7);
        assert_eq!((states.looks, states.storage_ns, states.running_ns), (2, 5, 7));
    }

    #[test]
    fn a_sleeping_child_is_seen_to_sleep() {
        let observer = Observer::start();
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let pid = child.id() as libc::pid_t;
        observer.begin(pid);
        let enough = || observer.lock().tasks[&pid].0.looks >= 5;
        while !enough() {
            std::thread::sleep(SHORTEST);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let seen = observer.end(pid).unwrap();
        assert!(seen.other_ns > 0 && seen.looks >= 5, "{seen:?}");
        assert!(observer.end(pid).is_none());
    }
}

//! Looks at what the processes of running tasks do: whether a thread is on a CPU, or else what they wait for.
//!
//! Nothing is traced: a thread of this process reads /proc at intervals, rarely enough to use a hundredth of a CPU.

use crate::path::{Activity, Chains, Process, State};
use crate::waits::{waits_for, Descriptor, Pipe, Wait};
use assay_core::clock;
use assay_spec::TaskStates;
use std::collections::HashMap;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(10);
/// Longest time between two looks.
const LONGEST: Duration = Duration::from_millis(500);
/// The time between two looks is so many times the CPU time of one.
const COST_FACTOR: u32 = 100;
/// Most processes of a task that are looked at; the rest of a larger tree is ignored.
const MAX_PROCESSES: usize = 1024;

#[derive(Default)]
struct Shared {
    /// First process of a task -> what was seen of it, and when it was last looked at.
    tasks: HashMap<libc::pid_t, (Chains, u64)>,
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
        self.lock().tasks.insert(process, (Chains::default(), clock::now()));
        self.shared.1.notify_one();
    }

    /// Stop looking at a task, which ended at `now`; returns what was seen. None if it was too short for a look.
    pub(crate) fn end(&self, process: libc::pid_t) -> Option<TaskStates> {
        self.lock().tasks.remove(&process)?.0.states(process)
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
        let begin = own_cpu();
        let seen: Vec<_> = processes.into_iter().filter_map(|process| Some((process, look(process)?))).collect();
        let now = clock::now();
        let mut guard = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (process, all) in seen {
            if let Some((chains, last)) = guard.tasks.get_mut(&process) {
                chains.add(&all, now.saturating_sub(*last));
                *last = now;
            }
        }
        drop(guard);
        pause = (own_cpu().saturating_sub(begin) * COST_FACTOR).clamp(SHORTEST, LONGEST);
    }
}

/// CPU time of this thread: on a busy machine a look may take long without costing much.
fn own_cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A process as /proc shows it.
struct Found {
    pid: libc::pid_t,
    parent: libc::pid_t,
    wait: Wait,
    children: Vec<libc::pid_t>,
}

/// A process and all its descendants, parents before children; none if it has ended.
fn look(first: libc::pid_t) -> Option<Vec<Process>> {
    let mut found: Vec<Found> = Vec::new();
    let mut to_look_at = vec![(first, 0)];
    while let Some((pid, parent)) = to_look_at.pop() {
        let Some((wait, children)) = process(pid) else { continue };
        if found.len() + to_look_at.len() < MAX_PROCESSES {
            to_look_at.extend(children.iter().map(|child| (*child, pid)));
        }
        found.push(Found { pid, parent, wait, children });
    }
    let ends = ends(&found);
    let all = found.iter().map(|one| Process { pid: one.pid, parent: one.parent, activity: activity(one, &ends) });
    (!found.is_empty()).then(|| all.collect())
}

/// What a process does.
fn activity(one: &Found, ends: &Ends) -> Activity {
    match one.wait {
        Wait::Running => Activity::Does(State::Running),
        Wait::Storage => Activity::Does(State::Storage),
        Wait::Network => Activity::Network(ends.sockets.iter().copied().filter(|pid| *pid != one.pid).collect()),
        Wait::Nothing => Activity::Does(State::Other),
        Wait::Processes => Activity::WaitsFor(one.children.clone()),
        Wait::Pipe(pipe) => {
            let others = ends.pipes.get(&pipe).into_iter().flatten().copied();
            Activity::WaitsFor(others.filter(|pid| *pid != one.pid).collect())
        }
    }
}

/// The busiest thread of a process, and its children; none if it has ended.
fn process(pid: libc::pid_t) -> Option<(Wait, Vec<libc::pid_t>)> {
    let mut busiest: Option<Wait> = None;
    let mut children = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let path = thread.path();
        if busiest != Some(Wait::Running) {
            busiest = busiest.max(thread_wait(&path));
        }
        let listed = std::fs::read_to_string(path.join("children")).unwrap_or_default();
        children.extend(listed.split_whitespace().filter_map(|word| word.parse::<libc::pid_t>().ok()));
    }
    Some((busiest?, children))
}

/// Which processes have open what others of the task wait for.
#[derive(Default)]
struct Ends {
    /// A wait for a pipe -> processes that have its other end.
    pipes: HashMap<Pipe, Vec<libc::pid_t>>,
    /// Processes with a socket.
    sockets: Vec<libc::pid_t>,
}

/// Look at what processes have open, if one waits for a pipe or a network and is not alone.
fn ends(found: &[Found]) -> Ends {
    let mut ends = Ends::default();
    for one in found {
        if let Wait::Pipe(pipe) = one.wait {
            ends.pipes.insert(pipe, Vec::new());
        }
    }
    let one_waits = found.iter().any(|one| one.wait == Wait::Network) || !ends.pipes.is_empty();
    if found.len() > 1 && one_waits {
        for one in found {
            add_ends(one.pid, &mut ends);
        }
    }
    ends
}

fn add_ends(pid: libc::pid_t, ends: &mut Ends) {
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten() {
        match std::fs::read_link(entry.path()).map_or(Descriptor::Other, |target| descriptor_of(&target)) {
            Descriptor::Socket if ends.sockets.last() != Some(&pid) => ends.sockets.push(pid),
            Descriptor::Pipe(inode) => {
                // The permissions of the link are the ways in which the descriptor was opened.
                let mode = std::fs::symlink_metadata(entry.path()).map_or(0, |link| link.permissions().mode());
                for (reads, bit) in [(true, libc::S_IWUSR), (false, libc::S_IRUSR)] {
                    if let Some(pids) = ends.pipes.get_mut(&Pipe { inode, reads }).filter(|_| mode & bit != 0) {
                        pids.push(pid);
                    }
                }
            }
            _ => {}
        }
    }
}

/// What a thread does; none if it has ended.
fn thread_wait(thread: &Path) -> Option<Wait> {
    let stat = std::fs::read_to_string(thread.join("stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let letter = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
    match letter {
        'R' => Some(Wait::Running),
        'Z' | 'X' | 'T' | 't' => None,
        _ => {
            let call = std::fs::read_to_string(thread.join("syscall")).unwrap_or_default();
            Some(waits_for(&call, letter == 'D', |fd| descriptor(thread, fd)))
        }
    }
}

fn descriptor(thread: &Path, fd: u64) -> Descriptor {
    std::fs::read_link(thread.join(format!("fd/{fd}"))).map_or(Descriptor::Other, |target| descriptor_of(&target))
}

/// What a link in /proc/PID/fd leads to.
fn descriptor_of(target: &Path) -> Descriptor {
    // Terminals and the like. Only what lies in memory is looked up: the look must not wait for storage itself.
    if target.starts_with("/dev") && is_character_device(target) {
        return Descriptor::Other;
    }
    if target.is_absolute() {
        return Descriptor::File;
    }
    let text = target.to_string_lossy();
    if text.starts_with("socket:") {
        return Descriptor::Socket;
    }
    let inode = text.strip_prefix("pipe:[").and_then(|rest| rest.strip_suffix(']')?.parse().ok());
    inode.map_or(Descriptor::Other, Descriptor::Pipe)
}

fn is_character_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_char_device())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_character_device_is_no_file() {
        let found = |path: &str| {
            let file = std::fs::File::open(path).unwrap();
            descriptor(Path::new("/proc/self"), file.as_raw_fd() as u64)
        };
        assert_eq!(found("/dev/null"), Descriptor::Other);
        assert_eq!(found(env!("CARGO_MANIFEST_DIR")), Descriptor::File);
    }

    /// Run a shell text until its processes are as expected, and it was looked at five times; what was seen.
    fn observed(text: &str, is_expected: impl Fn(&[Process]) -> bool) -> TaskStates {
        let observer = Observer::start();
        let mut child = std::process::Command::new("sh").args(["-c", text]).spawn().unwrap();
        let pid = child.id() as libc::pid_t;
        observer.begin(pid);
        let enough = || observer.lock().tasks[&pid].0.looks() >= 5;
        let all = loop {
            let all = look(pid).unwrap();
            if is_expected(&all) && enough() {
                break all;
            }
            std::thread::sleep(SHORTEST);
        };
        for process in all {
            // SAFETY: kill takes numbers only; the processes are descendants of a child that was not waited for.
            unsafe { libc::kill(process.pid, libc::SIGKILL) };
        }
        child.wait().unwrap();
        let seen = observer.end(pid).unwrap();
        assert!(observer.end(pid).is_none());
        seen
    }

    fn does(one: &Process, state: State) -> bool {
        one.activity == Activity::Does(state)
    }

    #[test]
    fn a_shell_whose_child_sleeps_waits_for_it() {
        let seen = observed("sleep 30; true", |all| {
            let [shell, child] = all else { return false };
            shell.activity == Activity::WaitsFor(vec![child.pid]) && does(child, State::Other)
        });
        assert!(seen.other_ns > 0 && seen.looks >= 5, "{seen:?}");
    }

    #[test]
    fn the_reader_of_a_pipe_waits_for_those_that_may_write_to_it() {
        observed("sleep 30 | cat; true", |all| {
            let sleeping = all.iter().find(|one| does(one, State::Other));
            all.len() == 3
                && sleeping
                    .is_some_and(|one| all.iter().any(|other| other.activity == Activity::WaitsFor(vec![one.pid])))
        });
    }
}

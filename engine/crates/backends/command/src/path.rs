//! The chain of processes that the end of a task waits for, from looks at all of them.
//!
//! Each process has the times of the longest chain that leads to it: its own while it does something itself, those of
//! another while it waits for that one, and those of its parent before it was started. The times of the first process
//! are then those of the task; what went on beside the chain is in none. (Hollingsworth, "Critical Path Profiling of
//! Message Passing and Shared-Memory Programs", IEEE TPDS 9(10), 1998, with looks instead of events.)

use assay_spec::TaskStates;
use libc::pid_t;
use std::collections::{HashMap, HashSet};

/// What a process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// All its threads sleep, or wait for something else.
    Other,
    /// One waits for a network, none for storage, and none is running.
    Network,
    /// One waits for storage, and none is running.
    Storage,
    /// One is on a CPU or ready to be.
    Running,
}

/// What a process does at a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Activity {
    Does(State),
    /// It waits for one of these processes; if there are none, for something unknown.
    WaitsFor(Vec<pid_t>),
    /// It waits for a network, behind which may be one of these processes.
    Network(Vec<pid_t>),
}

/// A process at a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: pid_t,
    pub(crate) parent: pid_t,
    pub(crate) activity: Activity,
}

/// Nanoseconds in each state, by its number.
type Times = [u64; 4];

#[derive(Debug, Clone, Copy)]
struct Known {
    times: Times,
    /// Its state, or that of the process that it waits for.
    state: State,
    parent: pid_t,
    waits: bool,
}

/// What is known of a task's processes from the looks so far.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    known: HashMap<pid_t, Known>,
    looks: u64,
}

impl Chains {
    /// Add a look.
    ///
    /// `processes` are all of the task, parents before their children; `ns` is the time since the last look.
    pub(crate) fn add(&mut self, processes: &[Process], ns: u64) {
        self.looks += 1;
        let mut look = Look { ns, bases: self.bases(processes), ..Look::default() };
        for process in processes {
            look.processes.insert(process.pid, process);
        }
        for process in processes {
            look.settle(process.pid);
        }
        self.known = look.settled;
    }

    /// The times of each process at the last look. One whose child has ended since then has waited for that.
    fn bases(&self, processes: &[Process]) -> HashMap<pid_t, Times> {
        let alive: HashSet<pid_t> = processes.iter().map(|process| process.pid).collect();
        let mut ended: HashMap<pid_t, Known> = HashMap::new();
        for known in self.known.iter().filter(|(pid, _)| !alive.contains(pid)).map(|(_, known)| known) {
            let last = ended.entry(known.parent).or_insert(*known);
            if known.state > last.state {
                *last = *known;
            }
        }
        let mut bases: HashMap<pid_t, Times> = HashMap::new();
        for process in processes {
            let child = |known: &Known| ended.get(&process.pid).filter(|_| known.waits).map(|child| child.times);
            let base = match self.known.get(&process.pid) {
                Some(known) => child(known).unwrap_or(known.times),
                None => bases.get(&process.parent).copied().unwrap_or_default(),
            };
            bases.insert(process.pid, base);
        }
        bases
    }

    /// The times of the task whose first process this is; none before the first look.
    pub(crate) fn states(&self, first: pid_t) -> Option<TaskStates> {
        let [other_ns, network_ns, storage_ns, running_ns] = self.known.get(&first)?.times;
        Some(TaskStates { looks: self.looks, running_ns, storage_ns, network_ns, other_ns })
    }

    /// Number of looks so far.
    #[cfg(test)]
    pub(crate) fn looks(&self) -> u64 {
        self.looks
    }
}

/// A look while it is evaluated.
#[derive(Default)]
struct Look<'a> {
    ns: u64,
    processes: HashMap<pid_t, &'a Process>,
    bases: HashMap<pid_t, Times>,
    settled: HashMap<pid_t, Known>,
    /// Processes whose evaluation has begun, so that two that wait for each other end it.
    begun: HashSet<pid_t>,
}

impl Look<'_> {
    /// What is now known of a process; none if it is not there, or waits for one that waits for it.
    fn settle(&mut self, pid: pid_t) -> Option<Known> {
        if let Some(known) = self.settled.get(&pid) {
            return Some(*known);
        }
        let process = *self.processes.get(&pid)?;
        if !self.begun.insert(pid) {
            return None;
        }
        let (own, others, waits) = match &process.activity {
            Activity::Does(state) => (*state, [].as_slice(), false),
            Activity::WaitsFor(others) => (State::Other, others.as_slice(), true),
            Activity::Network(others) => (State::Network, others.as_slice(), false),
        };
        let awaited = others.iter().filter_map(|other| self.settle(*other)).max_by_key(|known| known.state);
        let parent = process.parent;
        let known = match awaited.filter(|awaited| waits || awaited.state > own) {
            Some(awaited) => Known { parent, waits, ..awaited },
            None => {
                let mut times = self.bases.get(&pid).copied().unwrap_or_default();
                times[own as usize] += self.ns;
                Known { times, state: own, parent, waits }
            }
        };
        self.settled.insert(pid, known);
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn does(pid: pid_t, parent: pid_t, state: State) -> Process {
        Process { pid, parent, activity: Activity::Does(state) }
    }

    fn waits(pid: pid_t, parent: pid_t, others: &[pid_t]) -> Process {
        Process { pid, parent, activity: Activity::WaitsFor(others.to_vec()) }
    }

    /// Running, storage, network and other milliseconds of process 1 after looks of 10 ms, each so often.
    fn path(looks: &[(u64, &[Process])]) -> [u64; 4] {
        let mut chains = Chains::default();
        for (count, processes) in looks {
            for _ in 0..*count {
                chains.add(processes, 10 * MS);
            }
        }
        let found = chains.states(1).unwrap();
        assert_eq!(found.looks, looks.iter().map(|(count, _)| count).sum::<u64>());
        [found.running_ns, found.storage_ns, found.network_ns, found.other_ns].map(|ns| ns / MS)
    }

    #[test]
    fn a_process_alone_is_its_own_path() {
        let found = path(&[(3, &[does(1, 0, State::Running)]), (5, &[does(1, 0, State::Storage)])]);
        assert_eq!(found, [30, 50, 0, 0]);
        assert!(Chains::default().states(1).is_none());
    }

    #[test]
    fn what_ends_before_the_last_is_beside_the_path() {
        // `write & compute; wait`: the writes are over when the computing is not.
        let both = [waits(1, 0, &[2, 3]), does(2, 1, State::Storage), does(3, 1, State::Running)];
        let one = [waits(1, 0, &[3]), does(3, 1, State::Running)];
        assert_eq!(path(&[(5, &both), (4, &one)]), [90, 0, 0, 0]);
        // `sleep & write; wait`: the sleep lasts longer.
        let both = [waits(1, 0, &[2, 3]), does(2, 1, State::Other), does(3, 1, State::Storage)];
        let one = [waits(1, 0, &[2]), does(2, 1, State::Other)];
        assert_eq!(path(&[(5, &both), (4, &one)]), [0, 0, 0, 90]);
    }

    #[test]
    fn a_job_starts_when_the_one_before_it_ends() {
        // `make -j2`: 2 writes and then 4 does; 3 computes all the time and is followed by nothing.
        let first = [waits(1, 0, &[2, 3]), does(2, 1, State::Storage), does(3, 1, State::Running)];
        let second = [waits(1, 0, &[3, 4]), does(3, 1, State::Running), does(4, 1, State::Storage)];
        let third = [waits(1, 0, &[4]), does(4, 1, State::Storage)];
        assert_eq!(path(&[(4, &first), (2, &second), (3, &third)]), [0, 90, 0, 0]);
    }

    #[test]
    fn one_that_goes_on_after_its_child_has_waited_for_it() {
        let child = [waits(1, 0, &[2]), does(2, 1, State::Storage)];
        assert_eq!(path(&[(4, &child), (2, &[does(1, 0, State::Running)])]), [20, 40, 0, 0]);
        // It has not waited for this one.
        let beside = [does(1, 0, State::Running), does(2, 1, State::Storage)];
        assert_eq!(path(&[(4, &beside), (2, &[does(1, 0, State::Running)])]), [60, 0, 0, 0]);
    }

    #[test]
    fn a_reader_of_a_pipe_waits_for_the_writer_and_goes_on_from_there() {
        let begin = [waits(1, 0, &[2, 3]), does(2, 1, State::Storage), waits(3, 1, &[2])];
        let end = [waits(1, 0, &[3]), does(3, 1, State::Running)];
        assert_eq!(path(&[(4, &begin), (3, &end)]), [30, 40, 0, 0]);
    }

    #[test]
    fn a_client_waits_for_the_server_of_its_own_task() {
        let network = |others: &[pid_t]| Process { pid: 2, parent: 1, activity: Activity::Network(others.to_vec()) };
        let looks: &[(u64, &[Process])] = &[
            (4, &[waits(1, 0, &[2]), network(&[3]), does(3, 1, State::Running)]),
            (3, &[waits(1, 0, &[2]), network(&[3]), does(3, 1, State::Other)]),
            (2, &[waits(1, 0, &[2]), network(&[])]),
        ];
        assert_eq!(path(looks), [40, 0, 50, 0]);
    }

    #[test]
    fn those_that_wait_for_each_other_wait_for_nothing_known() {
        assert_eq!(path(&[(4, &[waits(1, 0, &[2]), waits(2, 1, &[1])])]), [0, 0, 0, 40]);
        assert_eq!(path(&[(4, &[waits(1, 0, &[]), does(2, 1, State::Storage)])]), [0, 0, 0, 40]);
    }

    #[test]
    fn all_time_is_in_some_state() {
        // Processes that come and go at random, with any waits between them.
        let mut seed = 1_u64;
        let mut random = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        let states = [State::Other, State::Network, State::Storage, State::Running];
        let mut chains = Chains::default();
        for look in 1..500_u64 {
            let mut processes = vec![waits(1, 0, &[2, 3, 4])];
            for pid in 2..7 {
                let others: Vec<pid_t> = (0..random(4)).map(|_| 1 + random(6) as pid_t).collect();
                let activity = match random(2) {
                    0 => Activity::Does(states[random(4) as usize]),
                    _ => Activity::WaitsFor(others),
                };
                if random(3) > 0 {
                    processes.push(Process { pid, parent: 1, activity });
                }
            }
            chains.add(&processes, MS);
            let found = chains.states(1).unwrap();
            let all = found.running_ns + found.storage_ns + found.network_ns + found.other_ns;
            assert_eq!((found.looks, all), (look, look * MS));
        }
    }
}

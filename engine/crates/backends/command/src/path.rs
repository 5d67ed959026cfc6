//! The chain of processes that the end of a task waits for, from looks at all of them.
//!
//! Each process has the times of the longest chain that leads to it: its own while it does something itself, those of
//! another while it waits for that one, and those of its parent before it was started. The times of the first process
//! are then those of the task; what went on beside the chain is in none. A chain beside it may be the longest if storage
//! never waits. So each process also has the time at which it would then be as far as it is. (Hollingsworth, "Critical Path Profiling of
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
    /// When it would be as far without waits for storage, as far as what it has waited for has ended.
    ideal_ns: u64,
    /// The same with all that it waits for.
    pending_ns: u64,
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

    /// The times of each process at the last look, and without storage. One whose child has ended since then has waited
    /// for that.
    fn bases(&self, processes: &[Process]) -> HashMap<pid_t, (Times, u64)> {
        let alive: HashSet<pid_t> = processes.iter().map(|process| process.pid).collect();
        let mut ended: HashMap<pid_t, Known> = HashMap::new();
        for known in self.known.iter().filter(|(pid, _)| !alive.contains(pid)).map(|(_, known)| known) {
            let last = ended.entry(known.parent).or_insert(*known);
            let pending_ns = known.pending_ns.max(last.pending_ns);
            *last = Known { pending_ns, ..if known.state > last.state { *known } else { *last } };
        }
        let mut bases: HashMap<pid_t, (Times, u64)> = HashMap::new();
        for process in processes {
            let base = match self.known.get(&process.pid) {
                Some(known) => match ended.get(&process.pid).filter(|_| known.waits) {
                    Some(child) => (child.times, known.ideal_ns.max(child.pending_ns)),
                    None if matches!(process.activity, Activity::WaitsFor(_)) => (known.times, known.ideal_ns),
                    None => (known.times, known.pending_ns),
                },
                None => bases.get(&process.parent).copied().unwrap_or_default(),
            };
            bases.insert(process.pid, base);
        }
        bases
    }

    /// The times of the task whose first process this is; none before the first look.
    pub(crate) fn states(&self, first: pid_t) -> Option<TaskStates> {
        let known = self.known.get(&first)?;
        let ([other_ns, network_ns, storage_ns, running_ns], ideal_ns) = (known.times, known.pending_ns);
        Some(TaskStates { looks: self.looks, running_ns, storage_ns, network_ns, other_ns, ideal_ns })
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
    bases: HashMap<pid_t, (Times, u64)>,
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
        let all: Vec<Known> = others.iter().filter_map(|other| self.settle(*other)).collect();
        let awaited = all.iter().copied().max_by_key(|known| known.state);
        let parent = process.parent;
        let (mut times, mut ideal_ns) = self.bases.get(&pid).copied().unwrap_or_default();
        let known = match awaited.filter(|awaited| waits || awaited.state > own) {
            Some(awaited) => {
                let pending_ns = all.iter().map(|known| known.pending_ns).fold(ideal_ns, u64::max);
                Known { parent, waits, ideal_ns: if waits { ideal_ns } else { pending_ns }, pending_ns, ..awaited }
            }
            None => {
                times[own as usize] += self.ns;
                ideal_ns += if own == State::Storage { 0 } else { self.ns };
                Known { times, ideal_ns, pending_ns: ideal_ns, state: own, parent, waits }
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

    /// Milliseconds without storage after looks of 10 ms, each so often.
    fn least(looks: &[(u64, &[Process])]) -> u64 {
        let mut chains = Chains::default();
        for (count, processes) in looks {
            (0..*count).for_each(|_| chains.add(processes, 10 * MS));
        }
        chains.states(1).unwrap().ideal_ns / MS
    }

    #[test]
    fn without_storage_another_chain_may_be_the_longest() {
        // `sleep & write; wait`: the writes last a little longer than the sleep.
        let both = [waits(1, 0, &[2, 3]), does(2, 1, State::Other), does(3, 1, State::Storage)];
        let one = [waits(1, 0, &[3]), does(3, 1, State::Storage)];
        assert_eq!(path(&[(5, &both), (2, &one)]), [0, 70, 0, 0]);
        assert_eq!(least(&[(5, &both), (2, &one)]), 50);
        // Both are there to the end.
        assert_eq!(least(&[(5, &both)]), 50);
        // Then the shell computes.
        assert_eq!(least(&[(5, &both), (2, &one), (3, &[does(1, 0, State::Running)])]), 80);
        // `make -j2`: jobs that write, compute and write; the second begins when the first ends.
        let first = [waits(1, 0, &[2, 3]), does(2, 1, State::Storage), does(3, 1, State::Running)];
        let second = [waits(1, 0, &[3, 4]), does(3, 1, State::Storage), does(4, 1, State::Running)];
        assert_eq!(least(&[(4, &first), (4, &second)]), 40);
        let reader = [waits(1, 0, &[2, 3]), does(2, 1, State::Storage), waits(3, 1, &[2])];
        assert_eq!(least(&[(4, &reader), (3, &[waits(1, 0, &[3]), does(3, 1, State::Running)])]), 30);
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
            assert!(found.ideal_ns <= all);
        }
    }
}

//! Which names of a tree are there, from phase to phase.

use assay_spec::{data_operations, object_operations, Job, Operation};

/// Per lane: how many files and directories there are, always the first ones.
pub(crate) struct Names {
    all: Vec<u64>,
    files: Vec<u64>,
    directories: Vec<u64>,
    renamed: bool,
}

impl Names {
    /// Before the first phase of a job.
    pub(crate) fn new(job: &Job) -> Self {
        let of = |lane| job.tree.as_ref().map_or(0, |tree| tree.files_of(job.first_lane() + lane));
        let all: Vec<u64> = (0..job.lanes).map(of).collect();
        let none = vec![0; all.len()];
        Names {
            files: if job.reuse_files { all.clone() } else { none.clone() },
            directories: none,
            all,
            renamed: false,
        }
    }

    /// The files have their second name.
    pub(crate) fn renamed(&self) -> bool {
        self.renamed
    }

    /// Numbers of the names that a lane works on in a phase: from the first, up to the second.
    pub(crate) fn range(&self, operation: Operation, lane: u32) -> (u64, u64) {
        let lane = lane as usize;
        match operation {
            Operation::Create | Operation::Prepare => (self.files[lane], self.all[lane]),
            Operation::Mkdir => (self.directories[lane], self.all[lane]),
            Operation::Rmdir => (0, self.directories[lane]),
            Operation::Stat | Operation::Open | Operation::Readdir | Operation::Rename | Operation::Unlink => {
                (0, self.files[lane])
            }
            // It makes them anew.
            Operation::Write => (0, self.all[lane]),
            data_operations!() => (0, self.files[lane]),
            object_operations!() => (0, 0),
        }
    }

    /// After a phase in which each lane made or did something to `done` names.
    pub(crate) fn note(&mut self, operation: Operation, done: &[u64]) {
        let add = |there: &mut Vec<u64>| there.iter_mut().zip(done).for_each(|(count, more)| *count += more);
        match operation {
            Operation::Create | Operation::Prepare => add(&mut self.files),
            Operation::Mkdir => add(&mut self.directories),
            // A file that was cut short is not there, and those after it may not be.
            Operation::Write => self.files.copy_from_slice(done),
            Operation::Unlink => self.files.fill(0),
            Operation::Rmdir => self.directories.fill(0),
            Operation::Rename => self.renamed = !self.renamed,
            Operation::Stat | Operation::Open | Operation::Readdir | data_operations!() | object_operations!() => {}
        }
        if self.files.iter().all(|count| *count == 0) {
            self.renamed = false;
        }
    }
}

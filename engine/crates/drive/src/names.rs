//! Which names of a tree exist, from phase to phase.

use assay_spec::{data_operations, object_operations, program_operations, Job, Operation, Tree};

/// Per lane, the number of files and directories that exist, always the first ones.
pub(crate) struct Names {
    all: Vec<u64>,
    files: Vec<u64>,
    directories: Vec<u64>,
    renamed: bool,
    tree: Option<Tree>,
    /// Number of this process's first lane.
    first: u32,
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
            tree: job.tree.clone(),
            first: job.first_lane(),
        }
    }

    /// True if the files have their second name.
    pub(crate) fn renamed(&self) -> bool {
        self.renamed
    }

    /// Number of a lane's names that exist, always the first ones; the lane may be one of another process.
    fn present_count(&self, counts: &[u64], index: usize, owner: u32) -> u64 {
        if let Some(count) = owner.checked_sub(self.first).and_then(|here| counts.get(here as usize)) {
            return *count;
        }
        // Other processes did as much as this one: all, or as many names of each lane.
        let all = self.tree.as_ref().map_or(0, |tree| tree.files_of(owner));
        if counts == self.all {
            all
        } else {
            counts[index].min(all)
        }
    }

    /// Range of the names that this process's lane `index` works on in a phase, out of the names of lane `owner` of
    /// all: first number, and the number after the last.
    pub(crate) fn range(&self, operation: Operation, index: u32, owner: u32) -> (u64, u64) {
        let lane = index as usize;
        match operation {
            Operation::Create | Operation::Prepare => (self.files[lane], self.all[lane]),
            Operation::Mkdir => (self.directories[lane], self.all[lane]),
            Operation::Rmdir => (0, self.present_count(&self.directories, lane, owner)),
            Operation::Stat | Operation::Open | Operation::Readdir | Operation::Rename | Operation::Unlink => {
                (0, self.present_count(&self.files, lane, owner))
            }
            // It writes them anew.
            // A program has a number for each task.
            Operation::Write | program_operations!() => (0, self.all[lane]),
            data_operations!() => (0, self.present_count(&self.files, lane, owner)),
            object_operations!() => (0, 0),
        }
    }

    /// Note a phase in which each lane created or processed `done` names.
    pub(crate) fn note(&mut self, operation: Operation, done: &[u64]) {
        let add =
            |present_count: &mut Vec<u64>| present_count.iter_mut().zip(done).for_each(|(count, more)| *count += more);
        match operation {
            Operation::Create | Operation::Prepare => add(&mut self.files),
            Operation::Mkdir => add(&mut self.directories),
            // A file that was cut short does not count, and those after it may not exist.
            Operation::Write => self.files.copy_from_slice(done),
            // After a mix it is unknown which exist.
            Operation::Unlink | Operation::FileMix => self.files.fill(0),
            Operation::Rmdir => self.directories.fill(0),
            Operation::Rename => self.renamed = !self.renamed,
            Operation::Stat
            | Operation::Open
            | Operation::Readdir
            | data_operations!()
            | object_operations!()
            | program_operations!() => {}
        }
        if operation != Operation::FileMix && self.files.iter().all(|count| *count == 0) {
            self.renamed = false;
        }
    }
}

//! Which names of a tree are there, from phase to phase.

use assay_spec::{data_operations, object_operations, Job, Operation, Tree};

/// Per lane: how many files and directories there are, always the first ones.
pub(crate) struct Names {
    all: Vec<u64>,
    files: Vec<u64>,
    directories: Vec<u64>,
    renamed: bool,
    tree: Option<Tree>,
    /// Number of the first lane here.
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

    /// The files have their second name.
    pub(crate) fn renamed(&self) -> bool {
        self.renamed
    }

    /// How many of the first names there are of a lane, which may be one of another process.
    fn there(&self, counts: &[u64], index: usize, owner: u32) -> u64 {
        if let Some(count) = owner.checked_sub(self.first).and_then(|here| counts.get(here as usize)) {
            return *count;
        }
        // Elsewhere as much was done as here: all, or as many names of each lane.
        let all = self.tree.as_ref().map_or(0, |tree| tree.files_of(owner));
        if counts == self.all {
            all
        } else {
            counts[index].min(all)
        }
    }

    /// Numbers of the names that the lane `index` here works on in a phase, of those of the lane `owner` of all: from the
    /// first, up to the second.
    pub(crate) fn range(&self, operation: Operation, index: u32, owner: u32) -> (u64, u64) {
        let lane = index as usize;
        match operation {
            Operation::Create | Operation::Prepare => (self.files[lane], self.all[lane]),
            Operation::Mkdir => (self.directories[lane], self.all[lane]),
            Operation::Rmdir => (0, self.there(&self.directories, lane, owner)),
            Operation::Stat | Operation::Open | Operation::Readdir | Operation::Rename | Operation::Unlink => {
                (0, self.there(&self.files, lane, owner))
            }
            // It makes them anew.
            Operation::Write => (0, self.all[lane]),
            data_operations!() => (0, self.there(&self.files, lane, owner)),
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
            // After a mix it is not known which are there.
            Operation::Unlink | Operation::FileMix => self.files.fill(0),
            Operation::Rmdir => self.directories.fill(0),
            Operation::Rename => self.renamed = !self.renamed,
            Operation::Stat | Operation::Open | Operation::Readdir | data_operations!() | object_operations!() => {}
        }
        if operation != Operation::FileMix && self.files.iter().all(|count| *count == 0) {
            self.renamed = false;
        }
    }
}

//! What a kind of storage implements.

use crate::{Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{
    BackendCapabilities, CacheAction, ExistingObjects, Job, Layout, LeftJob, Method, MethodShape, MethodsFound,
    Operation, PlaceAnswer, SyncPolicy, Target,
};
use std::sync::Arc;

/// A kind of storage: whatever it is, the same commands work on it.
pub trait Kind: Sync {
    /// What it can do anywhere; its `kind` is the word of its targets.
    fn general(&self) -> BackendCapabilities;

    /// What it can do at a target, as found by trying; nothing is written that stays.
    ///
    /// # Errors
    /// If the target is of another kind, is not there, or may not be used.
    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError>;

    /// The storage of a job, opened.
    ///
    /// # Errors
    /// If the target is of another kind, is not there, or may not be used.
    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError>;

    /// Removes what jobs have left at a target: that of its `directory`, or, if it shall be `whole`, the whole place that a
    /// run has made. Waits at most `lock_ns` nanoseconds for other processes that work there.
    ///
    /// # Errors
    /// If the target is of another kind or not there, or if something could not be removed.
    fn clean(&self, target: &Target, whole: bool, lock_ns: u64) -> Result<PlaceAnswer, SetupError>;

    /// Removes what a job has left, all of which follows from the job and what its engines have told: for kinds where a place
    /// is shared with others, and lists name what is theirs. Others remove the job's directory.
    ///
    /// # Errors
    /// As of `clean`.
    fn clean_job(&self, left: &LeftJob, lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        self.clean(&left.job.target, false, lock_ns)
    }

    /// The methods that `auto` takes for each kind of case, found by trying.
    ///
    /// # Errors
    /// If there is nothing to choose from, or the target is not there or may not be used.
    fn methods(&self, target: &Target, _shapes: &[MethodShape]) -> Result<Vec<MethodsFound>, SetupError> {
        Err(SetupError::new("choose", "a method", format!("a {} target has only one", target.kind())))
    }
}

/// A defect: somebody asked the wrong kind.
pub fn wrong_kind(target: &Target, kind: &str) -> SetupError {
    SetupError::new("open", format!("a {} target", target.kind()), format!("is not of kind {kind}"))
}

/// What files behind a protocol that the engine itself speaks can do anywhere; `kind` is the word of its targets.
pub fn files_by_protocol(kind: &str) -> BackendCapabilities {
    BackendCapabilities {
        kind: kind.to_owned(),
        // C stdio is a library for files of the host.
        operations: Operation::of_files().filter(|operation| !operation.stdio()).collect(),
        layouts: vec![Layout::Separate, Layout::Shared],
        methods: vec![Method::Protocol],
        // There is no cache on this side: each operation goes to the server anyway.
        direct: true,
        direct_bypasses_cache: true,
        direct_alignment_bytes: 1,
        sync: vec![SyncPolicy::None, SyncPolicy::Fsync, SyncPolicy::Fdatasync, SyncPolicy::OSync, SyncPolicy::ODsync],
        cache: vec![CacheAction::Keep],
        file_sets: true,
        preallocate: false,
        verify: true,
        place: None,
    }
}

/// An object that was there before the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingObject {
    /// Its key.
    pub name: Box<str>,
    /// Its size.
    pub bytes: u64,
}

/// The objects that were there before the job, and are a lane's own as if it had made them: its object n is the n-th.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Existing {
    /// What they are, those of other processes included.
    pub found: ExistingObjects,
    /// Of each lane of this process, in order.
    pub lanes: Vec<Arc<[ExistingObject]>>,
}

/// A kind of storage at one place.
///
/// A backend never paces, retries, picks offsets, makes or checks data, keeps statistics or prints:
/// the driver does. An operation that fails once yields exactly one failed completion.
pub trait Backend: Send + Sync {
    /// What it can do at its place.
    fn capabilities(&self) -> BackendCapabilities;

    /// Makes the place ready. Called once, before anything else; other processes may do the same for the same job.
    fn prepare(&self) -> Result<(), SetupError>;

    /// Finds the objects that the job only reads; none if it makes what it works on. Called once, after `prepare`.
    ///
    /// That may take long: `go_on` is told now and then how many there are so far, and says whether anybody still wants
    /// to know.
    ///
    /// # Errors
    /// If there are too few, they cannot be listed, or nobody wants to know any more.
    fn existing(&self, _go_on: &mut dyn FnMut(u64) -> bool) -> Result<Option<Arc<Existing>>, SetupError> {
        Ok(None)
    }

    /// Creates or empties files and treats the cache. Called by one thread before the lanes begin a phase.
    ///
    /// Returns what was done to the cache, in words; empty if nothing.
    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError>;

    /// Opens a worker's own connection. Called on the worker's thread.
    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError>;

    /// Name of a lane's object, for error samples; lanes are numbered as in `LaneSetup`. Where there are objects that
    /// were there before, what stands before the names of all of them.
    fn object_name(&self, lane: u32) -> String;

    /// Major and minor number of the block device that holds the data; none if there is none.
    fn device(&self) -> Option<(u32, u32)> {
        None
    }

    /// What is there may have been written by others than this job.
    fn foreign(&self) -> bool {
        false
    }

    /// How far a script wants the wall clock to be seen moved in each phase, in nanoseconds.
    fn wall_step_ns(&self) -> i64 {
        0
    }

    /// Bytes of the files of a phase in the host's page cache; none where that is unknown or means nothing. Asked before the
    /// start is agreed, as looking at a large file takes long.
    fn cached_bytes(&self, _plan: &PhasePlan) -> Option<u64> {
        None
    }

    /// The place is the one that was opened: nobody has unmounted, moved or replaced it. Asked before each phase and
    /// after the last.
    fn still_there(&self) -> Result<(), SetupError> {
        Ok(())
    }

    /// Waits for the other processes of the job, where they have a barrier of their own. Called by the coordinator while
    /// every lane is ready for a phase. `at` is the monotonic time at which lanes shall start, none if they shall not;
    /// returned is the earliest at which they may. If it is none in any process, it is in all.
    fn meet(&self, at: Option<u64>) -> Option<u64> {
        at
    }

    /// Lanes use what the process has opened before them, such as a library's connections: they get no table of
    /// descriptors of their own.
    fn shares_descriptors(&self) -> bool {
        false
    }

    /// Removes everything `prepare` and the phases have made, uploads that were begun and not completed among it. May be
    /// called at any time, also twice.
    fn cleanup(&self) -> Result<(), SetupError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_asked_for_its_own_targets() {
        let target = Target::Null(assay_spec::NullTarget::default());
        assert_eq!(wrong_kind(&target, "nfs").to_string(), "open a null target: is not of kind nfs");
    }

    /// All that files can do, but through no library or cache of this host.
    #[test]
    fn a_protocol_is_one_method() {
        let able = files_by_protocol("nfs");
        assert_eq!(
            (able.kind.as_str(), able.methods, able.cache),
            ("nfs", vec![Method::Protocol], vec![CacheAction::Keep])
        );
        assert!(able.operations.iter().all(|one| !one.stdio() && !one.objects()));
        assert!(able.operations.contains(&Operation::Write) && able.operations.contains(&Operation::Rename));
        assert!(able.direct && able.verify && able.file_sets && !able.preallocate);
    }
}

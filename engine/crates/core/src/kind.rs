//! The traits that each kind of storage implements.

use crate::{CollectiveBackend, Lane, LaneSetup, PhasePlan, ServiceBackend, SetupError};
use assay_spec::{
    BackendCapabilities, CacheAction, Job, Layout, LeftJob, Method, MethodShape, MethodsFound, Operation, PlaceAnswer,
    SyncPolicy, Target,
};
use std::sync::Arc;

/// A kind of storage; the same commands work on all kinds.
pub trait Kind: Sync {
    /// Capabilities that do not depend on the target; their `kind` is the `kind` of its targets.
    fn general(&self) -> BackendCapabilities;

    /// Capabilities at a target, found by trying; leaves nothing written.
    ///
    /// # Errors
    /// If the target is of another kind, is not there, or may not be used.
    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError>;

    /// Open the storage of a job.
    ///
    /// # Errors
    /// If the target is of another kind, is not there, or may not be used.
    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError>;

    /// Remove what jobs left at a target: the contents of its `directory`, or with `whole` the whole place that a run
    /// created. Waits at most `lock_ns` nanoseconds for other processes that work there.
    ///
    /// # Errors
    /// If the target is of another kind or not there, or if something could not be removed.
    fn clean(&self, target: &Target, whole: bool, lock_ns: u64) -> Result<PlaceAnswer, SetupError>;

    /// Remove what a job left, as known from the job and the events of its engines: for kinds whose place is shared
    /// with others, and whose listings contain other users' data. Other kinds remove the job's directory.
    ///
    /// # Errors
    /// As for `clean`.
    fn clean_job(&self, left: &LeftJob, lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        self.clean(&left.job.target, false, lock_ns)
    }

    /// The methods that `auto` selects for each shape of case, found by trying.
    ///
    /// # Errors
    /// If there is only one method, or the target does not exist or may not be used.
    fn methods(&self, target: &Target, _shapes: &[MethodShape]) -> Result<Vec<MethodsFound>, SetupError> {
        Err(SetupError::new("choose", "a method", format!("a {} target has only one", target.kind())))
    }
}

/// An error for a defect: the wrong kind was used for a target.
pub fn wrong_kind(target: &Target, kind: &str) -> SetupError {
    SetupError::new("open", format!("a {} target", target.kind()), format!("is not of kind {kind}"))
}

/// Capabilities of files behind a protocol that the engine implements itself; `kind` is the `kind` of its targets.
pub fn files_by_protocol(kind: &str) -> BackendCapabilities {
    BackendCapabilities {
        kind: kind.to_owned(),
        // C stdio works on files of the host only.
        operations: Operation::of_files().filter(|operation| !operation.stdio()).collect(),
        layouts: vec![Layout::Separate, Layout::Shared],
        methods: vec![Method::Protocol],
        // There is no client cache: each operation goes to the server.
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

/// The storage of one job.
///
/// A backend never paces, retries, picks offsets, makes or checks data, keeps statistics or prints: the driver does. An
/// operation that fails once yields exactly one failed completion.
pub trait Backend: Send + Sync {
    /// Capabilities at this place.
    fn capabilities(&self) -> BackendCapabilities;

    /// Make the place ready. Called once, before anything else; other processes may do the same for the same job.
    fn prepare(&self) -> Result<(), SetupError>;

    /// Create or empty files and apply the cache action. Called by one thread before the lanes begin a phase.
    ///
    /// Returns what was done to the cache, as text; empty if nothing.
    fn begin_phase(&self, plan: &PhasePlan) -> Result<String, SetupError>;

    /// Open a worker's own connection. Called on the worker's thread.
    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError>;

    /// Name of a lane's object, for error samples; lanes are numbered as in `LaneSetup`. With objects that existed
    /// before the job, the common prefix of their names.
    fn object_name(&self, lane: u32) -> String;

    /// Major and minor number of the block device that holds the data; None if there is none.
    fn device(&self) -> Option<(u32, u32)> {
        None
    }

    /// True if the storage may hold data of others than this job.
    fn may_hold_others_data(&self) -> bool {
        false
    }

    /// By how much a script pretends that the wall clock moves in each phase, in nanoseconds.
    fn wall_step_ns(&self) -> i64 {
        0
    }

    /// Bytes of the phase's files that are in the host's page cache; None if unknown or meaningless. Called before the
    /// start is agreed, because checking a large file takes long.
    fn cached_bytes(&self, _plan: &PhasePlan) -> Option<u64> {
        None
    }

    /// Check that the place is the one that was opened: not unmounted, moved or replaced. Called before each phase and
    /// after the last.
    fn still_there(&self) -> Result<(), SetupError> {
        Ok(())
    }

    /// What the job's processes do together; None if each works alone.
    fn collective(&self) -> Option<&dyn CollectiveBackend> {
        None
    }

    /// What a service over a network may have; None for storage that holds nothing but the job's own data.
    fn service(&self) -> Option<&dyn ServiceBackend> {
        None
    }

    /// Remove everything that `prepare` and the phases created, including uploads that were not completed. May be
    /// called at any time, also twice.
    fn cleanup(&self) -> Result<(), SetupError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_kinds_target_is_refused() {
        let target = Target::Null(assay_spec::NullTarget::default());
        assert_eq!(wrong_kind(&target, "nfs").to_string(), "open a null target: is not of kind nfs");
    }

    /// All that files can do, except through a library or cache of this host.
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

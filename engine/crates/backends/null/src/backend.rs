//! The null backend.

use crate::copy::CopyLane;
use crate::lane::NullLane;
use assay_core::{Backend, Lane, LaneSetup, PhasePlan, SetupError};
use assay_spec::{BackendCapabilities, CacheAction, Layout, Method, NullTarget, Operation, SyncPolicy};

/// Storage that does nothing.
pub struct NullBackend {
    target: NullTarget,
    seed: u64,
}

impl NullBackend {
    /// A device that follows `target`'s script, with service times drawn from `seed`.
    pub fn new(target: NullTarget, seed: u64) -> Self {
        NullBackend { target, seed }
    }

    /// What the null backend can do.
    pub fn general_capabilities() -> BackendCapabilities {
        BackendCapabilities {
            kind: "null".to_owned(),
            operations: Operation::measurable().filter(|one| !one.stdio() && !one.runs_programs()).collect(),
            layouts: vec![Layout::Separate, Layout::Shared],
            methods: vec![Method::Sync],
            direct: true,
            direct_bypasses_cache: true,
            direct_alignment_bytes: 1,
            sync: vec![
                SyncPolicy::None,
                SyncPolicy::Fsync,
                SyncPolicy::Fdatasync,
                SyncPolicy::OSync,
                SyncPolicy::ODsync,
            ],
            cache: vec![CacheAction::Keep, CacheAction::Evict, CacheAction::Drop],
            file_sets: true,
            preallocate: true,
            verify: false,
            place: None,
        }
    }
}

impl Backend for NullBackend {
    fn capabilities(&self) -> BackendCapabilities {
        BackendCapabilities { verify: self.target.make_data, ..Self::general_capabilities() }
    }

    fn prepare(&self) -> Result<(), SetupError> {
        Ok(())
    }

    fn begin_phase(&self, _plan: &PhasePlan) -> Result<String, SetupError> {
        Ok(String::new())
    }

    fn open_lane(&self, setup: LaneSetup) -> Result<Box<dyn Lane>, SetupError> {
        let copied = self.target.memory_copy_bytes;
        if copied > 0 {
            return Ok(Box::new(CopyLane::new(copied, setup.queue_depth)?));
        }
        Ok(Box::new(NullLane::new(&self.target, self.seed, &setup)))
    }

    fn wall_step_ns(&self) -> i64 {
        self.target.clock_step_ns
    }

    fn object_name(&self, lane: u32) -> String {
        format!("null{lane}")
    }

    fn cleanup(&self) -> Result<(), SetupError> {
        Ok(())
    }
}

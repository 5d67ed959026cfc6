//! The jobs that checks run. The only place that knows the format of a job.

use assay_spec::{
    BackendCapabilities, DataSpec, Group, Job, Layout, Method, Objects, Operation, SyncPolicy, Target, Tree,
    SPEC_VERSION,
};
use serde_json::{json, Value};

/// Parameters of a check's job.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    pub(crate) lanes: u32,
    pub(crate) layout: Layout,
    /// Bytes of each file. In a tree and for objects, bytes of contents of each.
    pub(crate) file: u64,
    pub(crate) record: u64,
    /// Bytes a lane has in one piece, or `None` if its whole part is in one piece.
    pub(crate) block: Option<u64>,
    pub(crate) depth: u32,
    pub(crate) method: Method,
    pub(crate) direct: bool,
    pub(crate) sync: SyncPolicy,
    pub(crate) preallocate: bool,
    pub(crate) data: DataSpec,
    pub(crate) tree: Option<Tree>,
    pub(crate) objects: Option<Objects>,
    pub(crate) phases: Vec<Value>,
    /// Whether the files exist from an earlier job.
    pub(crate) reuse: bool,
}

impl Recipe {
    /// One lane that runs one operation after the other on a file of `file` bytes.
    pub(crate) fn plain(file: u64, record: u64) -> Self {
        Recipe {
            seed: 0,
            lanes: 1,
            layout: Layout::Shared,
            file,
            record,
            block: None,
            depth: 1,
            method: Method::Auto,
            direct: false,
            sync: SyncPolicy::Fsync,
            preallocate: false,
            data: DataSpec { verify: true, ..DataSpec::default() },
            tree: None,
            objects: None,
            phases: vec![phase(Operation::Read)],
            reuse: false,
        }
    }

    /// The same recipe, with a layout that the storage offers.
    pub(crate) fn fitting(self, able: &BackendCapabilities) -> Self {
        let layout = if able.layouts.contains(&self.layout) { self.layout } else { Layout::Separate };
        Recipe { layout, ..self }
    }

    /// Builds the job. It keeps its files, since the check removes them after reading them.
    ///
    /// # Errors
    /// Why the contract rejects the job.
    pub(crate) fn job(&self, target: &Target) -> Result<Job, String> {
        let fields = json!({
            "spec_version": SPEC_VERSION, "id": "conform", "target": target,
            "seed": self.seed, "lanes": self.lanes, "layout": self.layout,
            "file_size_bytes": self.file, "record_size_bytes": self.record, "block_size_bytes": self.block, "queue_depth": self.depth,
            "method": self.method, "direct": self.direct, "sync": self.sync, "preallocate": self.preallocate,
            "data": self.data, "tree": self.tree, "objects": self.objects, "phases": self.phases,
            "keep_files": true, "reuse_files": self.reuse,
            // All failures are to be reported.
            "error_limit": i64::MAX,
        });
        let job: Job = serde_json::from_value(fields).map_err(|error| error.to_string())?;
        job.validate().map_err(|error| error.to_string())?;
        Ok(job)
    }
}

/// A phase that processes the data once.
pub(crate) fn phase(operation: Operation) -> Value {
    let mix = match operation.group() {
        _ if !operation.mixes() => Value::Null,
        Some(Group::Objects) => json!({ "put": 50, "get": 50 }),
        _ if operation == Operation::FileMix => {
            json!({ "read": 20, "write": 20, "create": 20, "stat": 20, "unlink": 20 })
        }
        _ => json!({ "read": 50, "write": 50 }),
    };
    json!({ "operation": operation, "measured": operation != Operation::Prepare, "mix": mix })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Subject;
    use crate::fake::{Defect, Fake};

    #[test]
    fn a_recipe_is_a_job_that_keeps_its_files_and_reports_every_error() {
        let recipe = Recipe { lanes: 3, seed: 9, reuse: true, ..Recipe::plain(12_288, 4096) };
        let job = recipe.job(&Fake::files(Defect::None).target(1)).unwrap();
        assert_eq!((job.lanes, job.seed, job.file_size_bytes, job.record_size_bytes), (3, 9, 12_288, 4096));
        assert!(job.keep_files && job.reuse_files && job.data.verify);
        assert_eq!(job.error_limit, i64::MAX as u64);
        assert_eq!(job.phases[0].operation, Operation::Read);
    }

    #[test]
    fn what_the_contract_does_not_allow_is_no_job() {
        let target = Fake::files(Defect::None).target(1);
        let refused = |recipe: Recipe| recipe.job(&target).unwrap_err();
        assert!(refused(Recipe::plain(4096, 0)).starts_with("record_size_bytes"));
        assert!(refused(Recipe { lanes: 0, ..Recipe::plain(4096, 4096) }).starts_with("lanes"));
    }

    #[test]
    fn a_layout_that_is_not_offered_gives_way() {
        let able = |layouts: &[Layout]| {
            let able = Fake::files(Defect::None).capabilities().clone();
            BackendCapabilities { layouts: layouts.to_vec(), ..able }
        };
        let fitted = |layouts: &[Layout]| Recipe::plain(1, 1).fitting(&able(layouts)).layout;
        assert_eq!(fitted(&[Layout::Separate]), Layout::Separate);
        assert_eq!(fitted(&[Layout::Separate, Layout::Shared]), Layout::Shared);
    }

    #[test]
    fn mixes_are_halves() {
        assert_eq!(phase(Operation::Read)["mix"], Value::Null);
        assert_eq!(phase(Operation::RandomMix)["mix"], json!({ "read": 50, "write": 50 }));
        assert_eq!(phase(Operation::ObjectMix)["mix"], json!({ "put": 50, "get": 50 }));
        assert_eq!(phase(Operation::Prepare)["measured"], false);
    }
}

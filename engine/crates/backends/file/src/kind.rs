//! The two kinds of targets: directories and devices.

use crate::backend::FileBackend;
use crate::capability::general;
use assay_core::{wrong_kind, Backend, Kind, SetupError};
use assay_posix::place::claim::clean;
use assay_spec::{BackendCapabilities, Job, MethodShape, MethodsFound, PlaceAnswer, Target};
use std::sync::Arc;

/// Files below a marked directory.
pub struct Files;

/// Whole block devices.
pub struct Devices;

impl Kind for Files {
    fn general(&self) -> BackendCapabilities {
        general("file")
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::File(target) = target else { return Err(wrong_kind(target, "file")) };
        Ok(FileBackend::directory(target, 0..1, 1)?.capabilities())
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::File(target) = &job.target else { return Err(wrong_kind(&job.target, "file")) };
        let backend = FileBackend::directory(target, FileBackend::files_for(job), job.file_size_bytes)?;
        let backend = backend.reusing(job.reuse_files).among(job);
        Ok(Arc::new(match &job.tree {
            Some(tree) => backend.with_tree(tree.clone(), job),
            None => backend,
        }))
    }

    fn clean(&self, target: &Target, whole: bool, lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::File(target) = target else { return Err(wrong_kind(target, "file")) };
        let run = target.run.as_deref();
        let one = |root: &str| clean(root, &target.directory, run, whole, lock_ns);
        let mut answer = one(&target.root)?;
        for share in &target.shares {
            let other = one(share)?;
            answer.removed.extend(other.removed);
            answer.left.extend(other.left);
            answer.foreign |= other.foreign;
            answer.absent &= other.absent;
            answer.retained |= other.retained;
        }
        Ok(answer)
    }

    fn methods(&self, target: &Target, shapes: &[MethodShape]) -> Result<Vec<MethodsFound>, SetupError> {
        let Target::File(target) = target else { return Err(wrong_kind(target, "file")) };
        Ok(FileBackend::directory(target, 0..1, 1)?.methods(shapes))
    }
}

impl Kind for Devices {
    fn general(&self) -> BackendCapabilities {
        general("device")
    }

    fn probe(&self, target: &Target) -> Result<BackendCapabilities, SetupError> {
        let Target::Device(target) = target else { return Err(wrong_kind(target, "device")) };
        Ok(FileBackend::device(&target.path, 1)?.capabilities())
    }

    fn open(&self, job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
        let Target::Device(target) = &job.target else { return Err(wrong_kind(&job.target, "device")) };
        Ok(Arc::new(FileBackend::device(&target.path, job.file_size_bytes)?))
    }

    /// Nothing is removed: what jobs wrote has replaced what was there.
    fn clean(&self, target: &Target, _whole: bool, _lock_ns: u64) -> Result<PlaceAnswer, SetupError> {
        let Target::Device(_) = target else { return Err(wrong_kind(target, "device")) };
        Ok(PlaceAnswer::default())
    }

    fn methods(&self, target: &Target, shapes: &[MethodShape]) -> Result<Vec<MethodsFound>, SetupError> {
        let Target::Device(target) = target else { return Err(wrong_kind(target, "device")) };
        Ok(FileBackend::device(&target.path, 1)?.methods(shapes))
    }
}

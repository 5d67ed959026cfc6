//! The only place that knows which backends there are.

use anyhow::bail;
use assay_backend_file::FileBackend;
use assay_backend_nfs::NfsBackend;
use assay_backend_null::NullBackend;
use assay_core::{Backend, SetupError};
use assay_spec::{BackendCapabilities, Job, Method, Operation, Target};
use std::sync::Arc;

/// What each backend can do anywhere.
pub(crate) fn general() -> Vec<BackendCapabilities> {
    vec![
        NullBackend::general_capabilities(),
        assay_backend_file::general("file"),
        assay_backend_file::general("device"),
        assay_backend_nfs::general(),
    ]
}

/// The backend of a job.
pub(crate) fn open(job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
    Ok(match &job.target {
        Target::Null(target) => Arc::new(NullBackend::new(target.clone(), job.seed)),
        Target::File(target) => {
            let files = FileBackend::files_for(job);
            let backend = FileBackend::directory(target, files, job.file_size_bytes)?;
            let backend = backend.reusing(job.reuse_files).among(job);
            Arc::new(match &job.tree {
                Some(tree) => backend.with_tree(tree.clone(), job),
                None => backend,
            })
        }
        Target::Device(target) => Arc::new(FileBackend::device(&target.path, job.file_size_bytes)?),
        Target::Nfs(target) => Arc::new(NfsBackend::open(target, job)?),
    })
}

/// The word that a job uses for a value.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn kind(target: &Target) -> &'static str {
    match target {
        Target::Null(_) => "null",
        Target::File(_) => "file",
        Target::Device(_) => "device",
        Target::Nfs(_) => "nfs",
    }
}

/// Refuses what the job's backend cannot do anywhere.
pub(crate) fn check_general(job: &Job) -> anyhow::Result<()> {
    let kind = kind(&job.target);
    let found = general().into_iter().find(|backend| backend.kind == kind);
    check(job, &found.expect("every kind of target has a backend"))
}

/// Refuses what a backend cannot do.
pub(crate) fn check(job: &Job, can: &BackendCapabilities) -> anyhow::Result<()> {
    let place = can.place.as_ref().map_or_else(|| format!("a {} target", can.kind), |place| place.path.clone());
    let missing = |operation: &Operation| *operation != Operation::Prepare && !can.operations.contains(operation);
    if let Some(phase) = job.phases.iter().find(|phase| missing(&phase.operation)) {
        bail!("{place} has no operation {}", phase.operation.name());
    }
    if !can.layouts.contains(&job.layout) {
        bail!("{place} has no layout {}", word(&job.layout));
    }
    let asked =
        job.phases.iter().filter_map(|phase| phase.method.as_ref().map(|found| found.method)).chain([job.method]);
    if let Some(method) = asked.into_iter().find(|method| *method != Method::Auto && !can.methods.contains(method)) {
        bail!("{place} has no method {}: use auto", word(&method));
    }
    if !can.sync.contains(&job.sync) {
        bail!("{place} has no sync policy {}", word(&job.sync));
    }
    if let Some(phase) = job.phases.iter().find(|phase| !can.cache.contains(&phase.cache_before)) {
        bail!("{place} cannot {} the cache: dropping it needs root", word(&phase.cache_before));
    }
    if job.preallocate && !can.preallocate {
        bail!("{place} cannot reserve space: set preallocate to false");
    }
    if job.data.verify && !can.verify {
        bail!("{place} keeps no data: set data.verify to false");
    }
    check_direct(job, can, &place)
}

fn check_direct(job: &Job, can: &BackendCapabilities, place: &str) -> anyhow::Result<()> {
    if !job.direct {
        return Ok(());
    }
    if !can.direct {
        bail!("{place} has no O_DIRECT: set direct to false");
    }
    let alignment = can.direct_alignment_bytes.max(1);
    if !job.record_size_bytes.is_multiple_of(alignment) {
        bail!("record_size_bytes {}: with O_DIRECT {place} needs multiples of {alignment}", job.record_size_bytes);
    }
    Ok(())
}

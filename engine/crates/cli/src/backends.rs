//! The only module that knows which kinds of storage there are.

use anyhow::bail;
use assay_core::{Backend, Kind, SetupError};
use assay_spec::{BackendCapabilities, Job, Method, Operation, Target};
use std::sync::Arc;

/// Every kind of storage.
static KINDS: &[&dyn Kind] = &[
    &assay_backend_null::Nothing,
    &assay_backend_file::Files,
    &assay_backend_file::Devices,
    &assay_backend_command::Commands,
    &assay_replay::Traces,
    &assay_backend_aoe::Disks,
    &assay_backend_nfs::Exports,
    &assay_backend_smb::Shares,
    &assay_backend_mpiio::MpiFiles,
    &assay_backend_http::Buckets,
    &assay_backend_http::Tables,
];

/// Version text of the MPI library that this program is linked to; None if it is linked to none.
pub(crate) fn mpi_library() -> Option<String> {
    assay_backend_mpiio::library()
}

/// End what backends share with other processes. `succeeded`: each of them has done its part of the job.
pub(crate) fn leave(succeeded: bool) {
    assay_backend_mpiio::leave(succeeded);
}

/// Capabilities of each kind that do not depend on a target.
pub(crate) fn general_capabilities() -> Vec<BackendCapabilities> {
    KINDS.iter().map(|kind| kind.general()).collect()
}

/// The kind of a target.
pub(crate) fn kind(target: &Target) -> &'static dyn Kind {
    let found = KINDS.iter().find(|kind| kind.general().kind == target.kind());
    *found.expect("every kind of target has a backend")
}

/// Open the storage of a job.
pub(crate) fn open(job: &Job) -> Result<Arc<dyn Backend>, SetupError> {
    kind(&job.target).open(job)
}

/// The word that a job uses for a value.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Refuse a job that its backend cannot execute anywhere.
pub(crate) fn check_general(job: &Job) -> anyhow::Result<()> {
    check(job, &kind(&job.target).general())
}

/// Refuse a job that a backend cannot execute.
pub(crate) fn check(job: &Job, can: &BackendCapabilities) -> anyhow::Result<()> {
    let place = can.place.as_ref().map_or_else(|| format!("a {} target", can.kind), |place| place.path.clone());
    let missing = |operation: &Operation| *operation != Operation::Prepare && !can.operations.contains(operation);
    if let Some(phase) = job.phases.iter().find(|phase| missing(&phase.operation)) {
        bail!("{place} has no operation {}", phase.operation.name());
    }
    if job.on_file_set() && !can.file_sets {
        bail!("{place} has no sets of files: leave tree out");
    }
    // If no file can be shared, each place has a tree for the lanes that work there.
    if !can.layouts.contains(&job.layout) && job.tree.is_none() {
        bail!("{place} has no layout {}", word(&job.layout));
    }
    let requested =
        job.phases.iter().filter_map(|phase| phase.method.as_ref().map(|found| found.method)).chain([job.method]);
    if let Some(method) = requested.into_iter().find(|method| *method != Method::Auto && !can.methods.contains(method))
    {
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

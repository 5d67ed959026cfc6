//! Capabilities of a backend, as the planner, the documentation and the contract tests read them.

use crate::{CacheAction, Layout, Method, Operation, SyncPolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Everything that this engine can do anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Version of the contract.
    pub spec_version: u32,
    /// Version of the engine.
    pub engine_version: String,
    /// Version text of the MPI library that the engine is linked to (MPI_Get_library_version); none: it is linked to
    /// none, and opens no target of kind mpiio.
    #[serde(default)]
    pub mpi: Option<String>,
    /// One entry per kind of target.
    pub backends: Vec<BackendCapabilities>,
}

/// Capabilities of one backend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackendCapabilities {
    /// The target's kind.
    pub kind: String,
    /// Operations it offers.
    pub operations: Vec<Operation>,
    /// Layouts it offers.
    pub layouts: Vec<Layout>,
    /// Methods it offers, without `auto`.
    pub methods: Vec<Method>,
    /// Whether O_DIRECT is available.
    pub direct: bool,
    /// Whether O_DIRECT bypasses the page cache (false where the store is in memory).
    pub direct_bypasses_cache: bool,
    /// With O_DIRECT, record and file size must be multiples of this; 0 without O_DIRECT.
    pub direct_alignment_bytes: u64,
    /// Sync policies it offers.
    pub sync: Vec<SyncPolicy>,
    /// Cache actions it offers.
    pub cache: Vec<CacheAction>,
    /// Whether operations on data work on sets of files (jobs with `tree`), too.
    #[serde(default)]
    pub file_sets: bool,
    /// Whether space can be reserved.
    pub preallocate: bool,
    /// Whether data can be verified.
    pub verify: bool,
    /// Capabilities found by trying at a given place; none in the general answer.
    pub place: Option<PlaceCapabilities>,
}

/// Capabilities of one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceCapabilities {
    /// The directory or device.
    pub path: String,
    /// Type of the file system as statfs(2) or /proc/self/mountinfo name it, e.g. ext4, tmpfs; block for a device.
    pub filesystem: String,
    /// Bytes free for this user, or the device's size; none if there is no limit or it is unknown.
    #[serde(default)]
    pub free_bytes: Option<u64>,
    /// What is missing at this place and why, one line each.
    pub limits: Vec<String>,
    /// What does not exist yet and will be created, as text; empty if it exists.
    #[serde(default)]
    pub absent: String,
}

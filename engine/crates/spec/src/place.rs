//! Requests and answers about directories that a job may use: inspected, claimed, cleaned, released.

use crate::{Beyond, Job, Method, SyncPolicy, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contents of the file `.assay-target`, by which a run claims a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// Id of the run that claimed the directory last.
    pub run: String,
    /// Folder of that run, which shows whether it is still alive; empty on other hosts than its own.
    #[serde(default)]
    pub run_folder: String,
    /// Identifies this run among all; a job that works here names it. Empty: claimed by hand.
    #[serde(default)]
    pub identity: String,
    /// Assay created the directory itself, and removes it when the run is over.
    pub created_by_assay: bool,
    /// The run leaves its data here on purpose.
    #[serde(default)]
    pub keep: bool,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "PlaceState")]
pub enum PlaceState {
    /// Nothing, and a directory can be created there.
    Absent,
    /// Nothing, and this user may not create anything there.
    ReadOnlyParent,
    /// The directory above does not exist.
    NoParent,
    /// What is above is not a directory.
    ParentNotDirectory,
    /// A symbolic link.
    Link,
    /// Something other than a directory.
    NotDirectory,
    /// A directory.
    Directory,
}

/// Space of a file system (statvfs(3)).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Total bytes.
    pub size_bytes: u64,
    /// Bytes that this user can still write.
    pub free_bytes: u64,
    /// Most files; 0 if they are not counted.
    pub files: u64,
    /// Files that this user can still create.
    pub free_files: u64,
}

/// The state of a path, inspected without changing anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    /// The path as requested.
    pub path: String,
    /// The same without symbolic links above its last name; as requested if that cannot be determined.
    pub real_path: String,
    /// What is there.
    pub state: PlaceState,
    /// Its mark, if it has a valid one.
    pub mark: Option<Mark>,
    /// It has a mark that is not Assay's.
    pub bad_mark: bool,
    /// Some of the names in it that are neither a mark nor created by mkfs(8).
    pub names: Vec<String>,
    /// It contains the directory of a job.
    pub has_work: bool,
    /// Numbers that identify this directory on this host (statx(2): device and inode), empty if there is none.
    pub identity: String,
    /// Space of the file system on which it is, or would be; none if unknown.
    pub space: Option<Space>,
}

/// A request to claim a directory for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Absolute path of the directory.
    pub root: String,
    /// The mark to write, except that `created_by_assay` is determined, not taken from here.
    pub mark: Mark,
    /// The mark of a run that is over, which may be replaced, and whose data is removed unless it was kept on purpose.
    #[serde(default)]
    pub over: Option<Mark>,
}

/// A finished job that may have left data: what it can have created follows from it, and nothing else is removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftJob {
    /// The job as it was sent.
    pub job: Job,
    /// Uploads that its engines have begun, by their events, and that are neither completed nor aborted.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub uploads: Vec<BegunUpload>,
    /// Numbers of objects that lanes have stored beyond the job's count, by their events.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub beyond: Vec<Beyond>,
}

/// A multipart upload that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BegunUpload {
    /// Key of the object.
    pub key: String,
    /// The service's id of the upload.
    pub id: String,
}

/// Something that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remains {
    /// Its path.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// The last line that `inspect`, `claim` and `clean` print.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceAnswer {
    /// What is there: for `inspect`, and for `claim` if the directory belongs to others.
    pub look: Option<Look>,
    /// For `claim`, the current mark; none if the directory belongs to others.
    pub mark: Option<Mark>,
    /// Numbers of the claimed directory, as in `Look`.
    pub identity: String,
    /// Removed paths.
    pub removed: Vec<String>,
    /// What could not be removed.
    pub left: Vec<Remains>,
    /// The directory has no mark of this run, and nothing in it was touched.
    pub foreign: bool,
    /// Nothing is at the path.
    pub absent: bool,
    /// Data was kept there on purpose.
    pub retained: bool,
    /// Why the request failed; empty if all went well.
    pub error: String,
    /// The storage does not respond.
    pub silent: bool,
}

/// The properties of a case that the choice of a method depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodShape {
    /// Bytes of one operation.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub record_size_bytes: u64,
    /// Operations that each lane keeps in flight.
    #[schemars(range(min = 1, max = 4096))]
    pub queue_depth: u32,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// What makes writes stable.
    pub sync: SyncPolicy,
    /// The file's space is reserved before it is first written.
    pub preallocate: bool,
}

/// A request to find out which method `auto` selects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodQuestion {
    /// The target, of kind file or device.
    pub target: Target,
    /// The cases.
    #[schemars(length(max = 10_000))]
    pub shapes: Vec<MethodShape>,
}

/// A method, and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodFound {
    /// Any but `auto`.
    pub method: Method,
    /// One line for users.
    pub reason: String,
}

/// The methods of one shape of case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodsFound {
    /// For reads.
    pub read: MethodFound,
    /// For writes of new data.
    pub create: MethodFound,
    /// For overwrites of existing data, and for operations that read and write.
    pub overwrite: MethodFound,
}

/// The last line that `methods` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodAnswer {
    /// One for each of the shapes, in order.
    pub found: Vec<MethodsFound>,
    /// Why the request failed; empty if all went well.
    pub error: String,
    /// The storage does not respond.
    pub silent: bool,
}

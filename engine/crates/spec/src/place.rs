//! What is asked and answered about directories that a job may use: looked at, claimed, cleaned, given back.

use crate::{Beyond, Job, Method, SyncPolicy, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contents of the file `.assay-target`, by which a run claims a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// Id of the run that claimed the directory last.
    pub run: String,
    /// Folder of that run, which tells whether it is still alive; empty on other hosts than its own.
    #[serde(default)]
    pub run_folder: String,
    /// What tells this run from every other one; a job that works here names it. Empty: claimed by hand.
    #[serde(default)]
    pub identity: String,
    /// The directory itself is Assay's and goes when the run is over.
    pub created_by_assay: bool,
    /// The run leaves its data here on purpose.
    #[serde(default)]
    pub keep: bool,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "PlaceState")]
pub enum PlaceState {
    /// Nothing, and a directory can be made there.
    Absent,
    /// Nothing, and this user may not make anything there.
    ReadOnlyParent,
    /// The directory above is not there.
    NoParent,
    /// What is above is not a directory.
    ParentNotDirectory,
    /// A symbolic link.
    Link,
    /// Something else than a directory.
    NotDirectory,
    /// A directory.
    Directory,
}

/// Room of a file system (statvfs(3)).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Space {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of everything.
    pub size_bytes: u64,
    /// Bytes that this user can still write.
    pub free_bytes: u64,
    /// Files that there can be; 0 where they are not counted.
    pub files: u64,
    /// Files that this user can still make.
    pub free_files: u64,
}

/// A path, looked at without changing anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    /// As it was asked for.
    pub path: String,
    /// The same without symbolic links above its last name; as it was asked for where that cannot be found out.
    pub real_path: String,
    /// What stands there.
    pub state: PlaceState,
    /// Its mark, if it has a legible one.
    pub mark: Option<Mark>,
    /// It has a mark that is not Assay's.
    pub bad_mark: bool,
    /// Some of the names in it, as far as they are neither a mark nor what mkfs(8) makes.
    pub names: Vec<String>,
    /// The directory of a job is in it.
    pub has_work: bool,
    /// Numbers that tell this directory on this host from any other (statx(2): device and inode), empty if there is none.
    pub identity: String,
    /// Room of the file system that it lies, or would lie on; none where the kernel does not tell.
    pub space: Option<Space>,
}

/// A directory is to be claimed for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Absolute path of the directory.
    pub root: String,
    /// What is written into it, but that whoever made the directory is found out and not believed.
    pub mark: Mark,
    /// The mark of a run that is over, which may be replaced, and whose data is removed unless it was kept on purpose.
    #[serde(default)]
    pub over: Option<Mark>,
}

/// A job that is over, of which something may be left: what it can have made follows from it, and nothing else is removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeftJob {
    /// As it was sent.
    pub job: Job,
    /// Uploads that its engines have begun, as their events say, and that are neither completed nor aborted.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub uploads: Vec<BegunUpload>,
    /// How far lanes have gone beyond the job's number of objects, as events say.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    pub beyond: Vec<Beyond>,
}

/// An upload in parts that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BegunUpload {
    /// Key of the object.
    pub key: String,
    /// What the service calls the upload.
    pub id: String,
}

/// Something that is still there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remains {
    /// Where.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The last line that `inspect`, `claim` and `clean` print.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceAnswer {
    /// What is there: for `inspect`, and for `claim` if the directory is somebody else's.
    pub look: Option<Look>,
    /// The mark that is there now, for `claim`; none if the directory is somebody else's.
    pub mark: Option<Mark>,
    /// Numbers of the claimed directory, as in `Look`.
    pub identity: String,
    /// Paths of what was removed.
    pub removed: Vec<String>,
    /// What was to be removed and is still there.
    pub left: Vec<Remains>,
    /// The directory has no mark of this run, and nothing in it was touched.
    pub foreign: bool,
    /// Nothing is at the path.
    pub absent: bool,
    /// Data stays there on purpose.
    pub kept: bool,
    /// Why nothing could be done; empty if all went well.
    pub error: String,
    /// The storage does not answer.
    pub silent: bool,
}

/// A kind of case, as far as the way to the kernel depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodShape {
    /// Bytes of one operation.
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub record_size_bytes: u64,
    /// Operations each lane keeps in flight.
    #[schemars(range(min = 1, max = 4096))]
    pub queue_depth: u32,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// What makes writes stable.
    pub sync: SyncPolicy,
    /// The file's space is reserved before it is first written.
    pub preallocate: bool,
}

/// Which method `auto` takes is to be found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodQuestion {
    /// Where: of kind file or device.
    pub target: Target,
    /// For what.
    #[schemars(length(max = 10_000))]
    pub shapes: Vec<MethodShape>,
}

/// A method, and why it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodFound {
    /// Any but `auto`.
    pub method: Method,
    /// One line for people.
    pub reason: String,
}

/// The methods of one kind of case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodsFound {
    /// Of reads.
    pub read: MethodFound,
    /// Of writes of what is not there yet.
    pub create: MethodFound,
    /// Of writes over what is there, and of operations that read and write.
    pub overwrite: MethodFound,
}

/// The last line that `methods` prints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MethodAnswer {
    /// One for each of the shapes, in order.
    pub found: Vec<MethodsFound>,
    /// Why nothing could be found out; empty if all went well.
    pub error: String,
    /// The storage does not answer.
    pub silent: bool,
}

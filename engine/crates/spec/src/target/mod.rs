//! The kinds of targets: one file each, and one line below.

use crate::validate::{ensure, plain_name, PLAIN};
use crate::{Job, JobError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the validation of a job needs of its target.
pub trait TargetRules {
    /// Check every rule that can be checked without looking at the host.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn validate(&self, job: &Job) -> Result<(), JobError>;

    /// Bytes of memory that each lane needs for it, buffers aside.
    fn lane_bytes(&self, _job: &Job) -> u64 {
        0
    }

    /// Set the name of the job's directory, if it has one.
    fn set_directory(&mut self, _name: &str) {}

    /// True if its data is reached through a file of the host's kernel, by any of the methods.
    fn kernel_files(&self) -> bool {
        false
    }

    /// True if it accepts any method's name and never blocks.
    fn accepts_any_method(&self) -> bool {
        false
    }

    /// Bytes of an object's size that are not contents, but names and keys that are stored with them, at the end of a
    /// slot.
    fn key_bytes(&self) -> u64 {
        0
    }

    /// True if its objects existed before the job, which only reads them: their list contains their sizes.
    fn only_reads(&self) -> bool {
        false
    }

    /// Smallest unit of data that can be read or written, in bytes: files and records are multiples of it.
    fn unit_bytes(&self) -> u64 {
        1
    }

    /// Number of places that the lanes are distributed over, each with its own files.
    fn places(&self) -> usize {
        1
    }

    /// Number of objects in one partition: those with numbers from a multiple of this on.
    fn group_objects(&self) -> u64 {
        1
    }
}

/// Check the name of a job's directory, and the run that it belongs to.
fn job_directory(name: &str, run: Option<&String>) -> Result<(), JobError> {
    ensure(plain_name(name), "target.directory", PLAIN)?;
    ensure(run.is_none_or(|run| plain_name(run)), "target.run", PLAIN)
}

mod http;
mod network;

pub use http::{Balance, NULL_SERVICE};

macro_rules! targets {
    ($($module:ident $kind:ident($target:ident) $word:literal $doc:literal)*) => {
        $(mod $module;)*
        $(pub use $module::*;)*

        /// The place that is measured.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        #[schemars(extend("discriminator" = {"propertyName": "kind"}))]
        pub enum Target {
            $(
                #[doc = $doc]
                #[schemars(title = stringify!($target))]
                $kind($target),
            )*
        }

        impl Target {
            /// The words of all kinds.
            pub const KINDS: &'static [&'static str] = &[$($word),*];

            /// The word for its kind, as jobs have it.
            pub fn kind(&self) -> &'static str {
                match self { $(Target::$kind(_) => $word),* }
            }

            /// The same, with another name of the job's directory, if it has one.
            #[must_use]
            pub fn in_directory(mut self, name: &str) -> Self {
                match &mut self { $(Target::$kind(target) => target.set_directory(name)),* }
                self
            }

            /// Its rules.
            pub fn rules(&self) -> &dyn TargetRules {
                match self { $(Target::$kind(target) => target),* }
            }
        }
    };
}

targets! {
    null Null(NullTarget) "null" "No storage at all: instant, or as scripted."
    file File(FileTarget) "file" "Files below a marked directory."
    command Command(CommandTarget) "command" "A program that works in a directory below a marked one."
    replay Replay(ReplayTarget) "replay" "A recorded trace, replayed in a directory below a marked one."
    device Device(DeviceTarget) "device" "A whole block device, which is overwritten."
    aoe Aoe(AoeTarget) "aoe" "A whole disk behind ATA over Ethernet, which is overwritten."
    nfs Nfs(NfsTarget) "nfs" "Files below an NFS export, reached without the kernel's client."
    smb Smb(SmbTarget) "smb" "Files in an SMB share, reached without the kernel's client."
    mpiio Mpiio(MpiioTarget) "mpiio" "Files below a marked directory, reached through MPI-IO."
    s3 S3(S3Target) "s3" "Objects in a bucket of an S3 service."
    dynamodb Dynamodb(DynamodbTarget) "dynamodb" "Items in a table of a DynamoDB service."
}

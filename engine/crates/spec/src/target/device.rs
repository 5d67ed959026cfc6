//! A whole block device.

use super::TargetRules;
use crate::validate::{absolute_without_dots, ensure, ABSOLUTE};
use crate::{Job, JobError, Layout};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A block device. All data on it is lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceTarget {
    /// Absolute path of the device.
    pub path: String,
    /// Must be true: the user has confirmed that the device may be overwritten.
    pub destroy: bool,
}

impl TargetRules for DeviceTarget {
    fn validate(&self, job: &Job) -> Result<(), JobError> {
        ensure(absolute_without_dots(&self.path), "target.path", ABSOLUTE)?;
        ensure(self.destroy, "target.destroy", "must be true: everything on the device is lost")?;
        ensure(job.layout == Layout::Shared, "layout", "must be shared for a device")?;
        ensure(job.tree.is_none(), "tree", "a device has no files")
    }

    fn kernel_files(&self) -> bool {
        true
    }
}

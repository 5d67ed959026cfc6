//! Why storage refuses an operation: whose number it is, and which.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose numbers a fault's code is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(title = "FaultDomain")]
pub enum FaultDomain {
    /// The kernel's or C library's: errno(3).
    Os,
    /// An NFS server's: nfsstat3 (RFC 1813 section 2.6).
    Nfs,
    /// An HTTP server's: status code (RFC 9110 section 15).
    Http,
    /// A DynamoDB service's.
    Dynamodb,
    /// An SMB server's: NTSTATUS ([MS-ERREF] section 2.3).
    Smb,
    /// An AoE target's (AoEr11 section 2.4).
    Aoe,
    /// An MPI library's error class.
    Mpi,
}

/// Why an operation was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Fault")]
pub struct Fault {
    /// Whose number it is.
    pub domain: FaultDomain,
    /// The number.
    pub code: i32,
}

impl Fault {
    /// The kernel's.
    #[inline]
    pub const fn os(errno: i32) -> Self {
        Fault { domain: FaultDomain::Os, code: errno }
    }

    /// An HTTP server's.
    #[inline]
    pub const fn http(status: u16) -> Self {
        Fault { domain: FaultDomain::Http, code: status as i32 }
    }

    /// The number, if it is the kernel's.
    #[inline]
    pub const fn errno(self) -> Option<i32> {
        match self.domain {
            FaultDomain::Os => Some(self.code),
            FaultDomain::Nfs
            | FaultDomain::Http
            | FaultDomain::Dynamodb
            | FaultDomain::Smb
            | FaultDomain::Aoe
            | FaultDomain::Mpi => None,
        }
    }
}

//! Faults: why storage refuses an operation, as a code and the protocol that it belongs to.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The protocol that a fault's code belongs to.
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
    /// An S3 service's: status code x 100, plus the position of the error's name among those of that status; below 100
    /// what its client found wrong.
    S3,
    /// A DynamoDB service's, in the same way.
    Dynamodb,
    /// An SMB server's: NTSTATUS ([MS-ERREF] section 2.3).
    Smb,
    /// An AoE target's (AoEr11 section 2.4).
    Aoe,
    /// An error class of MPI (MPI-3.1 section 8.4), numbered as in mpi.h of Open MPI for every library.
    Mpi,
    /// A program's that was run: its exit code, or the number of the signal that ended it, negative; 0 if neither.
    Program,
    /// A replayed trace's: number of operations that ended otherwise than recorded; 0 if it was not replayed to its end.
    Replay,
}

impl FaultDomain {
    /// All domains; a domain's number is its index.
    const ALL: [FaultDomain; 10] = [
        FaultDomain::Os,
        FaultDomain::Nfs,
        FaultDomain::Http,
        FaultDomain::S3,
        FaultDomain::Dynamodb,
        FaultDomain::Smb,
        FaultDomain::Aoe,
        FaultDomain::Mpi,
        FaultDomain::Program,
        FaultDomain::Replay,
    ];
}

/// Why an operation was refused: a domain and a code. Both are in one word, so that the result of an operation fits
/// into two registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Parts", into = "Parts")]
pub struct Fault(u64);

/// Why an operation was refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Fault", rename = "Fault")]
struct Parts {
    /// The code's domain.
    domain: FaultDomain,
    /// The code.
    code: i32,
}

impl From<Parts> for Fault {
    fn from(Parts { domain, code }: Parts) -> Self {
        Fault::new(domain, code)
    }
}

impl From<Fault> for Parts {
    fn from(fault: Fault) -> Self {
        Parts { domain: fault.domain(), code: fault.code() }
    }
}

impl JsonSchema for Fault {
    fn schema_name() -> Cow<'static, str> {
        Parts::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Parts::json_schema(generator)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault").field("domain", &self.domain()).field("code", &self.code()).finish()
    }
}

impl Fault {
    /// Number `code` of `domain`.
    #[inline]
    pub const fn new(domain: FaultDomain, code: i32) -> Self {
        Fault((domain as u64) << 32 | code as u32 as u64)
    }

    /// A fault of the kernel.
    #[inline]
    pub const fn os(errno: i32) -> Self {
        Fault::new(FaultDomain::Os, errno)
    }

    /// A fault of an NFS server.
    #[inline]
    pub const fn nfs(status: u32) -> Self {
        Fault::new(FaultDomain::Nfs, status as i32)
    }

    /// A fault of an HTTP server.
    #[inline]
    pub const fn http(status: u16) -> Self {
        Fault::new(FaultDomain::Http, status as i32)
    }

    /// The code's domain.
    pub const fn domain(self) -> FaultDomain {
        FaultDomain::ALL[(self.0 >> 32) as usize]
    }

    /// The code.
    #[inline]
    pub const fn code(self) -> i32 {
        self.0 as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_domain_and_code() {
        for (place, domain) in FaultDomain::ALL.into_iter().enumerate() {
            assert_eq!(domain as usize, place);
            for code in [0, 5, -1, i32::MIN, i32::MAX] {
                let fault = Fault::new(domain, code);
                assert_eq!((fault.domain(), fault.code()), (domain, code));
                let written = serde_json::to_value(fault).unwrap();
                assert_eq!(written, serde_json::json!({ "domain": domain, "code": code }));
                assert_eq!(serde_json::from_value::<Fault>(written).unwrap(), fault);
            }
        }
    }
}

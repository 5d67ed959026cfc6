//! What the functions of the shim and of its substitute in tests take and return.

/// Flags for opening a file.
pub(crate) mod open {
    pub(crate) const CREATE: i32 = 1;
    pub(crate) const EXCLUSIVE: i32 = 2;
    pub(crate) const READ_ONLY: i32 = 4;
    /// All ranks open it together.
    pub(crate) const SHARED: i32 = 8;
    pub(crate) const ATOMIC: i32 = 16;
}

/// Flags of operations.
pub(crate) mod op_flag {
    pub(crate) const WRITES: i32 = 1;
    /// All ranks that have opened the file execute it together.
    pub(crate) const TOGETHER: i32 = 2;
    /// By the individual file pointer.
    pub(crate) const INDIVIDUAL: i32 = 4;
    /// By the file pointer that all ranks share.
    pub(crate) const COMMON: i32 = 8;
}

/// Datatypes that file views are made of.
pub(crate) mod shape {
    pub(crate) const VECTOR: i32 = 1;
    pub(crate) const SUBARRAY: i32 = 2;
}

/// A process among the ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RankInfo {
    pub(crate) rank: u32,
    pub(crate) size: u32,
    /// Its number among the ranks of its host.
    pub(crate) on_host: u32,
}

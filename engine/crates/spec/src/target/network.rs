//! What targets reached over a network have in common.

use crate::validate::ensure;
use crate::JobError;

/// A connection's memory for what arrives, with a protocol of our own.
pub(super) const REPLY_BYTES: u64 = 128 << 10;

pub(super) fn one() -> u32 {
    1
}
pub(super) fn minute() -> u64 {
    60_000_000_000
}

/// Check the servers of a protocol with this default port.
pub(super) fn servers(names: &[String], port: u16) -> Result<(), JobError> {
    let server = |name: &String| {
        (1..=255).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:[]%".contains(&b))
    };
    let message = format!("must be 1 to 1024 names or addresses, each with :PORT if it is not {port}");
    ensure((1..=1024).contains(&names.len()) && names.iter().all(server), "target.servers", message)
}

/// Check the most bytes of one call that reads, and of one that writes.
pub(super) fn call_sizes(rsize: u64, wsize: u64) -> Result<(), JobError> {
    let size = |bytes| (1024..=1_u64 << 30).contains(&bytes);
    ensure(size(rsize), "target.rsize", "must be 1 KiB to 1 GiB")?;
    ensure(size(wsize), "target.wsize", "must be 1 KiB to 1 GiB")
}

/// Check the timeout of a request.
pub(super) fn timeout(ns: u64) -> Result<(), JobError> {
    ensure((100_000_000..=3_600_000_000_000).contains(&ns), "target.timeout_ns", "must be 100 ms to 1 h")
}

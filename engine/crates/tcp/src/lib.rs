//! Where a server is, and TCP connections to it that never block. For kinds of storage that speak a protocol of their own.

mod address;
pub mod socket;

pub use address::resolve;

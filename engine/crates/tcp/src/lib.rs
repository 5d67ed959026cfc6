//! Addresses of servers, and TCP connections to them that never block. For kinds of storage with a protocol client of
//! the engine's own.

mod address;
pub mod socket;

pub use address::resolve;

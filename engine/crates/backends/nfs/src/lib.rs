//! Files in NFS exports, through an NFS version 3 client of our own (RFC 1813): many calls in flight on several TCP
//! connections, no cache, no file system of the host between.

#[cfg(test)]
mod backend_tests;
mod calls;
mod client;
#[cfg(test)]
mod conform_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fake_store;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
#[cfg(test)]
mod hostile_tests;
mod kind;
mod lane;
mod link;
mod mount;
mod place;
mod record;
mod remove;
mod replies;
mod rpc;
mod stability;
mod status;
mod transport;
mod tree;
mod xdr;

pub use kind::Exports;

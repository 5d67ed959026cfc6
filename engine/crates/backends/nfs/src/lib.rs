//! Files in NFS exports, through an NFS version 3 client of our own (RFC 1813): many calls in flight on several TCP
//! connections, no cache, no file system of the host between.

mod address;
mod backend;
mod calls;
mod capability;
mod client;
#[cfg(test)]
mod conform_tests;
#[cfg(test)]
mod fake;
#[cfg(test)]
mod fake_store;
mod forest;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
#[cfg(test)]
mod hostile_tests;
mod lane;
mod link;
mod mount;
mod place;
mod record;
mod remove;
mod replies;
mod rpc;
mod socket;
mod stability;
mod status;
mod transport;
mod tree_lane;
mod tree_work;
mod xdr;

pub use backend::NfsBackend;
pub use capability::general;

use assay_core::SetupError;
use assay_spec::{BackendCapabilities, NfsTarget};

/// What can be done at a target. Nothing is written.
///
/// # Errors
/// If a server is not there or refuses.
pub fn probe(target: &NfsTarget) -> Result<BackendCapabilities, SetupError> {
    place::Place::open(target).map(|place| capability::at(&place))
}

/// Removes what killed jobs have left in a target: its directory, or with `whole` the whole root. Returns the paths of
/// what was removed.
///
/// # Errors
/// If the root has no mark, or what is to go cannot be removed.
pub fn clean(target: &NfsTarget, whole: bool) -> Result<Vec<String>, SetupError> {
    place::Place::open(target)?.clean(whole)
}

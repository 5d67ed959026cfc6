//! What storage adds that is a service over a network: connections and reports, and objects that others have stored.

use crate::SetupError;
use assay_spec::{ExistingObjects, ServiceUse};
use std::sync::Arc;

/// An object that existed before the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExistingObject {
    /// The object's key.
    pub name: Box<str>,
    /// The object's size.
    pub bytes: u64,
}

/// The objects that existed before the job and that each lane uses as if it had stored them: its object n is the n-th.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Existing {
    /// Totals of the found objects, including those of other processes.
    pub found: ExistingObjects,
    /// The objects of each lane of this process, in order.
    pub lanes: Vec<Arc<[ExistingObject]>>,
}

/// A backend whose service may hold objects that jobs only read.
pub trait ServiceBackend {
    /// Find the objects that the job only reads; None if the job creates its objects. Called once, after
    /// `Backend::prepare`.
    ///
    /// This may take long: `progress` is called now and then with the number of objects found so far, and returns false
    /// if the search is to end.
    ///
    /// # Errors
    /// If there are too few, they cannot be listed, or `progress` returned false.
    fn existing(&self, progress: &mut dyn FnMut(u64) -> bool) -> Result<Option<Arc<Existing>>, SetupError>;
}

/// A lane's connections to one host, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostCounts {
    /// The host as the target names it.
    pub host: String,
    /// Sent requests.
    pub requests: u64,
    /// Opened connections.
    pub opened: u64,
    /// Connections that could not be opened.
    pub refused: u64,
    /// Connections that ended before the lane did.
    pub closed: u64,
    /// Most requests on one connection.
    pub max_requests: u64,
    /// Time to open each connection, TLS included, in nanoseconds.
    pub setup_ns: Vec<u64>,
}

/// A lane that counts what it has to do with its service. Called after each phase.
pub trait ServiceLane {
    /// Counts of this lane's connections since the last call, host by host; empty if it has no connections.
    fn host_counts(&mut self) -> Vec<HostCounts>;

    /// What the service reported since the last call; None if it reports nothing.
    fn service_counts(&mut self) -> Option<ServiceUse>;
}

//! What storage adds whose processes work together, such as MPI-IO: calls that each process of a job makes, or none.

use assay_spec::Fault;

/// A backend whose processes start each phase together. Its lanes use connections of a library, which any thread may
/// open at any time, so they share the process's table of file descriptors.
pub trait CollectiveBackend {
    /// Wait for the other processes of the job at a barrier of their own, such as MPI's. Called by the coordinator when
    /// every lane is ready for a phase. `at` is the monotonic time at which lanes are to start, None if they are not to
    /// start; returns the earliest time at which they may. If it is None in any process, it is None in all.
    fn barrier(&self, at: Option<u64>) -> Option<u64>;
}

/// A lane that makes some calls together with lanes of other processes.
pub trait CollectiveLane {
    /// Whether lanes of all processes start the same number of operations in the phase that has begun: `agree_count` is
    /// then called before each stretch of them.
    fn in_step(&self) -> bool;

    /// How many operations a lane in step starts until the lanes agree again; 0 if the phase is over for all. `left` is
    /// the number that this lane has still to start, None if it must end now, which ends the phase for all. A lane with
    /// fewer left than the others fills up with operations of no bytes, which are not counted. The phase's time is over
    /// after `time_ns`; `u64::MAX` if it has no limit.
    ///
    /// # Errors
    /// If the other processes cannot be reached.
    fn agree_count(&mut self, left: Option<u64>, time_ns: u64) -> Result<u64, Fault>;

    /// Whether to flush at the end of a phase. If a flush is one call of several processes, they agree, whether this one
    /// wants to flush or not.
    fn flushes(&mut self, wanted: bool) -> bool;
}

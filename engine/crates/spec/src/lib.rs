//! The messages at the engine's border: [`Job`] in, [`Event`] out, [`Capabilities`] on request.
//!
//! The JSON Schemas in `contract/` are generated from these types, and the workbench's Python classes from those schemas,
//! so a change here is a change of the contract: run `make generate`.
//!
//! Unknown fields are refused in jobs and ignored in events. Units are part of the names (`_ns`, `_bytes`, `_per_s`). Times
//! are nanoseconds on the engine's monotonic clock unless the name contains `wall`.

mod capability;
mod counters;
mod event;
mod fault;
mod job;
mod layout;
mod memory;
mod mix;
mod op;
mod place;
mod replay;
#[cfg(test)]
#[path = "../../../testing/soak.rs"]
mod soak;
mod target;
mod task;
mod tree;
mod validate;

pub use capability::{BackendCapabilities, Capabilities, PlaceCapabilities};
pub use counters::{Counters, LinkCounters, MountCounters, Pressure};
pub use event::{
    Barrier, BarrierStep, Beyond, Bye, ByeStatus, DeviceUse, Earlier, ErrorCount, ErrorKind, ErrorSample, Event,
    ExistingObjects, Hello, HostConnections, HostCpu, Interval, LaneResult, LatencySummary, Level, Listing, Log,
    MpiioUse, OpCounts, OpInterval, OpTotals, PhaseEnd, PhaseStart, PhaseStatus, Pong, Ready, Resources, ServiceUse,
    Stonewall, Upload, Watch, Window,
};
pub use fault::{Fault, FaultDomain};
pub use job::{
    Access, Arrivals, CacheAction, DataSpec, Group, Job, Method, Objects, Operation, Phase, Sizes, SyncPolicy, Tuning,
    WeightedSize,
};
pub use layout::{Layout, Reorder};
pub use memory::{AHEAD_BYTES, PREPARE_BYTES, PREPARE_DEPTH};
pub use op::{Expected, Moves, OpKind};
pub use place::{
    BegunUpload, Claim, LeftJob, Look, Mark, MethodAnswer, MethodFound, MethodQuestion, MethodShape, MethodsFound,
    PlaceAnswer, PlaceState, Remains, Space,
};
pub use replay::{RecordedOps, Replay, ReplayDifference, ReplayedOps, TraceContents};
pub use target::*;
pub use task::{ProcessIo, Task, TaskStates};
pub use tree::{FileOrder, Tree};
pub use validate::{JobError, MAX_LANES, MAX_QUEUE_DEPTH, MAX_RANKS, MAX_RECORD_BYTES};

/// Version of the contract. A job with another one is refused.
pub const SPEC_VERSION: u32 = 2;

//! The interface between the driver, which decides what is done and when, and the backends, which do it.

mod buffers;
pub mod clock;
mod collective;
pub mod creation_log;
mod error;
pub mod excluded_cpu;
mod fault;
pub mod heartbeat;
mod hex;
mod kind;
mod lane;
mod named;
pub mod names;
mod ntstatus;
mod op;
mod part_owner;
pub mod permutation;
pub mod random;
pub mod refusals;
mod service;
pub mod sizes;

pub use assay_spec::{Fault, OpKind, ServiceUse};
pub use buffers::Buffers;
pub use collective::{CollectiveBackend, CollectiveLane};
pub use error::{os_message, SetupError};
pub use fault::{as_errno, fault_message, fault_name};
pub use hex::hex;
pub use kind::{files_by_protocol, wrong_kind, Backend, Kind};
pub use lane::{Lane, LaneSetup, MethodChoice, PhasePlan, REQUESTED_BY_JOB};
pub use named::{
    named_fault, status_of, CHECKSUM_MISMATCH, ETAG_MISMATCH, ITEM_LENGTH, MALFORMED_ANSWER, MALFORMED_TABLE_ANSWER,
    NO_REQUESTS_LEFT, NO_SUCH_ITEM, NO_UNITS_LEFT, SIZE_CHANGED, UNPROCESSED_ITEMS,
};
pub use op::{Completion, Op, Source, LIST_PAGE, OBJECT_BITS, OPEN_TO_READ};
pub use part_owner::PartOwners;
pub use service::{Existing, ExistingObject, HostCounts, ServiceBackend, ServiceLane};

//! The seam between the driver, which decides what is done and when, and the backends, which do it.

mod backend;
mod buffers;
pub mod clock;
mod error;
pub mod names;
pub mod pulse;
pub mod random;

pub use backend::{Backend, Completion, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, ASKED_FOR};
pub use buffers::Buffers;
pub use error::{os_message, SetupError};

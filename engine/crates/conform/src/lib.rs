//! Conformance suite: checks whether storage behaves as it should. The checks are built from the capabilities the
//! storage reports.
//!
//! Each check runs operations through the engine's own driver or, where the order of single operations matters, on a
//! [`manual_lane::ManualLane`]. It then looks at the outcome through a second opening of the target. Every byte that is
//! read is compared. The crate knows no kind of storage; the caller supplies the way to open a target ([`Subject`]).
//!
//! The suite cannot check what only shows after a loss of power, namely whether a flush has reached stable media.

// A finding is returned once per check, so its size does not matter.
#![allow(clippy::result_large_err)]

mod check;
mod data;
mod data_ways;
#[cfg(test)]
mod defect_tests;
mod ends;
mod events;
#[cfg(test)]
mod fake;
mod finding;
mod flush;
mod job;
mod look;
mod manual_lane;
mod name_semantics;
mod names;
mod object_semantics;
mod objects;
mod pattern;
mod report;
mod session;
mod sets;
mod suite;
mod table;

pub use check::Subject;
pub use finding::{Finding, Symptom};
pub use report::{Report, Row, Verdict};
pub use suite::{run, MIN_FREE_BYTES};

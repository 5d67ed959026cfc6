//! Whether storage does what it should: a suite of checks that is built from what the storage says it can do.
//!
//! Each check does something through the engine's own driver or, where the order of single operations matters, through
//! one lane by hand, and looks at the outcome through another opening. Every byte that is read is compared. The crate
//! knows no kind of storage: whoever calls hands in how a target is opened ([`Subject`]).
//!
//! What only shows after a loss of power is out of its reach: whether a flush has reached stable media.

// A finding is passed up once, when a check has come to its end.
#![allow(clippy::result_large_err)]

mod check;
mod data;
mod data_ways;
mod ends;
mod events;
#[cfg(test)]
mod fake;
mod finding;
mod flush;
mod hand;
mod job;
#[cfg(test)]
mod lies_tests;
mod look;
mod names;
mod names_by_hand;
mod objects;
mod objects_by_hand;
mod pattern;
mod report;
mod session;
mod sets;
mod suite;
mod table;

pub use check::Subject;
pub use finding::{Finding, Symptom};
pub use report::{Report, Row, Verdict};
pub use suite::{run, LEAST_FREE_BYTES};

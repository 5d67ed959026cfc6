//! The driver: decides what is done and when. Backends only do it.

pub mod arrivals;
pub mod control;
pub mod data;
mod data_set;
mod ending;
mod files;
pub mod histogram;
mod interval;
mod lane;
#[cfg(test)]
mod lane_tests;
#[cfg(test)]
mod layout_tests;
mod names;
pub mod objects;
mod outcome;
pub mod pattern;
mod phase;
mod placement;
mod resources;
mod runner;
#[cfg(test)]
mod simulated;
#[cfg(test)]
#[path = "../../../testing/soak.rs"]
mod soak;
mod stream;
mod totals;
mod watcher;
mod worker;

pub use ending::Ending;
pub use resources::{device_use, host_cpu, host_memory_bytes, max_rss_bytes};
pub use runner::{run, EventSink, StopFlag, WaitForGo};

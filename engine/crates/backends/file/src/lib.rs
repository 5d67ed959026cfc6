//! Files below a marked directory, and whole block devices.

mod backend;
mod capability;
mod lane;
mod place;
mod stdio;
mod sync_io;
mod uring;

pub use backend::FileBackend;
pub use capability::{general, MARKER};

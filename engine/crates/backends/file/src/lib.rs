//! Files below a marked directory, trees of small files, and whole block devices.

mod auto;
mod backend;
mod capability;
#[cfg(test)]
mod ground;
mod kind;
mod lane;
mod tree;

pub use assay_posix::place::claim::{claim, inspect};
pub use kind::{Devices, Files};

//! Files below a marked directory, trees of small files, and whole block devices.

mod auto;
mod backend;
mod capability;
mod kind;
mod lane;
#[cfg(test)]
mod test_dir;
mod tree;

pub use assay_posix::place::claim::{claim, inspect};
pub use kind::{Devices, Files};

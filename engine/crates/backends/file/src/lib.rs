//! Files below a marked directory, trees of small files, and whole block devices.

mod auto;
mod backend;
mod capability;
mod claim;
mod kind;
mod lane;
mod mark;
mod mmap;
mod place;
mod residency;
mod stdio;
mod sync_io;
mod threads;
mod tree;
mod tree_calls;
mod tree_entries;
mod tree_lane;
mod tree_leaves;
mod tree_remove;
mod tree_ring;
mod uring;

pub use claim::{claim, inspect};
pub use kind::{Devices, Files};

//! Programs as a load: each operation runs one to its end, in a directory of its own on the storage, and counts what all
//! of its processes used.

mod backend;
mod files;
mod guard;
mod kind;
mod lane;
mod observe;
mod process;
mod words;

pub use kind::Commands;

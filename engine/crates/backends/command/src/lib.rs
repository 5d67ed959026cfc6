//! Programs as a load: each operation runs one to its end, in a directory of its own on the storage, and counts what all
//! of its processes used.

mod backend;
mod files;
mod guard;
mod kind;
mod lane;
mod observe;
mod path;
mod process;
mod waits;
mod words;

pub use kind::Commands;

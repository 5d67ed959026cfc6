//! Storage that does nothing: instantly, or as scripted. It shows what the engine itself costs, and its scripted stalls
//! and errors prove that the statistics hide nothing.

mod backend;
mod copy;
mod kind;
mod lane;
#[cfg(test)]
#[path = "../../../../testing/soak.rs"]
mod soak;
#[cfg(test)]
mod tests;

pub use backend::NullBackend;
pub use kind::Nothing;

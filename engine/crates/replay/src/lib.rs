//! Replays traces: recorded operations on files are executed again, task by task, at their times or as fast as they
//! follow each other, in directories of their own and with files that are made anew.

mod backend;
mod buffer;
mod calls;
mod contents;
mod copy;
mod crew;
mod descriptors;
mod files;
mod handles;
mod ids;
mod kind;
mod lane;
mod layout;
mod order;
mod progress;
mod reader;
mod record;
mod survey;
mod tally;
#[cfg(test)]
mod testing;
mod trace;
mod worker;

pub use backend::contents;
pub use kind::Traces;

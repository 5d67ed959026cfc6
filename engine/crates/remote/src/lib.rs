//! What backends over a network with pipelined calls have in common: the backend itself, the calls in flight, records that
//! are cut into calls, and trees of files. A protocol acts through the traits of this crate.

mod backend;
mod calls;
mod forest;
mod lane;
mod link;
mod place;
mod records;
mod remove;
mod transport;

pub use backend::RemoteBackend;
pub use calls::{Call, Calls, Outcome, Payload, State};
pub use forest::Forest;
pub use lane::{execute, piece_to_read, piece_to_write, reap};
pub use link::{Incoming, Input, Outgoing};
pub use place::{capabilities, unmarked, RemotePlace, Settings, Volume};
pub use records::{part_of, tag_of, Records};
pub use remove::{names_of_job, Attempts, Unremoved};
pub use transport::{Transport, WINDOW};

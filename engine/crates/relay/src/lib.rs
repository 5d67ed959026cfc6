//! Several engines of one host as one: they are started, told and heard together.
//!
//! Who controls them sees one engine with the lanes of all: one job goes in, which is split; one stream of events comes
//! out, in which counts are added up and histograms merged bucket by bucket. All have the host's clock, so that nothing
//! is lost by it. A thousand engines so cost whoever controls them no more than the hosts that they are on.
//!
//! What is between the relay and its controller is either a pipe of its own, or what `mpirun` or `srun` give all
//! processes together: then lines down are addressed ([`words`]), and what goes up is cut into frames that arrive whole
//! wherever they are mixed with those of others ([`frame`]).

pub mod engines;
mod follow;
pub mod frame;
mod lead;
pub mod merge;
mod split;
mod up;
pub mod words;
mod world;

pub use follow::follow;
pub use lead::{lead, Way};
pub use world::{Launcher, World};

//! Several engines of one host as one: they are started, controlled and read together.
//!
//! Their controller sees one engine with the lanes of all: one job goes in, which is split; one stream of events comes
//! out, with counts summed and histograms merged bucket by bucket. All have the host's clock, so nothing is lost by
//! that. So the controller's work for a thousand engines is that for the hosts that they are on.
//!
//! The relay and its controller are connected by a pipe, or by what `mpirun` or `srun` give all processes together:
//! then lines to the engines are addressed ([`commands`]), and lines to the controller are cut into frames that arrive
//! whole even if they are mixed with those of others ([`frame`]).

pub mod commands;
pub mod engines;
mod follow;
pub mod frame;
mod lead;
pub mod merge;
mod split;
mod upstream;
mod world;

pub use follow::follow;
pub use lead::{lead, LeadMode};
pub use world::{Launcher, World};

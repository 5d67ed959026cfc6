//! Files that are accessed through MPI-IO: the calls of an MPI library, on files below a marked directory, by one lane
//! in each rank.
//!
//! MPI standardises source code, not binaries: each library decides what its handles, statuses and constants are, and
//! Open MPI and MPICH have decided differently. So a shim in C with plain types (`shim/mpi.c`) is compiled by the
//! library's own `mpicc` when the engine is built. That works for Open MPI, MPICH, Intel MPI and every library with an
//! `mpicc`. It needs no description of each library's binary interface and no tool that reads headers, and adds one
//! function call to each operation.
//!
//! The feature `mpi` is needed only to open a job's storage. What the kind can do, what is found at a place, and what a
//! job has left are questions about a directory.
//!
//! Calls that concern all ranks (opening, flushing and closing one shared file, collective operations) are made by each
//! rank or by none: whatever may fail on one rank alone is agreed upon before (`ranks.rs`,
//! `CollectiveLane`, `CollectiveBackend`).

#[cfg(any(feature = "mpi", test))]
mod backend;
mod capability;
#[cfg(any(feature = "mpi", test))]
mod component;
#[cfg(all(feature = "mpi", not(test)))]
mod ffi;
#[cfg(any(feature = "mpi", test))]
mod flags;
#[cfg(any(feature = "mpi", test))]
mod ranks;
// Tests need no MPI, and set its answers.
#[cfg(test)]
#[path = "fake_mpi.rs"]
mod ffi;
mod kind;
#[cfg(any(feature = "mpi", test))]
mod lane;
#[cfg(any(feature = "mpi", test))]
mod status;
#[cfg(test)]
mod tests;

pub use kind::{leave, library, MpiFiles};

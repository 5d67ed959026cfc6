//! Files that are reached through MPI-IO: the calls of an MPI library, on files below a marked directory, by one lane in
//! each rank.
//!
//! MPI is an interface of sources: what its handles, statuses and constants are, each library decides, and Open MPI and
//! MPICH have decided differently. So a shim of C with plain types (`shim/mpi.c`) is compiled by the library's own `mpicc`
//! when the engine is built. That works for Open MPI, MPICH, Intel MPI and whatever comes with an `mpicc`, needs neither
//! a description of each library's binary interface nor a tool that reads headers, and adds one call of a function to
//! each operation.
//!
//! Only with the feature `mpi`. Without it everything but opening a job's storage works: what the kind can do, what is found
//! at a place, and what a job has left are questions about a directory.
//!
//! Calls that concern all ranks (opening, flushing and closing one shared file, collective operations) are made by each rank or
//! by none: whatever may fail on one alone is agreed upon before (`agree.rs`, `Lane::agree`, `Backend::meet`).

#[cfg(any(feature = "mpi", test))]
mod agree;
#[cfg(any(feature = "mpi", test))]
mod backend;
mod capability;
#[cfg(any(feature = "mpi", test))]
mod component;
#[cfg(all(feature = "mpi", not(test)))]
mod ffi;
// Tests need no MPI, and say what it answers.
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

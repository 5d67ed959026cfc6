//! The real engine: everything that starts it, in one program, so that it is linked once.
#![allow(missing_docs, clippy::print_stdout)]

mod commands;
mod common;
mod conform;
mod contract;
mod control;
mod evidence;
mod golden;
mod layouts;
mod metadata;
mod nfs;
mod relay;
mod replay;
mod run;
mod sets;

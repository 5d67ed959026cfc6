//! Connections to a service, and the requests and answers on them.

mod body;
mod client;
mod connection;
mod endpoint;
mod exchange;
mod faults;
mod pool;
mod tls;

pub(crate) use body::{LentPieces, RequestBody};
pub(crate) use client::{block_on, runtime, Client};
pub(crate) use endpoint::Endpoint;
pub(crate) use exchange::{exchange, Answer, Sink};
pub(crate) use pool::Pool;
pub(crate) use tls::{speaks_tls, tls_config};

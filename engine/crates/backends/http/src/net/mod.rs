//! Connections of a lane, and what goes over them.

mod body;
mod connection;
mod endpoint;
mod exchange;
mod faults;
mod pool;
mod simple;
mod tls;

pub(crate) use body::{Lent, Sent};
pub(crate) use endpoint::Endpoint;
pub(crate) use exchange::{exchange, Answer, Sink};
pub(crate) use pool::Pool;
pub(crate) use simple::{block_on, runtime, Client};
pub(crate) use tls::{speaks_tls, trusted};

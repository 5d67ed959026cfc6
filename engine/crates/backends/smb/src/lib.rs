//! Files in SMB shares, through an SMB 2 and 3 client of our own ([MS-SMB2]): many requests in flight as far as the
//! server's credits go, on one or several TCP connections, no cache, no file system of the host between.

mod calls;
mod client;
mod credentials;
mod crypto;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod kind;
mod lane;
mod link;
mod messages;
mod place;
mod reader;
mod remove;
mod session;
mod status;
mod transport;
mod tree;
mod wire;

pub use kind::Shares;

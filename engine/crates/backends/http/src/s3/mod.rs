//! Objects in buckets (Amazon S3 API reference).

mod abort;
mod answers;
mod backend;
mod bucket;
mod capability;
mod existing;
#[cfg(test)]
mod existing_tests;
mod keys;
mod kind;
mod lane;
mod look;
mod place;
mod remove;
mod request;
mod uploads;
mod work;
pub(crate) mod xml;

pub use kind::Buckets;
#[cfg(test)]
pub(crate) use request::encoded as query_encoded;

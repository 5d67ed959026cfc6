//! Storage that is reached over HTTP/1.1: objects in buckets of S3 services, items in tables of DynamoDB services.
//!
//! `net` opens connections and exchanges requests for answers, `sign` and `credentials` say who asks, `s3` is the
//! protocol. Nothing is sent twice, and nothing waits but for the service.

mod capability;
mod credentials;
mod dynamodb;
mod lane;
mod listing;
mod made;
mod net;
mod pages;
mod reach;
mod s3;
mod said;
mod secrets;
pub mod service;
mod sign;
#[cfg(test)]
#[path = "../../../../testing/soak.rs"]
mod soak;
mod sum;

pub use dynamodb::Tables;
pub use s3::Buckets;

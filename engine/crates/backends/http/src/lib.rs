//! Storage that is reached over HTTP/1.1: objects in buckets of S3 services, items in tables of DynamoDB services.
//!
//! `net` opens connections and exchanges requests for answers, `sign` and `credentials` authenticate them, `s3` and
//! `dynamodb` are the protocols. No request is sent twice, and a lane waits for nothing but the service.

mod access;
mod capability;
mod checksum;
mod credentials;
mod dynamodb;
mod job_objects;
mod lane;
mod listing;
mod net;
mod pages;
mod s3;
mod secrets;
pub mod service;
mod service_message;
mod sign;
#[cfg(test)]
#[path = "../../../../testing/soak.rs"]
mod soak;

pub use dynamodb::Tables;
pub use s3::Buckets;

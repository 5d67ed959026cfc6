//! Items in tables (Amazon DynamoDB API reference, version 2012-08-10).

mod answers;
mod backend;
mod budget;
mod capability;
mod items;
mod keys;
mod kind;
mod lane;
mod place;
mod remove;
mod request;
mod table;
mod work;

pub(crate) use answers::Item;
pub use kind::Tables;

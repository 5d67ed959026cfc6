//! What DynamoDB services can do in general, and what a given table can do.

use super::place::Place;
use crate::capability;
use assay_spec::{BackendCapabilities, Operation};

/// The operations that DynamoDB has a request for.
const OPERATIONS: [Operation; 9] = [
    Operation::Put,
    Operation::Get,
    Operation::Delete,
    Operation::Update,
    Operation::BatchPut,
    Operation::BatchGet,
    Operation::Query,
    Operation::Scan,
    Operation::ObjectMix,
];

/// What tables can do anywhere.
pub(crate) fn general() -> BackendCapabilities {
    capability::general("dynamodb", &OPERATIONS)
}

/// What can be done at `place`.
pub(crate) fn at(place: &Place, there: bool) -> BackendCapabilities {
    let target = &place.target;
    let absent = if there { String::new() } else { capability::absent("table", &target.table, &target.region) };
    capability::at(place.root_path(), general(), absent)
}

//! The requests and capacity units that a job may use.

use assay_core::{Fault, NO_REQUESTS_LEFT, NO_UNITS_LEFT};
use assay_spec::DynamodbTarget;
use std::sync::atomic::{AtomicU64, Ordering};

/// Capacity units come in halves.
const HALVES: f64 = 2.0;

/// Requests and capacity units of all lanes, and their limits.
#[derive(Debug)]
pub(crate) struct Budget {
    max_requests: u64,
    max_half_units: u64,
    requests: AtomicU64,
    half_units: AtomicU64,
}

impl Budget {
    pub(crate) fn new(target: &DynamodbTarget) -> Self {
        Budget {
            max_requests: target.max_requests.unwrap_or(u64::MAX),
            max_half_units: target.max_capacity_units.map_or(u64::MAX, |units| units.saturating_mul(HALVES as u64)),
            requests: AtomicU64::new(0),
            half_units: AtomicU64::new(0),
        }
    }

    /// Counts a request before it is sent.
    ///
    /// # Errors
    /// The limit that is reached.
    pub(crate) fn take_request(&self) -> Result<(), Fault> {
        if self.half_units.load(Ordering::Relaxed) >= self.max_half_units {
            return Err(NO_UNITS_LEFT);
        }
        let more = |sent: u64| (sent < self.max_requests).then(|| sent + 1);
        let taken = self.requests.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map(drop).map_err(|_| NO_REQUESTS_LEFT)
    }

    /// Counts the capacity units that the service has reported.
    pub(crate) fn spend(&self, units: f64) {
        self.half_units.fetch_add((units * HALVES).ceil() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn budget(limit: &str, most: u64) -> Budget {
        let mut target = json!({"endpoints": ["http://h"], "table": "abc", "root": "a", "directory": "b"});
        target[limit] = json!(most);
        Budget::new(&serde_json::from_value(target).unwrap())
    }

    #[test]
    fn nothing_is_spent_beyond_the_limit() {
        let requests = budget("max_requests", 3);
        assert_eq!((0..10).filter(|_| requests.take_request().is_ok()).count(), 3);
        let units = budget("max_capacity_units", 2);
        let mut sent = 0;
        while units.take_request() != Err(NO_UNITS_LEFT) {
            sent += 1;
            units.spend(0.5);
        }
        assert_eq!(sent, 4);
    }
}

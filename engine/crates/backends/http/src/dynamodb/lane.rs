//! The lane of a table.

use super::place::Place;
use super::work::Work;
use crate::lane::{HttpLane, LaneClient, Protocol};
use crate::listing::Listing;
use assay_core::{Buffers, Fault, LaneSetup, Op, PhasePlan, ServiceUse, SetupError, Source};
use assay_spec::Operation;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// What the operations of a lane share.
pub(super) struct Shared {
    pub(super) place: Arc<Place>,
    pub(super) client: LaneClient,
    pub(super) lane: u32,
    /// Bytes of names and keys in each item.
    pub(super) key_bytes: u64,
    /// Lanes of all processes: each scans its segment of the table.
    pub(super) lanes: u32,
    pub(super) buffers: Arc<Buffers>,
    pub(super) source: Option<Arc<dyn Source>>,
    /// The pages of a scan.
    pub(super) pages: RefCell<Listing>,
    counts: Cell<ServiceUse>,
}

/// Opens a lane, which connects when the first phase begins.
///
/// # Errors
/// If there is no event loop, or there are no valid credentials.
pub(super) fn open(place: Arc<Place>, setup: LaneSetup, lanes: u32) -> Result<HttpLane<Shared>, SetupError> {
    let target = &place.target;
    let timeout_ns = target.timeout_ns;
    let shared = Shared {
        client: place.access.lane_client(setup.lane, setup.buffers.count())?,
        lane: setup.lane,
        key_bytes: target.key_bytes(),
        lanes,
        buffers: setup.buffers,
        source: setup.source,
        pages: RefCell::default(),
        counts: Cell::default(),
        place,
    };
    HttpLane::new(shared, timeout_ns, setup.queue_depth)
}

impl Shared {
    /// Adds what the service has reported.
    pub(super) fn count(&self, used: ServiceUse) {
        self.place.budget.spend(used.read_units + used.write_units);
        self.counts.set(self.counts.get() + used);
    }
}

impl Protocol for Shared {
    fn begin(&self, plan: &PhasePlan, depth: u32) -> Result<(u32, &'static str), SetupError> {
        *self.pages.borrow_mut() = Listing::default();
        Ok(if plan.operation == Operation::Scan {
            (1, "each page of a scan says how the next is asked for")
        } else {
            (depth, "DynamoDB over HTTP/1.1, a connection for each operation in flight")
        })
    }

    async fn run(self: Rc<Self>, op: Op) -> Result<u64, Fault> {
        Work::new(&self, op).run().await
    }

    fn client(&self) -> &LaneClient {
        &self.client
    }

    fn service_counts(&self) -> Option<ServiceUse> {
        Some(self.counts.take())
    }

    fn end(&self, _runtime: &Runtime) -> Result<(), SetupError> {
        Ok(())
    }
}

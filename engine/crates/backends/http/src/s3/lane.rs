//! A lane's objects.

use super::keys;
use super::look::Looks;
use super::place::Place;
use super::uploads::Uploads;
use super::work::Work;
use crate::lane::{HttpLane, Protocol, Wires};
use crate::listing::Listing;
use assay_core::{Buffers, ExistingObject, Fault, LaneSetup, Op, PhasePlan, ServiceUse, SetupError, Source};
use assay_spec::Operation;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// What the operations of a lane share.
pub(super) struct Shared {
    pub(super) place: Arc<Place>,
    pub(super) wires: Wires,
    /// Those of the client that looks for what this one has put.
    other: Wires,
    pub(super) looks: Looks,
    pub(super) lane: u32,
    /// Its objects, where they were there before.
    pub(super) existing: Option<Arc<[ExistingObject]>>,
    pub(super) buffers: Arc<Buffers>,
    pub(super) source: Option<Arc<dyn Source>>,
    /// Bytes of a part of an upload.
    pub(super) part_bytes: u64,
    /// Gets ask for a part of each object.
    pub(super) ranged: Cell<bool>,
    /// Somebody looks at what gets bring.
    pub(super) needs_data: Cell<bool>,
    pub(super) uploads: RefCell<Uploads>,
    pub(super) listing: RefCell<Listing>,
    /// Listed, or removed several at once.
    objects: Cell<u64>,
}

/// A lane whose first connections are made when the first phase begins.
///
/// # Errors
/// If there is no event loop, or there are no credentials any more.
pub(super) fn open(
    place: Arc<Place>,
    setup: LaneSetup,
    part_bytes: u64,
    existing: Option<Arc<[ExistingObject]>>,
) -> Result<HttpLane<Shared>, SetupError> {
    let target = &place.target;
    let timeout_ns = target.timeout_ns;
    let shared = Shared {
        wires: place.reach.wires(setup.lane, setup.buffers.count())?,
        // Of several endpoints it begins with the next one.
        other: place.reach.wires(setup.lane + 1, setup.buffers.count())?,
        looks: Looks::default(),
        lane: setup.lane,
        existing,
        buffers: setup.buffers,
        source: setup.source,
        part_bytes,
        ranged: Cell::new(false),
        needs_data: Cell::new(true),
        uploads: RefCell::default(),
        listing: RefCell::default(),
        objects: Cell::new(0),
        place,
    };
    HttpLane::new(shared, timeout_ns, setup.queue_depth)
}

impl Shared {
    /// Notes objects that an operation on several has found or removed.
    pub(super) fn count_objects(&self, count: u64) {
        self.objects.set(self.objects.get() + count);
    }

    /// What the client that looks for what this one has put sends its requests over.
    pub(super) fn other(&self) -> &Wires {
        &self.other
    }
}

impl Protocol for Shared {
    fn begin(&self, plan: &PhasePlan, depth: u32) -> Result<(u32, &'static str), SetupError> {
        self.ranged.set(plan.ranged);
        self.needs_data.set(plan.needs_data);
        *self.listing.borrow_mut() = Listing::default();
        self.looks.begin(plan.operation);
        Ok(if plan.operation == Operation::List {
            (1, "each page of a list says how the next is asked for")
        } else {
            (depth, "S3 over HTTP/1.1, a connection for each operation in flight")
        })
    }

    async fn run(self: Rc<Self>, op: Op) -> Result<u64, Fault> {
        Work::new(&self, op).run().await
    }

    fn wires(&self) -> &Wires {
        &self.wires
    }

    fn other_wires(&self) -> Option<&Wires> {
        self.looks.is_wanted().then_some(&self.other)
    }

    fn service_counts(&self) -> Option<ServiceUse> {
        let (objects, (looks, stale_looks)) = (self.objects.take(), self.looks.take());
        (objects + looks > 0).then(|| ServiceUse { objects, looks, stale_looks, ..ServiceUse::default() })
    }

    /// Aborts uploads that no completion has followed.
    fn end(&self, runtime: &Runtime) -> Result<(), SetupError> {
        let left = self.uploads.borrow_mut().take();
        if left.is_empty() {
            return Ok(());
        }
        let client = self.place.reach.client();
        runtime.block_on(async {
            let key = |object| keys::key(&self.place.target, keys::LETTERS[0], self.lane, object);
            let begun = left.into_iter().map(|(object, id)| (id, key(object))).collect();
            let aborted = self.place.abort_begun(&client, &begun, None).await;
            aborted.map(drop).map_err(|trouble| self.place.error("abort uploads of", self.place.root_path(), trouble))
        })
    }
}

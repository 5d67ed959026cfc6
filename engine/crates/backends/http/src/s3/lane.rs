//! One worker's objects: each operation is one request, over a connection of its own while it lasts.

use super::keys;
use super::listing::Listing;
use super::place::Place;
use super::uploads::Uploads;
use super::work::Work;
use crate::net::{runtime, Pool};
use crate::sign::Signer;
use assay_core::{
    clock, Buffers, Completion, Fault, HostCounts, Lane, LaneSetup, MethodChoice, Op, PhasePlan, SetupError, Source,
};
use assay_spec::{Method, Operation};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::unconstrained;

/// What the operations of a lane share.
pub(super) struct Shared {
    pub(super) place: Arc<Place>,
    pub(super) pool: Rc<Pool>,
    pub(super) lane: u32,
    pub(super) buffers: Arc<Buffers>,
    pub(super) source: Option<Arc<dyn Source>>,
    /// Bytes of a part of an upload.
    pub(super) part_bytes: u64,
    /// Gets ask for a part of each object.
    pub(super) ranged: Cell<bool>,
    pub(super) signer: RefCell<Arc<Signer>>,
    pub(super) uploads: RefCell<Uploads>,
    pub(super) listing: RefCell<Listing>,
    /// By slot: when the first byte came.
    pub(super) first_bytes: RefCell<Vec<u64>>,
}

type Flight = Pin<Box<dyn Future<Output = Completion>>>;

/// A worker's objects.
pub(crate) struct BucketLane {
    shared: Rc<Shared>,
    runtime: Runtime,
    flight: FuturesUnordered<Flight>,
    timeout: Duration,
    depth: u32,
}

impl BucketLane {
    /// Connects when the first phase begins.
    ///
    /// # Errors
    /// If there is no event loop, or there are no credentials any more.
    pub(crate) fn open(place: Arc<Place>, setup: LaneSetup, part_bytes: u64) -> Result<Self, SetupError> {
        let target = &place.target;
        let pool = Pool::new(&place.endpoints, target.balance, setup.lane, place.tls.clone());
        let timeout = Duration::from_nanos(target.timeout_ns);
        let shared = Rc::new(Shared {
            pool,
            lane: setup.lane,
            first_bytes: RefCell::new(vec![0; setup.buffers.count()]),
            buffers: setup.buffers,
            source: setup.source,
            part_bytes,
            ranged: Cell::new(false),
            signer: RefCell::new(place.signer()?),
            uploads: RefCell::default(),
            listing: RefCell::default(),
            place,
        });
        Ok(BucketLane {
            shared,
            runtime: runtime()?,
            flight: FuturesUnordered::new(),
            timeout,
            depth: setup.queue_depth,
        })
    }

    /// The operation, until it has ended or its time is over.
    fn work(&self, op: Op) -> Flight {
        let (shared, timeout) = (Rc::clone(&self.shared), self.timeout);
        Box::pin(async move {
            let work = tokio::time::timeout(timeout, Work::new(&shared, op).run());
            let result = work.await.unwrap_or(Err(Fault::os(libc::ETIMEDOUT)));
            Completion::new(op.slot, result)
        })
    }

    /// Aborts uploads that no completion has followed.
    fn abort_uploads(&mut self) -> Result<(), SetupError> {
        let left = self.shared.uploads.borrow_mut().take();
        if left.is_empty() {
            return Ok(());
        }
        let place = &self.shared.place;
        let client = place.client();
        self.runtime.block_on(async {
            for (object, id) in left {
                let key = keys::key(&place.target, keys::LETTERS[0], self.shared.lane, object);
                let aborted = place.abort(&client, &key, &id).await;
                aborted.map_err(|fault| place.error("abort the upload of", key, fault))?;
            }
            Ok(())
        })
    }
}

impl Lane for BucketLane {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        *self.shared.signer.borrow_mut() = self.shared.place.signer()?;
        self.shared.ranged.set(plan.ranged);
        *self.shared.listing.borrow_mut() = Listing::default();
        let (depth, reason) = if plan.operation == Operation::List {
            (1, "each page of a list says how the next is asked for")
        } else {
            (self.depth, "S3 over HTTP/1.1, a connection for each operation in flight")
        };
        let warm = self.shared.pool.warm(depth);
        let _ = self.runtime.block_on(async { tokio::time::timeout(self.timeout, warm).await });
        Ok(MethodChoice { tells_first_byte: true, ..MethodChoice::of(Method::Protocol, reason.to_owned(), depth) })
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            self.flight.push(self.work(*op));
        }
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        if self.flight.is_empty() {
            return;
        }
        let flight = &mut self.flight;
        let left = Duration::from_nanos(deadline.saturating_sub(clock::now()));
        // Without tokio's budget for each turn: what has used it up is woken later, and never if the turn was the last
        // because something else had ended.
        self.runtime.block_on(unconstrained(async {
            if let Ok(Some(first)) = tokio::time::timeout(left, flight.next()).await {
                done.push(first);
                // What has ended besides, without waiting.
                while let Some(Some(more)) = futures_util::FutureExt::now_or_never(flight.next()) {
                    done.push(more);
                }
            }
        }));
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let work = self.work(*op);
        self.runtime.block_on(work).result
    }

    fn first_byte(&self, slot: u32) -> u64 {
        self.shared.first_bytes.borrow().get(slot as usize).copied().unwrap_or_default()
    }

    fn host_counts(&mut self) -> Vec<HostCounts> {
        self.shared.pool.counts()
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // Given up by the driver: nobody waits for them.
        self.flight.clear();
        self.abort_uploads()
    }
}

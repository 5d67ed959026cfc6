//! One worker's requests: each operation is one request, over a connection of its own while it lasts.

use crate::credentials::Who;
use crate::net::{exchange, runtime, Answer, Endpoint, Lent, Pool, Sent, Sink};
use crate::said::sentence;
use crate::sign::Signer;
use assay_core::{clock, Completion, Fault, HostCounts, Lane, MethodChoice, Op, PhasePlan, ServiceUse, SetupError};
use assay_spec::Method;
use futures_util::stream::{FuturesUnordered, StreamExt};
use hyper::Request;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::unconstrained;

/// What operations are in terms of requests.
pub(crate) trait Protocol: 'static {
    /// Gets ready for a phase; how many operations it can have in flight of so many, and why.
    ///
    /// # Errors
    /// If the phase is not possible.
    fn begin(&self, plan: &PhasePlan, depth: u32) -> Result<(u32, &'static str), SetupError>;

    /// Does an operation: one request, once. It is dropped when its time is over.
    fn run(self: Rc<Self>, op: Op) -> impl Future<Output = Result<u64, Fault>> + 'static;

    /// What it sends requests over.
    fn wires(&self) -> &Wires;

    /// What those requests are sent over that another client than the lane's own sends; none if there is no such client.
    fn other_wires(&self) -> Option<&Wires> {
        None
    }

    /// What the service has told since the last time.
    fn service_counts(&self) -> Option<ServiceUse>;

    /// Takes back what operations have begun and not ended.
    ///
    /// # Errors
    /// If that fails.
    fn end(&self, runtime: &Runtime) -> Result<(), SetupError>;
}

/// Connections of a lane, and who asks over them.
pub(crate) struct Wires {
    pub(crate) pool: Rc<Pool>,
    who: Arc<Who>,
    signer: RefCell<Arc<Signer>>,
    /// By slot: when the first byte came.
    first_bytes: RefCell<Vec<u64>>,
    /// Finds what a refusal says in words.
    words: Words,
    /// By slot: what the service said of its refusal.
    said: RefCell<Vec<Option<String>>>,
}

/// Finds what an answer says in words, wherever the protocol has them.
pub(crate) type Words = fn(&Answer) -> Option<String>;

impl Wires {
    /// For so many slots.
    ///
    /// # Errors
    /// If there are no credentials any more.
    pub(crate) fn new(pool: Rc<Pool>, who: Arc<Who>, slots: usize, words: Words) -> Result<Self, SetupError> {
        let signer = RefCell::new(who.signer()?);
        let (first_bytes, said) = (RefCell::new(vec![0; slots]), RefCell::new(vec![None; slots]));
        Ok(Wires { pool, who, signer, first_bytes, words, said })
    }

    /// Keeps what an answer that is a refusal says in words.
    pub(crate) fn note_said(&self, slot: u32, answer: &Answer) {
        let said = (self.words)(answer).and_then(|text| sentence(&text, &self.signer.borrow()));
        self.said.borrow_mut()[slot as usize] = said;
    }

    /// Who signs; credentials that end are renewed between operations.
    fn signer(&self) -> Result<Arc<Signer>, Fault> {
        let known = Arc::clone(&self.signer.borrow());
        if !known.is_due() {
            return Ok(known);
        }
        // The words of the error are those of the set-up of the next phase, which fails too.
        let renewed = self.who.signer().map_err(|_| Fault::os(libc::EKEYEXPIRED))?;
        *self.signer.borrow_mut() = Arc::clone(&renewed);
        Ok(renewed)
    }

    /// Sends the request of the operation in a slot, and takes its answer.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn ask(
        &self,
        slot: u32,
        make: impl FnOnce(&Endpoint, &Signer) -> Result<Request<Sent>, SetupError>,
        sink: &Sink,
        lent: &Lent,
    ) -> Result<Answer, Fault> {
        let taken = self.pool.take().await?;
        let endpoint = self.pool.endpoint(taken.host());
        let signer = self.signer()?;
        // One that cannot be made is a defect.
        let request = make(&endpoint, &signer).map_err(|_| Fault::os(libc::EINVAL))?;
        let answer = exchange(taken, request, sink, lent).await?;
        self.first_bytes.borrow_mut()[slot as usize] = answer.first_byte;
        if !answer.is_success() {
            self.note_said(slot, &answer);
        }
        Ok(answer)
    }
}

type Flight = Pin<Box<dyn Future<Output = Completion>>>;

/// A worker of a service.
pub(crate) struct HttpLane<P> {
    protocol: Rc<P>,
    runtime: Runtime,
    flight: FuturesUnordered<Flight>,
    timeout: Duration,
    depth: u32,
}

impl<P: Protocol> HttpLane<P> {
    /// Connects when the first phase begins.
    ///
    /// # Errors
    /// If there is no event loop.
    pub(crate) fn new(protocol: P, timeout_ns: u64, depth: u32) -> Result<Self, SetupError> {
        Ok(HttpLane {
            protocol: Rc::new(protocol),
            runtime: runtime()?,
            flight: FuturesUnordered::new(),
            timeout: Duration::from_nanos(timeout_ns),
            depth,
        })
    }

    /// The operation, until it has ended or its time is over.
    fn work(&self, op: Op) -> Flight {
        let (protocol, timeout) = (Rc::clone(&self.protocol), self.timeout);
        protocol.wires().said.borrow_mut()[op.slot as usize] = None;
        protocol.wires().first_bytes.borrow_mut()[op.slot as usize] = 0;
        Box::pin(async move {
            let done = tokio::time::timeout(timeout, protocol.run(op)).await;
            let result = done.unwrap_or(Err(Fault::os(libc::ETIMEDOUT)));
            Completion::new(op.slot, result)
        })
    }
}

impl<P: Protocol> Lane for HttpLane<P> {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        let wires = self.protocol.wires();
        *wires.signer.borrow_mut() = wires.who.signer()?;
        let (depth, reason) = self.protocol.begin(plan, self.depth)?;
        for wires in [Some(wires), self.protocol.other_wires()].into_iter().flatten() {
            let warm = wires.pool.warm(depth);
            let _ = self.runtime.block_on(async { tokio::time::timeout(self.timeout, warm).await });
        }
        Ok(MethodChoice { reports_first_byte: true, ..MethodChoice::of(Method::Protocol, reason.to_owned(), depth) })
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
        self.protocol.wires().first_bytes.borrow().get(slot as usize).copied().unwrap_or_default()
    }

    fn server_message(&self, slot: u32) -> Option<String> {
        self.protocol.wires().said.borrow().get(slot as usize).cloned().flatten()
    }

    fn host_counts(&mut self) -> Vec<HostCounts> {
        let other = self.protocol.other_wires().map(|wires| wires.pool.counts());
        [self.protocol.wires().pool.counts(), other.unwrap_or_default()].concat()
    }

    fn service_counts(&mut self) -> Option<ServiceUse> {
        self.protocol.service_counts()
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // Given up by the driver: nobody waits for them.
        self.flight.clear();
        self.protocol.end(&self.runtime)
    }
}

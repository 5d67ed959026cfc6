//! The lane of an HTTP service: each operation is one request, alone on its connection while it lasts.

use crate::credentials::CredentialProvider;
use crate::net::{exchange, runtime, Answer, Endpoint, LentPieces, Pool, RequestBody, Sink};
use crate::service_message::safe_line;
use crate::sign::Signer;
use assay_core::{
    clock, Completion, Fault, HostCounts, Lane, MethodChoice, Op, PhasePlan, ServiceLane, ServiceUse, SetupError,
};
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

/// How a protocol turns operations into requests.
pub(crate) trait Protocol: 'static {
    /// Prepares a phase: returns how many of `depth` operations can be in flight, and why.
    ///
    /// # Errors
    /// If the phase is not possible.
    fn begin(&self, plan: &PhasePlan, depth: u32) -> Result<(u32, &'static str), SetupError>;

    /// Executes an operation: one request, sent once. The future is dropped when the operation's time is over.
    fn run(self: Rc<Self>, op: Op) -> impl Future<Output = Result<u64, Fault>> + 'static;

    /// The client that sends the requests of operations.
    fn client(&self) -> &LaneClient;

    /// The second client, for requests that must not come from the first one; none if the phase has none.
    fn second_client(&self) -> Option<&LaneClient> {
        None
    }

    /// What the service has reported since the last call.
    fn service_counts(&self) -> Option<ServiceUse>;

    /// Undoes what operations have begun and not ended.
    ///
    /// # Errors
    /// If that fails.
    fn end(&self, runtime: &Runtime) -> Result<(), SetupError>;
}

/// The connections of a lane, the credentials its requests are signed with, and what is noted of each slot's answer.
pub(crate) struct LaneClient {
    pub(crate) pool: Rc<Pool>,
    credentials: Arc<CredentialProvider>,
    signer: RefCell<Arc<Signer>>,
    /// By slot: monotonic time at which the head of the answer came, in nanoseconds.
    first_bytes: RefCell<Vec<u64>>,
    /// Finds the message in a refusal.
    read_message: MessageReader,
    /// By slot: the service's message in its last refusal, fit to be shown.
    messages: RefCell<Vec<Option<String>>>,
}

/// Finds the message in an answer, wherever the protocol has it.
pub(crate) type MessageReader = fn(&Answer) -> Option<String>;

impl LaneClient {
    /// A client for so many slots.
    ///
    /// # Errors
    /// If there are no valid credentials.
    pub(crate) fn new(
        pool: Rc<Pool>,
        credentials: Arc<CredentialProvider>,
        slots: usize,
        read_message: MessageReader,
    ) -> Result<Self, SetupError> {
        let signer = RefCell::new(credentials.signer()?);
        let (first_bytes, messages) = (RefCell::new(vec![0; slots]), RefCell::new(vec![None; slots]));
        Ok(LaneClient { pool, credentials, signer, first_bytes, read_message, messages })
    }

    /// Notes the message of a refusal.
    pub(crate) fn note_message(&self, slot: u32, answer: &Answer) {
        let message = (self.read_message)(answer).and_then(|text| safe_line(&text, &self.signer.borrow()));
        self.messages.borrow_mut()[slot as usize] = message;
    }

    /// The current signer; credentials that expire are renewed between operations.
    fn signer(&self) -> Result<Arc<Signer>, Fault> {
        let known = Arc::clone(&self.signer.borrow());
        if !known.is_due() {
            return Ok(known);
        }
        // The error's text is lost here, but the set-up of the next phase fails with the same one.
        let renewed = self.credentials.signer().map_err(|_| Fault::os(libc::EKEYEXPIRED))?;
        *self.signer.borrow_mut() = Arc::clone(&renewed);
        Ok(renewed)
    }

    /// Sends the request of the operation in a slot, and returns its answer.
    pub(crate) async fn send(
        &self,
        slot: u32,
        make: impl FnOnce(&Endpoint, &Signer) -> Result<Request<RequestBody>, SetupError>,
        sink: &Sink,
        lent: &LentPieces,
    ) -> Result<Answer, Fault> {
        let pooled = self.pool.take().await?;
        let endpoint = self.pool.endpoint(pooled.host());
        let signer = self.signer()?;
        // A request that cannot be built is a defect.
        let request = make(&endpoint, &signer).map_err(|_| Fault::os(libc::EINVAL))?;
        let answer = exchange(pooled, request, sink, lent).await?;
        self.first_bytes.borrow_mut()[slot as usize] = answer.first_byte;
        if !answer.is_success() {
            self.note_message(slot, &answer);
        }
        Ok(answer)
    }
}

type Flight = Pin<Box<dyn Future<Output = Completion>>>;

/// The lane of one worker.
pub(crate) struct HttpLane<P> {
    protocol: Rc<P>,
    runtime: Runtime,
    flight: FuturesUnordered<Flight>,
    timeout: Duration,
    depth: u32,
}

impl<P: Protocol> HttpLane<P> {
    /// Creates the lane; it connects when the first phase begins.
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

    /// The operation as a future that ends when it has ended or its time is over.
    fn work(&self, op: Op) -> Flight {
        let (protocol, timeout) = (Rc::clone(&self.protocol), self.timeout);
        protocol.client().messages.borrow_mut()[op.slot as usize] = None;
        protocol.client().first_bytes.borrow_mut()[op.slot as usize] = 0;
        Box::pin(async move {
            let done = tokio::time::timeout(timeout, protocol.run(op)).await;
            let result = done.unwrap_or(Err(Fault::os(libc::ETIMEDOUT)));
            Completion::new(op.slot, result)
        })
    }
}

impl<P: Protocol> Lane for HttpLane<P> {
    fn begin(&mut self, plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        let client = self.protocol.client();
        *client.signer.borrow_mut() = client.credentials.signer()?;
        let (depth, reason) = self.protocol.begin(plan, self.depth)?;
        for client in [Some(client), self.protocol.second_client()].into_iter().flatten() {
            let warm = client.pool.warm(depth);
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
        // Without tokio's cooperative budget: a future that has used up its budget is woken later, and never if this
        // turn was the last one because another future had ended.
        self.runtime.block_on(unconstrained(async {
            if let Ok(Some(first)) = tokio::time::timeout(left, flight.next()).await {
                done.push(first);
                // Others that have ended, without waiting.
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
        self.protocol.client().first_bytes.borrow().get(slot as usize).copied().unwrap_or_default()
    }

    fn failure_message(&self, slot: u32) -> Option<String> {
        self.protocol.client().messages.borrow().get(slot as usize).cloned().flatten()
    }

    fn service(&mut self) -> Option<&mut dyn ServiceLane> {
        Some(self)
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // The driver has given these operations up.
        self.flight.clear();
        self.protocol.end(&self.runtime)
    }
}

impl<P: Protocol> ServiceLane for HttpLane<P> {
    fn host_counts(&mut self) -> Vec<HostCounts> {
        let other = self.protocol.second_client().map(|client| client.pool.counts());
        [self.protocol.client().pool.counts(), other.unwrap_or_default()].concat()
    }

    fn service_counts(&mut self) -> Option<ServiceUse> {
        self.protocol.service_counts()
    }
}

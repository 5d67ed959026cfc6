//! Requests outside operations, before and after phases.

use super::body::{LentPieces, RequestBody};
use super::endpoint::Endpoint;
use super::exchange::{exchange, Answer, Sink};
use super::pool::{Pool, PooledConnection};
use assay_core::{heartbeat, Fault, SetupError};
use assay_spec::Balance;
use hyper::Request;
use rustls::ClientConfig;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// A single-threaded runtime for the calling thread.
///
/// # Errors
/// If the kernel provides no event queue.
pub(crate) fn runtime() -> Result<Runtime, SetupError> {
    let made = Builder::new_current_thread().enable_io().enable_time().build();
    made.map_err(|error| SetupError::new("start", "a lane's event loop", error.to_string()))
}

/// Runs a future to its end on a runtime of its own.
///
/// # Errors
/// If there is no runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, SetupError> {
    Ok(runtime()?.block_on(work))
}

/// Longest wait for an answer once the process is asked to stop.
const STOPPING_NS: u64 = 5_000_000_000;
/// How often it is checked whether the process is asked to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// A few connections to the hosts of a service, for one thread.
#[derive(Clone)]
pub(crate) struct Client {
    pool: Rc<Pool>,
    timeout: Duration,
}

impl Client {
    /// Creates a client without connections.
    pub(crate) fn new(endpoints: &[Arc<Endpoint>], tls: Option<Arc<ClientConfig>>, timeout_ns: u64) -> Self {
        let pool = Pool::new(endpoints, Balance::RoundRobin, 0, tls);
        Client { pool, timeout: Duration::from_nanos(timeout_ns) }
    }

    /// Sends a request that is built for the endpoint that takes it, and returns the answer, stored whole.
    pub(crate) async fn send(
        &self,
        make: impl FnOnce(&Endpoint) -> Result<Request<RequestBody>, SetupError>,
    ) -> Result<Answer, Fault> {
        let work = async {
            let pooled: PooledConnection = self.pool.take().await?;
            // A request that cannot be built is a defect.
            let request = make(&self.pool.endpoint(pooled.host())).map_err(|_| Fault::os(libc::EINVAL))?;
            exchange(pooled, request, &Sink::Keep, &LentPieces::default()).await
        };
        let answer = self.within_timeout(work).await?;
        if answer.is_cut && answer.is_success() {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        Ok(answer)
    }

    /// Waits for an answer for as long as the timeout allows.
    async fn within_timeout(&self, work: impl Future<Output = Result<Answer, Fault>>) -> Result<Answer, Fault> {
        let (mut work, begin) = (std::pin::pin!(work), Instant::now());
        while begin.elapsed() < self.timeout {
            let wait = STOP_CHECK_INTERVAL.min(self.timeout.saturating_sub(begin.elapsed()));
            if let Ok(answer) = tokio::time::timeout(wait, work.as_mut()).await {
                return answer;
            }
            let waited = begin.elapsed().as_nanos() as u64;
            if heartbeat::stopping_ns().is_some_and(|ns| ns.min(waited) > STOPPING_NS) {
                break;
            }
        }
        Err(Fault::os(libc::ETIMEDOUT))
    }

    /// The endpoint that was chosen last, as the target names it.
    pub(crate) fn last_endpoint(&self) -> String {
        self.pool.last_endpoint()
    }
}

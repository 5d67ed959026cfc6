//! Requests outside operations: what a place asks before and after phases.

use super::body::{Lent, Sent};
use super::endpoint::Endpoint;
use super::exchange::{exchange, Answer, Sink};
use super::pool::{Pool, Taken};
use assay_core::{heartbeat, Fault, SetupError};
use assay_spec::Balance;
use hyper::Request;
use rustls::ClientConfig;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// A runtime of the thread that calls.
///
/// # Errors
/// If the kernel gives no event queue.
pub(crate) fn runtime() -> Result<Runtime, SetupError> {
    let made = Builder::new_current_thread().enable_io().enable_time().build();
    made.map_err(|error| SetupError::new("start", "a lane's event loop", error.to_string()))
}

/// Waits for something on a runtime of its own.
///
/// # Errors
/// If there is none.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, SetupError> {
    Ok(runtime()?.block_on(work))
}

/// Longest wait for an answer once the process is asked to stop.
const STOPPING_NS: u64 = 5_000_000_000;
/// That it is asked is noticed this late at most.
const LOOK: Duration = Duration::from_millis(100);

/// A few connections to the hosts of a service, for one thread.
#[derive(Clone)]
pub(crate) struct Client {
    pool: Rc<Pool>,
    timeout: Duration,
}

impl Client {
    /// No connection is made yet.
    pub(crate) fn new(endpoints: &[Arc<Endpoint>], tls: Option<Arc<ClientConfig>>, timeout_ns: u64) -> Self {
        let pool = Pool::new(endpoints, Balance::RoundRobin, 0, tls);
        Client { pool, timeout: Duration::from_nanos(timeout_ns) }
    }

    /// The answer to a request that is made for the endpoint that takes it; all of it is kept.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn ask(
        &self,
        make: impl FnOnce(&Endpoint) -> Result<Request<Sent>, SetupError>,
    ) -> Result<Answer, Fault> {
        let work = async {
            let taken: Taken = self.pool.take().await?;
            // One that cannot be made is a defect.
            let request = make(&self.pool.endpoint(taken.host())).map_err(|_| Fault::os(libc::EINVAL))?;
            exchange(taken, request, &Sink::Keep, &Lent::default()).await
        };
        let answer = self.in_time(work).await?;
        if answer.cut && answer.is_success() {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        Ok(answer)
    }

    /// What comes of a request, in the time that it may take.
    async fn in_time(&self, work: impl Future<Output = Result<Answer, Fault>>) -> Result<Answer, Fault> {
        let (mut work, begin) = (std::pin::pin!(work), Instant::now());
        while begin.elapsed() < self.timeout {
            let look = LOOK.min(self.timeout.saturating_sub(begin.elapsed()));
            if let Ok(answer) = tokio::time::timeout(look, work.as_mut()).await {
                return answer;
            }
            let waited = begin.elapsed().as_nanos() as u64;
            if heartbeat::stopping_ns().is_some_and(|ns| ns.min(waited) > STOPPING_NS) {
                break;
            }
        }
        Err(Fault::os(libc::ETIMEDOUT))
    }

    /// The endpoint that was asked last, as the target names it.
    pub(crate) fn last_asked(&self) -> String {
        self.pool.last_asked()
    }
}

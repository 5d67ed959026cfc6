//! Requests outside operations: what a place asks before and after phases.

use super::body::{Lent, Sent};
use super::endpoint::Endpoint;
use super::exchange::{exchange, Answer, Sink};
use super::pool::{Pool, Taken};
use assay_core::{Fault, SetupError};
use assay_spec::Balance;
use hyper::Request;
use rustls::ClientConfig;
use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
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
        let answer = tokio::time::timeout(self.timeout, work).await;
        let answer = answer.unwrap_or(Err(Fault::os(libc::ETIMEDOUT)))?;
        if answer.cut {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        Ok(answer)
    }
}

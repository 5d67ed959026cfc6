//! A service of buckets and tables in memory that answers at once. It shows what the engine itself can do at most, and
//! tests use it. It checks no credentials, and forgets everything when it ends.

mod answer;
mod store;
mod tables;

use assay_core::{excluded_cpu, SetupError};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::Store;

/// The service of this process, once it is needed.
static OWN: Mutex<Option<Service>> = Mutex::new(None);
/// How often it checks whether it must end.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// What becomes of the contents of objects; items are always stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// They are stored, and returned.
    Stored,
    /// They are discarded; as many zeros are returned.
    Discarded,
}

/// A request and its answer, for tests that falsify answers.
#[derive(Debug, Clone)]
#[cfg_attr(not(test), allow(dead_code))]
struct Exchange {
    /// Method and path with query, or the action on a table.
    request: String,
    /// Contents of the request.
    body: Vec<u8>,
    status: u16,
    etag: String,
    answer: Vec<u8>,
}

/// Changes an answer.
type AnswerFilter = Arc<dyn Fn(&mut Store, Exchange) -> Exchange + Send + Sync>;

/// A service that runs until it is dropped.
#[derive(Debug)]
pub struct Service {
    address: SocketAddr,
    /// Its contents, for tests.
    #[cfg(test)]
    store: Arc<Mutex<Store>>,
    end: Arc<AtomicBool>,
}

impl Service {
    /// Starts a service on an address of this host, with a thread of its own.
    ///
    /// # Errors
    /// If the address is taken, or no thread can be started.
    pub fn start(address: &str, contents: Contents) -> Result<Self, SetupError> {
        Service::start_with(address, contents, None)
    }

    /// The same, with a filter that may change its answers.
    fn start_with(address: &str, contents: Contents, filter: Option<AnswerFilter>) -> Result<Self, SetupError> {
        let error = |why: std::io::Error| SetupError::new("start", format!("a service on {address}"), why.to_string());
        let listener = TcpListener::bind(address).map_err(error)?;
        listener.set_nonblocking(true).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let end = Arc::new(AtomicBool::new(false));
        let (ended, runtime) = (Arc::clone(&end), crate::net::runtime()?);
        let store = Arc::new(Mutex::new(Store::new(contents)));
        let shared = Arc::clone(&store);
        let work = move || runtime.block_on(serve(listener, &shared, filter.as_ref(), &ended));
        let named = std::thread::Builder::new().name("service".to_owned());
        named.spawn(work).map_err(error)?;
        Ok(Service {
            address,
            #[cfg(test)]
            store,
            end,
        })
    }

    /// Its address as an endpoint.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The endpoint of this process's own service, which discards the contents of objects.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn own_endpoint() -> Result<String, SetupError> {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let service = match own.take() {
        Some(service) => service,
        None => Service::start("127.0.0.1:0", Contents::Discarded)?,
    };
    Ok(own.insert(service).endpoint())
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

/// CPU time of the calling thread since it began, in nanoseconds.
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime only fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

async fn serve(listener: TcpListener, store: &Arc<Mutex<Store>>, filter: Option<&AnswerFilter>, end: &AtomicBool) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let reported_ns = Arc::new(AtomicU64::new(0));
    while !end.load(Ordering::Relaxed) {
        let Ok(Ok((socket, _))) = tokio::time::timeout(STOP_CHECK_INTERVAL, listener.accept()).await else { continue };
        let _ = socket.set_nodelay(true);
        let (store, filter) = (Arc::clone(store), filter.cloned());
        let reported_ns = Arc::clone(&reported_ns);
        let answer = service_fn(move |request| {
            let (store, reported_ns, filter) = (Arc::clone(&store), Arc::clone(&reported_ns), filter.clone());
            async move {
                let answer = answer::answer(store, request, filter.as_ref()).await;
                // CPU time up to here is reported with this answer, that of sending it with the next one.
                let now = thread_cpu_ns();
                excluded_cpu::add_ns(now - reported_ns.swap(now, Ordering::Relaxed));
                answer
            }
        });
        let mut builder = http1::Builder::new();
        builder.auto_date_header(false);
        tokio::spawn(builder.serve_connection(TokioIo::new(socket), answer));
    }
}

#[cfg(test)]
mod false_answers;
#[cfg(test)]
mod hints_tests;
#[cfg(test)]
mod late;
#[cfg(test)]
mod tests;

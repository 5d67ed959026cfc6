//! A service of buckets and tables in memory that answers at once: what the engine itself can do at most, and what its
//! tests speak to. It asks nobody who he is, and forgets everything when it ends.

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

/// The service of this process, once somebody has asked for it.
static OWN: Mutex<Option<Service>> = Mutex::new(None);
/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What becomes of the contents of objects; items are always kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Kept, and given back.
    Kept,
    /// Thrown away; zeros come back, as many as there were.
    Forgotten,
}

/// What a request asked, and what is to be answered: for services that lie.
#[derive(Debug, Clone)]
#[cfg_attr(not(test), allow(dead_code))]
struct Told {
    /// Method and path with its query, or the action on a table.
    asked: String,
    /// Contents of the request.
    body: Vec<u8>,
    status: u16,
    etag: String,
    answer: Vec<u8>,
}

/// Changes an answer.
type Liar = Arc<dyn Fn(&mut Store, Told) -> Told + Send + Sync>;

/// A service that runs until it is dropped.
#[derive(Debug)]
pub struct Service {
    address: SocketAddr,
    /// What is in it, for tests.
    #[cfg(test)]
    store: Arc<Mutex<Store>>,
    end: Arc<AtomicBool>,
}

impl Service {
    /// Answers on an address of this host, with a thread of its own.
    ///
    /// # Errors
    /// If the address is taken, or there is no thread.
    pub fn start(address: &str, contents: Contents) -> Result<Self, SetupError> {
        Service::start_with(address, contents, None)
    }

    /// The same; `liar` may change what it answers.
    fn start_with(address: &str, contents: Contents, liar: Option<Liar>) -> Result<Self, SetupError> {
        let error = |why: std::io::Error| SetupError::new("start", format!("a service on {address}"), why.to_string());
        let listener = TcpListener::bind(address).map_err(error)?;
        listener.set_nonblocking(true).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let end = Arc::new(AtomicBool::new(false));
        let (ended, runtime) = (Arc::clone(&end), crate::net::runtime()?);
        let store = Arc::new(Mutex::new(Store::new(contents)));
        let shared = Arc::clone(&store);
        let work = move || runtime.block_on(serve(listener, &shared, liar.as_ref(), &ended));
        let named = std::thread::Builder::new().name("service".to_owned());
        named.spawn(work).map_err(error)?;
        Ok(Service {
            address,
            #[cfg(test)]
            store,
            end,
        })
    }

    /// Where it answers.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Where the service of this process itself answers, which keeps no contents of objects.
///
/// # Errors
/// If it cannot be started.
pub(crate) fn own() -> Result<String, SetupError> {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let service = match own.take() {
        Some(service) => service,
        None => Service::start("127.0.0.1:0", Contents::Forgotten)?,
    };
    Ok(own.insert(service).endpoint())
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

/// CPU time of the calling thread since it began.
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: clock_gettime only fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

async fn serve(listener: TcpListener, store: &Arc<Mutex<Store>>, liar: Option<&Liar>, end: &AtomicBool) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let told = Arc::new(AtomicU64::new(0));
    while !end.load(Ordering::Relaxed) {
        let Ok(Ok((socket, _))) = tokio::time::timeout(LOOK, listener.accept()).await else { continue };
        let _ = socket.set_nodelay(true);
        let (store, liar) = (Arc::clone(store), liar.cloned());
        let told = Arc::clone(&told);
        let answer = service_fn(move |request| {
            let (store, told, liar) = (Arc::clone(&store), Arc::clone(&told), liar.clone());
            async move {
                let answer = answer::answer(store, request, liar.as_ref()).await;
                // What came before is told with the answer, the sending of it with the next one.
                let now = thread_cpu_ns();
                excluded_cpu::add_ns(now - told.swap(now, Ordering::Relaxed));
                answer
            }
        });
        let mut builder = http1::Builder::new();
        builder.auto_date_header(false);
        tokio::spawn(builder.serve_connection(TokioIo::new(socket), answer));
    }
}

#[cfg(test)]
mod hints_tests;
#[cfg(test)]
mod late;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod tests;

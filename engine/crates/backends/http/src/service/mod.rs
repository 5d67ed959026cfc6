//! An S3 service in memory that answers at once: what the engine itself can do at most, and what its tests speak to. It
//! asks nobody who he is, and forgets everything when it ends.

mod answer;
mod store;

use assay_core::SetupError;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::Store;

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

/// What becomes of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Kept, and given back.
    Kept,
    /// Thrown away; zeros come back, as many as there were.
    Forgotten,
}

/// A service that runs until it is dropped.
#[derive(Debug)]
pub struct Service {
    address: SocketAddr,
    end: Arc<AtomicBool>,
}

impl Service {
    /// Answers on an address of this host, with a thread of its own.
    ///
    /// # Errors
    /// If the address is taken, or there is no thread.
    pub fn start(address: &str, contents: Contents) -> Result<Self, SetupError> {
        let error = |why: std::io::Error| SetupError::new("start", format!("a service on {address}"), why.to_string());
        let listener = TcpListener::bind(address).map_err(error)?;
        listener.set_nonblocking(true).map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let end = Arc::new(AtomicBool::new(false));
        let (ended, runtime) = (Arc::clone(&end), crate::net::runtime()?);
        let work = move || runtime.block_on(serve(listener, contents, &ended));
        let named = std::thread::Builder::new().name("service".to_owned());
        named.spawn(work).map_err(error)?;
        Ok(Service { address, end })
    }

    /// Where it answers.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
    }
}

async fn serve(listener: TcpListener, contents: Contents, end: &AtomicBool) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let store = Arc::new(Mutex::new(Store::new(contents)));
    while !end.load(Ordering::Relaxed) {
        let Ok(Ok((socket, _))) = tokio::time::timeout(LOOK, listener.accept()).await else { continue };
        let _ = socket.set_nodelay(true);
        let store = Arc::clone(&store);
        let answer = service_fn(move |request| answer::answer(Arc::clone(&store), request));
        let mut builder = http1::Builder::new();
        builder.auto_date_header(false);
        tokio::spawn(builder.serve_connection(TokioIo::new(socket), answer));
    }
}

#[cfg(test)]
mod tests;

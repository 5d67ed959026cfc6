//! One connection: a socket, TLS on it if the endpoint wants it, and HTTP/1.1 on top.

use super::body::RequestBody;
use super::endpoint::Endpoint;
use super::faults;
use assay_core::{clock, Fault};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::ClientConfig;
use std::future::{poll_fn, Future};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::TlsConnector;

/// A connection used so recently is not checked again before its next use.
const FRESH_NS: u64 = 1_000_000;

/// A socket, with or without TLS.
pub(super) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// The same call on a socket of either kind.
macro_rules! on {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Plain($stream) => $call,
            Socket::Tls($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        on!(self.get_mut(), stream => Pin::new(stream).poll_read(context, into))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        on!(self.get_mut(), stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        on!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, bytes))
    }

    fn is_write_vectored(&self) -> bool {
        on!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self.get_mut(), stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(context))
    }
}

/// A connection that carries one request at a time.
pub(super) struct Connection {
    pub(super) sender: SendRequest<RequestBody>,
    http: http1::Connection<TokioIo<Socket>, RequestBody>,
    ended: bool,
    /// Why it has ended; none if it was closed properly.
    fault: Option<Fault>,
    /// Requests that it has carried.
    pub(super) requests: u64,
    /// The socket's descriptor, open as long as `http` lives.
    descriptor: RawFd,
    tls: bool,
    /// Since when it is idle, in nanoseconds of the monotonic clock.
    pub(super) idle_since: u64,
}

/// Connects, and returns how long that took in nanoseconds.
pub(super) async fn connect(
    endpoint: &Endpoint,
    address: SocketAddr,
    tls: Option<&Arc<ClientConfig>>,
) -> Result<(Connection, u64), Fault> {
    let begin = clock::now();
    let socket = TcpStream::connect(address).await.map_err(|error| faults::of_io(&error))?;
    socket.set_nodelay(true).map_err(|error| faults::of_io(&error))?;
    let (descriptor, secure) = (socket.as_raw_fd(), endpoint.tls);
    let socket = match tls.filter(|_| endpoint.tls) {
        None => Socket::Plain(socket),
        Some(config) => {
            let name = ServerName::try_from(endpoint.host.clone()).map_err(|_| Fault::os(libc::EPROTO))?;
            let stream = TlsConnector::from(Arc::clone(config)).connect(name, socket).await;
            Socket::Tls(Box::new(stream.map_err(|error| faults::of_handshake(&error))?))
        }
    };
    let made = http1::Builder::new().handshake(TokioIo::new(socket)).await;
    let (sender, http) = made.map_err(|error| faults::of_http(&error))?;
    let now = clock::now();
    let connection =
        Connection { sender, http, ended: false, fault: None, requests: 0, descriptor, tls: secure, idle_since: now };
    Ok((connection, now.saturating_sub(begin)))
}

impl Connection {
    /// Lets HTTP make progress while something else is waited for.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        if self.ended {
            return;
        }
        if let Poll::Ready(end) = Pin::new(&mut self.http).poll(context) {
            self.ended = true;
            self.fault = end.err().map(|error| faults::of_http(&error));
        }
    }

    /// Why the connection has failed; none if it works or was closed properly.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether the service has closed it while it was idle. The event loop may have slept and not know yet.
    fn is_closed(&self) -> bool {
        if clock::now().saturating_sub(self.idle_since) < FRESH_NS {
            return false;
        }
        let mut byte = 0_u8;
        let into = std::ptr::from_mut(&mut byte).cast();
        // SAFETY: the descriptor is open as long as `http` is, and the byte is peeked at, not taken.
        let found = unsafe { libc::recv(self.descriptor, into, 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        match found {
            0 => true,
            // No request is open, so all that can come is the end of the connection; under TLS, once the handshake is
            // over.
            1.. => !self.tls || self.requests > 0,
            _ => std::io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Waits until it can take a request; false if it never will.
    pub(super) async fn is_ready(&mut self) -> bool {
        if self.is_closed() {
            return false;
        }
        poll_fn(|context| {
            self.drive(context);
            match self.sender.poll_ready(context) {
                Poll::Ready(ready) => Poll::Ready(ready.is_ok() && !self.has_ended()),
                Poll::Pending if self.has_ended() => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

//! One connection: a socket, TLS over it where that is asked for, HTTP/1.1 over that.

use super::body::Sent;
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

/// What was used so short a time ago is not looked at again before it is used.
const AT_ONCE_NS: u64 = 1_000_000;

/// A socket, with or without TLS.
pub(super) enum Socket {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// The same call on whatever the socket is.
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

/// A connection with one request at a time.
pub(super) struct Connection {
    pub(super) sender: SendRequest<Sent>,
    wire: http1::Connection<TokioIo<Socket>, Sent>,
    ended: bool,
    /// Why it has ended; none if in good order.
    fault: Option<Fault>,
    /// Requests that it has carried.
    pub(super) requests: u64,
    /// Of the socket, which lives as long as the wire.
    descriptor: RawFd,
    tls: bool,
    /// Since when it has nothing to do, in nanoseconds of the monotonic clock.
    pub(super) idle_since: u64,
}

/// Connects; how long that took, in nanoseconds.
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
            Socket::Tls(Box::new(stream.map_err(|error| faults::of_greeting(&error))?))
        }
    };
    let made = http1::Builder::new().handshake(TokioIo::new(socket)).await;
    let (sender, wire) = made.map_err(|error| faults::of_http(&error))?;
    let now = clock::now();
    let connection =
        Connection { sender, wire, ended: false, fault: None, requests: 0, descriptor, tls: secure, idle_since: now };
    Ok((connection, now.saturating_sub(begin)))
}

impl Connection {
    /// Lets the wire work while something is waited for.
    pub(super) fn work(&mut self, context: &mut Context<'_>) {
        if self.ended {
            return;
        }
        if let Poll::Ready(end) = Pin::new(&mut self.wire).poll(context) {
            self.ended = true;
            self.fault = end.err().map(|error| faults::of_http(&error));
        }
    }

    /// Why nothing more comes: none if it is in order or has ended in order.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// It has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The service has closed it while it was idle. The event loop, which may have slept meanwhile, need not know yet.
    fn is_closed(&self) -> bool {
        if clock::now().saturating_sub(self.idle_since) < AT_ONCE_NS {
            return false;
        }
        let mut byte = 0_u8;
        let into = std::ptr::from_mut(&mut byte).cast();
        // SAFETY: the descriptor is open as long as the wire is, and one byte is looked at, not taken.
        let found = unsafe { libc::recv(self.descriptor, into, 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        match found {
            0 => true,
            // Nothing was asked, so that nothing but its end is to be told; of TLS, after the greetings.
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
            self.work(context);
            match self.sender.poll_ready(context) {
                Poll::Ready(ready) => Poll::Ready(ready.is_ok() && !self.has_ended()),
                Poll::Pending if self.has_ended() => Poll::Ready(false),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

//! One request and its answer.

use super::body::{LentPieces, RequestBody};
use super::connection::Connection;
use super::faults;
use super::pool::PooledConnection;
use crate::checksum::RunningChecksum;
use assay_core::{clock, Buffers, Fault, Source};
use bytes::Bytes;
use http_body::Body;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::Request;
use std::cell::RefCell;
use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::Arc;
use std::task::Poll;

/// Most bytes of an answer that are stored: a page of a list has a thousand names of at most 1 KiB and the text around
/// them; a batch of items has 16 MB, as base64.
const MAX_BODY_BYTES: usize = 24 << 20;

/// Most bytes of a refusal that are stored.
const MAX_REFUSAL_BYTES: usize = 64 << 10;
/// A refusal longer than this is not read to its end.
const MAX_REFUSAL_READ_BYTES: u64 = 1 << 20;

/// What becomes of an answer's bytes. Those of a refusal are always stored in the answer.
pub(crate) enum Sink {
    /// Stored in the answer.
    Keep,
    /// Copied into a slot, as far as it reaches.
    Slot(Arc<Buffers>, u32),
    /// Checked piece by piece: what the operation in `slot` reads from the lane's object at an offset.
    Look {
        /// The source that checks them.
        source: Arc<dyn Source>,
        /// The operation's slot.
        slot: u32,
        /// The lane's object.
        object: u64,
        /// Offset of the first byte.
        offset: u64,
    },
    /// Dropped.
    Drop,
    /// Added to a checksum, and then passed on to another sink.
    Summing(Box<RefCell<RunningChecksum>>, Box<Sink>),
}

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Bytes of the body that came.
    pub(crate) bytes: u64,
    /// The stored bytes of the body.
    pub(crate) body: Vec<u8>,
    /// The connection was closed properly before the announced length had come, or the answer was too long.
    pub(crate) is_cut: bool,
    /// Monotonic time at which the head came, in nanoseconds.
    pub(crate) first_byte: u64,
}

impl Answer {
    /// A header's text, if it has one.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the status is one of success.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the answer, if it is a success and whole.
    ///
    /// # Errors
    /// What `refusal` makes of a refusal, or `ECONNABORTED` if the answer was cut off.
    pub(crate) fn into_success(self, refusal: impl FnOnce(&Answer) -> Fault) -> Result<Answer, Fault> {
        if !self.is_success() {
            return Err(refusal(&self));
        }
        if self.is_cut {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        Ok(self)
    }

    /// Whether reading on is of no use, so that the connection is closed.
    fn is_too_long(&self, sink: &Sink) -> bool {
        let is_stored = matches!(sink, Sink::Keep) && self.bytes > MAX_BODY_BYTES as u64;
        is_stored || (!self.is_success() && self.bytes > MAX_REFUSAL_READ_BYTES)
    }

    fn receive(&mut self, sink: &Sink, piece: &Bytes) {
        let sink = match sink {
            Sink::Summing(sum, sink) => {
                sum.borrow_mut().add(piece);
                sink
            }
            plain => plain,
        };
        let at = self.bytes;
        self.bytes += piece.len() as u64;
        match sink {
            Sink::Slot(buffers, slot) if self.is_success() => {
                let room = (buffers.length() as u64).saturating_sub(at) as usize;
                let length = piece.len().min(room);
                let start = buffers.pointer(*slot).wrapping_add(at.min(buffers.length() as u64) as usize);
                // SAFETY: within the slot, which belongs to this operation until its completion.
                unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), start, length) };
            }
            Sink::Look { source, slot, object, offset } if self.is_success() => {
                source.check(*slot, *object, offset + at, piece);
            }
            Sink::Drop if self.is_success() => {}
            Sink::Keep | Sink::Slot(..) | Sink::Look { .. } | Sink::Drop | Sink::Summing(..) => {
                let most = if self.is_success() { MAX_BODY_BYTES } else { MAX_REFUSAL_BYTES };
                let room = most.saturating_sub(self.body.len());
                self.body.extend_from_slice(&piece[..piece.len().min(room)]);
            }
        }
    }
}

/// Sends a request over a connection and returns the answer. The connection goes back to its pool if it can carry
/// another request. It is closed if it still holds pieces of the request's body: the service has answered before it had
/// all.
pub(crate) async fn exchange(
    mut pooled: PooledConnection,
    request: Request<RequestBody>,
    sink: &Sink,
    lent: &LentPieces,
) -> Result<Answer, Fault> {
    pooled.count_request();
    let Some(connection) = &mut pooled.connection else { return Err(Fault::os(libc::ENOTCONN)) };
    let mut response = pin!(connection.sender.send_request(request));
    let response = poll_fn(|context| {
        connection.drive(context);
        match response.as_mut().poll(context) {
            Poll::Pending if connection.has_ended() => {
                Poll::Ready(Err(connection.fault().unwrap_or(Fault::os(libc::ECONNABORTED))))
            }
            found => found.map(|found| found.map_err(|error| faults::of_http(&error))),
        }
    })
    .await?;
    let (head, mut body) = response.into_parts();
    let mut answer =
        Answer { status: head.status.as_u16(), headers: head.headers, first_byte: clock::now(), ..Answer::default() };
    while let Some(frame) = next_frame(connection, &mut body).await {
        match frame {
            Ok(piece) => {
                answer.receive(sink, &piece);
                if answer.is_too_long(sink) {
                    answer.is_cut = true;
                    return Ok(answer);
                }
            }
            Err(fault) if fault == Fault::os(libc::ECONNABORTED) => {
                answer.is_cut = true;
                return Ok(answer);
            }
            Err(fault) => return Err(fault),
        }
    }
    // HTTP sees the end of the answer, and what follows it, only here.
    poll_fn(|context| {
        connection.drive(context);
        Poll::Ready(())
    })
    .await;
    if lent.all_returned() {
        pooled.give_back();
    }
    Ok(answer)
}

/// The next bytes of an answer.
async fn next_frame(connection: &mut Connection, body: &mut Incoming) -> Option<Result<Bytes, Fault>> {
    loop {
        let frame = poll_fn(|context| match Pin::new(&mut *body).poll_frame(context) {
            Poll::Pending => {
                connection.drive(context);
                Pin::new(&mut *body).poll_frame(context)
            }
            found @ Poll::Ready(_) => found,
        });
        match frame.await? {
            // Trailers carry no contents.
            Ok(frame) => {
                if let Ok(piece) = frame.into_data() {
                    return Some(Ok(piece));
                }
            }
            Err(error) => return Some(Err(faults::of_http(&error))),
        }
    }
}

//! A request and its answer.

use super::body::{Lent, Sent};
use super::connection::Connection;
use super::faults;
use super::pool::Taken;
use crate::sum::Sum;
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

/// Longest answer of which the bytes are kept: a page of a list has a thousand names of 1 KiB at most, with what stands
/// around them; a batch of items 16 MB, as base64.
const MOST_KEPT: usize = 24 << 20;

/// Of refusals so much is kept, ...
const MOST_REFUSAL: usize = 64 << 10;
/// ... and of one that is longer than this the rest is not waited for.
const MOST_READ: u64 = 1 << 20;

/// Where the bytes of an answer go.
pub(crate) enum Sink {
    /// Kept in the answer.
    Keep,
    /// Into a slot, as far as it reaches; of refusals they are kept.
    Slot(Arc<Buffers>, u32),
    /// Looked at piece by piece: what the operation in `slot` reads from the lane's object at an offset.
    Look {
        /// Who looks.
        source: Arc<dyn Source>,
        /// Of the operation.
        slot: u32,
        /// Of the lane.
        object: u64,
        /// Of the first byte.
        offset: u64,
    },
    /// Nobody wants them; of refusals they are kept.
    Drop,
    /// Added to a sum, and then wherever they go.
    Summing(Box<RefCell<Sum>>, Box<Sink>),
}

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Status of HTTP.
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// Bytes that came after the head.
    pub(crate) bytes: u64,
    /// Those that are kept.
    pub(crate) kept: Vec<u8>,
    /// The connection was closed in order before all had come that was announced.
    pub(crate) cut: bool,
    /// Monotonic time at which the head came.
    pub(crate) first_byte: u64,
}

impl Answer {
    /// A header's text, if it has one.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// All went well.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Itself, if all went well and all of it came.
    ///
    /// # Errors
    /// Why not; `refusal` says what a refusal means.
    pub(crate) fn well(self, refusal: impl FnOnce(&Answer) -> Fault) -> Result<Answer, Fault> {
        if !self.is_success() {
            return Err(refusal(&self));
        }
        if self.cut {
            return Err(Fault::os(libc::ECONNABORTED));
        }
        Ok(self)
    }

    /// More of it is of no use: the connection is closed.
    fn is_too_long(&self, sink: &Sink) -> bool {
        let kept = matches!(sink, Sink::Keep) && self.bytes > MOST_KEPT as u64;
        kept || (!self.is_success() && self.bytes > MOST_READ)
    }

    fn take(&mut self, sink: &Sink, piece: &Bytes) {
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
                let most = if self.is_success() { MOST_KEPT } else { MOST_REFUSAL };
                let room = most.saturating_sub(self.kept.len());
                self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
            }
        }
    }
}

/// Sends a request over a connection and takes the answer. The connection goes back to its pool if it can carry another
/// request, and is closed if what was lent to it is still there: the service has answered before it had all.
///
/// # Errors
/// Why there is no answer, or not all of it.
pub(crate) async fn exchange(
    mut taken: Taken,
    request: Request<Sent>,
    sink: &Sink,
    lent: &Lent,
) -> Result<Answer, Fault> {
    taken.count_request();
    let Some(connection) = &mut taken.connection else { return Err(Fault::os(libc::ENOTCONN)) };
    let mut response = pin!(connection.sender.send_request(request));
    let response = poll_fn(|context| {
        connection.work(context);
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
                answer.take(sink, &piece);
                if answer.is_too_long(sink) {
                    answer.cut = true;
                    return Ok(answer);
                }
            }
            Err(fault) if fault == Fault::os(libc::ECONNABORTED) => {
                answer.cut = true;
                return Ok(answer);
            }
            Err(fault) => return Err(fault),
        }
    }
    // The end of the answer is seen only here, and what follows it.
    poll_fn(|context| {
        connection.work(context);
        Poll::Ready(())
    })
    .await;
    if lent.is_back() {
        taken.give_back();
    }
    Ok(answer)
}

/// The next bytes of an answer.
async fn next_frame(connection: &mut Connection, body: &mut Incoming) -> Option<Result<Bytes, Fault>> {
    loop {
        let frame = poll_fn(|context| match Pin::new(&mut *body).poll_frame(context) {
            Poll::Pending => {
                connection.work(context);
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

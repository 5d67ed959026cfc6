//! The body of a request: nothing, a few bytes, or the contents of an object from a lane's buffer.

use assay_core::{Buffers, Source};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// Generated contents are sent in pieces of this size, so that one is generated while another is sent.
const PIECE_BYTES: usize = 256 << 10;

/// How many pieces of a slot a connection holds, and who waits for them.
#[derive(Debug, Default)]
struct LentCount {
    count: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

/// A count of a slot's pieces that a connection still holds. While it is above 0, the slot must not be used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct LentPieces(Arc<LentCount>);

impl LentPieces {
    /// Whether no piece is held any more.
    pub(crate) fn all_returned(&self) -> bool {
        self.0.count.load(Ordering::Acquire) == 0
    }
}

/// A piece of a slot.
struct Piece {
    buffers: Arc<Buffers>,
    slot: u32,
    offset: usize,
    length: usize,
    lent_count: Arc<LentCount>,
    /// A connection holds this part of the slot.
    away: Arc<AtomicBool>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        assert!(self.offset + self.length <= self.buffers.length());
        let start = self.buffers.pointer(self.slot).wrapping_add(self.offset);
        // SAFETY: within the slot by the assertion; nothing writes there while the piece is counted as lent.
        unsafe { std::slice::from_raw_parts(start, self.length) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.away.store(false, Ordering::Release);
        self.lent_count.count.fetch_sub(1, Ordering::AcqRel);
        if let Some(waker) = self.lent_count.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}

/// Contents longer than a slot, generated piece by piece.
pub(crate) struct GeneratedContents {
    source: Arc<dyn Source>,
    object: u64,
    offset: u64,
    left: u64,
    /// The part of the slot that is next, and whether a connection holds each part.
    next: usize,
    away: Vec<Arc<AtomicBool>>,
    lent: LentPieces,
}

/// The body of a request.
pub(crate) enum RequestBody {
    /// No bytes.
    Nothing,
    /// Given bytes.
    Bytes(Option<Bytes>),
    /// Contents that are generated while they are sent, in a slot of the buffers.
    Generated(Arc<Buffers>, u32, GeneratedContents),
}

impl RequestBody {
    /// The first bytes of a slot.
    pub(crate) fn slot(buffers: &Arc<Buffers>, slot: u32, length: usize, lent: &LentPieces) -> Self {
        if length == 0 {
            return RequestBody::Nothing;
        }
        RequestBody::Bytes(Some(lend(buffers, slot, (0, length), lent, &Arc::default())))
    }

    /// Contents of an object from an offset on, of any length, generated in the slot.
    pub(crate) fn generated(
        (buffers, slot): (&Arc<Buffers>, u32),
        source: &Arc<dyn Source>,
        (object, offset, length): (u64, u64, u64),
        lent: &LentPieces,
    ) -> Self {
        let parts = (buffers.length() / PIECE_BYTES).max(1);
        let away = (0..parts).map(|_| Arc::default()).collect();
        let source = Arc::clone(source);
        let contents = GeneratedContents { source, object, offset, left: length, next: 0, away, lent: lent.clone() };
        RequestBody::Generated(Arc::clone(buffers), slot, contents)
    }
}

fn lend(
    buffers: &Arc<Buffers>,
    slot: u32,
    (offset, length): (usize, usize),
    lent: &LentPieces,
    away: &Arc<AtomicBool>,
) -> Bytes {
    lent.0.count.fetch_add(1, Ordering::AcqRel);
    away.store(true, Ordering::Release);
    let (buffers, lent_count, away) = (Arc::clone(buffers), Arc::clone(&lent.0), Arc::clone(away));
    Bytes::from_owner(Piece { buffers, slot, offset, length, lent_count, away })
}

impl GeneratedContents {
    fn poll_piece(&mut self, buffers: &Arc<Buffers>, slot: u32, context: &Context<'_>) -> Poll<Option<Bytes>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let lent_count = &self.lent.0;
        *lent_count.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
        let away = &self.away[self.next];
        if away.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        let size = (buffers.length() / self.away.len()).max(1);
        let (at, length) = (self.next * size, (size as u64).min(self.left) as usize);
        let start = buffers.pointer(slot).wrapping_add(at);
        assert!(at + length <= buffers.length());
        // SAFETY: within the slot by the assertion; this part of it is not lent.
        let piece = unsafe { std::slice::from_raw_parts_mut(start, length) };
        self.source.fill_slot((slot, at), self.object, self.offset, piece);
        self.offset += length as u64;
        self.left -= length as u64;
        let bytes = lend(buffers, slot, (at, length), &self.lent, away);
        self.next = (self.next + 1) % self.away.len();
        Poll::Ready(Some(bytes))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            RequestBody::Nothing => Poll::Ready(None),
            RequestBody::Bytes(bytes) => Poll::Ready(bytes.take()),
            RequestBody::Generated(buffers, slot, contents) => contents.poll_piece(buffers, *slot, context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            RequestBody::Nothing => true,
            RequestBody::Bytes(bytes) => bytes.is_none(),
            RequestBody::Generated(_, _, contents) => contents.left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            RequestBody::Nothing => 0,
            RequestBody::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            RequestBody::Generated(_, _, contents) => contents.left,
        })
    }
}

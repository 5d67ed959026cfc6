//! What is sent: nothing, a few bytes, or the contents of an object from a lane's buffer.

use assay_core::{Buffers, Source};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// A slot is sent in pieces of this size where its contents are made meanwhile, so that one is made while another goes.
const PIECE: usize = 256 << 10;

/// Pieces of a slot that the connection holds.
#[derive(Debug, Default)]
struct Held {
    count: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

/// How many pieces of a slot are still with a connection. As long as there are some, the slot must not be used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lent(Arc<Held>);

impl Lent {
    /// Nothing is lent any more.
    pub(crate) fn is_back(&self) -> bool {
        self.0.count.load(Ordering::Acquire) == 0
    }
}

/// A piece of a slot.
struct Piece {
    buffers: Arc<Buffers>,
    slot: u32,
    offset: usize,
    length: usize,
    held: Arc<Held>,
    /// This part of the slot is with the connection.
    away: Arc<AtomicBool>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        assert!(self.offset + self.length <= self.buffers.length());
        let start = self.buffers.pointer(self.slot).wrapping_add(self.offset);
        // SAFETY: within the slot by the assertion; nobody writes there as long as the piece is counted as lent.
        unsafe { std::slice::from_raw_parts(start, self.length) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.away.store(false, Ordering::Release);
        self.held.count.fetch_sub(1, Ordering::AcqRel);
        if let Some(waker) = self.held.waker.lock().unwrap_or_else(PoisonError::into_inner).take() {
            waker.wake();
        }
    }
}

/// Contents that are longer than a slot, made piece by piece.
pub(crate) struct Made {
    source: Arc<dyn Source>,
    object: u64,
    offset: u64,
    left: u64,
    /// Which part of the slot is next, and whether each is with the connection.
    next: usize,
    away: Vec<Arc<AtomicBool>>,
    lent: Lent,
}

/// What a request carries.
pub(crate) enum Sent {
    /// Nothing.
    Nothing,
    /// These bytes.
    Bytes(Option<Bytes>),
    /// Contents that are made while they go, in a slot of the buffers.
    Made(Arc<Buffers>, u32, Made),
}

impl Sent {
    /// The first bytes of a slot.
    pub(crate) fn slot(buffers: &Arc<Buffers>, slot: u32, length: usize, lent: &Lent) -> Self {
        if length == 0 {
            return Sent::Nothing;
        }
        Sent::Bytes(Some(lend(buffers, slot, (0, length), lent, &Arc::default())))
    }

    /// Contents of an object from an offset on, of any length, made in the slot.
    pub(crate) fn made(
        (buffers, slot): (&Arc<Buffers>, u32),
        source: &Arc<dyn Source>,
        (object, offset, length): (u64, u64, u64),
        lent: &Lent,
    ) -> Self {
        let parts = (buffers.length() / PIECE).max(1);
        let away = (0..parts).map(|_| Arc::default()).collect();
        let source = Arc::clone(source);
        let made = Made { source, object, offset, left: length, next: 0, away, lent: lent.clone() };
        Sent::Made(Arc::clone(buffers), slot, made)
    }
}

fn lend(
    buffers: &Arc<Buffers>,
    slot: u32,
    (offset, length): (usize, usize),
    lent: &Lent,
    away: &Arc<AtomicBool>,
) -> Bytes {
    lent.0.count.fetch_add(1, Ordering::AcqRel);
    away.store(true, Ordering::Release);
    let (buffers, held, away) = (Arc::clone(buffers), Arc::clone(&lent.0), Arc::clone(away));
    Bytes::from_owner(Piece { buffers, slot, offset, length, held, away })
}

impl Made {
    fn poll_piece(&mut self, buffers: &Arc<Buffers>, slot: u32, context: &Context<'_>) -> Poll<Option<Bytes>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let held = &self.lent.0;
        *held.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
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

impl Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Sent::Nothing => Poll::Ready(None),
            Sent::Bytes(bytes) => Poll::Ready(bytes.take()),
            Sent::Made(buffers, slot, made) => made.poll_piece(buffers, *slot, context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Sent::Nothing => true,
            Sent::Bytes(bytes) => bytes.is_none(),
            Sent::Made(_, _, made) => made.left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Sent::Nothing => 0,
            Sent::Bytes(bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
            Sent::Made(_, _, made) => made.left,
        })
    }
}

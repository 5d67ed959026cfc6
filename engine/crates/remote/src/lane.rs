//! What lanes with calls in flight do alike.

use assay_core::{clock, Buffers, Completion, Fault, Lane, Op, Source};

/// Takes completions of a lane (see `Lane::reap`). `collect` appends those that are there, and returns how many operations
/// are in flight; `wait` waits for more until that time at most.
#[inline]
pub fn reap<L>(
    lane: &mut L,
    done: &mut Vec<Completion>,
    deadline: u64,
    mut collect: impl FnMut(&mut L, &mut Vec<Completion>) -> usize,
    mut wait: impl FnMut(&mut L, u64),
) {
    let before = done.len();
    let mut waited = false;
    loop {
        let in_flight = collect(lane, done);
        if done.len() > before || in_flight == 0 || waited && clock::now() >= deadline {
            return;
        }
        wait(lane, deadline);
        waited = true;
    }
}

/// Does one operation (see `Lane::execute`); `early` is where the lane puts operations that end without a call.
#[inline]
pub fn execute<L: Lane>(lane: &mut L, op: &Op, early: fn(&mut L) -> &mut Vec<Completion>) -> Result<u64, Fault> {
    let mut done = std::mem::take(early(lane));
    lane.submit(std::slice::from_ref(op));
    done.append(early(lane));
    while done.is_empty() {
        lane.reap(&mut done, u64::MAX);
    }
    let result = done[0].result;
    done.clear();
    *early(lane) = done;
    result
}

/// Where the next WRITE of a small file takes its data, of which `count` bytes have been written, and how many bytes: at most
/// `most`. Contents that are longer than their slot are made there, piece by piece; the WRITE before has ended.
///
/// # Errors
/// EINVAL if there is nothing to make them.
#[inline]
pub fn piece_to_write(
    op: &Op,
    count: u64,
    most: u32,
    buffers: &Buffers,
    source: Option<&dyn Source>,
) -> Result<(*const u8, u32), Fault> {
    let mut length = u64::from(most).min(op.length - count);
    let mut from = count;
    if op.length > buffers.length() as u64 {
        length = length.min(buffers.length() as u64);
        from = 0;
        let source = source.ok_or(Fault::os(libc::EINVAL))?;
        // SAFETY: the slot is this operation's until it ends.
        let piece = unsafe { buffers.slice(op.slot, length as usize) };
        source.fill_slot((op.slot, 0), op.object, count, piece);
    }
    Ok((buffers.pointer(op.slot).wrapping_add(from as usize).cast_const(), length as u32))
}

/// Where the next READ of a small file puts its data, of which `count` bytes have been read, and how many bytes: at most
/// `most`.
#[inline]
pub fn piece_to_read(op: &Op, count: u64, most: u32, buffers: &Buffers) -> (*mut u8, u32) {
    let length = u64::from(most).min(op.length - count) as u32;
    (buffers.pointer(op.slot).wrapping_add(count as usize), length)
}

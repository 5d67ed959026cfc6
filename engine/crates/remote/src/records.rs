//! Records that are cut into calls: each is one call, or several at once where it is larger than a call may be.

use assay_core::{Completion, Fault, LaneSetup, Op, OpKind};
use std::collections::VecDeque;

/// An operation under way.
#[derive(Debug, Clone, Copy)]
struct Record {
    op: Op,
    deadline: u64,
    /// Bytes of the record for which calls have been made.
    called: u32,
    /// Calls without a reply.
    pending: u32,
    /// Where the first gap is.
    end: u32,
    /// The first part that failed, and its fault.
    error: Option<(u32, Fault)>,
}

/// The operations of a lane on one file. A part of a record is named by where it begins in it, and its bytes.
pub struct Records {
    slots: Vec<Record>,
    /// Slots whose records wait for room for more calls.
    waiting: VecDeque<u32>,
    /// Ended without a call.
    pub early: Vec<Completion>,
    /// Operations with calls that have not ended.
    pub in_flight: usize,
    /// Calls under way at most, where records are so much larger than calls.
    max_calls: usize,
    /// Bytes of a READ and of a WRITE.
    pub sizes: (u32, u32),
}

impl Records {
    /// None under way.
    pub fn new(setup: &LaneSetup, max_calls: usize, sizes: (u32, u32)) -> Self {
        let op = Op { kind: OpKind::Sync, count: 1, slot: 0, object: 0, offset: 0, length: 0 };
        let count = setup.buffers.count();
        Records {
            slots: vec![Record { op, deadline: 0, called: 0, pending: 0, end: 0, error: None }; count],
            waiting: VecDeque::new(),
            early: Vec::with_capacity(count),
            in_flight: 0,
            max_calls,
            sizes,
        }
    }

    /// An operation begins that shall have ended by `deadline`: so many calls of no bytes have been made for it.
    #[inline]
    pub fn begin(&mut self, op: &Op, deadline: u64, pending: u32) {
        self.slots[op.slot as usize] =
            Record { op: *op, deadline, called: 0, pending, end: op.length as u32, error: None };
        self.in_flight += 1;
    }

    /// Ends an operation without a call.
    pub fn end_early(&mut self, slot: u32, result: Result<u64, Fault>) {
        self.early.push(Completion::new(slot, result));
    }

    /// Ends an operation on a name or an object.
    pub fn refuse(&mut self, slot: u32) {
        debug_assert!(false, "a lane of one file has neither names nor objects");
        self.end_early(slot, Err(Fault::os(libc::EINVAL)));
    }

    /// The operation in a slot, and its deadline.
    #[inline]
    pub fn get(&self, slot: u32) -> (Op, u64) {
        let Record { op, deadline, .. } = self.slots[slot as usize];
        (op, deadline)
    }

    /// The next part of a record to make a call for, while so many calls are under way; none if all have been made, or if it
    /// has to wait for room.
    #[inline]
    pub fn next_part(&mut self, slot: u32, under_way: usize) -> Option<(u32, u32)> {
        let record = &mut self.slots[slot as usize];
        let length = record.op.length as u32;
        if record.called >= length {
            return None;
        }
        if under_way >= self.max_calls {
            self.waiting.push_back(slot);
            return None;
        }
        let size = if record.op.kind == OpKind::Read { self.sizes.0 } else { self.sizes.1 };
        let at = record.called;
        let part = size.min(length - at);
        record.called += part;
        record.pending += 1;
        Some((at, part))
    }

    /// The next record that waits for room.
    #[inline]
    pub fn next_waiting(&mut self) -> Option<u32> {
        self.waiting.pop_front()
    }

    /// A part of `length` bytes has ended: what was moved of it, and whether there is nothing more to move behind that; or
    /// its fault. Returns the rest of the part if another call has to be made for it.
    #[inline]
    pub fn part_ended(
        &mut self,
        slot: u32,
        (at, length): (u32, u32),
        moved: Result<(u32, bool), Fault>,
        done: &mut Vec<Completion>,
    ) -> Option<(u32, u32)> {
        let record = &mut self.slots[slot as usize];
        match moved {
            // The server has done a part of it.
            Ok((count, false)) if count < length => return Some((at + count, length - count)),
            Ok((count, _)) if count < length => record.end = record.end.min(at + count),
            Ok(_) => {}
            Err(fault) => {
                record.error = Some(record.error.map_or((at, fault), |known| known.min((at, fault))));
                // What has not been requested will not be.
                record.called = record.op.length as u32;
                self.waiting.retain(|other| *other != slot);
            }
        }
        record.pending -= 1;
        if record.pending == 0 && u64::from(record.called) >= record.op.length {
            self.in_flight -= 1;
            done.push(Completion::new(slot, record.error.map_or(Ok(u64::from(record.end)), |(_, fault)| Err(fault))));
        }
        None
    }
}

/// The tag of a part's call.
#[inline]
pub fn tag_of(slot: u32, at: u32) -> u64 {
    u64::from(slot) << 32 | u64::from(at)
}

/// Slot and beginning of the part whose call has this tag.
#[inline]
pub fn part_of(tag: u64) -> (u32, u32) {
    ((tag >> 32) as u32, tag as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_core::Buffers;
    use std::sync::Arc;

    /// A record of 10 bytes in parts of 4, and its parts.
    fn records(max_calls: usize) -> (Records, Vec<(u32, u32)>) {
        let buffers = Arc::new(Buffers::new(1, 4096, false).unwrap());
        let setup = LaneSetup::of(0, 1, buffers);
        let mut records = Records::new(&setup, max_calls, (4, 4));
        records.begin(&Op { kind: OpKind::Read, count: 1, slot: 0, object: 0, offset: 0, length: 10 }, 0, 0);
        let mut parts = Vec::new();
        while let Some(part) = records.next_part(0, parts.len()) {
            assert_eq!(part_of(tag_of(7, part.0)), (7, part.0));
            parts.push(part);
        }
        (records, parts)
    }

    /// The result of the record if its parts end so, the last one first.
    fn result(moved: [Result<(u32, bool), Fault>; 3]) -> Result<u64, Fault> {
        let (mut records, parts) = records(3);
        assert_eq!(parts, [(0, 4), (4, 4), (8, 2)]);
        let mut done = Vec::new();
        for (part, moved) in parts.into_iter().zip(moved).rev() {
            assert!(done.is_empty());
            assert_eq!(records.part_ended(0, part, moved, &mut done), None);
        }
        assert_eq!((done.len(), records.in_flight), (1, 0));
        done[0].result
    }

    #[test]
    fn a_record_ends_at_its_first_gap_or_with_its_first_fault() {
        let (first, second) = (Fault::os(libc::EIO), Fault::os(libc::ENOSPC));
        assert_eq!(result([Ok((4, false)), Ok((4, false)), Ok((2, false))]), Ok(10));
        assert_eq!(result([Ok((4, false)), Ok((1, true)), Ok((0, true))]), Ok(5));
        assert_eq!(result([Ok((4, false)), Err(first), Err(second)]), Err(first));
    }

    #[test]
    fn what_finds_no_room_waits_and_what_is_short_goes_on() {
        let (mut records, parts) = records(2);
        assert_eq!((parts.len(), records.next_waiting()), (2, Some(0)));
        let mut done = Vec::new();
        assert_eq!(records.part_ended(0, (4, 4), Ok((1, false)), &mut done), Some((5, 3)));
        assert_eq!(records.part_ended(0, (5, 3), Ok((3, false)), &mut done), None);
        assert_eq!(records.next_part(0, 1), Some((8, 2)));
        assert!(done.is_empty());
    }
}

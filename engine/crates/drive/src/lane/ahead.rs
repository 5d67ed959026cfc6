//! One operation in flight, while the data of the next is made in another buffer.
//!
//! What a device has just read from a buffer has left this CPU's cache: to write new numbers there takes a fifth as long
//! as a direct write of 1 MiB to a fast disk, in which the storage would have nothing to do.

use super::{make_data, op_of, Run};
use assay_core::clock::TimeSource;
use assay_core::Op;

impl<T: TimeSource> Run<'_, T> {
    /// One operation after the other, as fast as they come; returns the end. Here `left` counts what has not started.
    pub(super) fn one_by_one_ahead(&mut self) -> u64 {
        let mut next = self.made_ahead(0, &mut None);
        let mut now = self.clock.now();
        while let Some(op) = next.filter(|_| self.may_start(now)) {
            self.left -= 1;
            (now, next) = self.one_and_next(&op, now);
        }
        if next.is_some() {
            self.plan.pattern.take_back();
        }
        now
    }

    /// Does an operation that counts from `start`, and makes the next; returns the time afterwards, and the next.
    fn one_and_next(&mut self, op: &Op, start: u64) -> (u64, Option<Op>) {
        self.channel.exchange(std::slice::from_ref(op), &mut self.done, start);
        let mut ended = (!self.done.is_empty()).then(|| self.clock.now());
        let next = self.made_ahead(1 - op.slot, &mut ended);
        let late = ended.is_some();
        let end = ended.unwrap_or_else(|| self.wait_for_end(start));
        self.look_up(end);
        let result = self.done.remove(0).result;
        if !self.count(op.kind, op.length, start, result, end) {
            self.count_with_care(op, start, result, end);
        }
        if self.distracted {
            (self.regain(end), next)
        } else {
            // Making data is not the storage's time.
            (if late { self.clock.now() } else { end }, next)
        }
    }

    /// The next operation, with its data; none if there is none. Looks after each piece whether the one in flight has
    /// ended, and when.
    fn made_ahead(&mut self, slot: u32, ended: &mut Option<u64>) -> Option<Op> {
        if self.left == 0 {
            return None;
        }
        let op = op_of(self.plan.pattern.step(), slot);
        let Run { plan, channel, done, clock, buffers, lying, .. } = self;
        let look = || {
            if ended.is_none() {
                channel.exchange(&[], done, 0);
                *ended = (!done.is_empty()).then(|| clock.now());
            }
        };
        make_data(plan.data.as_mut(), plan.first_object, buffers, &op, &mut lying[slot as usize], look);
        Some(op)
    }

    /// Waits for the operation in flight; returns when it was seen to end.
    fn wait_for_end(&mut self, mut now: u64) -> u64 {
        loop {
            let deadline = self.wake_up(now);
            self.channel.exchange(&[], &mut self.done, deadline);
            now = self.clock.now();
            if !self.done.is_empty() {
                return now;
            }
            self.look_up(now);
        }
    }
}

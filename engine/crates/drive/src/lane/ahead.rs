//! One operation in flight, while the data of the next is made in another buffer.
//!
//! A buffer that a device has just read has left this CPU's cache: writing new numbers into it takes a fifth of the
//! time of a direct write of 1 MiB to a fast disk, time in which the storage would be idle.

use super::{make_data, op_of, Run};
use assay_core::clock::TimeSource;
use assay_core::Op;

impl<T: TimeSource> Run<'_, T> {
    /// Execute one operation after the other in closed loop; returns the end. Here `left` counts what has not started.
    pub(super) fn one_by_one_ahead(&mut self) -> u64 {
        let mut next = self.prepare_ahead(0, &mut None);
        let mut now = self.clock.now();
        while let Some(op) = next.filter(|_| self.may_start(now)) {
            self.left -= 1;
            (now, next) = self.execute_and_prepare(&op, now);
        }
        if next.is_some() {
            self.plan.pattern.take_back();
        }
        now
    }

    /// Execute an operation whose latency counts from `start`, and prepare the next; returns the time after it, and the
    /// next.
    fn execute_and_prepare(&mut self, op: &Op, start: u64) -> (u64, Option<Op>) {
        self.channel.exchange(std::slice::from_ref(op), &mut self.done, start);
        let mut ended = (!self.done.is_empty()).then(|| self.clock.now());
        let next = self.prepare_ahead(1 - op.slot, &mut ended);
        let late = ended.is_some();
        let end = ended.unwrap_or_else(|| self.wait_for_end(start));
        self.tick(end);
        let result = self.done.remove(0).result;
        if !self.count(op.kind, op.length, start, result, end) {
            self.complete_slow(op, start, result, end);
        }
        if self.must_reread_clock {
            (self.reread_clock(end), next)
        } else {
            // Making data is not the storage's time.
            (if late { self.clock.now() } else { end }, next)
        }
    }

    /// The next operation, with its data; None if there is none. Checks after each piece of data whether the operation
    /// in flight has ended, and when.
    fn prepare_ahead(&mut self, slot: u32, ended: &mut Option<u64>) -> Option<Op> {
        if self.left == 0 {
            return None;
        }
        let op = op_of(self.plan.pattern.step(), slot);
        let Run { plan, channel, done, clock, buffers, slot_contents, .. } = self;
        let after_piece = || {
            if ended.is_none() {
                channel.exchange(&[], done, 0);
                *ended = (!done.is_empty()).then(|| clock.now());
            }
        };
        make_data(plan.data.as_mut(), plan.first_object, buffers, &op, &mut slot_contents[slot as usize], after_piece);
        Some(op)
    }

    /// Wait for the operation in flight; returns when its end was noticed.
    fn wait_for_end(&mut self, mut now: u64) -> u64 {
        loop {
            let deadline = self.wake_up(now);
            self.channel.exchange(&[], &mut self.done, deadline);
            now = self.clock.now();
            if !self.done.is_empty() {
                return now;
            }
            self.tick(now);
        }
    }
}

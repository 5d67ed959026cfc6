//! Lanes of several processes that start the same number of operations: if each operation is a collective call of all
//! of them (collective MPI-IO), a lane that ended alone would leave the others waiting for ever.
//!
//! Before a stretch of operations the lanes agree on its length. Only then does a lane check whether time is over, the
//! job was stopped or there were too many errors, and all end together. A lane that has finished its part of the data
//! continues with operations of no bytes, which are not counted.

use super::{InFlight, Run};
use assay_core::clock::TimeSource;
use assay_core::{fault_message, Completion, Op, OpKind};
use assay_spec::ErrorKind;

impl<T: TimeSource> Run<'_, T> {
    /// Execute stretch after stretch until all lanes are finished or one must end; returns the end.
    pub(super) fn in_step(&mut self, begin: u64) -> u64 {
        let mut now = begin;
        while let Some(count) = self.agreed_count(now) {
            now = self.clock.now();
            for _ in 0..count {
                now = if self.slots.len() == 1 { self.one_collective(now) } else { self.start_collective(now) };
            }
        }
        while self.free.len() < self.slots.len() {
            now = self.wait_for_some(now);
        }
        now
    }

    /// Number of operations that all lanes start now; None if the phase is over.
    fn agreed_count(&mut self, now: u64) -> Option<u64> {
        let over = !self.may_start(now) && self.left != 0;
        let lanes = self.channel.collective()?;
        match lanes.agree_count((!over).then_some(self.left), self.last_start.saturating_sub(now)) {
            Ok(0) => {
                if !over && self.left != 0 {
                    self.ended_by_another(now);
                }
                None
            }
            Ok(count) => Some(count),
            Err(fault) => {
                self.fail(&self.empty(0), 0, ErrorKind::Fault, Some(fault), fault_message(fault));
                self.outcome.gave_up = true;
                None
            }
        }
    }

    /// End because another lane's time was over a moment earlier, or it has failed.
    fn ended_by_another(&mut self, now: u64) {
        self.stop_issuing(now);
        if self.plan.runtime_ns.or(self.plan.time_limit_ns).is_none() {
            self.outcome.limited = false;
            self.outcome.gave_up = true;
        }
    }

    /// Execute the next operation, or one of no bytes; returns the time after it.
    fn one_collective(&mut self, now: u64) -> u64 {
        if self.left > 0 {
            let mut op = self.empty(0);
            let Some(made) = self.next_op(0, &mut op) else { return now };
            // Making data is not the storage's time.
            let start = if made { self.clock.now() } else { now };
            return self.execute_one(&op, start);
        }
        let op = self.empty(0);
        if let Err(fault) = self.channel.execute(&op) {
            self.fail(&op, 0, ErrorKind::Fault, Some(fault), fault_message(fault));
        }
        let now = self.clock.now();
        self.tick(now);
        now
    }

    /// Start the next operation with others in flight; returns the time after it was started.
    fn start_collective(&mut self, mut now: u64) -> u64 {
        let slot = loop {
            match self.free.pop() {
                Some(slot) => break slot,
                None => now = self.wait_for_some(now),
            }
        };
        let mut op = self.empty(slot);
        if self.left > 0 {
            let _ = self.next_op(slot, &mut op);
        }
        let start = self.clock.now();
        self.slots[slot as usize] = InFlight { op, start };
        self.channel.exchange(&[op], &mut self.done, start);
        self.count_ended()
    }

    /// Wait for an operation in flight; returns the time.
    fn wait_for_some(&mut self, now: u64) -> u64 {
        let deadline = self.wake_up(now);
        self.channel.exchange(&[], &mut self.done, deadline);
        self.count_ended()
    }

    /// Count completed operations, except those of no bytes; returns the time.
    fn count_ended(&mut self) -> u64 {
        let now = self.clock.now();
        let mut done = std::mem::take(&mut self.done);
        done.retain(|completion| !self.is_empty(completion));
        self.done = done;
        self.complete(now);
        if self.must_reread_clock {
            self.reread_clock(now)
        } else {
            now
        }
    }

    /// True if the completion is of an operation of no bytes, whose slot is then free. Only a failed one is counted.
    fn is_empty(&mut self, completion: &Completion) -> bool {
        let empty = self.slots[completion.slot as usize].op.length == 0 && completion.result.is_ok();
        if empty {
            self.free.push(completion.slot);
        }
        empty
    }

    /// An operation of no bytes, of the kind that the others execute.
    fn empty(&self, slot: u32) -> Op {
        let kind = self.plan.pattern.kinds().first().copied().unwrap_or(OpKind::Sync);
        Op { kind, count: 1, slot, object: 0, offset: 0, length: 0 }
    }
}

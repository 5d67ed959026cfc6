//! Lanes of several processes that start the same number of operations: where each is one of all of them (collective
//! MPI-IO), a lane that ended alone would leave the others waiting for ever.
//!
//! Before a stretch of operations the lanes agree how long it is. Whether time is over, somebody has stopped the job or
//! there were too many errors, a lane looks only then, and all end together. A lane whose part of the data is done goes
//! on with operations of no bytes, which count for nothing.

use super::{InFlight, Run};
use assay_core::clock::TimeSource;
use assay_core::{fault_message, Completion, Op, OpKind};
use assay_spec::ErrorKind;

impl<T: TimeSource> Run<'_, T> {
    /// Stretch after stretch, until all have done theirs or one must end; returns the end.
    pub(super) fn in_step(&mut self, begin: u64) -> u64 {
        let mut now = begin;
        while let Some(count) = self.agreed(now) {
            now = self.clock.now();
            for _ in 0..count {
                now = if self.slots.len() == 1 { self.one_of_all(now) } else { self.start_one_of_all(now) };
            }
        }
        while self.free.len() < self.slots.len() {
            now = self.wait_for_some(now);
        }
        now
    }

    /// How many operations all lanes start now; none if the phase is over.
    fn agreed(&mut self, now: u64) -> Option<u64> {
        let over = !self.may_start(now) && self.left != 0;
        match self.channel.agree((!over).then_some(self.left), self.last_start.saturating_sub(now)) {
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

    /// Another lane's time is over a moment before this one's, or it has failed.
    fn ended_by_another(&mut self, now: u64) {
        self.stop_issuing(now);
        if self.plan.runtime_ns.or(self.plan.time_limit_ns).is_none() {
            self.outcome.limited = false;
            self.outcome.gave_up = true;
        }
    }

    /// The next operation, or one of no bytes; returns the time after it.
    fn one_of_all(&mut self, now: u64) -> u64 {
        if self.left > 0 {
            let mut op = self.empty(0);
            let Some(made) = self.next_op(0, &mut op) else { return now };
            // Making data is not the storage's time.
            let start = if made { self.clock.now() } else { now };
            return self.one(&op, start);
        }
        let op = self.empty(0);
        if let Err(fault) = self.channel.execute(&op) {
            self.fail(&op, 0, ErrorKind::Fault, Some(fault), fault_message(fault));
        }
        let now = self.clock.now();
        self.look_up(now);
        now
    }

    /// The same among others in flight; returns the time after it was started.
    fn start_one_of_all(&mut self, mut now: u64) -> u64 {
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
        self.ended()
    }

    /// Waits for what is in flight; returns the time.
    fn wait_for_some(&mut self, now: u64) -> u64 {
        let deadline = self.wake_up(now);
        self.channel.exchange(&[], &mut self.done, deadline);
        self.ended()
    }

    /// Counts what has ended, but for what moved no bytes; returns the time.
    fn ended(&mut self) -> u64 {
        let now = self.clock.now();
        let mut done = std::mem::take(&mut self.done);
        done.retain(|completion| !self.is_empty(completion));
        self.done = done;
        self.complete(now);
        if self.distracted {
            self.regain(now)
        } else {
            now
        }
    }

    /// Whether an operation of no bytes has ended; if so its slot is free. Only one that failed is counted.
    fn is_empty(&mut self, completion: &Completion) -> bool {
        let empty = self.slots[completion.slot as usize].op.length == 0 && completion.result.is_ok();
        if empty {
            self.free.push(completion.slot);
        }
        empty
    }

    /// An operation of no bytes, of the kind that the others do.
    fn empty(&self, slot: u32) -> Op {
        let kind = self.plan.pattern.kinds().first().copied().unwrap_or(OpKind::Sync);
        Op { kind, count: 1, slot, object: 0, offset: 0, length: 0 }
    }
}

//! The slow path of completed operations: those that failed, whose data is checked, that others wait for, or that began
//! in an earlier interval.

use super::{is_streamed, Run, ERROR_SAMPLES};
use crate::data::Mismatch;
use crate::outcome::LaneMessage;
use crate::pattern::Step;
use assay_core::clock::TimeSource;
use assay_core::{fault_message, Fault, Op, OpKind, NO_REQUESTS_LEFT, NO_UNITS_LEFT};
use assay_spec::{ErrorKind, ErrorSample, Expected, Moves};

impl<T: TimeSource> Run<'_, T> {
    /// Count one operation whose result is not its length, or that needs more than counting.
    #[inline(never)]
    pub(super) fn complete_slow(&mut self, op: &Op, start: u64, result: Result<u64, Fault>, now: u64) {
        let well = match op.kind.expects() {
            Expected::Length => result == Ok(op.length),
            // For some kinds the length is known.
            Expected::Any => result.is_ok() && (op.length == 0 || result == Ok(op.length)),
        };
        self.left_interval(start);
        let mut again = false;
        if self.follows_results {
            let Op { kind, count, object, offset, length, .. } = *op;
            again = self.plan.pattern.on_end(&Step { kind, count, object, offset, length }, well);
            self.must_wait = false;
        }
        // Also taken if the operation failed, or the next operation in the slot would get its mismatch.
        let streamed = self.wrong_in_stream(op);
        if !well {
            return self.count_failure(op, result);
        }
        // The length of what is read may not be known beforehand.
        let length = match (op.kind.moves(), result) {
            (Moves::In, Ok(bytes)) => bytes,
            _ => op.length,
        };
        if self.plan.verify && op.kind.moves() == Moves::In && !self.verified(&Op { length, ..*op }, streamed) {
            return;
        }
        if start < self.interval_start {
            let since = |time: u64| time.saturating_sub(self.phase_start);
            self.collector.spread(self.plan.interval_ns, since(start), since(now), op.kind, length);
        }
        let collected = self.collector.of(op.kind);
        collected.count(length, now.saturating_sub(start));
        if again {
            collected.note_repeated(now.saturating_sub(start));
        }
        if self.plan.reports_first_byte {
            let came = self.channel.first_byte(op.slot);
            if came != 0 {
                collected.note_first_byte(came.saturating_sub(start));
            }
        }
    }

    /// Note the end of an operation that may have begun in an earlier interval.
    fn left_interval(&mut self, start: u64) {
        // One at a time, the first that ends was the only one in flight.
        if start < self.interval_start || self.slots.len() == 1 {
            self.crossing_count = self.crossing_count.saturating_sub(1);
            self.needs_slow_path = self.always_slow_path || self.crossing_count > 0;
        }
    }

    /// Count an operation that failed or moved too few bytes.
    #[cold]
    fn count_failure(&mut self, op: &Op, result: Result<u64, Fault>) {
        let (kind, fault, message) = match (op.kind.moves(), result) {
            (_, Err(fault)) => (ErrorKind::Fault, Some(fault), self.failure_text(op.slot, fault)),
            (Moves::Nothing, Ok(size)) => {
                let message = format!("{} has {size} bytes, {} were written", self.noun(), op.length);
                (ErrorKind::Corrupt, None, message)
            }
            (Moves::In, Ok(bytes)) => {
                let message = format!("only {bytes} of {} bytes were read: {} ends there", op.length, self.noun());
                (ErrorKind::ShortRead, None, message)
            }
            (Moves::Out, Ok(bytes)) => {
                let why = "most likely no space is left, or a quota or a limit of file sizes is reached";
                let message = format!("only {bytes} of {} bytes were written: {why}", op.length);
                (ErrorKind::ShortWrite, None, message)
            }
        };
        self.fail(op, op.offset, kind, fault, message);
        if matches!(fault, Some(NO_REQUESTS_LEFT | NO_UNITS_LEFT)) {
            self.outcome.gave_up = true;
            self.issuing = false;
        }
    }

    /// The message of a fault, with the storage's own if there is one.
    fn failure_text(&self, slot: u32, fault: Fault) -> String {
        let failure_text = fault_message(fault);
        match self.channel.failure_message(slot) {
            Some(message) => format!("{failure_text}: {message}"),
            None => failure_text,
        }
    }

    /// Name of the operation's file or existing object.
    fn name_of(&self, op: &Op) -> String {
        let existing = self.plan.existing.as_ref().filter(|_| matches!(op.kind, OpKind::Get | OpKind::Head));
        let name = existing.and_then(|objects| objects.get(op.object as usize)).map_or("", |object| &object.name);
        format!("{}{name}", self.plan.object)
    }

    fn noun(&self) -> &'static str {
        if self.plan.pattern.is_on_objects() {
            "the object"
        } else {
            "the file"
        }
    }

    /// The mismatch found while an operation's data arrived piece by piece.
    fn wrong_in_stream(&self, op: &Op) -> Option<Mismatch> {
        let stream = self.plan.stream.as_ref().filter(|_| is_streamed(op, self.buffers))?;
        stream.wrong(op.slot)
    }

    /// Whether the data is right; `streamed` is the mismatch found while data that is longer than a buffer arrived.
    fn verified(&mut self, op: &Op, streamed: Option<Mismatch>) -> bool {
        self.must_reread_clock = true;
        let long = is_streamed(op, self.buffers);
        let Some(data) = &mut self.plan.data else {
            return true;
        };
        let wrong = if long {
            streamed
        } else {
            if let Some(first) = self.plan.first_object {
                data.select(first + op.object);
            }
            let contents = op.length.saturating_sub(self.plan.key_bytes) as usize;
            // SAFETY: the operation has completed and the slot is not yet free.
            data.check(op.offset, unsafe { self.buffers.slice(op.slot, contents) })
        };
        let Some(wrong) = wrong else {
            self.outcome.verified_bytes = self.outcome.verified_bytes.saturating_add(op.length);
            return true;
        };
        let message = wrong.to_string().replace("the file", self.noun());
        self.fail(op, wrong.offset, ErrorKind::Corrupt, None, message);
        false
    }

    pub(super) fn fail(&mut self, op: &Op, offset: u64, kind: ErrorKind, fault: Option<Fault>, message: String) {
        *self.outcome.errors.entry((kind, fault)).or_default() += 1;
        self.must_reread_clock = true;
        self.failed += 1;
        self.collector.of(op.kind).tally.errors += 1;
        if self.failed <= ERROR_SAMPLES {
            let sample = ErrorSample {
                phase: self.plan.phase,
                lane: Some(self.plan.lane),
                action: op.kind.name().to_owned(),
                object: self.name_of(op),
                number: op.object,
                offset,
                length: op.length,
                kind,
                fault,
                message,
            };
            let _ = self.links.messages.send(LaneMessage::Error(sample));
        }
        if self.failed >= self.plan.error_limit {
            self.outcome.gave_up = true;
            self.issuing = false;
        }
    }
}

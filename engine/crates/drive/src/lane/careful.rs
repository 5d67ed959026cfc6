//! What a lane does with an operation that is more than counted: it has failed, its data is to be checked, others wait
//! for it, or it began in an interval before.

use super::{is_streamed, Run, ERROR_SAMPLES};
use crate::data::Mismatch;
use crate::outcome::LaneMessage;
use crate::pattern::Step;
use assay_core::clock::TimeSource;
use assay_core::{fault_message, Fault, Op, OpKind, NO_REQUESTS_LEFT, NO_UNITS_LEFT};
use assay_spec::{ErrorKind, ErrorSample, Expected, Moves};

impl<T: TimeSource> Run<'_, T> {
    /// Counts one operation whose result is not its length, or after which there is more to do.
    #[inline(never)]
    pub(super) fn count_with_care(&mut self, op: &Op, start: u64, result: Result<u64, Fault>, now: u64) {
        let well = match op.kind.expects() {
            Expected::Length => result == Ok(op.length),
            // More is known of some.
            Expected::Any => result.is_ok() && (op.length == 0 || result == Ok(op.length)),
        };
        self.one_less_crosses(start);
        let mut again = false;
        if self.follows {
            let Op { kind, count, object, offset, length, .. } = *op;
            again = self.plan.pattern.ended(&Step { kind, count, object, offset, length }, well);
            self.must_wait = false;
        }
        // Taken also of what failed, or the next operation in the slot would answer for it.
        let streamed = self.wrong_in_stream(op);
        if !well {
            return self.not_as_asked(op, result);
        }
        // Of what is found nobody knows before how much it is.
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
        if self.plan.tells_first_byte {
            let came = self.channel.first_byte(op.slot);
            if came != 0 {
                collected.note_first_byte(came.saturating_sub(start));
            }
        }
    }

    /// An operation has ended, which may have begun in an interval before.
    fn one_less_crosses(&mut self, start: u64) {
        // Where one comes after the other, the first that ends was the only one under way.
        if start < self.interval_start || self.slots.len() == 1 {
            self.crossing = self.crossing.saturating_sub(1);
            self.watches = self.always_watches || self.crossing > 0;
        }
    }

    /// Counts an operation that failed or did less than it should.
    #[cold]
    fn not_as_asked(&mut self, op: &Op, result: Result<u64, Fault>) {
        let (kind, fault, message) = match (op.kind.moves(), result) {
            (_, Err(fault)) => (ErrorKind::Fault, Some(fault), self.words(op.slot, fault)),
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

    /// A fault in words, with those of the service if it said something.
    fn words(&self, slot: u32, fault: Fault) -> String {
        let words = fault_message(fault);
        match self.channel.said(slot) {
            Some(said) => format!("{words}: {said}"),
            None => words,
        }
    }

    /// The file, or the object that was there before, with which an operation has to do.
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

    /// What was found wrong with an operation whose data is looked at while it comes.
    fn wrong_in_stream(&self, op: &Op) -> Option<Mismatch> {
        let stream = self.plan.stream.as_ref().filter(|_| is_streamed(op, self.buffers))?;
        stream.wrong(op.slot)
    }

    /// Whether the data is right; `streamed`: what was wrong with it while it came, if it is longer than a buffer.
    fn verified(&mut self, op: &Op, streamed: Option<Mismatch>) -> bool {
        self.distracted = true;
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
        self.distracted = true;
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

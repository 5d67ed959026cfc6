//! What a job of a check has said. The only place that reads events.

use assay_drive::EventSink;
use assay_spec::{ErrorKind, Event, Fault, OpKind, Operation, PhaseStatus};

/// What came of a phase.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    pub(crate) operation: Operation,
    /// All that was planned was done, though operations may have failed.
    pub(crate) whole: bool,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Files of a set that were opened, and that were closed.
    pub(crate) opened: u64,
    pub(crate) closed: u64,
    /// Files that were made, and all to which one of the operations of a mix was done.
    pub(crate) made: u64,
    pub(crate) turns: u64,
    /// Operations on names or objects.
    pub(crate) names: u64,
    /// Read, written, or put into small files.
    pub(crate) bytes: u64,
    pub(crate) read_bytes: u64,
    /// Fetched of objects.
    pub(crate) got_bytes: u64,
    pub(crate) verified_bytes: u64,
    pub(crate) failed: u64,
}

/// Why an operation is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// It failed, or could not be begun.
    Failed,
    /// It moved fewer bytes than it should.
    Short,
    /// The bytes, or the size of a file, are not what they should be.
    Corrupt,
}

/// One operation that went wrong.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    pub(crate) lane: Option<u32>,
    pub(crate) action: String,
    pub(crate) object: String,
    pub(crate) offset: u64,
    /// Of the name in its tree.
    pub(crate) number: u64,
    pub(crate) why: Why,
    pub(crate) fault: Option<Fault>,
    pub(crate) message: String,
}

/// All that matters of what a job said.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) phases: Vec<Done>,
    pub(crate) wrong: Vec<Wrong>,
}

impl EventSink for Heard {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        match event {
            Event::PhaseEnd(end) => self.phases.push(Done {
                operation: end.operation,
                whole: end.status == PhaseStatus::Done,
                reads: end.ops(OpKind::Read),
                writes: end.ops(OpKind::Write),
                opened: end.ops(OpKind::Open),
                closed: end.ops(OpKind::Close),
                made: end.ops(OpKind::Create),
                turns: [OpKind::Open, OpKind::Create, OpKind::Stat, OpKind::Unlink]
                    .iter()
                    .map(|kind| end.ops(*kind))
                    .sum(),
                names: end.all_ops() - end.ops(OpKind::Read) - end.ops(OpKind::Write),
                bytes: end.last_finisher.bytes,
                read_bytes: end.bytes(OpKind::Read),
                got_bytes: [OpKind::Get, OpKind::BatchGet, OpKind::Query, OpKind::Scan]
                    .iter()
                    .map(|kind| end.bytes(*kind))
                    .sum(),
                verified_bytes: end.verified_bytes,
                failed: end.errors.iter().map(|error| error.count).sum(),
            }),
            Event::ErrorSample(error) => self.wrong.push(Wrong {
                lane: error.lane,
                action: error.action.clone(),
                object: error.object.clone(),
                offset: error.offset,
                number: error.number,
                why: match error.kind {
                    ErrorKind::Fault => Why::Failed,
                    ErrorKind::ShortRead | ErrorKind::ShortWrite => Why::Short,
                    ErrorKind::Corrupt => Why::Corrupt,
                },
                fault: error.fault,
                message: error.message.clone(),
            }),
            _ => {}
        }
        Ok(())
    }
}

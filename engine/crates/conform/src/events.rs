//! Collects the events of a job that a check runs. The only place that reads events.

use assay_drive::EventSink;
use assay_spec::{ErrorKind, Event, Fault, OpKind, Operation, PhaseStatus};

/// Result of a phase.
#[derive(Debug, Clone)]
pub(crate) struct PhaseResult {
    pub(crate) operation: Operation,
    /// Whether all planned operations were done, though some may have failed.
    pub(crate) whole: bool,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// Files of a set that were opened, and the number that were closed.
    pub(crate) opened: u64,
    pub(crate) closed: u64,
    /// Files that were created, and the number of files that an operation of a mix was done to.
    pub(crate) made: u64,
    pub(crate) operations_on_files: u64,
    /// Number of operations on names or objects.
    pub(crate) names: u64,
    /// Bytes that were read, written, or put into small files.
    pub(crate) bytes: u64,
    pub(crate) read_bytes: u64,
    /// Bytes that were fetched from objects.
    pub(crate) got_bytes: u64,
    pub(crate) verified_bytes: u64,
    pub(crate) failed: u64,
}

/// How an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// It returned an error, or could not be started.
    Failed,
    /// It moved fewer bytes than it should.
    Short,
    /// The bytes, or the size of the file, are not as expected.
    Corrupt,
}

/// One operation that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) lane: Option<u32>,
    pub(crate) action: String,
    pub(crate) object: String,
    pub(crate) offset: u64,
    /// Number of the name in its tree.
    pub(crate) number: u64,
    pub(crate) kind: FailureKind,
    pub(crate) fault: Option<Fault>,
    pub(crate) message: String,
}

/// The events of a job that checks need.
#[derive(Debug, Default)]
pub(crate) struct JobEvents {
    pub(crate) phases: Vec<PhaseResult>,
    pub(crate) failures: Vec<Failure>,
}

impl EventSink for JobEvents {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        match event {
            Event::PhaseEnd(end) => self.phases.push(PhaseResult {
                operation: end.operation,
                whole: end.status == PhaseStatus::Done,
                reads: end.ops(OpKind::Read),
                writes: end.ops(OpKind::Write),
                opened: end.ops(OpKind::Open),
                closed: end.ops(OpKind::Close),
                made: end.ops(OpKind::Create),
                operations_on_files: [OpKind::Open, OpKind::Create, OpKind::Stat, OpKind::Unlink]
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
            Event::ErrorSample(error) => self.failures.push(Failure {
                lane: error.lane,
                action: error.action.clone(),
                object: error.object.clone(),
                offset: error.offset,
                number: error.number,
                kind: match error.kind {
                    ErrorKind::Fault => FailureKind::Failed,
                    ErrorKind::ShortRead | ErrorKind::ShortWrite => FailureKind::Short,
                    ErrorKind::Corrupt => FailureKind::Corrupt,
                },
                fault: error.fault,
                message: error.message.clone(),
            }),
            _ => {}
        }
        Ok(())
    }
}

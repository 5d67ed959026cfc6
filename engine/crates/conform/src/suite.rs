//! Which checks there are for some storage, and their run.

use crate::check::{Check, Subject};
use crate::finding::Finding;
use crate::report::{Report, Row, Verdict};
use crate::session::Session;
use crate::{data, data_ways, ends, flush, names, names_by_hand};
use assay_core::{clock, pulse};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, Layout, Method, Operation, SyncPolicy};

/// The checks need so many bytes of free space, or of a device.
pub const LEAST_FREE_BYTES: u64 = 16 << 20;

/// The checks that make sense for what the storage says it can do, as far as their words have `only` in them.
fn checks(subject: &dyn Subject, only: &str) -> Vec<Check> {
    let all = [
        data::checks(subject),
        flush::checks(subject),
        ends::checks(subject),
        names_by_hand::checks(subject),
        names::checks(subject),
    ];
    let wanted = |check: &Check| format!("{}: {} ({})", check.group, check.name, check.way).contains(only);
    all.into_iter().flatten().filter(wanted).collect()
}

/// Runs all checks whose words (`group: check (way)`) have `only` in them, until `stop` is set from outside.
/// What the checks make they remove, also when they are stopped.
pub fn run(subject: &dyn Subject, only: &str, stop: &StopFlag) -> Report {
    let begin = clock::now();
    let session = Session::new(subject, stop);
    let mut rows = Vec::new();
    for check in checks(subject, only) {
        rows.push(one(&session, check));
    }
    if !rows.is_empty() {
        rows.push(removal(session.take_remains()));
    }
    let able = subject.capabilities();
    let place = able.place.as_ref();
    Report {
        kind: able.kind.clone(),
        place: place.map_or_else(String::new, |place| place.path.clone()),
        filesystem: place.map_or_else(String::new, |place| place.filesystem.clone()),
        stopped: rows.iter().any(|row| row.verdict == Verdict::NotDone),
        rows,
        not_offered: not_offered(able),
        remarks: place.map_or_else(Vec::new, |place| place.limits.clone()),
        elapsed_ns: clock::now().saturating_sub(begin),
    }
}

fn one(session: &Session<'_>, check: Check) -> Row {
    pulse::begin(format!("{} {}", check.group, check.name), 0);
    let undone = session.stopped() || session.is_littered();
    let findings = if undone { Vec::new() } else { (check.act)(session) };
    let verdict = match findings.is_empty() {
        // What was cut off proves nothing.
        _ if undone || session.stopped() => Verdict::NotDone,
        true => Verdict::Holds,
        false => Verdict::DoesNotHold,
    };
    Row {
        group: check.group.to_owned(),
        check: check.name,
        way: check.way,
        expects: check.expects.to_owned(),
        verdict,
        findings,
    }
}

/// The last check: what all others have made was removed.
fn removal(remains: Vec<Finding>) -> Row {
    Row {
        group: "end".to_owned(),
        check: "removal".to_owned(),
        way: String::new(),
        expects: "what the checks have made can be removed".to_owned(),
        verdict: if remains.is_empty() { Verdict::Holds } else { Verdict::DoesNotHold },
        findings: remains,
    }
}

/// What is left out of the suite, since the storage does not offer it.
fn not_offered(able: &BackendCapabilities) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut list = |what: &str, missing: Vec<&str>| {
        if !missing.is_empty() {
            all.push(format!("{what} {}", missing.join(", ")));
        }
    };
    let operations = Operation::measurable().filter(|one| !able.operations.contains(one)).map(Operation::name);
    list("operations", operations.collect());
    let layouts = [(Layout::Separate, "separate files"), (Layout::Shared, "a file that lanes share")];
    list("layouts", without(&layouts, &able.layouts));
    // Where the engine speaks the protocol itself, no call of the kernel's is missing.
    let methods =
        [Method::IoUring, Method::Sync, Method::Threads, Method::Mmap].map(|one| (one, data_ways::method(one)));
    if !able.methods.contains(&Method::Protocol) {
        list("methods", without(&methods, &able.methods));
    }
    let policies = [
        (SyncPolicy::None, "none"),
        (SyncPolicy::Fsync, "fsync"),
        (SyncPolicy::Fdatasync, "fdatasync"),
        (SyncPolicy::OSync, "O_SYNC"),
        (SyncPolicy::ODsync, "O_DSYNC"),
    ];
    list("sync", without(&policies, &able.sync));
    if !able.direct {
        list("direct I/O", vec!["(O_DIRECT)"]);
    }
    if !able.preallocate {
        list("reserved space", vec!["(fallocate)"]);
    }
    all
}

fn without<'a, T: PartialEq>(all: &[(T, &'a str)], there: &[T]) -> Vec<&'a str> {
    all.iter().filter(|(one, _)| !there.contains(one)).map(|(_, word)| *word).collect()
}

//! Which checks there are for some storage, and their run.

use crate::check::{Check, Subject};
use crate::finding::Finding;
use crate::report::{Report, Row, Verdict};
use crate::session::Session;
use crate::{data, data_ways, ends, flush, names, names_by_hand, objects, objects_by_hand, sets};
use assay_core::{clock, pulse};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, Group, Layout, Method, Operation, SyncPolicy};
use std::sync::{Mutex, PoisonError};

/// The checks need so many bytes of free space, or of a device.
pub const LEAST_FREE_BYTES: u64 = 16 << 20;

/// The checks that make sense for what the storage says it can do.
fn checks(subject: &dyn Subject) -> Vec<Check> {
    // A store of objects has no file to write to.
    let files = subject.capabilities().operations.contains(&Operation::Write);
    let of_files = |checks: fn(&dyn Subject) -> Vec<Check>| if files { checks(subject) } else { Vec::new() };
    let all = [
        of_files(data::checks),
        of_files(flush::checks),
        of_files(ends::checks),
        names_by_hand::checks(subject),
        names::checks(subject),
        sets::checks(subject),
        objects_by_hand::checks(subject),
        objects::checks(subject),
    ];
    all.into_iter().flatten().collect()
}

fn is_wanted(check: &Check, only: &str) -> bool {
    format!("{}: {} ({})", check.group, check.name, check.way).contains(only)
}

/// Operations that are offered, and of which no check is named.
fn unchecked(able: &BackendCapabilities, all: &[Check]) -> Vec<String> {
    let named = |one: &&Operation| all.iter().any(|check| check.name == one.name());
    let words: Vec<&str> = able.operations.iter().filter(|one| !named(one)).map(|one| one.name()).collect();
    if words.is_empty() {
        Vec::new()
    } else {
        vec![format!("operations {}", words.join(", "))]
    }
}

/// Runs all checks whose words (`group: check (way)`) have `only` in them, until `stop` is set from outside.
/// What the checks make they remove, also when they are stopped. What is known so far is in `so_far` all the time, for
/// whoever has to leave because the storage does not answer.
pub fn run(subject: &dyn Subject, only: &str, stop: &StopFlag, so_far: &Mutex<Option<Report>>) -> Report {
    let begin = clock::now();
    let session = Session::new(subject, stop);
    let all = checks(subject);
    let unchecked = unchecked(subject.capabilities(), &all);
    let able = subject.capabilities();
    let place = able.place.as_ref();
    let mut report = Report {
        kind: able.kind.clone(),
        place: place.map_or_else(String::new, |place| place.path.clone()),
        filesystem: place.map_or_else(String::new, |place| place.filesystem.clone()),
        stopped: true,
        rows: Vec::new(),
        not_offered: not_offered(able),
        unchecked,
        remarks: place.map_or_else(Vec::new, |place| place.limits.clone()),
        elapsed_ns: 0,
    };
    let mut add = |row| {
        report.rows.push(row);
        report.elapsed_ns = clock::now().saturating_sub(begin);
        *so_far.lock().unwrap_or_else(PoisonError::into_inner) = Some(report.clone());
    };
    let mut group = "";
    for check in all.into_iter().filter(|check| is_wanted(check, only)) {
        if check.group != group {
            group = check.group;
            session.begin_group();
        }
        add(one(&session, check));
    }
    if !report.rows.is_empty() {
        report.rows.push(removal(session.take_remains()));
    }
    report.stopped = report.count(Verdict::NotDone) > 0;
    report.elapsed_ns = clock::now().saturating_sub(begin);
    report
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
    // No target has both files and objects.
    let objects = able.operations.iter().any(|one| one.objects());
    let of_its_sort = |one: &Operation| (one.group() == Some(Group::Objects)) == objects;
    let missing = Operation::measurable().filter(|one| of_its_sort(one) && !able.operations.contains(one));
    list("operations", missing.map(Operation::name).collect());
    let layouts = [(Layout::Separate, "separate files"), (Layout::Shared, "a file that lanes share")];
    list("layouts", without(&layouts, &able.layouts));
    // Where the engine or a library does it by other means, no call of the kernel's is missing.
    let methods =
        [Method::IoUring, Method::Sync, Method::Threads, Method::Mmap].map(|one| (one, data_ways::method(one)));
    if !able.methods.iter().any(|one| matches!(one, Method::Protocol | Method::MpiIo)) {
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

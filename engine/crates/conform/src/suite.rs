//! Selects the checks for a storage target and runs them.

use crate::check::{Check, Subject};
use crate::finding::Finding;
use crate::report::{Report, Row, Verdict};
use crate::session::Session;
use crate::{data, data_ways, ends, flush, name_semantics, names, object_semantics, objects, sets};
use assay_core::{clock, heartbeat};
use assay_drive::StopFlag;
use assay_spec::{BackendCapabilities, Layout, Method, Operation, SyncPolicy};
use std::sync::{Mutex, PoisonError};

/// Bytes of free space, or of a device, that the checks need.
pub const MIN_FREE_BYTES: u64 = 16 << 20;

/// The checks that apply to what the storage can do.
fn checks(subject: &dyn Subject) -> Vec<Check> {
    // An object store has no file to write to.
    let files = subject.capabilities().operations.contains(&Operation::Write);
    let of_files = |checks: fn(&dyn Subject) -> Vec<Check>| if files { checks(subject) } else { Vec::new() };
    let all = [
        of_files(data::checks),
        of_files(flush::checks),
        of_files(ends::checks),
        name_semantics::checks(subject),
        names::checks(subject),
        sets::checks(subject),
        object_semantics::checks(subject),
        objects::checks(subject),
    ];
    all.into_iter().flatten().collect()
}

fn is_wanted(check: &Check, only: &str) -> bool {
    format!("{}: {} ({})", check.group, check.name, check.way).contains(only)
}

/// Lists operations that the storage offers and no check covers.
fn unchecked(able: &BackendCapabilities, all: &[Check]) -> Vec<String> {
    let named = |one: &&Operation| all.iter().any(|check| check.name == one.name());
    let words: Vec<&str> = able.operations.iter().filter(|one| !named(one)).map(|one| one.name()).collect();
    if words.is_empty() {
        Vec::new()
    } else {
        vec![format!("operations {}", words.join(", "))]
    }
}

/// Runs all checks whose label (`group: check (way)`) contains `only`, until `stop` is set by another thread. The
/// checks remove what they make, even when they are stopped. `so_far` always holds the results so far, for a caller
/// that must exit because the storage does not answer.
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
        add(run_check(&session, check));
    }
    if !report.rows.is_empty() {
        report.rows.push(removal(session.take_remains()));
    }
    report.stopped = report.count(Verdict::NotDone) > 0;
    report.elapsed_ns = clock::now().saturating_sub(begin);
    report
}

fn run_check(session: &Session<'_>, check: Check) -> Row {
    heartbeat::begin(format!("{} {}", check.group, check.name), 0);
    let undone = session.stopped() || session.is_littered();
    let findings = if undone { Vec::new() } else { (check.act)(session) };
    let verdict = match findings.is_empty() {
        // A check that was interrupted proves nothing.
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

/// The last check: whether everything the other checks made was removed.
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

/// Lists what the suite leaves out because the storage does not offer it.
fn not_offered(able: &BackendCapabilities) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut list = |what: &str, missing: Vec<&str>| {
        if !missing.is_empty() {
            all.push(format!("{what} {}", missing.join(", ")));
        }
    };
    // No target has both files and objects, and none of these runs programs.
    let objects = able.operations.iter().any(|one| one.objects());
    let of_its_sort = |one: &Operation| one.objects() == objects && !one.runs_programs();
    let missing = Operation::measurable().filter(|one| of_its_sort(one) && !able.operations.contains(one));
    list("operations", missing.map(Operation::name).collect());
    let layouts = [(Layout::Separate, "separate files"), (Layout::Shared, "a file that lanes share")];
    list("layouts", without(&layouts, &able.layouts));
    // Where the engine or a library does it by other means, no kernel call is missing.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Defect, Fake};

    /// Every offered operation, layout and cache action has a check; what is not offered is listed.
    #[test]
    fn offered_features_are_checked_and_others_are_listed() {
        for fake in [Fake::files(Defect::None), Fake::objects(Defect::None), Fake::device(Defect::None, 1 << 20)] {
            assert_eq!(unchecked(&fake.able, &checks(&fake)), Vec::<String>::new());
        }
        let mut fake = Fake::objects(Defect::None);
        fake.able.operations.push(Operation::Prepare);
        assert_eq!(unchecked(&fake.able, &checks(&fake)), ["operations prepare"]);
        let left = not_offered(&Fake::files(Defect::None).able);
        let expected = [
            "operations fwrite, re_fwrite, fread, re_fread",
            "layouts a file that lanes share",
            "methods io_uring, threads, mmap",
            "sync fdatasync, O_SYNC, O_DSYNC",
            "direct I/O (O_DIRECT)",
        ];
        assert_eq!(left, expected);
    }

    /// Where the engine speaks the protocol, no kernel call is missing. An object store lacks no file operations.
    #[test]
    fn meaningless_features_are_not_listed_as_missing() {
        let mut fake = Fake::objects(Defect::None);
        fake.able.methods = vec![Method::Protocol];
        let left = not_offered(&fake.able);
        assert!(!left.iter().any(|line| line.starts_with("methods")), "{left:?}");
        assert_eq!(left[0], "operations update, batch_put, batch_get, query, scan, read_after_put, list_after_put");
    }

    #[test]
    fn checks_are_of_what_the_storage_has() {
        let groups = |fake: &Fake| {
            let mut groups: Vec<&str> = checks(fake).iter().map(|check| check.group).collect();
            groups.dedup();
            groups.join(" ")
        };
        assert_eq!(groups(&Fake::files(Defect::None)), "data flush ends names file sets");
        assert_eq!(groups(&Fake::objects(Defect::None)), "objects");
        let mut few = Fake::files(Defect::None);
        few.able.file_sets = false;
        few.able.operations.retain(|one| *one != Operation::Create && *one != Operation::Mkdir);
        let names: Vec<String> = checks(&few).into_iter().map(|check| check.name).collect();
        assert!(!names.contains(&"listing".to_owned()) && !names.contains(&"read of a set".to_owned()));
        let reduced = |name: &str| checks(&few).iter().filter(|check| check.name == name).count();
        assert_eq!((reduced("reserved space"), reduced("emptied cache")), (1, 1));
        few.able.preallocate = false;
        few.able.cache.clear();
        let reduced = |name: &str| checks(&few).iter().filter(|check| check.name == name).count();
        assert_eq!((reduced("reserved space"), reduced("emptied cache")), (0, 0));
    }

    #[test]
    fn checks_are_picked_by_any_part_of_their_words() {
        let fake = Fake::files(Defect::None);
        let picked = |only: &str| checks(&fake).iter().filter(|check| is_wanted(check, only)).count();
        assert_eq!(picked(""), checks(&fake).len());
        assert_eq!((picked("names: stat"), picked("names: stat (a tree per lane, sync, 0"), picked("fog")), (2, 1, 0));
    }
}

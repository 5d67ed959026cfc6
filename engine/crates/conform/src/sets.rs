//! Checks operations on the data of file sets in every way: each file is opened and closed once, and its data is
//! correct.

use crate::check::{Check, Subject};
use crate::data::{LANES, NEW};
use crate::data_ways::method;
use crate::events::{JobEvents, PhaseResult};
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::look;
use crate::session::Session;
use assay_spec::{BackendCapabilities, Group, Layout, Method, Operation, SyncPolicy, Tree};
use serde_json::{json, Value};

/// Number of files of each lane.
const FILES: u64 = 20;
/// Bytes left over at the end of a file that does not consist of whole records.
const REST: u64 = 1234;

/// One way to process a set of files.
#[derive(Clone, Copy)]
struct Way {
    layout: Layout,
    method: Method,
    direct: bool,
    random: bool,
    sync: SyncPolicy,
}

impl Way {
    fn description(self) -> String {
        let tree = if self.layout == Layout::Shared { "one tree" } else { "a tree per lane" };
        let order = if self.random { "files in random order" } else { "files in order" };
        let direct = if self.direct { ", direct" } else { "" };
        let flushed = if self.sync == SyncPolicy::None { "" } else { ", flushed before each is closed" };
        format!("{tree}, {order}, {}{direct}{flushed}", method(self.method))
    }
}

fn ways(able: &BackendCapabilities) -> Vec<Way> {
    let methods = able.methods.iter().copied().filter(|one| matches!(one, Method::Sync | Method::Protocol));
    let mut all = Vec::new();
    for method in methods {
        for layout in able.layouts.iter().copied() {
            for (direct, random, sync) in [
                (false, false, SyncPolicy::None),
                (false, true, SyncPolicy::Fdatasync),
                (true, true, SyncPolicy::Fsync),
            ] {
                let offered = able.sync.contains(&sync) && (able.direct || !direct);
                if offered {
                    all.push(Way { layout, method, direct, random, sync });
                }
            }
        }
    }
    all
}

/// All checks of file sets that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let mut all = Vec::new();
    if !able.file_sets {
        return all;
    }
    let works = |one: &Operation| one.group() == Some(Group::Data) && one.on_file_sets();
    for operation in able.operations.iter().copied().filter(works) {
        for way in ways(able) {
            let one = recipe(operation, way, able.direct_alignment_bytes.max(4096));
            if one.job(&subject.target(1)).is_err() {
                continue;
            }
            let expects = if operation.writes() { "each file has the new bytes" } else { "brings each file's bytes" };
            let of = if operation.needs_tree() { "" } else { " of a set" };
            let (name, way) = (format!("{}{of}", operation.name()), way.description());
            let act = Box::new(move |session: &Session<'_>| session.run_and_judge(&one, wrong));
            all.push(Check { group: "file sets", name, way, expects, act });
        }
    }
    all
}

/// A job with the operation and the phases that make its effect visible.
fn recipe(operation: Operation, way: Way, record: u64) -> Recipe {
    let before = (operation != Operation::Write).then_some(Operation::Prepare);
    let after: &[Operation] = if operation == Operation::FileMix {
        // Files it has skipped are created again, and files it has kept must not prevent that.
        &[Operation::Write, Operation::Read]
    } else if operation.writes() {
        &[Operation::Read]
    } else {
        &[]
    };
    let order = if way.random { "random" } else { "sequential" };
    let one = |operation: Operation| -> Value {
        let mut phase = phase(operation);
        if operation != Operation::Prepare {
            phase["file_order"] = json!(order);
        }
        phase
    };
    Recipe {
        seed: NEW,
        lanes: LANES,
        layout: way.layout,
        method: way.method,
        direct: way.direct,
        sync: way.sync,
        tree: Some(Tree { files: FILES, depth: 1, width: 3, more: 2, inner: true }),
        phases: before.into_iter().chain([operation]).chain(after.iter().copied()).map(one).collect(),
        ..Recipe::plain(2 * record + if way.direct { record } else { REST }, record)
    }
}

fn wrong(session: &Session<'_>, recipe: &Recipe, events: &JobEvents) -> Vec<Finding> {
    let mut findings = look::findings(session, recipe, events, None);
    if findings.is_empty() {
        let data = events.phases.iter().filter(|done| done.operation.group() == Some(Group::Data));
        findings.extend(data.filter_map(|done| undone(done, recipe)));
    }
    findings
}

/// Finding for a phase that reported success but did not do all of its work.
fn undone(done: &PhaseResult, recipe: &Recipe) -> Option<Finding> {
    let files = recipe.tree.as_ref().map_or(0, |tree| tree.all_files(LANES));
    if done.operation == Operation::FileMix {
        let found = format!("{} files had a turn, {} were closed", done.operations_on_files, done.closed);
        let wanted = format!("{files} files had a turn, {} were closed", done.opened + done.made);
        let right = done.whole && done.failed == 0 && found == wanted;
        return (!right).then(|| undone_as(done, wanted, found));
    }
    let wanted = (files, files * recipe.file.div_ceil(recipe.record), files * recipe.file, files);
    let found = (done.opened, done.reads + done.writes, done.bytes, done.closed);
    if done.whole && done.failed == 0 && found == wanted {
        return None;
    }
    let description = |(opened, records, bytes, closed): (u64, u64, u64, u64)| {
        format!("{opened} files opened, {records} records, {bytes} bytes, {closed} files closed")
    };
    Some(undone_as(done, description(wanted), description(found)))
}

fn undone_as(done: &PhaseResult, wanted: String, found: String) -> Finding {
    Finding::new(Symptom::Undone, done.operation.name(), "all files").values(wanted, found)
}

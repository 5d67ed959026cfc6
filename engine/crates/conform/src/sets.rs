//! Operations on the data of sets of files, in every way: each file is opened and closed once, and its bytes are there.

use crate::check::{Check, Subject};
use crate::data::{LANES, NEW};
use crate::data_ways::method;
use crate::events::{Done, Heard};
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::look;
use crate::session::Session;
use assay_spec::{BackendCapabilities, Group, Layout, Method, Operation, SyncPolicy, Tree};
use serde_json::{json, Value};

/// Files of each lane.
const FILES: u64 = 20;
/// Of a file that is not whole records, what is left.
const REST: u64 = 1234;

/// One way to go over a set of files.
#[derive(Clone, Copy)]
struct Way {
    layout: Layout,
    method: Method,
    direct: bool,
    random: bool,
    sync: SyncPolicy,
}

impl Way {
    fn words(self) -> String {
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

/// All checks of this kind that make sense for what the storage can do.
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
            let (name, way) = (format!("{}{of}", operation.name()), way.words());
            let act = Box::new(move |session: &Session<'_>| play(session, &one));
            all.push(Check { group: "file sets", name, way, expects, act });
        }
    }
    all
}

/// The operation among what shows what came of it.
fn recipe(operation: Operation, way: Way, record: u64) -> Recipe {
    let before = (operation != Operation::Write).then_some(Operation::Prepare);
    let after: &[Operation] = if operation == Operation::FileMix {
        // Those that it has left out are made again, and those that it has left must not hinder that.
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

fn play(session: &Session<'_>, recipe: &Recipe) -> Vec<Finding> {
    session.and_tidy(recipe, |findings| {
        let heard = session.play(recipe)?;
        findings.extend(wrong(session, recipe, &heard));
        Ok(())
    })
}

fn wrong(session: &Session<'_>, recipe: &Recipe, heard: &Heard) -> Vec<Finding> {
    let mut findings = look::findings(session, recipe, heard, None);
    if findings.is_empty() {
        let data = heard.phases.iter().filter(|done| done.operation.group() == Some(Group::Data));
        findings.extend(data.filter_map(|done| undone(done, recipe)));
    }
    findings
}

/// A phase that says of itself that all was well, but did not do what it should.
fn undone(done: &Done, recipe: &Recipe) -> Option<Finding> {
    let files = recipe.tree.as_ref().map_or(0, |tree| tree.all_files(LANES));
    if done.operation == Operation::FileMix {
        let found = format!("{} files had a turn, {} were closed", done.turns, done.closed);
        let wanted = format!("{files} files had a turn, {} were closed", done.opened + done.made);
        let right = done.whole && done.failed == 0 && found == wanted;
        return (!right).then(|| undone_as(done, wanted, found));
    }
    let wanted = (files, files * recipe.file.div_ceil(recipe.record), files * recipe.file, files);
    let found = (done.opened, done.reads + done.writes, done.bytes, done.closed);
    if done.whole && done.failed == 0 && found == wanted {
        return None;
    }
    let words = |(opened, records, bytes, closed): (u64, u64, u64, u64)| {
        format!("{opened} files opened, {records} records, {bytes} bytes, {closed} files closed")
    };
    Some(undone_as(done, words(wanted), words(found)))
}

fn undone_as(done: &Done, wanted: String, found: String) -> Finding {
    Finding::new(Symptom::Undone, done.operation.name(), "all files").values(wanted, found)
}

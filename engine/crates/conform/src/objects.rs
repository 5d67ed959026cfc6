//! Checks every operation on objects, with the jobs that users run.

use crate::check::{Check, Subject};
use crate::events::{JobEvents, PhaseResult};
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::look;
use crate::session::Session;
use assay_spec::{
    data_operations, name_operations, program_operations, BackendCapabilities, Layout, Objects, OpKind, Operation,
    SyncPolicy,
};
use serde_json::{json, Value};

/// Number of objects of each lane, more than fit on one page of a list.
const MANY: u64 = 1_050;
const SOME: u64 = 40;
/// Number of objects in a batch; the last batch is not full.
const BATCH: u16 = 12;
const LANES: u32 = 2;
/// Piece size of a job. Objects larger than this are generated and verified while they are transferred.
const PIECE: u64 = 4096;
/// The smallest part size that services accept, except for the last part.
pub(crate) const PART: u64 = 5 << 20;
/// An object of three parts.
const LARGE: u64 = 2 * PART + 700;

/// For each operation, the phases of its job, which make its effect visible, and what is expected.
fn script(operation: Operation) -> Option<(&'static [Operation], &'static str)> {
    use Operation::{
        BatchGet, BatchPut, Copy, Delete, Get, Head, List, ListAfterPut, MultiDelete, ObjectMix, Put, Query,
        ReadAfterPut, Scan, Update,
    };
    Some(match operation {
        Put => (&[Put, Get, Head, Put, Get, Delete], "stores each object, and stores it anew"),
        Get => (&[Put, Get, Get, Delete], "brings each object as it was put"),
        Head => (&[Put, Head, Head, Delete], "tells each object's size"),
        Delete => (&[Put, Delete, Put, Get, Delete], "each key is free again"),
        List => (&[Put, List, List, Delete], "lists each object once"),
        Copy => (&[Put, Copy, Get, Delete], "leaves the objects as they are"),
        MultiDelete => (&[Put, MultiDelete, Put, Get, MultiDelete], "each key is free again"),
        Update => (&[Put, Update, Get, Delete], "replaces what is there"),
        BatchPut => (&[BatchPut, Get, BatchPut, Get, Delete], "stores each object, and stores it anew"),
        BatchGet => (&[Put, BatchGet, BatchGet, Delete], "brings each object as it was put"),
        Query => (&[Put, Query, Query, Delete], "finds all that belong together"),
        Scan => (&[Put, Scan, Scan, Delete], "finds all objects"),
        ReadAfterPut => (&[ReadAfterPut, Get, ReadAfterPut, Get, Delete], "shows another client what was put"),
        ListAfterPut => (&[ListAfterPut, Get, ListAfterPut, Get, Delete], "lists for another client what was put"),
        ObjectMix => (&[Put, ObjectMix, Get], "objects come and go, and those that are there are whole"),
        data_operations!() | name_operations!() | program_operations!() | Operation::Prepare => return None,
    })
}

/// All checks of object operations that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let mut all = Vec::new();
    for (operation, (phases, expects)) in able.operations.iter().filter_map(|one| Some((*one, script(*one)?))) {
        let many = matches!(operation, Operation::List | Operation::MultiDelete);
        let sizes: &[u64] = if many {
            &[0]
        } else if operation == Operation::Scan {
            // All objects of a lane on one page.
            &[700]
        } else {
            &[0, 700, 100_001]
        };
        for (size, depth) in sizes.iter().flat_map(|size| [(*size, 1), (*size, 4)]) {
            let count = if many { MANY } else { SOME };
            let one = recipe(able, phases, size, depth, Objects { count, part_size_bytes: None, batch: BATCH });
            let way = format!("{size} bytes each, {depth} in flight");
            add(subject, &mut all, (operation, expects), way, one);
        }
    }
    if able.operations.contains(&Operation::Put) && able.operations.contains(&Operation::Get) {
        for depth in [1, 4] {
            let parts = Objects { count: 1, part_size_bytes: Some(PART), batch: BATCH };
            let phases = [Operation::Put, Operation::Get, Operation::Head, Operation::Put, Operation::Get];
            let one = Recipe { lanes: 1, record: 1 << 20, ..recipe(able, &phases, LARGE, depth, parts) };
            let way = format!("in parts, {depth} in flight");
            add(subject, &mut all, (Operation::Put, "stores an object of its parts"), way, one);
        }
    }
    all
}

fn add(
    subject: &dyn Subject,
    all: &mut Vec<Check>,
    (operation, expects): (Operation, &'static str),
    way: String,
    recipe: Recipe,
) {
    if recipe.job(&subject.target(1)).is_err() {
        return;
    }
    let act = Box::new(move |session: &Session<'_>| session.run_and_judge(&recipe, wrong));
    all.push(Check { group: "objects", name: operation.name().to_owned(), way, expects, act });
}

fn recipe(able: &BackendCapabilities, phases: &[Operation], size: u64, depth: u32, objects: Objects) -> Recipe {
    let offered = phases.iter().filter(|one| able.operations.contains(one));
    Recipe {
        seed: crate::data::NEW,
        lanes: LANES,
        layout: Layout::Separate,
        depth,
        sync: SyncPolicy::None,
        objects: Some(objects),
        phases: offered.map(|one| object_phase(able, *one)).collect(),
        ..Recipe::plain(size, PIECE)
    }
}

/// A phase that processes the objects once.
fn object_phase(able: &BackendCapabilities, operation: Operation) -> Value {
    let other = if able.operations.contains(&Operation::Head) { OpKind::Head } else { OpKind::Update };
    let mut phase = phase(operation);
    if operation == Operation::ObjectMix {
        phase["mix"] = json!({ "put": 30, "get": 40, other.name(): 10, "delete": 20 });
    }
    phase
}

fn wrong(session: &Session<'_>, recipe: &Recipe, events: &JobEvents) -> Vec<Finding> {
    let findings = look::findings(session, recipe, events, None);
    if !findings.is_empty() {
        return findings;
    }
    match session.job(recipe) {
        Ok(job) => events.phases.iter().filter_map(|done| undone(done, recipe, job.largest_size())).collect(),
        Err(finding) => vec![finding],
    }
}

/// Finding for a phase that reported success but did not do all of its work.
fn undone(done: &PhaseResult, recipe: &Recipe, size: u64) -> Option<Finding> {
    let objects = recipe.objects.as_ref()?;
    let lanes = u64::from(recipe.lanes);
    let all = lanes * objects.count * size;
    // The parts, plus two operations to start and to complete the upload.
    let parts = objects.part_size_bytes.filter(|part| *part < recipe.file);
    let puts = parts.map_or(1, |part| recipe.file.div_ceil(part) + 2);
    let each = match done.operation {
        Operation::Put => objects.count * puts,
        Operation::ReadAfterPut | Operation::ListAfterPut => objects.count * 2,
        Operation::List | Operation::MultiDelete => objects.count.div_ceil(1000),
        Operation::Head | Operation::Delete | Operation::Copy | Operation::Update => objects.count,
        Operation::BatchPut => objects.count.div_ceil(u64::from(objects.batch)),
        Operation::Query | Operation::Scan if done.got_bytes != all => {
            let (expected, found) = (format!("{all} bytes found"), done.got_bytes.to_string());
            return Some(Finding::new(Symptom::Undone, done.operation.name(), "all objects").values(expected, found));
        }
        Operation::Get | Operation::ObjectMix | Operation::BatchGet | Operation::Query | Operation::Scan => {
            return unchecked(done);
        }
        Operation::Prepare | data_operations!() | name_operations!() | program_operations!() => return None,
    };
    let stores = matches!(done.operation, Operation::Put | Operation::BatchPut | Operation::Update)
        || done.operation.checks_visibility();
    let moved = if stores { all } else { 0 };
    if done.whole && done.failed == 0 && (done.names, done.bytes) == (lanes * each, moved) {
        return None;
    }
    let expected = format!("{} operations, {moved} bytes", lanes * each);
    let found = format!("{}, {}", done.names, done.bytes);
    Some(Finding::new(Symptom::Undone, done.operation.name(), "all objects").values(expected, found))
}

/// Finding if not every fetched byte was verified.
fn unchecked(done: &PhaseResult) -> Option<Finding> {
    if done.whole && done.failed == 0 && done.verified_bytes == done.got_bytes {
        return None;
    }
    let (expected, found) = (format!("{} bytes checked", done.got_bytes), done.verified_bytes.to_string());
    Some(Finding::new(Symptom::Undone, OpKind::Get.name(), "all objects").values(expected, found))
}

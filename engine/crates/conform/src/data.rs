//! Checks that written data can be read through a new opening, for every operation on data in every way.

use crate::check::{Act, Check, Subject};
use crate::data_ways::{self, Way};
use crate::events::{JobEvents, PhaseResult};
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::look;
use crate::session::Session;
use assay_spec::{CacheAction, DataSpec, Group, Layout, Operation, SyncPolicy};
use serde_json::json;

pub(crate) const LANES: u32 = 3;
/// The second opening divides a shared file among a different number of lanes.
const OTHER_LANES: u32 = 2;
const RECORDS: u64 = 64;
pub(crate) const OLD: u64 = 7;
pub(crate) const NEW: u64 = 11;

/// File size, record size, lanes and layout that are no multiples of anything. On storage that takes only whole
/// sectors, only the last two apply.
const ODD: [(u64, u64, u32, Layout); 7] = [
    (1_000_003, 777, 3, Layout::Shared),
    (99_999, 13, 2, Layout::Separate),
    (5, 5, 1, Layout::Shared),
    (1_000_003, 37_777, 3, Layout::Separate),
    (3 << 20, (1 << 20) - 1, 2, Layout::Separate),
    (1_003_520, 1536, 3, Layout::Shared),
    (512, 512, 1, Layout::Shared),
];

/// Whether the operation writes each record exactly once.
fn writes_all(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Write | Operation::Rewrite | Operation::RandomWrite | Operation::Fwrite | Operation::ReFwrite
    )
}

fn recipe(way: &Way, record: u64, phases: &[Operation]) -> Recipe {
    Recipe {
        seed: NEW,
        lanes: way.lanes,
        layout: way.layout,
        depth: way.depth(),
        method: way.method,
        direct: way.direct,
        sync: way.sync,
        phases: phases.iter().copied().map(phase).collect(),
        ..Recipe::plain(RECORDS * record, record)
    }
}

/// Bytes in all complete records of all files of a job.
fn total(recipe: &Recipe) -> u64 {
    let files = if recipe.layout == Layout::Shared { 1 } else { u64::from(recipe.lanes) };
    files * (recipe.file / recipe.record) * recipe.record
}

/// All data checks that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let record = able.direct_alignment_bytes.max(4096);
    let mut all = Vec::new();
    let mut add = |group, name: &str, way: String, expects, act: Act| {
        all.push(Check { group, name: name.to_owned(), way, expects, act });
    };
    for operation in able.operations.iter().copied().filter(|one| one.group() == Some(Group::Data)) {
        for way in data_ways::of(able) {
            let one = recipe(&way, record, &[operation]);
            if one.job(&subject.target(1)).is_ok() {
                let act = Box::new(move |session: &Session<'_>| operate(session, operation, &way, record));
                add("data", operation.name(), way.description(), expects(operation), act);
            }
        }
    }
    for way in data_ways::of_sync(able) {
        let (name, operation) = (format!("sync {}", way.sync_word()), Operation::RandomWrite);
        let act = Box::new(move |session: &Session<'_>| operate(session, operation, &way, record));
        add("data", &name, way.description(), "another reader finds what was written over", act);
    }
    for (file, size, lanes, layout) in ODD {
        let job = Recipe { lanes, layout, ..Recipe::plain(file, size) }.job(&subject.target(1));
        if able.layouts.contains(&layout) && job.is_ok() {
            let way = format!("files of {file} bytes, records of {size}");
            let act = Box::new(move |session: &Session<'_>| odd(session, file, size, lanes, layout));
            add("data", "odd sizes", way, "records that begin and end anywhere keep their bytes", act);
        }
    }
    let moves = [Operation::Write, Operation::Read, Operation::RandomRead, Operation::BackwardRead];
    let moves = moves.iter().all(|operation| able.operations.contains(operation));
    for layout in able.layouts.iter().copied().filter(|_| moves) {
        let way = Way { layout, ..Way::least(able) };
        // Lanes whose files lie in different places can only read their own files.
        let reordered = in_blocks(&way, record, true).job(&subject.target(1)).is_ok();
        let expects =
            if reordered { "each lane finds what another has written" } else { "each lane finds what it has written" };
        let act =
            Box::new(move |session: &Session<'_>| run_and_read_anew(session, &in_blocks(&way, record, reordered)));
        add("data", "blocks and segments", way.description(), expects, act);
    }
    if able.preallocate {
        let act = Box::new(move |session: &Session<'_>| reserved(session, record));
        add("data", "reserved space", String::new(), "space that was reserved takes and keeps data", act);
    }
    for cache in able.cache.iter().copied().filter(|cache| *cache != CacheAction::Keep) {
        let way = if cache == CacheAction::Evict { "evicted" } else { "dropped" };
        let act = Box::new(move |session: &Session<'_>| uncached(session, record, cache));
        add("data", "emptied cache", way.to_owned(), "what was flushed is read when the cache is empty", act);
    }
    all
}

fn expects(operation: Operation) -> &'static str {
    match (operation.reads(), operation.writes()) {
        (true, false) => "brings each record as it was written",
        _ if writes_all(operation) => "another reader finds all of the new, none of the old",
        (true, true) => "reads what was written; another reader, too",
        _ => "another reader finds what was written last",
    }
}

/// Runs an operation and checks its result through a second opening.
fn operate(session: &Session<'_>, operation: Operation, way: &Way, record: u64) -> Vec<Finding> {
    let over = writes_all(operation);
    let phases = if over { vec![operation] } else { vec![Operation::Prepare, operation] };
    let one = Recipe { reuse: over, ..recipe(way, record, &phases) };
    session.run_and_clean_up(&one, |findings| {
        let before = over.then_some(OLD);
        if over {
            let old = Recipe { direct: false, ..recipe(&way.plain(), record, &[Operation::Write]) };
            let old = Recipe { seed: OLD, ..old };
            findings.extend(whole(session, &old, &session.run_job(&old)?, None));
        }
        findings.extend(whole(session, &one, &session.run_job(&one)?, before));
        if operation.writes() && findings.is_empty() {
            findings.extend(read_anew(session, &one, before)?);
        }
        Ok(())
    })
}

/// Reads all data through a second opening, with a different number of lanes where possible, and with direct I/O
/// exactly if the writer did not use it.
fn read_anew(session: &Session<'_>, written: &Recipe, before: Option<u64>) -> Result<Vec<Finding>, Finding> {
    let able = session.able();
    let fits = written.record.is_multiple_of(able.direct_alignment_bytes.max(1));
    let reader = Recipe {
        reuse: true,
        block: None,
        lanes: if written.layout == Layout::Shared { OTHER_LANES.min(written.lanes) } else { written.lanes },
        direct: !written.direct && able.direct && fits,
        sync: SyncPolicy::Fsync,
        method: assay_spec::Method::Auto,
        preallocate: false,
        phases: vec![phase(Operation::StrideRead)],
        ..written.clone()
    };
    Ok(whole(session, &reader, &session.run_job(&reader)?, before))
}

/// Findings of a job that should have processed all of its data and checked every byte it read.
fn whole(session: &Session<'_>, recipe: &Recipe, events: &JobEvents, before: Option<u64>) -> Vec<Finding> {
    let mut findings = look::findings(session, recipe, events, before);
    if findings.is_empty() {
        let wanted = total(recipe);
        let measured = events.phases.iter().filter(|done| done.operation != Operation::Prepare);
        findings.extend(measured.filter_map(|done| undone(done, wanted)));
    }
    findings
}

/// Finding for a phase that reported success but did not do all of its work.
fn undone(done: &PhaseResult, wanted: u64) -> Option<Finding> {
    let operation = done.operation;
    let ways = (done.reads > 0) == operation.reads() && (done.writes > 0) == operation.writes();
    let checked = done.verified_bytes == done.read_bytes;
    if done.whole && done.failed == 0 && done.bytes == wanted && ways && checked {
        return None;
    }
    let found = format!("{} bytes, {} of them read and {} checked", done.bytes, done.read_bytes, done.verified_bytes);
    Some(Finding::new(Symptom::Undone, operation.name(), "all files").values(format!("{wanted} bytes"), found))
}

/// Checks records of an odd size whose data is partly compressible and partly duplicated.
fn odd(session: &Session<'_>, file: u64, size: u64, lanes: u32, layout: Layout) -> Vec<Finding> {
    let data = DataSpec { verify: true, compressible_percent: 30, duplicate_percent: 20 };
    let phases = [Operation::Write, Operation::RandomRead, Operation::Rewrite].map(phase).to_vec();
    let one = Recipe { seed: NEW, lanes, layout, data, phases, ..Recipe::plain(file, size) };
    run_and_read_anew(session, &one)
}

/// A recipe with several segments, each with one block per lane. If `reordered`, lanes read what another lane wrote.
fn in_blocks(way: &Way, record: u64, reordered: bool) -> Recipe {
    let (block, segments) = (3 * record, 4);
    let blocks = if way.layout == Layout::Shared { u64::from(way.lanes) } else { 1 };
    let mut phases =
        [Operation::Write, Operation::Read, Operation::RandomRead, Operation::BackwardRead].map(phase).to_vec();
    if reordered {
        phases[1]["reorder"] = json!({ "order": "shift", "lanes": 2 });
        phases[2]["reorder"] = json!({ "order": "random" });
    }
    let whole_file = recipe(way, record, &[]);
    Recipe { block: Some(block), file: segments * blocks * block, phases, ..whole_file }
}

/// Runs a job, and checks that the whole file holds what was written, both for the writing lanes and for a second opening.
fn run_and_read_anew(session: &Session<'_>, one: &Recipe) -> Vec<Finding> {
    session.run_and_clean_up(one, |findings| {
        findings.extend(whole(session, one, &session.run_job(one)?, None));
        findings.extend(read_anew(session, one, None)?);
        Ok(())
    })
}

fn reserved(session: &Session<'_>, record: u64) -> Vec<Finding> {
    let way = Way::least(session.able());
    let one = Recipe { preallocate: true, ..recipe(&way, record, &[Operation::Write, Operation::RandomWrite]) };
    run_and_read_anew(session, &one)
}

fn uncached(session: &Session<'_>, record: u64, cache: CacheAction) -> Vec<Finding> {
    let way = Way::least(session.able());
    let mut one = recipe(&way, record, &[Operation::Write, Operation::RandomRead]);
    one.phases[1]["cache_before"] = json!(cache);
    session.run_and_judge(&one, |session, one, events| whole(session, one, events, None))
}

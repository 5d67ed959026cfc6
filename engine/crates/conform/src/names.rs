//! Checks every operation on names in every way, with the jobs that users run.

use crate::check::{Check, Subject};
use crate::data::{LANES, NEW};
use crate::data_ways::method;
use crate::events::{JobEvents, PhaseResult};
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::look;
use crate::manual_lane::ManualLane;
use crate::name_semantics::differs;
use crate::pattern::Pattern;
use crate::session::Session;
use assay_spec::{data_operations, object_operations, program_operations, Layout, Method, Operation, SyncPolicy, Tree};

/// Number of files of each lane.
const FILES: u64 = 40;
const DEPTH: u32 = 4;

/// For each operation, the phases of its job, which make its effect visible, and what is expected.
fn script(operation: Operation) -> Option<(&'static [Operation], &'static str)> {
    use Operation::{Create, Mkdir, Open, Readdir, Rename, Rmdir, Stat, Unlink};
    Some(match operation {
        Create => (&[Create, Open, Stat], "makes each file, with its contents"),
        Stat => (&[Create, Stat, Stat, Unlink], "tells each file's size"),
        Open => (&[Create, Open, Open, Unlink], "opens each file"),
        Readdir => (&[Create, Readdir, Readdir, Unlink], "lists each directory"),
        Rename => (
            &[Create, Rename, Stat, Open, Rename, Stat, Open, Unlink],
            "the file is under its new name, there and back",
        ),
        Unlink => (&[Create, Unlink, Create, Stat, Unlink], "each name is free again"),
        Mkdir => (&[Mkdir, Rmdir], "makes each directory"),
        Rmdir => (&[Mkdir, Rmdir, Mkdir, Rmdir], "each name is free again"),
        data_operations!() | object_operations!() | program_operations!() | Operation::Prepare => return None,
    })
}

/// All checks of name operations that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let mut all = Vec::new();
    for (operation, (phases, expects)) in able.operations.iter().filter_map(|one| Some((*one, script(*one)?))) {
        for layout in able.layouts.iter().copied() {
            for how in able.methods.iter().copied() {
                for contents in [0, 700] {
                    let one = recipe(phases, layout, how, contents);
                    if one.job(&subject.target(1)).is_err() {
                        continue;
                    }
                    let tree = if layout == Layout::Shared { "one tree" } else { "a tree per lane" };
                    let way = format!("{tree}, {}, {contents} bytes each", method(how));
                    let act = Box::new(move |session: &Session<'_>| run_job(session, &one));
                    all.push(Check { group: "names", name: operation.name().to_owned(), way, expects, act });
                }
            }
        }
    }
    all
}

fn recipe(phases: &[Operation], layout: Layout, method: Method, contents: u64) -> Recipe {
    Recipe {
        seed: NEW,
        lanes: LANES,
        layout,
        method,
        depth: if matches!(method, Method::IoUring | Method::Protocol) { DEPTH } else { 1 },
        sync: SyncPolicy::None,
        tree: Some(Tree { files: FILES, depth: 2, width: 3, more: 0, inner: false }),
        phases: phases.iter().copied().map(phase).collect(),
        ..Recipe::plain(contents, 4096)
    }
}

fn run_job(session: &Session<'_>, recipe: &Recipe) -> Vec<Finding> {
    session.run_and_clean_up(recipe, |findings| {
        let events = session.run_job(recipe)?;
        findings.extend(wrong(session, recipe, &events));
        if findings.is_empty() && recipe.phases.last() == Some(&phase(Operation::Stat)) {
            findings.extend(contents(session, recipe)?);
        }
        Ok(())
    })
}

/// Checks the contents of the files that a job has created and kept. Returns the first finding of each lane.
fn contents(session: &Session<'_>, recipe: &Recipe) -> Result<Vec<Finding>, Finding> {
    let pattern = Pattern::new(recipe.seed, recipe.data);
    let phases = vec![phase(Operation::Open)];
    let again = Recipe { reuse: true, method: Method::Auto, depth: 1, phases, ..recipe.clone() };
    let (backend, job) = session.open(&again)?;
    let mut findings = Vec::new();
    for lane in 0..recipe.lanes {
        // More than the size of a file, so that files that are too long are found.
        let mut manual_lane =
            ManualLane::open(backend.as_ref(), &job, lane, Operation::Open, 2 * recipe.file as usize + 1)?;
        findings.extend((0..FILES).find_map(|number| {
            let wanted = pattern.bytes(u64::from(lane) * FILES + number, 0, recipe.file as usize);
            let found = manual_lane.read(number, 2 * recipe.file as usize + 1);
            differs((manual_lane.object(), number), &found, &wanted, true)
        }));
        manual_lane.close()?;
    }
    Ok(findings)
}

fn wrong(session: &Session<'_>, recipe: &Recipe, events: &JobEvents) -> Vec<Finding> {
    let mut findings = look::findings(session, recipe, events, None);
    if findings.is_empty() {
        findings.extend(events.phases.iter().filter_map(|done| undone(done, recipe)));
    }
    findings
}

/// Finding for a phase that reported success but did not do all of its work.
fn undone(done: &PhaseResult, recipe: &Recipe) -> Option<Finding> {
    // All leaf directories but the last hold the same number of files; 8 of 9 leaves are used.
    let leaves = FILES.div_ceil(recipe.tree.as_ref().map_or(1, Tree::files_per_leaf));
    let each = if done.operation == Operation::Readdir { leaves } else { FILES };
    let wanted = u64::from(LANES) * each;
    let bytes = if done.operation == Operation::Create { wanted * recipe.file } else { 0 };
    if done.whole && done.failed == 0 && (done.names, done.bytes) == (wanted, bytes) {
        return None;
    }
    let expected = format!("{wanted} names, {bytes} bytes");
    let found = format!("{}, {}", done.names, done.bytes);
    Some(Finding::new(Symptom::Undone, done.operation.name(), "all files").values(expected, found))
}

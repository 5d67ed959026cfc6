//! Every operation on names, in every way, as jobs do them.

use crate::check::{Check, Subject};
use crate::data::{LANES, NEW};
use crate::data_ways::method;
use crate::events::{Done, Heard};
use crate::finding::{Finding, Symptom};
use crate::hand::Hand;
use crate::job::{phase, Recipe};
use crate::look;
use crate::names_by_hand::differs;
use crate::pattern::Pattern;
use crate::session::Session;
use assay_spec::{data_operations, object_operations, Layout, Method, Operation, SyncPolicy, Tree};

/// Files of each lane.
const FILES: u64 = 40;
const DEPTH: u32 = 4;

/// For each operation what it is done among, so that what came of it is seen.
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
        data_operations!() | object_operations!() | Operation::Prepare => return None,
    })
}

/// All checks of this kind that make sense for what the storage can do.
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
                    let act = Box::new(move |session: &Session<'_>| play(session, &one));
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

fn play(session: &Session<'_>, recipe: &Recipe) -> Vec<Finding> {
    session.and_tidy(recipe, |findings| {
        let heard = session.play(recipe)?;
        findings.extend(wrong(session, recipe, &heard));
        if findings.is_empty() && recipe.phases.last() == Some(&phase(Operation::Stat)) {
            findings.extend(contents(session, recipe)?);
        }
        Ok(())
    })
}

/// What is wrong with the contents of the files that a job has made and left; the first of each lane.
fn contents(session: &Session<'_>, recipe: &Recipe) -> Result<Vec<Finding>, Finding> {
    let pattern = Pattern::new(recipe.seed, recipe.data);
    let phases = vec![phase(Operation::Open)];
    let again = Recipe { reuse: true, method: Method::Auto, depth: 1, phases, ..recipe.clone() };
    let (backend, job) = session.open(&again)?;
    let mut findings = Vec::new();
    for lane in 0..recipe.lanes {
        // More than a file has, so that what is too long is seen.
        let mut hand = Hand::open(backend.as_ref(), &job, lane, Operation::Open, 2 * recipe.file as usize + 1)?;
        findings.extend((0..FILES).find_map(|number| {
            let wanted = pattern.bytes(u64::from(lane) * FILES + number, 0, recipe.file as usize);
            let found = hand.read(number, 2 * recipe.file as usize + 1);
            differs((hand.object(), number), &found, &wanted, true)
        }));
        hand.close()?;
    }
    Ok(findings)
}

fn wrong(session: &Session<'_>, recipe: &Recipe, heard: &Heard) -> Vec<Finding> {
    let mut findings = look::findings(session, recipe, heard, None);
    if findings.is_empty() {
        findings.extend(heard.phases.iter().filter_map(|done| undone(done, recipe)));
    }
    findings
}

/// A phase that says of itself that all was well, but did not do what it should.
fn undone(done: &Done, recipe: &Recipe) -> Option<Finding> {
    // In each of the deepest directories but the last there are as many files: 8 of 9 are used.
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

//! Steps on a set of files: every file and record as often as requested, in order, whatever fails.

use super::*;
use crate::pattern::Pattern;
use assay_spec::{Operation, Phase, Sizes};
use proptest::prelude::*;
use serde_json::json;

fn phase(operation: Operation, random: bool, runtime: bool) -> Phase {
    let mix = if operation.mixes() { json!({ "read": 60, "write": 40 }) } else { json!(null) };
    let order = if random { "random" } else { "sequential" };
    let runtime = if runtime { json!(1) } else { json!(null) };
    let phase = json!({ "operation": operation.name(), "mix": mix, "file_order": order, "runtime_ns": runtime });
    serde_json::from_value(phase).unwrap()
}

fn contents(fixed: Option<u64>) -> Contents {
    let sizes = Sizes::Range { min_bytes: 0, max_bytes: 5000 };
    fixed.map_or(Contents::Drawn { sizes, seed: 3, first: 7 }, Contents::Fixed)
}

/// All steps of a phase; each succeeds unless `fails` selects it.
fn all(pattern: &mut Pattern, most: usize, mut fails: impl FnMut(&Step) -> bool) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = pattern.next_step().filter(|_| steps.len() < most) {
        let well = !fails(&step);
        pattern.on_end(&step, well);
        steps.push(step);
    }
    steps
}

const OPERATIONS: [Operation; 8] = [
    Operation::Write,
    Operation::Rewrite,
    Operation::Read,
    Operation::Reread,
    Operation::RandomRead,
    Operation::RandomWrite,
    Operation::RandomMix,
    Operation::SequentialMix,
];

proptest! {
    /// Each file is opened once, each of its records is processed once while it is open, and it is closed.
    #[test]
    fn each_file_and_each_record_once(
        files in 0_u64..60, fixed in prop::option::of(0_u64..5000), record in 1_u64..3000, which in 0_usize..8,
        random: bool, flushes: bool, seed: u64,
    ) {
        let (operation, contents) = (OPERATIONS[which], contents(fixed));
        let phase = phase(operation, random, false);
        let mut pattern = Pattern::files(&phase, record, files, contents.clone(), flushes, seed);
        let (planned, steps, bytes) = (pattern.operations(), pattern.count(), pattern.bytes());
        let done = all(&mut pattern, usize::MAX, |_| false);
        prop_assert!(done.len() as u64 <= steps);
        prop_assert_eq!(pattern.whole_files(), Some(files));
        let moved: Vec<&Step> = done.iter().filter(|step| matches!(step.kind, OpKind::Read | OpKind::Write)).collect();
        prop_assert_eq!(moved.len() as u64, planned);
        prop_assert_eq!(moved.iter().map(|step| step.length).sum::<u64>(), bytes);
        let opened = done.iter().filter(|step| step.kind == OpKind::Open).count();
        prop_assert_eq!(opened as u64, files);
        let mut seen = BTreeSet::new();
        for visit in done.split_inclusive(|step| step.kind == OpKind::Close) {
            let file = visit[0].object;
            prop_assert!(seen.insert(file) && visit.iter().all(|step| step.object == file));
            prop_assert_eq!(visit[0].kind, OpKind::Open);
            prop_assert_eq!(visit.last().unwrap().kind, OpKind::Close);
            let writes = visit.iter().any(|step| step.kind == OpKind::Write);
            let synced = visit[visit.len() - 2].kind == OpKind::Sync;
            prop_assert_eq!(synced, flushes && writes);
            let end = visit.len() - 1 - usize::from(synced);
            let mut parts: Vec<(u64, u64)> = visit[1..end].iter().map(|step| (step.offset, step.length)).collect();
            parts.sort_unstable();
            let mut at = 0;
            for (offset, length) in parts {
                prop_assert_eq!(offset, at);
                at += length;
            }
            prop_assert_eq!(at, contents.of(file));
        }
        let in_order = seen.iter().copied().eq(done.iter().filter(|one| one.kind == OpKind::Open).map(|one| one.object));
        prop_assert!(random || in_order);
    }

    /// A file that cannot be opened is skipped; only the files before the first failure count as complete.
    #[test]
    fn failures_stay_with_their_file(files in 1_u64..40, bad in 0_u64..40, at_open: bool, random: bool) {
        let bad = bad % files;
        let phase = phase(Operation::Write, random, false);
        let mut pattern = Pattern::files(&phase, 100, files, Contents::Fixed(300), false, 9);
        let kind = if at_open { OpKind::Open } else { OpKind::Write };
        let done = all(&mut pattern, usize::MAX, |step| step.object == bad && step.kind == kind);
        let of_bad = done.iter().filter(|step| step.object == bad).count();
        prop_assert_eq!(of_bad, if at_open { 1 } else { 5 });
        prop_assert_eq!(done.len() as u64, (files - 1) * 5 + of_bad as u64);
        prop_assert_eq!(pattern.whole_files(), Some(if random { 0 } else { bad }));
    }

    /// With a run time the files are repeated, in another order if that is random; a file that is cut short is not
    /// complete.
    #[test]
    fn passes_repeat_and_a_cut_file_is_not_complete(files in 2_u64..30, random: bool, steps in 1_usize..400) {
        let phase = phase(Operation::Write, random, true);
        let mut pattern = Pattern::files(&phase, 100, files, Contents::Fixed(200), false, 9);
        let done = all(&mut pattern, steps, |_| false);
        prop_assert_eq!(done.len(), steps);
        // The step that was drawn and not executed has begun or ended a file.
        let closed = done.iter().filter(|step| step.kind == OpKind::Close).count() as u64;
        let whole = pattern.whole_files().unwrap();
        prop_assert!(whole <= closed.min(files));
        let round = files as usize * 4;
        if random && files > 20 && steps >= 2 * round {
            let order = |from: usize| done[from..from + round].iter().map(|step| step.object).collect::<Vec<_>>();
            prop_assert_ne!(order(0), order(round));
        }
    }
}

fn file_mix(mix: &serde_json::Value, random: bool, runtime: bool) -> Phase {
    let order = if random { "random" } else { "sequential" };
    let runtime = if runtime { json!(1) } else { json!(null) };
    let phase = json!({ "operation": "file_mix", "mix": mix, "file_order": order, "runtime_ns": runtime });
    serde_json::from_value(phase).unwrap()
}

proptest! {
    /// A missing file is only created, and an existing one never; shares are as requested.
    #[test]
    fn a_mix_of_files_knows_which_are_there(
        files in 1_u64..50, changes in 0_u8..45, stats in 0_u8..9, record in 1_u64..3000, random: bool, flushes: bool,
        seed: u64, fails in 0_u64..30,
    ) {
        let reads = 100 - 2 * changes - stats;
        let mix = json!({ "read": reads, "stat": stats, "create": changes, "unlink": changes });
        let phase = file_mix(&mix, random, true);
        let mut pattern = Pattern::files(&phase, record, files, contents(None), flushes, seed);
        let mut there: BTreeSet<u64> = (0..files).collect();
        let (mut number, mut turns, mut least) = (0, Vec::new(), files);
        let steps = all(&mut pattern, 3000, |step| {
            number += 1;
            let bad = fails > 0 && number % (fails + 5) == 0;
            match step.kind {
                OpKind::Create => {
                    assert!(!there.contains(&step.object));
                    if !bad { there.insert(step.object); }
                }
                OpKind::Unlink => {
                    assert!(there.contains(&step.object));
                    if !bad { there.remove(&step.object); }
                }
                _ => assert!(there.contains(&step.object), "{step:?}"),
            }
            if matches!(step.kind, OpKind::Open | OpKind::Create | OpKind::Stat | OpKind::Unlink) {
                turns.push(step.kind);
            }
            least = least.min(there.len() as u64);
            bad
        });
        // If some cannot be created, more are missing.
        prop_assert!(fails > 0 || least >= files / 2, "{} of {}", least, files);
        prop_assert_eq!(pattern.whole_files(), Some(0), "which are there is not told to later phases");
        let share = |kind| 100 * turns.iter().filter(|one| **one == kind).count() / turns.len().max(1);
        if fails == 0 && turns.len() > 800 && files > 3 {
            prop_assert!(share(OpKind::Open).abs_diff(usize::from(reads)) <= 8, "{}", share(OpKind::Open));
            prop_assert!(share(OpKind::Create).abs_diff(usize::from(changes)) <= 8, "{}", share(OpKind::Create));
        }
        for visit in steps.split_inclusive(|step| step.kind == OpKind::Close).filter(|_| fails == 0) {
            let Some(at) = visit.iter().position(|step| step.kind == OpKind::Create) else { continue };
            let written: u64 = visit[at..].iter().filter(|step| step.kind == OpKind::Write).map(|step| step.length).sum();
            let whole = visit.last().is_some_and(|step| step.kind == OpKind::Close);
            prop_assert!(!whole || written == contents(None).of(visit[at].object), "what is made has all of its bytes");
        }
    }
}

/// A single file is removed and created in turns, and a pass has as many operations as there are files.
#[test]
fn one_file_comes_and_goes() {
    let mix = json!({ "read": 10, "create": 45, "unlink": 45 });
    let mut pattern = Pattern::files(&file_mix(&mix, false, true), 100, 1, Contents::Fixed(100), false, 3);
    let kinds: Vec<OpKind> = all(&mut pattern, 300, |_| false).iter().map(|step| step.kind).collect();
    assert!(kinds.contains(&OpKind::Create) && kinds.contains(&OpKind::Unlink));
    assert!(pattern.kinds().contains(&OpKind::Write), "the contents of what is made are written");
    let mut once = Pattern::files(&file_mix(&mix, false, false), 100, 40, Contents::Fixed(100), false, 3);
    let turn = |step: &&Step| matches!(step.kind, OpKind::Open | OpKind::Create | OpKind::Unlink);
    let steps = all(&mut once, usize::MAX, |_| false);
    assert_eq!(steps.iter().filter(turn).count(), 40);
    assert!(steps.len() as u64 <= once.count());
}

/// Ten million files take no more memory than one: their order and sizes are computed.
#[test]
fn ten_million_files_are_kept_nowhere() {
    let sizes = Sizes::Range { min_bytes: 1 << 10, max_bytes: 1 << 20 };
    let contents = Contents::Drawn { sizes, seed: 3, first: 0 };
    let phase = phase(Operation::RandomRead, true, false);
    let mut pattern = Pattern::files(&phase, 1 << 20, 10_000_000, contents, false, 5);
    assert_eq!(pattern.operations(), 10_000_000);
    assert!(size_of::<FileSteps>() <= 512, "{}", size_of::<FileSteps>());
    let files: BTreeSet<u64> = (0..3000).filter_map(|_| pattern.next_step()).map(|step| step.object).collect();
    assert_eq!(files.len(), 1000);
}

//! Turns the failures a job reported into findings, each with the expected and the found value.

use crate::events::{Failure, FailureKind, JobEvents};
use crate::finding::{Finding, Symptom};
use crate::job::Recipe;
use crate::manual_lane::ManualLane;
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_core::as_errno;
use assay_spec::{Layout, OpKind, Operation};

/// How many failed operations of a job become findings. The others usually have the same cause.
const MAX_FINDINGS: usize = 3;

/// Findings from the failed operations of a job. `before` is the seed of the data its files held earlier, or `None` if
/// they held none.
pub(crate) fn findings(
    session: &Session<'_>,
    recipe: &Recipe,
    events: &JobEvents,
    before: Option<u64>,
) -> Vec<Finding> {
    events.failures.iter().take(MAX_FINDINGS).map(|failure| finding(session, recipe, failure, before)).collect()
}

fn finding(session: &Session<'_>, recipe: &Recipe, failure: &Failure, before: Option<u64>) -> Finding {
    let new = |symptom, action: &str| Finding::new(symptom, action, &failure.object);
    if recipe.objects.is_some() && failure.kind == FailureKind::Corrupt {
        let symptom = if failure.action == OpKind::Head.name() { Symptom::Size } else { Symptom::Corrupt };
        return new(symptom, &numbered(failure)).values("what was put", &failure.message);
    }
    match (failure.kind, recipe.tree.is_some() || recipe.objects.is_some()) {
        (FailureKind::Failed, true) => {
            new(failure_symptom(failure), &numbered(failure)).values("no error", &failure.message)
        }
        (FailureKind::Failed, false) => {
            new(Symptom::Refused, &failure.action).at(failure.offset).values("no error", &failure.message)
        }
        (FailureKind::Short, _) => {
            new(Symptom::Length, &failure.action).at(failure.offset).values("all bytes", &failure.message)
        }
        (FailureKind::Corrupt, true) if failure.action == OpKind::Read.name() => {
            new(Symptom::Corrupt, &numbered(failure))
                .at(failure.offset)
                .values("what was written last", &failure.message)
        }
        (FailureKind::Corrupt, true) => {
            new(Symptom::Size, &numbered(failure)).values("the size that was written", &failure.message)
        }
        (FailureKind::Corrupt, false) => corrupt(session, recipe, failure, before),
    }
}

/// Symptom of a failed operation on a name.
fn failure_symptom(failure: &Failure) -> Symptom {
    match failure.fault.and_then(as_errno) {
        Some(libc::ENOENT | libc::EEXIST | libc::ENOTEMPTY) => Symptom::Name,
        _ => Symptom::Refused,
    }
}

/// The operation, with the number of the name or object it was done to.
fn numbered(failure: &Failure) -> String {
    // A flush and the start of a phase concern no single name.
    if failure.lane.is_none() || failure.action == OpKind::Sync.name() {
        return failure.action.clone();
    }
    format!("{} number {}", failure.action, failure.number)
}

/// Finding for wrong data. Reads the data again to find out what kind of wrong data it is.
fn corrupt(session: &Session<'_>, recipe: &Recipe, failure: &Failure, before: Option<u64>) -> Finding {
    let finding_of = |symptom, remark: &str| {
        let finding = Finding::new(symptom, &failure.action, &failure.object).at(failure.offset);
        finding.values("what was written last", &failure.message).remark(remark)
    };
    let again = match read_again(session, recipe, failure) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return finding_of(Symptom::Corrupt, "read again, it is not there"),
        Err(error) => return finding_of(Symptom::Corrupt, &format!("read again: {error}")),
    };
    let (offset, found) = again;
    let object = if recipe.layout == Layout::Shared { 0 } else { u64::from(failure.lane.unwrap_or_default()) };
    let of = |seed| Pattern::new(seed, recipe.data).bytes(object, offset, found.len());
    let expected = of(recipe.seed);
    match compare(&expected, &found, before.map(of).as_deref(), offset, true) {
        Some(it) => Finding::new(it.symptom, &failure.action, &failure.object)
            .at(offset + it.index as u64)
            .values(format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found)),
        // The data is complete and of the right seed, but from an earlier write.
        None if failure.message.contains("written over since") => finding_of(Symptom::Stale, ""),
        None => finding_of(Symptom::Fleeting, ""),
    }
}

/// Offset and bytes of the record that was wrong, read again, or `None` if there are no bytes.
fn read_again(session: &Session<'_>, recipe: &Recipe, failure: &Failure) -> Result<Option<(u64, Vec<u8>)>, Finding> {
    let again = Recipe { reuse: true, ..recipe.clone() };
    let (backend, job) = session.open(&again)?;
    let lane = failure.lane.unwrap_or_default();
    let mut manual_lane = ManualLane::open(backend.as_ref(), &job, lane, Operation::Read, recipe.record as usize)?;
    let offset = failure.offset / recipe.record * recipe.record;
    let read = manual_lane.read(offset, recipe.record as usize);
    let _ = manual_lane.close();
    Ok(read.ok().filter(|bytes| !bytes.is_empty()).map(|bytes| (offset, bytes)))
}

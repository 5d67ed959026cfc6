//! From what a job said to what is wrong, in words and with both values.

use crate::events::{Heard, Why, Wrong};
use crate::finding::{Finding, Symptom};
use crate::hand::Hand;
use crate::job::Recipe;
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_core::as_errno;
use assay_spec::{Layout, OpKind, Operation};

/// So many wrong operations of a job are told; the others look the same.
const MOST: usize = 3;

/// What went wrong in a job. `before` is the seed of what its files held earlier; none if nothing.
pub(crate) fn findings(session: &Session<'_>, recipe: &Recipe, heard: &Heard, before: Option<u64>) -> Vec<Finding> {
    heard.wrong.iter().take(MOST).map(|wrong| finding(session, recipe, wrong, before)).collect()
}

fn finding(session: &Session<'_>, recipe: &Recipe, wrong: &Wrong, before: Option<u64>) -> Finding {
    let new = |symptom, action: &str| Finding::new(symptom, action, &wrong.object);
    if recipe.objects.is_some() && wrong.why == Why::Corrupt {
        let symptom = if wrong.action == OpKind::Head.name() { Symptom::Size } else { Symptom::Corrupt };
        return new(symptom, &numbered(wrong)).values("what was put", &wrong.message);
    }
    match (wrong.why, recipe.tree.is_some() || recipe.objects.is_some()) {
        (Why::Failed, true) => new(failure(wrong), &numbered(wrong)).values("no error", &wrong.message),
        (Why::Failed, false) => {
            new(Symptom::Refused, &wrong.action).at(wrong.offset).values("no error", &wrong.message)
        }
        (Why::Short, _) => new(Symptom::Length, &wrong.action).at(wrong.offset).values("all bytes", &wrong.message),
        (Why::Corrupt, true) if wrong.action == OpKind::Read.name() => {
            new(Symptom::Corrupt, &numbered(wrong)).at(wrong.offset).values("what was written last", &wrong.message)
        }
        (Why::Corrupt, true) => {
            new(Symptom::Size, &numbered(wrong)).values("the size that was written", &wrong.message)
        }
        (Why::Corrupt, false) => corrupt(session, recipe, wrong, before),
    }
}

/// What a failed operation on a name looks like.
fn failure(wrong: &Wrong) -> Symptom {
    match wrong.fault.and_then(as_errno) {
        Some(libc::ENOENT | libc::EEXIST | libc::ENOTEMPTY) => Symptom::Name,
        _ => Symptom::Refused,
    }
}

/// What was done to which name.
fn numbered(wrong: &Wrong) -> String {
    // A flush, or the start of a phase, is of no name.
    if wrong.lane.is_none() || wrong.action == OpKind::Sync.name() {
        return wrong.action.clone();
    }
    format!("{} number {}", wrong.action, wrong.number)
}

/// Wrong data: read once more, to tell what it is.
fn corrupt(session: &Session<'_>, recipe: &Recipe, wrong: &Wrong, before: Option<u64>) -> Finding {
    let told = |symptom, remark: &str| {
        let finding = Finding::new(symptom, &wrong.action, &wrong.object).at(wrong.offset);
        finding.values("what was written last", &wrong.message).remark(remark)
    };
    let again = match read_again(session, recipe, wrong) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return told(Symptom::Corrupt, "read again, it is not there"),
        Err(error) => return told(Symptom::Corrupt, &format!("read again: {error}")),
    };
    let (offset, found) = again;
    let object = if recipe.layout == Layout::Shared { 0 } else { u64::from(wrong.lane.unwrap_or_default()) };
    let of = |seed| Pattern::new(seed, recipe.data).bytes(object, offset, found.len());
    let expected = of(recipe.seed);
    match compare(&expected, &found, before.map(of).as_deref(), offset, true) {
        Some(it) => Finding::new(it.symptom, &wrong.action, &wrong.object)
            .at(offset + it.index as u64)
            .values(format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found)),
        // Whole data of the right seed, but of an earlier write.
        None if wrong.message.contains("written over since") => told(Symptom::Stale, ""),
        None => told(Symptom::Fleeting, ""),
    }
}

/// The record that was wrong, and where it begins; none if there are no bytes.
fn read_again(session: &Session<'_>, recipe: &Recipe, wrong: &Wrong) -> Result<Option<(u64, Vec<u8>)>, Finding> {
    let again = Recipe { reuse: true, ..recipe.clone() };
    let (backend, job) = session.open(&again)?;
    let lane = wrong.lane.unwrap_or_default();
    let mut hand = Hand::open(backend.as_ref(), &job, lane, Operation::Read, recipe.record as usize)?;
    let offset = wrong.offset / recipe.record * recipe.record;
    let read = hand.read(offset, recipe.record as usize);
    let _ = hand.close();
    Ok(read.ok().filter(|bytes| !bytes.is_empty()).map(|bytes| (offset, bytes)))
}

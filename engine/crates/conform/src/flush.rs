//! Who sees what was written, and when: before and after a flush, in the same opening, in others, when it is opened anew.

use crate::check::{Check, Subject};
use crate::data::{NEW, OLD};
use crate::data_ways::directs;
use crate::finding::{Finding, Symptom};
use crate::hand::{make, Failed, Hand};
use crate::job::Recipe;
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_spec::{Operation, SyncPolicy};

/// Records that are written, each by one operation.
const RECORDS: u64 = 16;

/// When somebody looks, and who.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// The writer itself, before it flushes.
    Own,
    /// Another opening from before the write, before the flush.
    Before,
    /// Another opening from before the write, after the flush.
    Flushed,
    /// A new opening, after the flush, while the writer still has the file open.
    Anew,
    /// A new opening, after the writer has flushed and closed.
    Closed,
}

const MOMENTS: [(Moment, &str, &str); 5] = [
    (Moment::Own, "own writes", "a writer reads what it has just written over"),
    (Moment::Before, "writes seen by others", "who has the file open reads it, too, before any flush"),
    (Moment::Flushed, "flushed, seen by others", "who has the file open reads it after the flush"),
    (Moment::Anew, "flushed, opened anew", "who opens the file after the flush reads it"),
    (Moment::Closed, "flushed and closed", "who opens the file when its writer has closed it reads it"),
];

/// All checks of this kind that make sense for what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let record = able.direct_alignment_bytes.max(4096);
    let mut all = Vec::new();
    for (moment, name, expects) in MOMENTS {
        for direct in directs(able) {
            for (sync, call) in [(SyncPolicy::Fsync, "fsync"), (SyncPolicy::Fdatasync, "fdatasync")] {
                let flushes = !matches!(moment, Moment::Own | Moment::Before);
                if !able.sync.contains(&sync) || !flushes && sync == SyncPolicy::Fdatasync {
                    continue;
                }
                let cache = if direct { "direct" } else { "buffered" };
                let way = if flushes { format!("{cache}, {call}") } else { cache.to_owned() };
                let act = move |session: &Session<'_>| seen(session, moment, record, (direct, direct), sync);
                all.push(Check { group: "flush", name: name.to_owned(), way, expects, act: Box::new(act) });
            }
        }
    }
    if directs(able).len() > 1 {
        for (writer, reader, way) in [(false, true, "buffered, then direct"), (true, false, "direct, then buffered")] {
            let (name, expects) = ("direct and buffered agree", "each reads what the other has written and flushed");
            let sync = SyncPolicy::Fsync;
            let act = move |session: &Session<'_>| seen(session, Moment::Flushed, record, (writer, reader), sync);
            all.push(Check { group: "flush", name: name.to_owned(), way: way.to_owned(), expects, act: Box::new(act) });
        }
    }
    all
}

/// Writes records over others, and looks at them at some moment.
fn seen(
    session: &Session<'_>,
    moment: Moment,
    record: u64,
    (writer, reader): (bool, bool),
    sync: SyncPolicy,
) -> Vec<Finding> {
    let first = Recipe { direct: writer, sync, ..Recipe::plain(RECORDS * record, record) }.fitting(session.able());
    let other = Recipe { direct: reader, reuse: true, ..first.clone() };
    session.and_tidy(&first, |findings| {
        let (backend, job) = session.open(&first)?;
        backend.prepare()?;
        make(backend.as_ref(), &job, Operation::Write)?;
        let mut pen = Hand::open(backend.as_ref(), &job, 0, Operation::RandomMix, record as usize)?;
        write(&mut pen, OLD, record)?;
        flush(&mut pen)?;
        let (elsewhere, same) = session.open(&other)?;
        let mut eye = Hand::open(elsewhere.as_ref(), &same, 0, Operation::Read, record as usize)?;
        // What it has read, it may keep in a cache.
        read(&mut eye, record, OLD, None)?;
        write(&mut pen, NEW, record)?;
        if moment == Moment::Own {
            read(&mut pen, record, NEW, Some(OLD))?;
        } else if moment == Moment::Before {
            read(&mut eye, record, NEW, Some(OLD))?;
        }
        flush(&mut pen)?;
        if moment == Moment::Flushed {
            read(&mut eye, record, NEW, Some(OLD))?;
        } else if moment == Moment::Anew {
            anew(session, &other, record, NEW)?;
        }
        pen.close()?;
        eye.close()?;
        if moment == Moment::Closed {
            findings.extend(anew(session, &other, record, NEW).err().map(unstable));
        }
        Ok(())
    })
}

/// It was seen while it was open, as other checks have found or not: what is told is that closing loses it.
fn unstable(finding: Finding) -> Finding {
    match finding.symptom {
        Symptom::Stale | Symptom::Zeros | Symptom::Length => Finding { symptom: Symptom::Unstable, ..finding },
        _ => finding,
    }
}

fn anew(session: &Session<'_>, other: &Recipe, record: u64, seed: u64) -> Result<(), Finding> {
    let (backend, job) = session.open(other)?;
    let mut hand = Hand::open(backend.as_ref(), &job, 0, Operation::Read, record as usize)?;
    let found = read(&mut hand, record, seed, Some(OLD));
    hand.close()?;
    found
}

fn refused(hand: &Hand, action: &str, offset: u64, found: Failed) -> Finding {
    Finding::new(Symptom::Refused, action, hand.object()).at(offset).values("no error", found.to_string())
}

/// Writes all records, the last one first.
fn write(hand: &mut Hand, seed: u64, record: u64) -> Result<(), Finding> {
    let data = Pattern::plain(seed);
    for offset in (0..RECORDS).rev().map(|index| index * record) {
        match hand.write(offset, &data.bytes(0, offset, record as usize)) {
            Ok(taken) if taken == record => {}
            Ok(taken) => {
                let finding = Finding::new(Symptom::Length, "write", hand.object()).at(offset);
                return Err(finding.values(format!("{record} bytes taken"), format!("{taken}")));
            }
            Err(failed) => return Err(refused(hand, "write", offset, failed)),
        }
    }
    Ok(())
}

fn flush(hand: &mut Hand) -> Result<(), Finding> {
    hand.sync().map_err(|failed| refused(hand, "sync", 0, failed))
}

/// Reads all records, which should be those of a seed.
fn read(hand: &mut Hand, record: u64, seed: u64, before: Option<u64>) -> Result<(), Finding> {
    for offset in (0..RECORDS).map(|index| index * record) {
        let bytes = |seed| Pattern::plain(seed).bytes(0, offset, record as usize);
        expect(hand, offset, &bytes(seed), before.map(bytes).as_deref())?;
    }
    Ok(())
}

/// Reads bytes that should be these; `before` is what may have been there earlier.
pub(crate) fn expect(hand: &mut Hand, offset: u64, wanted: &[u8], before: Option<&[u8]>) -> Result<(), Finding> {
    let found = hand.read(offset, wanted.len()).map_err(|failed| refused(hand, "read", offset, failed))?;
    let new = |symptom| Finding::new(symptom, "read", hand.object());
    match compare(wanted, &found, before, offset, false) {
        Some(it) => Err(new(it.symptom)
            .at(offset + it.index as u64)
            .values(format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found))),
        None if found.len() != wanted.len() => {
            Err(new(Symptom::Length).at(offset).values(format!("{} bytes", wanted.len()), format!("{}", found.len())))
        }
        None => Ok(()),
    }
}

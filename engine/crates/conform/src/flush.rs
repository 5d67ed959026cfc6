//! Checks when written data becomes visible: before and after a flush, to the same opening, to others, and after the
//! file is opened anew.

use crate::check::{Check, Subject};
use crate::data::{NEW, OLD};
use crate::data_ways::directs;
use crate::finding::{Finding, Symptom};
use crate::job::Recipe;
use crate::manual_lane::{make, Failed, ManualLane};
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_spec::{Operation, SyncPolicy};

/// Number of records written, each by one operation.
const RECORDS: u64 = 16;

/// When the data is read, and through which opening.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadMoment {
    /// By the writer itself, before it flushes.
    Own,
    /// Through an opening made before the write, before the flush.
    Before,
    /// Through an opening made before the write, after the flush.
    Flushed,
    /// Through a new opening, after the flush, while the writer still has the file open.
    Anew,
    /// Through a new opening, after the writer has flushed and closed the file.
    Closed,
}

const READ_MOMENTS: [(ReadMoment, &str, &str); 5] = [
    (ReadMoment::Own, "own writes", "a writer reads what it has just written over"),
    (ReadMoment::Before, "writes seen by others", "who has the file open reads it, too, before any flush"),
    (ReadMoment::Flushed, "flushed, seen by others", "who has the file open reads it after the flush"),
    (ReadMoment::Anew, "flushed, opened anew", "who opens the file after the flush reads it"),
    (ReadMoment::Closed, "flushed and closed", "who opens the file when its writer has closed it reads it"),
];

/// All visibility checks that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let record = able.direct_alignment_bytes.max(4096);
    let mut all = Vec::new();
    for (moment, name, expects) in READ_MOMENTS {
        for direct in directs(able) {
            for (sync, call) in [(SyncPolicy::Fsync, "fsync"), (SyncPolicy::Fdatasync, "fdatasync")] {
                let flushes = !matches!(moment, ReadMoment::Own | ReadMoment::Before);
                if !able.sync.contains(&sync) || !flushes && sync == SyncPolicy::Fdatasync {
                    continue;
                }
                let cache = if direct { "direct" } else { "buffered" };
                let way = if flushes { format!("{cache}, {call}") } else { cache.to_owned() };
                let act =
                    move |session: &Session<'_>| check_visibility(session, moment, record, (direct, direct), sync);
                all.push(Check { group: "flush", name: name.to_owned(), way, expects, act: Box::new(act) });
            }
        }
    }
    if directs(able).len() > 1 {
        for (writer, reader, way) in [(false, true, "buffered, then direct"), (true, false, "direct, then buffered")] {
            let (name, expects) = ("direct and buffered agree", "each reads what the other has written and flushed");
            let sync = SyncPolicy::Fsync;
            let act = move |session: &Session<'_>| {
                check_visibility(session, ReadMoment::Flushed, record, (writer, reader), sync)
            };
            all.push(Check { group: "flush", name: name.to_owned(), way: way.to_owned(), expects, act: Box::new(act) });
        }
    }
    all
}

/// Overwrites records and reads them at the given moment.
fn check_visibility(
    session: &Session<'_>,
    moment: ReadMoment,
    record: u64,
    (writer, reader): (bool, bool),
    sync: SyncPolicy,
) -> Vec<Finding> {
    let first = Recipe { direct: writer, sync, ..Recipe::plain(RECORDS * record, record) }.fitting(session.able());
    let other = Recipe { direct: reader, reuse: true, ..first.clone() };
    session.run_and_clean_up(&first, |findings| {
        let (backend, job) = session.open(&first)?;
        backend.prepare()?;
        make(backend.as_ref(), &job, Operation::Write)?;
        let mut writing_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::RandomMix, record as usize)?;
        write(&mut writing_lane, OLD, record)?;
        flush(&mut writing_lane)?;
        let (elsewhere, same) = session.open(&other)?;
        let mut reading_lane = ManualLane::open(elsewhere.as_ref(), &same, 0, Operation::Read, record as usize)?;
        // The reader may keep what it reads in a cache.
        read(&mut reading_lane, record, OLD, None)?;
        write(&mut writing_lane, NEW, record)?;
        if moment == ReadMoment::Own {
            read(&mut writing_lane, record, NEW, Some(OLD))?;
        } else if moment == ReadMoment::Before {
            read(&mut reading_lane, record, NEW, Some(OLD))?;
        }
        flush(&mut writing_lane)?;
        if moment == ReadMoment::Flushed {
            read(&mut reading_lane, record, NEW, Some(OLD))?;
        } else if moment == ReadMoment::Anew {
            read_reopened(session, &other, record, NEW)?;
        }
        writing_lane.close()?;
        reading_lane.close()?;
        if moment == ReadMoment::Closed {
            findings.extend(read_reopened(session, &other, record, NEW).err().map(unstable));
        }
        Ok(())
    })
}

/// Changes the symptom of data that is missing after close to [`Symptom::Unstable`]. Other checks report whether it was
/// visible while the file was open; this finding is about losing it at close.
fn unstable(finding: Finding) -> Finding {
    match finding.symptom {
        Symptom::Stale | Symptom::Zeros | Symptom::Length => Finding { symptom: Symptom::Unstable, ..finding },
        _ => finding,
    }
}

fn read_reopened(session: &Session<'_>, other: &Recipe, record: u64, seed: u64) -> Result<(), Finding> {
    let (backend, job) = session.open(other)?;
    let mut manual_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Read, record as usize)?;
    let found = read(&mut manual_lane, record, seed, Some(OLD));
    manual_lane.close()?;
    found
}

fn refused(manual_lane: &ManualLane, action: &str, offset: u64, found: Failed) -> Finding {
    Finding::new(Symptom::Refused, action, manual_lane.object()).at(offset).values("no error", found.to_string())
}

/// Writes all records in backward order.
fn write(manual_lane: &mut ManualLane, seed: u64, record: u64) -> Result<(), Finding> {
    let data = Pattern::plain(seed);
    for offset in (0..RECORDS).rev().map(|index| index * record) {
        match manual_lane.write(offset, &data.bytes(0, offset, record as usize)) {
            Ok(taken) if taken == record => {}
            Ok(taken) => {
                let finding = Finding::new(Symptom::Length, "write", manual_lane.object()).at(offset);
                return Err(finding.values(format!("{record} bytes taken"), format!("{taken}")));
            }
            Err(failed) => return Err(refused(manual_lane, "write", offset, failed)),
        }
    }
    Ok(())
}

fn flush(manual_lane: &mut ManualLane) -> Result<(), Finding> {
    manual_lane.sync().map_err(|failed| refused(manual_lane, "sync", 0, failed))
}

/// Reads all records and expects the data of `seed`; `before` is the seed of older data.
fn read(manual_lane: &mut ManualLane, record: u64, seed: u64, before: Option<u64>) -> Result<(), Finding> {
    for offset in (0..RECORDS).map(|index| index * record) {
        let bytes = |seed| Pattern::plain(seed).bytes(0, offset, record as usize);
        expect(manual_lane, offset, &bytes(seed), before.map(bytes).as_deref())?;
    }
    Ok(())
}

/// Reads bytes and compares them with `wanted`. `before` is what may have been there earlier.
pub(crate) fn expect(
    manual_lane: &mut ManualLane,
    offset: u64,
    wanted: &[u8],
    before: Option<&[u8]>,
) -> Result<(), Finding> {
    let found =
        manual_lane.read(offset, wanted.len()).map_err(|failed| refused(manual_lane, "read", offset, failed))?;
    let new = |symptom| Finding::new(symptom, "read", manual_lane.object());
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

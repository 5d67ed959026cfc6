//! Checks at the end of files: reads at and beyond the end, holes, and truncated files.

use crate::check::{Check, Subject};
use crate::data::{NEW, OLD};
use crate::finding::{Finding, Symptom};
use crate::flush::expect;
use crate::job::Recipe;
use crate::manual_lane::{make, ManualLane};
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_spec::{BackendCapabilities, Job, Layout, Operation};
use std::collections::BTreeSet;

const RECORD: usize = 4096;
/// Size of the file in bytes, deliberately no multiple of anything.
const SIZE: usize = 3 * RECORD + 1234;
const FAR: u64 = 1 << 20;
/// Number of steps from the first record of a device to the last.
const STEPS: u64 = 64;
/// How many wrong records are reported.
const MAX_FINDINGS: usize = 3;

/// A check on an open lane and the recipe it was opened with.
type Script = fn(&Session<'_>, &mut ManualLane, &Recipe) -> Result<(), Finding>;

const SCRIPTS: [(&str, &str, Script); 5] = [
    ("the end", "a read across the end brings what is there, and its bytes", across),
    ("beyond the end", "a read at the end, or far beyond, brings nothing", beyond),
    ("holes", "what was never written reads as zeros", hole),
    ("growth", "a write at the end makes the file longer, and leaves the rest", growth),
    ("emptied files", "a file that is written anew has nothing of what it was", emptied),
];

/// All checks of file ends that apply to what the storage can do. A device gets a check of its whole size instead.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    if !has_files(able) {
        let act = Box::new(everywhere);
        let (name, expects) = ("the whole device", "what is written all over it is found where it was written");
        return vec![Check { group: "ends", name: name.to_owned(), way: String::new(), expects, act }];
    }
    let mut all: Vec<Check> = Vec::new();
    for (name, expects, script) in SCRIPTS {
        let act = Box::new(move |session: &Session<'_>| with_file(session, script));
        all.push(Check { group: "ends", name: name.to_owned(), way: String::new(), expects, act });
    }
    all.push(Check {
        group: "ends",
        name: "a file that is not there".to_owned(),
        way: String::new(),
        expects: "cannot be opened for reading, and is not made",
        act: Box::new(absent),
    });
    all
}

/// Whether the storage has files that can be created and have a size. A device has one fixed size.
fn has_files(able: &BackendCapabilities) -> bool {
    able.layouts.contains(&Layout::Separate)
}

fn recipe(session: &Session<'_>) -> Recipe {
    Recipe::plain(2 * FAR, RECORD as u64).fitting(session.able())
}

fn contents(seed: u64, offset: usize, length: usize) -> Vec<u8> {
    Pattern::plain(seed).bytes(0, offset as u64, length)
}

/// Offsets across a device, from the first record to the last: in even steps, and at powers of two, where truncated
/// addresses would wrap around.
fn places(size: u64) -> BTreeSet<u64> {
    let record = RECORD as u64;
    let last = size / record - 1;
    let even = (0..=STEPS).map(|step| u128::from(last) * u128::from(step) / u128::from(STEPS));
    let powers = (0..64).map(|power| 1_u64 << power).take_while(|number| *number <= last);
    even.map(|number| number as u64).chain(powers).map(|number| number * record).collect()
}

/// Writes a record at each of the [`places`], flushes, and reads all of them through a second opening.
fn everywhere(session: &Session<'_>) -> Vec<Finding> {
    let size = session.able().place.as_ref().and_then(|place| place.free_bytes).unwrap_or(0);
    let (pattern, record) = (Pattern::plain(NEW), RECORD as u64);
    // Direct I/O, since all records would be found in the cache.
    let direct = session.able().direct && record % session.able().direct_alignment_bytes.max(1) == 0;
    let recipe = Recipe { direct, ..Recipe::plain(size / record * record, record).fitting(session.able()) };
    session.run_and_clean_up(&recipe, |findings| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        let mut manual_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::RandomMix, RECORD)?;
        let object = manual_lane.object().to_owned();
        let new = |symptom, action: &str, offset| Finding::new(symptom, action, &object).at(offset);
        for offset in places(size) {
            manual_lane
                .write(offset, &pattern.bytes(0, offset, RECORD))
                .map_err(|failed| new(Symptom::Refused, "write", offset).values("no error", failed.to_string()))?;
        }
        manual_lane.sync().map_err(|failed| new(Symptom::Refused, "sync", 0).values("no error", failed.to_string()))?;
        manual_lane.close()?;
        let (backend, job) = session.open(&Recipe { reuse: true, ..recipe.clone() })?;
        let mut manual_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
        for offset in places(size) {
            let found = manual_lane.read(offset, RECORD);
            let found =
                found.map_err(|failed| new(Symptom::Refused, "read", offset).values("no error", failed.to_string()))?;
            let wanted = pattern.bytes(0, offset, RECORD);
            if let Some(it) = compare(&wanted, &found, None, offset, false) {
                let values = (format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found));
                let finding = new(it.symptom, "read", offset + it.index as u64).values(values.0, values.1);
                // If it is another written record, its offset shows where addresses are truncated.
                let other = places(size).into_iter().find(|other| pattern.bytes(0, *other, RECORD) == found);
                let remark = other.map_or(String::new(), |other| format!("it is what was written at {other}"));
                findings.push(finding.remark(&remark));
            }
        }
        manual_lane.close()?;
        findings.truncate(MAX_FINDINGS);
        Ok(())
    })
}

/// Runs a script on a newly made file of `SIZE` bytes.
fn with_file(session: &Session<'_>, script: Script) -> Vec<Finding> {
    let recipe = recipe(session);
    session.run_and_clean_up(&recipe, |_| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        make(backend.as_ref(), &job, Operation::Write)?;
        let mut manual_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::RandomMix, RECORD)?;
        for offset in (0..SIZE).step_by(RECORD) {
            write(&mut manual_lane, NEW, offset, RECORD.min(SIZE - offset))?;
        }
        let found = script(session, &mut manual_lane, &recipe);
        manual_lane.close()?;
        found
    })
}

fn write(manual_lane: &mut ManualLane, seed: u64, offset: usize, length: usize) -> Result<(), Finding> {
    let new = |symptom| Finding::new(symptom, "write", manual_lane.object().to_owned()).at(offset as u64);
    let bytes = contents(seed, offset, length);
    let refused = new(Symptom::Refused);
    let short = new(Symptom::Length);
    match manual_lane.write(offset as u64, &bytes) {
        Ok(taken) if taken == length as u64 => Ok(()),
        Ok(taken) => Err(short.values(format!("{length} bytes taken"), taken.to_string())),
        Err(failed) => Err(refused.values("no error", failed.to_string())),
    }
}

/// Checks that a read returns nothing.
fn nothing(manual_lane: &mut ManualLane, offset: u64) -> Result<(), Finding> {
    let object = manual_lane.object().to_owned();
    let new = |symptom| Finding::new(symptom, "read", object.clone()).at(offset);
    match manual_lane.read(offset, RECORD) {
        Ok(bytes) if bytes.is_empty() => Ok(()),
        Ok(bytes) => Err(new(Symptom::Length).values("0 bytes", bytes.len().to_string())),
        Err(failed) => Err(new(Symptom::Refused).values("0 bytes", failed.to_string())),
    }
}

/// Checks reads that begin before the end and would end behind it.
fn across(_: &Session<'_>, manual_lane: &mut ManualLane, _: &Recipe) -> Result<(), Finding> {
    for there in [1, 100, 1234, RECORD - 1] {
        let offset = SIZE - there;
        let object = manual_lane.object().to_owned();
        let new = |symptom| Finding::new(symptom, "read", object.clone()).at(offset as u64);
        match manual_lane.read(offset as u64, RECORD) {
            Ok(bytes) if bytes.len() != there => {
                return Err(new(Symptom::Length).values(format!("{there} bytes"), bytes.len().to_string()));
            }
            Ok(_) => expect(manual_lane, offset as u64, &contents(NEW, offset, there), None)?,
            Err(failed) => return Err(new(Symptom::Refused).values(format!("{there} bytes"), failed.to_string())),
        }
    }
    Ok(())
}

fn beyond(_: &Session<'_>, manual_lane: &mut ManualLane, _: &Recipe) -> Result<(), Finding> {
    [0, 1, FAR].into_iter().try_for_each(|more| nothing(manual_lane, SIZE as u64 + more))
}

fn hole(session: &Session<'_>, manual_lane: &mut ManualLane, recipe: &Recipe) -> Result<(), Finding> {
    let behind = SIZE + 5 * RECORD;
    write(manual_lane, NEW, behind, 100)?;
    let (backend, job) = reopened(session, recipe)?;
    let mut reading_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
    for offset in (SIZE..behind).step_by(RECORD) {
        expect(&mut reading_lane, offset as u64, &vec![0; RECORD.min(behind - offset)], None)?;
    }
    expect(&mut reading_lane, behind as u64, &contents(NEW, behind, 100), None)?;
    nothing(&mut reading_lane, behind as u64 + 100)?;
    Ok(reading_lane.close()?)
}

fn growth(session: &Session<'_>, manual_lane: &mut ManualLane, recipe: &Recipe) -> Result<(), Finding> {
    write(manual_lane, NEW, SIZE, 777)?;
    let (backend, job) = reopened(session, recipe)?;
    let mut reading_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
    for offset in (0..SIZE + 777).step_by(RECORD) {
        expect(&mut reading_lane, offset as u64, &contents(NEW, offset, RECORD.min(SIZE + 777 - offset)), None)?;
    }
    nothing(&mut reading_lane, SIZE as u64 + 777)?;
    Ok(reading_lane.close()?)
}

/// Empties the file as a sequential write phase does before it starts, and writes only a first record.
fn emptied(session: &Session<'_>, manual_lane: &mut ManualLane, recipe: &Recipe) -> Result<(), Finding> {
    let (backend, job) = reopened(session, recipe)?;
    make(backend.as_ref(), &job, Operation::Write)?;
    nothing(manual_lane, 0)?;
    write(manual_lane, OLD, 0, 100)?;
    let mut reading_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
    expect(&mut reading_lane, 0, &contents(OLD, 0, 100), Some(&contents(NEW, 0, 100)))?;
    for offset in [100, RECORD as u64, SIZE as u64 - 1] {
        nothing(&mut reading_lane, offset)?;
    }
    Ok(reading_lane.close()?)
}

fn reopened(session: &Session<'_>, recipe: &Recipe) -> Result<(std::sync::Arc<dyn assay_core::Backend>, Job), Finding> {
    session.open(&Recipe { reuse: true, ..recipe.clone() })
}

fn absent(session: &Session<'_>) -> Vec<Finding> {
    let recipe = recipe(session);
    session.run_and_clean_up(&recipe, |_| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        // Twice, since the first attempt must not have created it.
        for _ in 0..2 {
            match ManualLane::open(backend.as_ref(), &job, 0, Operation::Read, RECORD) {
                Err(error) if error.errno() == Some(libc::ENOENT) => {}
                Err(error) => {
                    let finding = Finding::new(Symptom::Name, "open", error.object);
                    return Err(finding.values("no such file", error.message));
                }
                Ok(manual_lane) => {
                    let finding = Finding::new(Symptom::Name, "open", manual_lane.object());
                    return Err(finding.values("no such file", "it was opened"));
                }
            }
        }
        Ok(())
    })
}

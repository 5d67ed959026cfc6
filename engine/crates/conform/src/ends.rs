//! Where files end: what is read there and beyond, what lies in a hole, what is left of what was cut off.

use crate::check::{Check, Subject};
use crate::data::{NEW, OLD};
use crate::finding::{Finding, Symptom};
use crate::flush::expect;
use crate::hand::{make, Hand};
use crate::job::Recipe;
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_spec::{BackendCapabilities, Job, Layout, Operation};
use std::collections::BTreeSet;

const RECORD: usize = 4096;
/// Bytes of the file: no multiple of anything.
const SIZE: usize = 3 * RECORD + 1234;
const FAR: u64 = 1 << 20;
/// Steps from the first record of a device to the last.
const STEPS: u64 = 64;
/// So many wrong records are told.
const MOST: usize = 3;

/// What is done, with an open lane and the job it is of.
type Script = fn(&Session<'_>, &mut Hand, &Recipe) -> Result<(), Finding>;

const SCRIPTS: [(&str, &str, Script); 5] = [
    ("the end", "a read across the end brings what is there, and its bytes", across),
    ("beyond the end", "a read at the end, or far beyond, brings nothing", beyond),
    ("holes", "what was never written reads as zeros", hole),
    ("growth", "a write at the end makes the file longer, and leaves the rest", growth),
    ("emptied files", "a file that is written anew has nothing of what it was", emptied),
];

/// All checks of this kind that make sense for what the storage can do: it must have files.
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

/// Files have sizes and can be made; a device has one size for good.
fn has_files(able: &BackendCapabilities) -> bool {
    able.layouts.contains(&Layout::Separate)
}

fn recipe(session: &Session<'_>) -> Recipe {
    Recipe::plain(2 * FAR, RECORD as u64).fitting(session.able())
}

fn contents(seed: u64, offset: usize, length: usize) -> Vec<u8> {
    Pattern::plain(seed).bytes(0, offset as u64, length)
}

/// Places all over a device, from the first record to the last: in even steps, and at powers of two, where addresses that
/// are cut off begin anew.
fn places(size: u64) -> BTreeSet<u64> {
    let record = RECORD as u64;
    let last = size / record - 1;
    let even = (0..=STEPS).map(|step| u128::from(last) * u128::from(step) / u128::from(STEPS));
    let powers = (0..64).map(|power| 1_u64 << power).take_while(|number| *number <= last);
    even.map(|number| number as u64).chain(powers).map(|number| number * record).collect()
}

/// Writes a record at each place, flushes, and reads all of them by another opening.
fn everywhere(session: &Session<'_>) -> Vec<Finding> {
    let size = session.able().place.as_ref().and_then(|place| place.free_bytes).unwrap_or(0);
    let (pattern, record) = (Pattern::plain(NEW), RECORD as u64);
    // Past the cache, in which all would be found.
    let direct = session.able().direct && record % session.able().direct_alignment_bytes.max(1) == 0;
    let recipe = Recipe { direct, ..Recipe::plain(size / record * record, record).fitting(session.able()) };
    session.and_tidy(&recipe, |findings| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        let mut hand = Hand::open(backend.as_ref(), &job, 0, Operation::RandomMix, RECORD)?;
        let object = hand.object().to_owned();
        let new = |symptom, action: &str, offset| Finding::new(symptom, action, &object).at(offset);
        for offset in places(size) {
            hand.write(offset, &pattern.bytes(0, offset, RECORD))
                .map_err(|failed| new(Symptom::Refused, "write", offset).values("no error", failed.to_string()))?;
        }
        hand.sync().map_err(|failed| new(Symptom::Refused, "sync", 0).values("no error", failed.to_string()))?;
        hand.close()?;
        let (backend, job) = session.open(&Recipe { reuse: true, ..recipe.clone() })?;
        let mut hand = Hand::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
        for offset in places(size) {
            let found = hand.read(offset, RECORD);
            let found =
                found.map_err(|failed| new(Symptom::Refused, "read", offset).values("no error", failed.to_string()))?;
            let wanted = pattern.bytes(0, offset, RECORD);
            if let Some(it) = compare(&wanted, &found, None, offset, false) {
                let values = (format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found));
                let finding = new(it.symptom, "read", offset + it.index as u64).values(values.0, values.1);
                // Which record it is instead tells where addresses are cut off.
                let other = places(size).into_iter().find(|other| pattern.bytes(0, *other, RECORD) == found);
                let remark = other.map_or(String::new(), |other| format!("it is what was written at {other}"));
                findings.push(finding.remark(&remark));
            }
        }
        hand.close()?;
        findings.truncate(MOST);
        Ok(())
    })
}

/// A file of `SIZE` bytes, made new, in which a script does its work.
fn with_file(session: &Session<'_>, script: Script) -> Vec<Finding> {
    let recipe = recipe(session);
    session.and_tidy(&recipe, |_| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        make(backend.as_ref(), &job, Operation::Write)?;
        let mut hand = Hand::open(backend.as_ref(), &job, 0, Operation::RandomMix, RECORD)?;
        for offset in (0..SIZE).step_by(RECORD) {
            write(&mut hand, NEW, offset, RECORD.min(SIZE - offset))?;
        }
        let found = script(session, &mut hand, &recipe);
        hand.close()?;
        found
    })
}

fn write(hand: &mut Hand, seed: u64, offset: usize, length: usize) -> Result<(), Finding> {
    let new = |symptom| Finding::new(symptom, "write", hand.object().to_owned()).at(offset as u64);
    let bytes = contents(seed, offset, length);
    let refused = new(Symptom::Refused);
    let short = new(Symptom::Length);
    match hand.write(offset as u64, &bytes) {
        Ok(taken) if taken == length as u64 => Ok(()),
        Ok(taken) => Err(short.values(format!("{length} bytes taken"), taken.to_string())),
        Err(failed) => Err(refused.values("no error", failed.to_string())),
    }
}

/// A read that should bring nothing.
fn nothing(hand: &mut Hand, offset: u64) -> Result<(), Finding> {
    let object = hand.object().to_owned();
    let new = |symptom| Finding::new(symptom, "read", object.clone()).at(offset);
    match hand.read(offset, RECORD) {
        Ok(bytes) if bytes.is_empty() => Ok(()),
        Ok(bytes) => Err(new(Symptom::Length).values("0 bytes", bytes.len().to_string())),
        Err(failed) => Err(new(Symptom::Refused).values("0 bytes", failed.to_string())),
    }
}

/// A read that begins before the end and would end behind it.
fn across(_: &Session<'_>, hand: &mut Hand, _: &Recipe) -> Result<(), Finding> {
    for there in [1, 100, 1234, RECORD - 1] {
        let offset = SIZE - there;
        let object = hand.object().to_owned();
        let new = |symptom| Finding::new(symptom, "read", object.clone()).at(offset as u64);
        match hand.read(offset as u64, RECORD) {
            Ok(bytes) if bytes.len() != there => {
                return Err(new(Symptom::Length).values(format!("{there} bytes"), bytes.len().to_string()));
            }
            Ok(_) => expect(hand, offset as u64, &contents(NEW, offset, there), None)?,
            Err(failed) => return Err(new(Symptom::Refused).values(format!("{there} bytes"), failed.to_string())),
        }
    }
    Ok(())
}

fn beyond(_: &Session<'_>, hand: &mut Hand, _: &Recipe) -> Result<(), Finding> {
    [0, 1, FAR].into_iter().try_for_each(|more| nothing(hand, SIZE as u64 + more))
}

fn hole(session: &Session<'_>, hand: &mut Hand, recipe: &Recipe) -> Result<(), Finding> {
    let behind = SIZE + 5 * RECORD;
    write(hand, NEW, behind, 100)?;
    let (backend, job) = reopened(session, recipe)?;
    let mut eye = Hand::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
    for offset in (SIZE..behind).step_by(RECORD) {
        expect(&mut eye, offset as u64, &vec![0; RECORD.min(behind - offset)], None)?;
    }
    expect(&mut eye, behind as u64, &contents(NEW, behind, 100), None)?;
    nothing(&mut eye, behind as u64 + 100)?;
    Ok(eye.close()?)
}

fn growth(session: &Session<'_>, hand: &mut Hand, recipe: &Recipe) -> Result<(), Finding> {
    write(hand, NEW, SIZE, 777)?;
    let (backend, job) = reopened(session, recipe)?;
    let mut eye = Hand::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
    for offset in (0..SIZE + 777).step_by(RECORD) {
        expect(&mut eye, offset as u64, &contents(NEW, offset, RECORD.min(SIZE + 777 - offset)), None)?;
    }
    nothing(&mut eye, SIZE as u64 + 777)?;
    Ok(eye.close()?)
}

/// The file is emptied as before each sequential write of a new file, and gets a first record only.
fn emptied(session: &Session<'_>, hand: &mut Hand, recipe: &Recipe) -> Result<(), Finding> {
    let (backend, job) = reopened(session, recipe)?;
    make(backend.as_ref(), &job, Operation::Write)?;
    nothing(hand, 0)?;
    write(hand, OLD, 0, 100)?;
    let mut eye = Hand::open(backend.as_ref(), &job, 0, Operation::Read, RECORD)?;
    expect(&mut eye, 0, &contents(OLD, 0, 100), Some(&contents(NEW, 0, 100)))?;
    for offset in [100, RECORD as u64, SIZE as u64 - 1] {
        nothing(&mut eye, offset)?;
    }
    Ok(eye.close()?)
}

fn reopened(session: &Session<'_>, recipe: &Recipe) -> Result<(std::sync::Arc<dyn assay_core::Backend>, Job), Finding> {
    session.open(&Recipe { reuse: true, ..recipe.clone() })
}

fn absent(session: &Session<'_>) -> Vec<Finding> {
    let recipe = recipe(session);
    session.and_tidy(&recipe, |_| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        // Twice: the first try shall not have made it.
        for _ in 0..2 {
            match Hand::open(backend.as_ref(), &job, 0, Operation::Read, RECORD) {
                Err(error) if error.errno() == Some(libc::ENOENT) => {}
                Err(error) => {
                    let finding = Finding::new(Symptom::Name, "open", error.object);
                    return Err(finding.values("no such file", error.message));
                }
                Ok(hand) => {
                    let finding = Finding::new(Symptom::Name, "open", hand.object());
                    return Err(finding.values("no such file", "it was opened"));
                }
            }
        }
        Ok(())
    })
}

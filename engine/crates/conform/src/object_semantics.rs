//! Checks the semantics of keys, one operation at a time: existing, replaced, missing, deleted and listed objects, and
//! objects stored in parts.

use crate::check::{Check, Subject};
use crate::data::NEW;
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::manual_lane::{Failed, Kind, ManualLane};
use crate::objects::PART;
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_core::LIST_PAGE;
use assay_spec::{Layout, Objects, Operation, SyncPolicy};

const SIZES: [u64; 6] = [0, 1, 511, 512, 4096, 65_537];
/// Size of the largest object: two parts and a short one.
const LARGEST: u64 = 2 * PART + 1;
const FEW: u64 = 10;
/// Numbers of objects that are listed in turn: none, few, one less than a page, a page, and more.
const LISTED: [u64; 7] = [0, 1, 2, 999, 1000, 1001, 2002];
/// The contents of consecutive objects begin this many bytes apart.
const SHIFT: usize = 97;
/// Ranges of an object of `RANGED` bytes, as offset and length.
const RANGES: [(u64, usize); 6] = [(0, 1), (0, 100), (1, 511), (4095, 2), (9_999, 1), (0, 10_000)];
const RANGED: u64 = 10_000;

type Script = fn(&mut Keys<'_>) -> Result<(), Finding>;

const SCRIPTS: [(&str, &str, &[Operation], u64, Script); 7] = [
    ("sizes", "an object has the size and the bytes it was put with", &[], 65_537, sizes),
    ("ranges", "bring the bytes that lie there", &[Operation::Head], RANGED, ranges),
    ("a key that is taken", "has what was put last, all of it", &[], 65_537, replaced),
    ("a key that is not there", "cannot be fetched or looked at", &[], 65_537, missing),
    ("a key that is given up", "is gone at once, and what has it anew is new", &[Operation::Delete], 65_537, given_up),
    (
        "listing",
        "lists as many keys as there are, page by page",
        &[Operation::List, Operation::MultiDelete],
        1,
        listing,
    ),
    ("parts", "an object is there when it is complete, with all of its parts", &[Operation::Head], LARGEST, parts),
];

/// All checks of key semantics that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let can = |operation: &Operation| able.operations.contains(operation);
    let mut all: Vec<Check> = Vec::new();
    for (name, expects, needs, largest, script) in SCRIPTS {
        if can(&Operation::Put) && can(&Operation::Get) && needs.iter().all(can) {
            let heads = can(&Operation::Head);
            let act = Box::new(move |session: &Session<'_>| with_keys(session, (largest, heads), script));
            all.push(Check { group: "objects", name: name.to_owned(), way: String::new(), expects, act });
        }
    }
    all
}

/// Keys of one lane. Another opening checks the results.
struct Keys<'a> {
    session: &'a Session<'a>,
    recipe: Recipe,
    manual_lane: ManualLane,
    contents: Vec<u8>,
    largest: usize,
    /// Whether the storage supports `Head`. Such stores also accept empty objects.
    heads: bool,
}

fn with_keys(session: &Session<'_>, (largest, heads): (u64, bool), script: Script) -> Vec<Finding> {
    let recipe = Recipe {
        seed: NEW,
        layout: Layout::Separate,
        sync: SyncPolicy::None,
        objects: Some(Objects { count: 1, part_size_bytes: heads.then_some(PART), batch: 1 }),
        // The phases do not matter, since the operations are executed one by one.
        phases: vec![phase(Operation::Put)],
        ..Recipe::plain(largest, largest)
    };
    session.run_and_clean_up(&recipe, |_| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        let largest = largest as usize;
        let manual_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Put, largest)?;
        let contents = Pattern::plain(NEW).bytes(0, 0, largest + SHIFT * 100);
        let mut keys = Keys { session, recipe: recipe.clone(), manual_lane, contents, largest, heads };
        let found = script(&mut keys);
        keys.manual_lane.close()?;
        found
    })
}

fn result_text(done: &Result<u64, Failed>) -> String {
    done.as_ref().map_or_else(ToString::to_string, ToString::to_string)
}

impl Keys<'_> {
    /// A second opening, with the same keys.
    fn other(&self, operation: Operation) -> Result<ManualLane, Finding> {
        let (backend, job) = self.session.open(&Recipe { reuse: true, ..self.recipe.clone() })?;
        Ok(ManualLane::open(backend.as_ref(), &job, 0, operation, self.largest)?)
    }

    fn finding(&self, symptom: Symptom, action: &str, number: u64) -> Finding {
        Finding::new(symptom, format!("{action} number {number}"), self.manual_lane.object())
    }

    /// The `size` bytes that put number `shift` stores.
    fn made(&self, shift: u64, size: u64) -> Vec<u8> {
        let from = SHIFT * shift as usize;
        self.contents[from..from + size as usize].to_vec()
    }

    fn put(&mut self, number: u64, shift: u64, size: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::Put, false)?;
        let contents = self.made(shift, size);
        let done = self.manual_lane.put(Kind::Put, number, 0, &contents);
        if matches!(done, Ok(taken) if taken == size) {
            return Ok(());
        }
        Err(self.finding(Symptom::Refused, "put", number).values(format!("{size} bytes"), result_text(&done)))
    }

    /// Runs an operation that must succeed and return the expected value.
    fn expect_success(
        &mut self,
        (operation, kind): (Operation, Kind),
        number: u64,
        (length, wanted): (u64, u64),
    ) -> Result<(), Finding> {
        self.manual_lane.switch_phase(operation, false)?;
        let done = self.manual_lane.object_of(kind, number, length);
        if matches!(done, Ok(found) if found == wanted) {
            return Ok(());
        }
        let symptom = match &done {
            Ok(_) if kind == Kind::Head => Symptom::Size,
            Ok(_) => Symptom::Undone,
            Err(failed) if failed.is_missing() => Symptom::Name,
            Err(_) => Symptom::Refused,
        };
        Err(self.finding(symptom, kind.name(), number).values(wanted.to_string(), result_text(&done)))
    }

    fn head(&mut self, number: u64, size: u64) -> Result<(), Finding> {
        if !self.heads {
            return Ok(());
        }
        self.expect_success((Operation::Head, Kind::Head), number, (size, size))
    }

    fn delete(&mut self, number: u64) -> Result<(), Finding> {
        self.expect_success((Operation::Delete, Kind::Delete), number, (0, 0))
    }

    /// Removes a thousand objects at once, starting at number `from`.
    fn remove_thousand(&mut self, from: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::MultiDelete, false)?;
        let done = self.manual_lane.several(Kind::MultiDelete, from, 1000);
        if matches!(done, Ok(0)) {
            return Ok(());
        }
        Err(self.finding(Symptom::Refused, "multi_delete", from).values("no error", result_text(&done)))
    }

    /// Checks the object through both openings.
    fn is(&mut self, number: u64, shift: u64, size: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::Get, false)?;
        let own = self.manual_lane.get(number, 0, self.largest);
        let mut other = self.other(Operation::Get)?;
        let others = other.get(number, 0, self.largest);
        other.close()?;
        let wanted = self.made(shift, size);
        for found in [own, others] {
            self.compare(number, 0, &found, &wanted)?;
        }
        Ok(())
    }

    fn compare(&self, number: u64, offset: u64, found: &Result<Vec<u8>, Failed>, wanted: &[u8]) -> Result<(), Finding> {
        let new = |symptom| self.finding(symptom, "get", number).at(offset);
        let length = format!("{} bytes", wanted.len());
        match found {
            Err(failed) if failed.is_missing() => Err(new(Symptom::Name).values(length, failed.to_string())),
            Err(failed) => Err(new(Symptom::Refused).values(length, failed.to_string())),
            Ok(bytes) if bytes.len() != wanted.len() => {
                Err(new(Symptom::Length).values(length, format!("{} bytes", bytes.len())))
            }
            Ok(bytes) => compare(wanted, bytes, None, 0, false).map_or(Ok(()), |it| {
                let (expected, found) = (format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found));
                Err(new(it.symptom).at(offset + it.index as u64).values(expected, found))
            }),
        }
    }

    /// Checks through both openings that there is no such object.
    fn is_missing(&mut self, number: u64) -> Result<(), Finding> {
        let mut other = self.other(Operation::Get)?;
        self.manual_lane.switch_phase(Operation::Get, false)?;
        let fetched = [self.manual_lane.get(number, 0, 1), other.get(number, 0, 1)];
        let mut looked = Vec::new();
        if self.heads {
            self.manual_lane.switch_phase(Operation::Head, false)?;
            other.switch_phase(Operation::Head, false)?;
            looked = vec![self.manual_lane.object_of(Kind::Head, number, 0), other.object_of(Kind::Head, number, 0)];
        }
        other.close()?;
        let fetched = fetched.map(|found| ("get", found.map(|bytes| bytes.len() as u64)));
        for (action, done) in fetched.into_iter().chain(looked.into_iter().map(|found| ("head", found))) {
            if !matches!(&done, Err(failed) if failed.is_missing()) {
                return Err(self.finding(Symptom::Name, action, number).values("no such key", result_text(&done)));
            }
        }
        Ok(())
    }

    /// Checks through both openings how many keys the pages list. Each page but the last must be full.
    fn listed(&mut self, wanted: u64) -> Result<(), Finding> {
        let mut other = self.other(Operation::List)?;
        self.manual_lane.switch_phase(Operation::List, false)?;
        for lister in [&mut self.manual_lane, &mut other] {
            let mut left = wanted;
            for page in 0..wanted.div_ceil(LIST_PAGE).max(1) {
                let done = lister.object_of(Kind::List, page, 0);
                let full = left.min(LIST_PAGE);
                if !matches!(done, Ok(count) if count == full) {
                    let symptom = if done.is_ok() { Symptom::Listing } else { Symptom::Refused };
                    let finding = Finding::new(symptom, format!("list page {page}"), lister.object());
                    return Err(finding.values(format!("{full} of {wanted} keys"), result_text(&done)));
                }
                left -= full;
            }
        }
        Ok(other.close()?)
    }
}

fn sizes(keys: &mut Keys<'_>) -> Result<(), Finding> {
    let least = u64::from(!keys.heads);
    let sizes = || (0..).zip(SIZES.map(|size| size.max(least)));
    for (number, size) in sizes() {
        keys.put(number, number, size)?;
    }
    for (number, size) in sizes() {
        keys.is(number, number, size)?;
        keys.head(number, size)?;
    }
    Ok(())
}

fn ranges(keys: &mut Keys<'_>) -> Result<(), Finding> {
    keys.put(0, 1, RANGED)?;
    keys.manual_lane.set_ranged(true)?;
    let whole = keys.made(1, RANGED);
    for (offset, length) in RANGES {
        let found = keys.manual_lane.get(0, offset, length);
        keys.compare(0, offset, &found, &whole[offset as usize..offset as usize + length])?;
    }
    Ok(keys.manual_lane.set_ranged(false)?)
}

fn replaced(keys: &mut Keys<'_>) -> Result<(), Finding> {
    for (shift, size) in (0..).zip([700, 65_537, 1, 2, 4096]) {
        keys.put(3, shift, size)?;
        keys.is(3, shift, size)?;
        keys.head(3, size)?;
    }
    Ok(())
}

fn missing(keys: &mut Keys<'_>) -> Result<(), Finding> {
    keys.put(0, 0, 1)?;
    (1..FEW).try_for_each(|number| keys.is_missing(number))?;
    keys.is(0, 0, 1)
}

fn given_up(keys: &mut Keys<'_>) -> Result<(), Finding> {
    for number in 0..FEW {
        keys.put(number, number, 700)?;
    }
    for number in (0..FEW).step_by(2) {
        keys.delete(number)?;
        keys.is_missing(number)?;
    }
    // Deleting a missing object succeeds, too.
    keys.delete(0)?;
    keys.put(2, 50, 5)?;
    keys.is(2, 50, 5)?;
    (1..FEW).step_by(2).try_for_each(|number| keys.is(number, number, 700))
}

fn listing(keys: &mut Keys<'_>) -> Result<(), Finding> {
    let mut there = 0;
    for count in LISTED {
        for number in there..count {
            keys.put(number, 0, 0)?;
        }
        there = count;
        keys.listed(there)?;
    }
    keys.remove_thousand(0)?;
    keys.listed(there - 1000)?;
    for number in [1000, there - 1] {
        keys.delete(number)?;
    }
    keys.listed(there - 1002)?;
    keys.remove_thousand(1001)?;
    keys.listed(0)
}

fn parts(keys: &mut Keys<'_>) -> Result<(), Finding> {
    let whole = keys.made(0, LARGEST);
    // Two uploads at once, one of which is never completed.
    keys.manual_lane.switch_phase(Operation::Put, false)?;
    for number in [0, 1] {
        let done = keys.manual_lane.object_of(Kind::StartUpload, number, 0);
        if done.is_err() {
            return Err(keys.finding(Symptom::Refused, "start_upload", number).values("no error", result_text(&done)));
        }
    }
    for (number, offset) in [(0, PART), (1, 0), (0, 2 * PART), (0, 0)] {
        let part = &whole[offset as usize..(offset + PART).min(LARGEST) as usize];
        let done = keys.manual_lane.put(Kind::PutPart, number, offset, part);
        if !matches!(done, Ok(taken) if taken == part.len() as u64) {
            let finding = keys.finding(Symptom::Refused, "put_part", number).at(offset);
            return Err(finding.values(format!("{} bytes", part.len()), result_text(&done)));
        }
    }
    let mut other = keys.other(Operation::Head)?;
    let early = other.object_of(Kind::Head, 0, 0);
    if !matches!(&early, Err(failed) if failed.is_missing()) {
        let finding = keys.finding(Symptom::Name, "head", 0).values("no such key", result_text(&early));
        return Err(finding.remark("its parts are stored, but it is not complete"));
    }
    other.close()?;
    let done = keys.manual_lane.object_of(Kind::CompleteUpload, 0, LARGEST);
    if !matches!(done, Ok(LARGEST)) {
        return Err(keys.finding(Symptom::Refused, "complete_upload", 0).values("no error", result_text(&done)));
    }
    keys.head(0, LARGEST)?;
    keys.is(0, 0, LARGEST)?;
    keys.is_missing(1)
}

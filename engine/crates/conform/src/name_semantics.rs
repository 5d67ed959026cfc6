//! Checks the semantics of names, one operation at a time: existing, missing, replaced, removed and listed names.

use crate::check::{Check, Subject};
use crate::data::NEW;
use crate::finding::{Finding, Symptom};
use crate::job::{phase, Recipe};
use crate::manual_lane::{make, Failed, Kind, ManualLane};
use crate::pattern::{compare, Pattern};
use crate::session::Session;
use assay_spec::{Operation, SyncPolicy, Tree};
use std::collections::BTreeMap;

/// Size of the largest file.
const LARGEST: usize = 65_537;
const SIZES: [u64; 6] = [0, 1, 511, 512, 4096, LARGEST as u64];
/// Numbers of names a directory has in turn: none, few, and more than one call returns.
const LISTED: [u64; 5] = [0, 1, 2, 61, 1000];
const FEW: u64 = 10;
/// The contents of consecutive files begin this many bytes apart in `contents`, in `SHIFTS` different places.
const SHIFT: usize = 97;
const SHIFTS: usize = 61;

/// An operation, and its kind.
type Act = (Operation, Kind);
type Script = fn(&mut Names<'_>) -> Result<(), Finding>;

const SCRIPTS: [(&str, &str, &[Operation], Script); 7] = [
    ("sizes", "a file has the size and the bytes it was made with", &[Operation::Stat], sizes),
    ("a name that is taken", "is not made again, and its file stays as it was", &[Operation::Stat], taken),
    ("a name that is not there", "cannot be looked at, opened, renamed or removed", &[Operation::Unlink], missing),
    ("a name that is given up", "is gone at once, and what has it anew is new", &[Operation::Unlink], given_up),
    (
        "renaming",
        "moves the file with its bytes, and takes the place of another",
        &[Operation::Rename, Operation::Stat],
        renaming,
    ),
    ("directories", "can be made once and removed once", &[Operation::Mkdir, Operation::Rmdir], directories),
    ("listing", "lists as many names as there are, whoever lists", &[Operation::Readdir, Operation::Unlink], listing),
];

/// All checks of name semantics that apply to what the storage can do.
pub(crate) fn checks(subject: &dyn Subject) -> Vec<Check> {
    let able = subject.capabilities();
    let can = |operation: &Operation| able.operations.contains(operation);
    let mut all: Vec<Check> = Vec::new();
    for (name, expects, needs, script) in SCRIPTS {
        if can(&Operation::Create) && needs.iter().all(can) {
            let act = Box::new(move |session: &Session<'_>| with_names(session, script));
            all.push(Check { group: "names", name: name.to_owned(), way: String::new(), expects, act });
        }
    }
    all
}

/// Names in one directory, with the lane that works on them. Another opening checks the results.
struct Names<'a> {
    session: &'a Session<'a>,
    recipe: Recipe,
    manual_lane: ManualLane,
    contents: Vec<u8>,
    /// Number of a file -> offset in `contents` of the data it was created with last.
    shifts: BTreeMap<u64, usize>,
    created: usize,
}

/// Makes an empty tree, runs a script in it, and removes what the script has left, name by name. A directory that does
/// not list all of its names could not be removed otherwise.
fn with_names(session: &Session<'_>, script: Script) -> Vec<Finding> {
    let tree = Tree { files: *LISTED.last().unwrap_or(&1), depth: 0, width: 1, more: 0, inner: false };
    let (sync, largest) = (SyncPolicy::None, LARGEST as u64);
    // The phases do not matter, since the operations are executed one by one.
    let phases = vec![phase(Operation::Mkdir)];
    let recipe =
        Recipe { seed: NEW, sync, tree: Some(tree), phases, ..Recipe::plain(largest, largest) }.fitting(session.able());
    session.run_and_clean_up(&recipe, |_| {
        let (backend, job) = session.open(&recipe)?;
        backend.prepare()?;
        make(backend.as_ref(), &job, Operation::Create)?;
        let manual_lane = ManualLane::open(backend.as_ref(), &job, 0, Operation::Create, LARGEST)?;
        let contents = Pattern::plain(NEW).bytes(0, 0, LARGEST + SHIFT * SHIFTS);
        let (shifts, created) = (BTreeMap::new(), 0);
        let mut names = Names { session, recipe: recipe.clone(), manual_lane, contents, shifts, created };
        let found = script(&mut names);
        names.remove_all();
        names.manual_lane.close()?;
        found
    })
}

impl Names<'_> {
    /// A second opening, with the same names.
    fn other(&self, operation: Operation) -> Result<ManualLane, Finding> {
        let (backend, job) = self.session.open(&Recipe { reuse: true, ..self.recipe.clone() })?;
        Ok(ManualLane::open(backend.as_ref(), &job, 0, operation, LARGEST)?)
    }

    fn finding(&self, symptom: Symptom, action: &str, number: u64) -> Finding {
        Finding::new(symptom, format!("{action} number {number}"), self.manual_lane.object())
    }

    fn made(&self, shift: usize, size: u64) -> &[u8] {
        &self.contents[shift..shift + size as usize]
    }

    /// Creates a file of this size, with contents that differ from those of earlier files.
    fn create(&mut self, number: u64, size: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::Create, false)?;
        self.created += 1;
        let shift = SHIFT * (self.created % SHIFTS);
        self.shifts.insert(number, shift);
        let contents = self.made(shift, size).to_vec();
        match self.manual_lane.create(number, &contents) {
            Ok(taken) if taken == size => Ok(()),
            done => {
                Err(self.finding(Symptom::Refused, "create", number).values(format!("{size} bytes"), result_text(done)))
            }
        }
    }

    /// Runs an operation on each name and expects it to succeed.
    fn each(&mut self, what: Act, renamed: bool, numbers: impl IntoIterator<Item = u64>) -> Result<(), Finding> {
        let (operation, kind) = what;
        self.manual_lane.switch_phase(operation, renamed)?;
        for number in numbers {
            if let Err(failed) = self.manual_lane.name(kind, number) {
                let symptom = if failed.is_missing() || failed.is_taken() { Symptom::Name } else { Symptom::Refused };
                let finding = self.finding(symptom, operation.name(), number);
                return Err(finding.values("no error", failed.to_string()));
            }
        }
        Ok(())
    }

    /// Runs an operation on each name and expects that there is no such name.
    fn none(&mut self, what: Act, renamed: bool, numbers: impl IntoIterator<Item = u64>) -> Result<(), Finding> {
        let (operation, kind) = what;
        self.manual_lane.switch_phase(operation, renamed)?;
        for number in numbers {
            match self.manual_lane.name(kind, number) {
                Err(failed) if failed.is_missing() => {}
                done => {
                    let finding = self.finding(Symptom::Name, operation.name(), number);
                    return Err(finding.values("no such name", result_text(done)));
                }
            }
        }
        Ok(())
    }

    /// Checks size and contents of a file through both openings.
    fn is(&mut self, number: u64, renamed: bool, wanted: u64) -> Result<(), Finding> {
        self.contents(number, renamed, wanted).and_then(|()| self.size(number, renamed, wanted))
    }

    fn contents(&mut self, number: u64, renamed: bool, wanted: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::Open, renamed)?;
        let own = self.manual_lane.read(number, LARGEST);
        let mut other = self.other(Operation::Open)?;
        other.switch_phase(Operation::Open, renamed)?;
        let others = other.read(number, LARGEST);
        other.close()?;
        let wanted = self.made(self.shifts.get(&number).copied().unwrap_or_default(), wanted);
        let about = (self.manual_lane.object(), number);
        [own, others].iter().find_map(|found| differs(about, found, wanted, false)).map_or(Ok(()), Err)
    }

    /// Checks the size of a file through both openings.
    fn size(&mut self, number: u64, renamed: bool, wanted: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::Stat, renamed)?;
        let own = self.manual_lane.name(Kind::Stat, number);
        let mut other = self.other(Operation::Stat)?;
        other.switch_phase(Operation::Stat, renamed)?;
        let others = other.name(Kind::Stat, number);
        other.close()?;
        for reported in [own, others] {
            let symptom = match reported {
                Ok(size) if size == wanted => continue,
                Ok(_) => Symptom::Size,
                Err(failed) if failed.is_missing() => Symptom::Name,
                Err(_) => Symptom::Refused,
            };
            return Err(self.finding(symptom, "stat", number).values(format!("{wanted} bytes"), result_text(reported)));
        }
        Ok(())
    }

    /// Checks through both openings how many names are listed.
    fn listed(&mut self, wanted: u64) -> Result<(), Finding> {
        self.manual_lane.switch_phase(Operation::Readdir, false)?;
        let own = self.manual_lane.name(Kind::Readdir, 0);
        let mut other = self.other(Operation::Readdir)?;
        let others = other.name(Kind::Readdir, 0);
        other.close()?;
        for listed in [own, others] {
            if listed != Ok(wanted) {
                let symptom = if listed.is_ok() { Symptom::Listing } else { Symptom::Refused };
                let finding = Finding::new(symptom, "readdir", self.manual_lane.object());
                return Err(finding.values(format!("{wanted} names"), result_text(listed)));
            }
        }
        Ok(())
    }

    /// Removes all names that are left.
    fn remove_all(&mut self) {
        let all = self.recipe.tree.as_ref().map_or(0, |tree| tree.files);
        for (operation, kind, renamed) in [
            (Operation::Unlink, Kind::Unlink, false),
            (Operation::Unlink, Kind::Unlink, true),
            (Operation::Rmdir, Kind::Rmdir, false),
        ] {
            let few = if operation == Operation::Unlink && !renamed { all } else { 2 * FEW };
            if self.manual_lane.switch_phase(operation, renamed).is_ok() {
                for number in 0..few {
                    let _ = self.manual_lane.name(kind, number);
                }
            }
        }
    }
}

/// Compares the contents of the small file with this number. For `numbered` see [`compare`].
pub(crate) fn differs(
    (object, number): (&str, u64),
    found: &Result<Vec<u8>, Failed>,
    wanted: &[u8],
    numbered: bool,
) -> Option<Finding> {
    let new = |symptom, expected: String, found: String| {
        Finding::new(symptom, format!("read number {number}"), object).values(expected, found)
    };
    let length = format!("{} bytes", wanted.len());
    match found {
        Err(failed) if failed.is_missing() => Some(new(Symptom::Name, length, failed.to_string())),
        Err(failed) => Some(new(Symptom::Refused, length, failed.to_string())),
        Ok(bytes) if bytes.len() != wanted.len() => Some(new(Symptom::Contents, length, bytes.len().to_string())),
        Ok(bytes) => compare(wanted, bytes, None, 0, numbered).map(|it| {
            let symptom = if it.symptom == Symptom::Corrupt { Symptom::Contents } else { it.symptom };
            new(symptom, format!("0x{:02x}", it.expected), format!("0x{:02x}", it.found)).at(it.index as u64)
        }),
    }
}

const STAT: Act = (Operation::Stat, Kind::Stat);
const OPEN: Act = (Operation::Open, Kind::Open);
const RENAME: Act = (Operation::Rename, Kind::Rename);
const UNLINK: Act = (Operation::Unlink, Kind::Unlink);
const MKDIR: Act = (Operation::Mkdir, Kind::Mkdir);
const RMDIR: Act = (Operation::Rmdir, Kind::Rmdir);

fn result_text(done: Result<u64, Failed>) -> String {
    done.map_or_else(|failed| failed.to_string(), |number| number.to_string())
}

fn sizes(names: &mut Names<'_>) -> Result<(), Finding> {
    for (number, size) in (0..).zip(SIZES) {
        names.create(number, size)?;
    }
    for (number, size) in (0..).zip(SIZES) {
        names.is(number, false, size)?;
    }
    Ok(())
}

fn taken(names: &mut Names<'_>) -> Result<(), Finding> {
    for number in 0..FEW {
        names.create(number, 700)?;
    }
    names.manual_lane.switch_phase(Operation::Create, false)?;
    for number in 0..FEW {
        match names.manual_lane.create(number, &names.contents[..100]) {
            Err(failed) if failed.is_taken() => {}
            done => {
                return Err(names
                    .finding(Symptom::Name, "create", number)
                    .values("such a name exists", result_text(done)))
            }
        }
    }
    (0..FEW).try_for_each(|number| names.is(number, false, 700))
}

fn missing(names: &mut Names<'_>) -> Result<(), Finding> {
    names.create(0, 1)?;
    for what in [STAT, OPEN, RENAME, UNLINK, RMDIR] {
        names.none(what, false, 1..FEW)?;
    }
    names.is(0, false, 1)
}

fn given_up(names: &mut Names<'_>) -> Result<(), Finding> {
    for number in 0..FEW {
        names.create(number, 700)?;
    }
    names.each(UNLINK, false, (0..FEW).step_by(2))?;
    names.none(STAT, false, (0..FEW).step_by(2))?;
    names.none(OPEN, false, (0..FEW).step_by(2))?;
    names.each(OPEN, false, (1..FEW).step_by(2))?;
    names.create(2, 5)?;
    names.is(2, false, 5)?;
    names.is(3, false, 700)
}

fn renaming(names: &mut Names<'_>) -> Result<(), Finding> {
    for number in 0..FEW {
        names.create(number, 700 + number)?;
    }
    names.each(RENAME, false, (0..FEW).step_by(2))?;
    names.none(STAT, false, (0..FEW).step_by(2))?;
    names.none(STAT, true, (1..FEW).step_by(2))?;
    for number in (0..FEW).step_by(2) {
        names.is(number, true, 700 + number)?;
    }
    // A second file of the same name replaces the first one.
    names.create(4, 33)?;
    names.each(RENAME, false, [4])?;
    names.is(4, true, 33)?;
    names.none(STAT, false, [4])?;
    names.each(RENAME, true, [6])?;
    names.is(6, false, 706)
}

fn directories(names: &mut Names<'_>) -> Result<(), Finding> {
    names.each(MKDIR, false, 0..FEW)?;
    for number in 0..FEW {
        match names.manual_lane.name(Kind::Mkdir, number) {
            Err(failed) if failed.is_taken() => {}
            done => {
                return Err(names
                    .finding(Symptom::Name, "mkdir", number)
                    .values("such a name exists", result_text(done)))
            }
        }
    }
    names.each(RMDIR, false, 0..FEW)?;
    names.none(RMDIR, false, 0..FEW)?;
    names.each(MKDIR, false, [0])?;
    names.each(RMDIR, false, [0])
}

fn listing(names: &mut Names<'_>) -> Result<(), Finding> {
    let mut there = 0;
    for count in LISTED {
        for number in there..count {
            names.create(number, 0)?;
        }
        there = count;
        names.listed(there)?;
    }
    names.each(UNLINK, false, (0..there).step_by(2))?;
    names.listed(there / 2)?;
    names.each(UNLINK, false, (1..there).step_by(2))?;
    names.listed(0)
}

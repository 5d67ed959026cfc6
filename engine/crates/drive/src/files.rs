//! Which file of a tree is opened next, and which of its records come then: the steps of operations on a set of files.
//!
//! Of the files only those are kept that a mix has removed: their order is computed, and so are their sizes, from the
//! number of each.

use crate::pattern::{Contents, Mixed, Step};
use assay_core::permutation::Permutation;
use assay_core::random::mix2;
use assay_core::{OpKind, OPEN_TO_READ};
use assay_spec::{data_kinds, name_kinds, object_kinds};
use std::collections::BTreeSet;

/// What is done to files.
#[derive(Clone)]
pub(crate) enum Deed {
    /// The same to each record.
    One(OpKind),
    /// To each record one of several.
    Mixed(Box<Mixed>),
    /// To each file one of several.
    Turns(Box<Turns>),
}

/// What is done to one file after the other of a mix, and which of them are missing. At most half are, or the only one.
#[derive(Clone)]
pub(crate) struct Turns {
    mixed: Box<Mixed>,
    seed: u64,
    /// Turns so far.
    taken: u64,
    /// Those that were removed and not made again.
    missing: BTreeSet<u64>,
    /// The next place in the order of the files, and how often that was gone through.
    place: u64,
    round: u64,
    order: Option<Permutation>,
}

impl Turns {
    pub(crate) fn new(mixed: Box<Mixed>, seed: u64) -> Self {
        Turns { mixed, seed, taken: 0, missing: BTreeSet::new(), place: 0, round: 0, order: None }
    }

    /// What is done next, and to which of so many files, at least one. Where nothing is missing a file is removed in place
    /// of one that would be made, and the other way round where too many are.
    fn next(&mut self, files: u64, random: bool) -> (OpKind, u64) {
        self.taken += 1;
        let missing = self.missing.len() as u64;
        let drawn = self.mixed.kind(self.taken);
        let too_many = missing > 0 && missing * 2 >= files;
        let kind = if drawn == OpKind::Create && missing == 0 {
            OpKind::Unlink
        } else if missing == files || drawn == OpKind::Unlink && too_many {
            OpKind::Create
        } else {
            drawn
        };
        if kind == OpKind::Create {
            if let Some(file) = self.missing.pop_first() {
                return (kind, file);
            }
        }
        loop {
            let file = self.next_place(files, random);
            if !self.missing.contains(&file) {
                return (kind, file);
            }
        }
    }

    fn next_place(&mut self, files: u64, random: bool) -> u64 {
        if self.place == files {
            (self.place, self.round) = (0, self.round + 1);
        }
        if random && self.place == 0 {
            self.order = Some(Permutation::new(files, mix2(self.seed, self.round)));
        }
        self.place += 1;
        self.order.as_ref().map_or(self.place - 1, |order| order.at(self.place - 1))
    }
}

/// How a phase goes over a set of files.
#[derive(Clone)]
pub(crate) struct Manner {
    pub(crate) deed: Deed,
    /// Bytes of a record; the last one of a file may be shorter.
    pub(crate) record: u64,
    /// The files come in random order.
    pub(crate) random_files: bool,
    /// The records of each file come in random order.
    pub(crate) random_records: bool,
    /// What was written to a file is made stable before it is closed.
    pub(crate) flushes: bool,
    /// The phase goes over the files until its time is over.
    pub(crate) again: bool,
    /// Of everything that is random.
    pub(crate) seed: u64,
}

/// A file that is open.
#[derive(Clone)]
struct Open {
    file: u64,
    /// What is done to all of its records, in a mix of files.
    kind: OpKind,
    size: u64,
    records: u64,
    /// Records that were handed out.
    next: u64,
    order: Option<Permutation>,
    written: bool,
    flushed: bool,
}

/// The steps of one lane in one phase on its files: open, records, close, file after file.
#[derive(Clone)]
pub(crate) struct FileSteps {
    manner: Manner,
    files: u64,
    contents: Contents,
    order: Option<Permutation>,
    open: Option<Open>,
    /// Files that were begun in this pass, and the number of the pass.
    begun: u64,
    pass: u64,
    /// Records handed out.
    drawn: u64,
    /// Something has failed on the file that is open.
    failed: bool,
    /// So many of the files, the first ones, were gone through whole and without failure.
    whole: u64,
    steps: u64,
    records: u64,
    bytes: u64,
}

impl FileSteps {
    /// The steps on files 0 to `files` of the lane.
    pub(crate) fn new(manner: Manner, files: u64, contents: Contents) -> Self {
        let (records, bytes) = contents.records_and_bytes(files, manner.record);
        let each = if manner.flushes { 3 } else { 2 };
        let steps = match &manner.deed {
            // Which files come how often is not known before.
            Deed::Turns(_) => files.saturating_mul(contents.largest().div_ceil(manner.record).saturating_add(each)),
            Deed::One(_) | Deed::Mixed(_) => records.saturating_add(files.saturating_mul(each)),
        };
        let mut steps = FileSteps {
            steps,
            manner,
            files,
            contents,
            order: None,
            open: None,
            begun: 0,
            pass: 0,
            drawn: 0,
            failed: false,
            whole: 0,
            records,
            bytes,
        };
        steps.order = steps.order_of_pass();
        steps
    }

    fn order_of_pass(&self) -> Option<Permutation> {
        (self.manner.random_files && self.files > 0)
            .then(|| Permutation::new(self.files, mix2(self.manner.seed, self.pass)))
    }

    /// Steps of one pass, at most: a file to which nothing was written is not flushed.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Records of one pass.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of one pass.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Kinds that may come, flushes aside.
    pub(crate) fn kinds(&self) -> Vec<OpKind> {
        let mut kinds = match &self.manner.deed {
            Deed::One(kind) => BTreeSet::from([*kind]),
            Deed::Mixed(mixed) => mixed.all(),
            Deed::Turns(turns) => turns.mixed.all(),
        };
        kinds.extend([OpKind::Open, OpKind::Close]);
        if kinds.contains(&OpKind::Create) {
            // The contents of what is made.
            kinds.insert(OpKind::Write);
        }
        kinds.into_iter().collect()
    }

    /// How many of the lane's files, the first ones, are known to have been gone through whole and without failure.
    pub(crate) fn whole(&self) -> u64 {
        if let Deed::Turns(_) = self.manner.deed {
            return 0;
        }
        // A phase that is over has cut short what it has left open.
        let whole = self.open.as_ref().map_or(self.whole, |open| self.whole.min(open.file));
        let known = !self.manner.random_files || (whole == self.files && self.open.is_none());
        if known {
            whole
        } else {
            0
        }
    }

    /// The next step; none if there is no more to do.
    pub(crate) fn next_step(&mut self) -> Option<Step> {
        let Some(open) = &mut self.open else { return self.next_file() };
        let step = |kind, file, offset, length| Some(Step { kind, count: 1, object: file, offset, length });
        if open.next < open.records {
            let record = open.order.as_ref().map_or(open.next, |order| order.at(open.next));
            open.next += 1;
            self.drawn += 1;
            let kind = match &self.manner.deed {
                Deed::One(kind) => *kind,
                Deed::Mixed(mixed) => mixed.kind(self.drawn),
                Deed::Turns(_) => open.kind,
            };
            open.written |= kind == OpKind::Write;
            let offset = record * self.manner.record;
            return step(kind, open.file, offset, self.manner.record.min(open.size - offset));
        }
        if self.manner.flushes && open.written && !open.flushed {
            open.flushed = true;
            return step(OpKind::Sync, open.file, 0, 0);
        }
        let file = open.file;
        self.open = None;
        step(OpKind::Close, file, 0, 0)
    }

    fn next_file(&mut self) -> Option<Step> {
        if self.begun == self.files {
            if !self.manner.again || self.files == 0 {
                return None;
            }
            (self.begun, self.pass) = (0, self.pass + 1);
            self.order = self.order_of_pass();
        }
        let (kind, file) = match &mut self.manner.deed {
            Deed::Turns(turns) => turns.next(self.files, self.manner.random_files),
            Deed::One(_) | Deed::Mixed(_) => {
                (OpKind::Open, self.order.as_ref().map_or(self.begun, |order| order.at(self.begun)))
            }
        };
        self.begun += 1;
        self.failed = false;
        let size = self.contents.of(file);
        if let OpKind::Stat | OpKind::Unlink = kind {
            let length = if kind == OpKind::Stat { size } else { 0 };
            return Some(Step { kind, count: 1, object: file, offset: 0, length });
        }
        let records = size.div_ceil(self.manner.record);
        let order = (self.manner.random_records && records > 0)
            .then(|| Permutation::new(records, mix2(mix2(!self.manner.seed, self.pass), file)));
        let (opens, each) = if kind == OpKind::Create { (kind, OpKind::Write) } else { (OpKind::Open, kind) };
        let offset = if kind == OpKind::Read { OPEN_TO_READ } else { 0 };
        self.open = Some(Open { file, kind: each, size, records, next: 0, order, written: false, flushed: false });
        Some(Step { kind: opens, count: 1, object: file, offset, length: 0 })
    }

    /// A step has ended. A file that could not be opened is left out.
    pub(crate) fn ended(&mut self, step: &Step, well: bool) {
        self.failed |= !well;
        if !well {
            self.whole = self.whole.min(step.object);
        }
        match step.kind {
            OpKind::Open if !well => self.open = None,
            OpKind::Create if !well => {
                self.open = None;
                self.lacks(step.object);
            }
            OpKind::Unlink if well => self.lacks(step.object),
            OpKind::Close if !self.failed && self.pass == 0 => self.note_whole(step.object),
            data_kinds!() | name_kinds!() | object_kinds!() => {}
        }
    }

    /// A file of a mix was removed, or could not be made.
    fn lacks(&mut self, file: u64) {
        if let Deed::Turns(turns) = &mut self.manner.deed {
            turns.missing.insert(file);
        }
    }

    /// A file was gone through. In random order it is not known which ones are whole before all are.
    fn note_whole(&mut self, file: u64) {
        if self.manner.random_files || file == self.whole {
            self.whole += 1;
        }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

//! Which file of a tree is opened next, and which of its records come then: the steps of operations on a set of files.
//!
//! Only the files that a mix has removed are stored: the order and sizes of files are computed from their numbers.

use crate::pattern::{Contents, Mixed, Step};
use assay_core::permutation::Permutation;
use assay_core::random::mix2;
use assay_core::{OpKind, OPEN_TO_READ};
use assay_spec::{data_kinds, name_kinds, object_kinds, program_kinds};
use std::collections::BTreeSet;

/// What a phase does to files.
#[derive(Clone)]
pub(crate) enum FileAction {
    /// The same operation on each record.
    Uniform(OpKind),
    /// One of several operations on each record.
    MixedRecords(Box<Mixed>),
    /// One of several operations on each file.
    MixedFiles(Box<FileMix>),
}

/// The operations on one file after the other in a mix, and which files are missing: at most half of them, or the only
/// one.
#[derive(Clone)]
pub(crate) struct FileMix {
    mixed: Box<Mixed>,
    seed: u64,
    /// Operations so far.
    turn_count: u64,
    /// Removed files that were not created again.
    missing: BTreeSet<u64>,
    /// The next position in the order of the files, and the number of passes through it.
    place: u64,
    round: u64,
    order: Option<Permutation>,
}

impl FileMix {
    pub(crate) fn new(mixed: Box<Mixed>, seed: u64) -> Self {
        FileMix { mixed, seed, turn_count: 0, missing: BTreeSet::new(), place: 0, round: 0, order: None }
    }

    /// The next operation, and the number of its file among `files`, at least one. If nothing is missing, a file is
    /// removed instead of created, and the other way round if too many are missing.
    fn next(&mut self, files: u64, random: bool) -> (OpKind, u64) {
        self.turn_count += 1;
        let missing = self.missing.len() as u64;
        let drawn = self.mixed.kind(self.turn_count);
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

/// How a phase processes a set of files.
#[derive(Clone)]
pub(crate) struct FileSettings {
    pub(crate) action: FileAction,
    /// Bytes of a record; the last one of a file may be shorter.
    pub(crate) record: u64,
    /// The files come in random order.
    pub(crate) random_files: bool,
    /// The records of each file come in random order.
    pub(crate) random_records: bool,
    /// Written data is made stable before a file is closed.
    pub(crate) flushes: bool,
    /// The phase repeats the files until its time is over.
    pub(crate) repeats: bool,
    /// Seed of everything that is random.
    pub(crate) seed: u64,
}

/// An open file.
#[derive(Clone)]
struct Open {
    file: u64,
    /// The operation on all records, in a mix of files.
    kind: OpKind,
    size: u64,
    records: u64,
    /// Records that were issued.
    next: u64,
    order: Option<Permutation>,
    written: bool,
    flushed: bool,
}

/// The steps of one lane in one phase on its files: open, records, close, file after file.
#[derive(Clone)]
pub(crate) struct FileSteps {
    settings: FileSettings,
    files: u64,
    contents: Contents,
    order: Option<Permutation>,
    open: Option<Open>,
    /// Files begun in this pass, and the number of the pass.
    begun: u64,
    pass: u64,
    /// Records issued in all passes.
    drawn_records: u64,
    /// An operation on the open file has failed.
    failed: bool,
    /// Number of files, the first ones, that were processed completely and without failure.
    whole: u64,
    steps: u64,
    records: u64,
    bytes: u64,
}

impl FileSteps {
    /// The steps on files 0 to `files` of the lane.
    pub(crate) fn new(settings: FileSettings, files: u64, contents: Contents) -> Self {
        let (records, bytes) = contents.records_and_bytes(files, settings.record);
        let each = if settings.flushes { 3 } else { 2 };
        let steps = match &settings.action {
            // How often each file comes is not known beforehand.
            FileAction::MixedFiles(_) => {
                files.saturating_mul(contents.largest().div_ceil(settings.record).saturating_add(each))
            }
            FileAction::Uniform(_) | FileAction::MixedRecords(_) => records.saturating_add(files.saturating_mul(each)),
        };
        let mut steps = FileSteps {
            steps,
            settings,
            files,
            contents,
            order: None,
            open: None,
            begun: 0,
            pass: 0,
            drawn_records: 0,
            failed: false,
            whole: 0,
            records,
            bytes,
        };
        steps.order = steps.order_of_pass();
        steps
    }

    fn order_of_pass(&self) -> Option<Permutation> {
        (self.settings.random_files && self.files > 0)
            .then(|| Permutation::new(self.files, mix2(self.settings.seed, self.pass)))
    }

    /// Steps of one pass, at most: a file that was not written is not flushed.
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

    /// Kinds of operations that may occur, except flushes.
    pub(crate) fn kinds(&self) -> Vec<OpKind> {
        let mut kinds = match &self.settings.action {
            FileAction::Uniform(kind) => BTreeSet::from([*kind]),
            FileAction::MixedRecords(mixed) => mixed.all(),
            FileAction::MixedFiles(file_mix) => file_mix.mixed.all(),
        };
        kinds.extend([OpKind::Open, OpKind::Close]);
        if kinds.contains(&OpKind::Create) {
            // The contents of created files.
            kinds.insert(OpKind::Write);
        }
        kinds.into_iter().collect()
    }

    /// Number of the lane's files, the first ones, that are known to have been processed completely and without
    /// failure.
    pub(crate) fn whole(&self) -> u64 {
        if let FileAction::MixedFiles(_) = self.settings.action {
            return 0;
        }
        // A file that is still open at the end of the phase was cut short.
        let whole = self.open.as_ref().map_or(self.whole, |open| self.whole.min(open.file));
        let known = !self.settings.random_files || (whole == self.files && self.open.is_none());
        if known {
            whole
        } else {
            0
        }
    }

    /// The next step; None if there is no more to do.
    pub(crate) fn next_step(&mut self) -> Option<Step> {
        let Some(open) = &mut self.open else { return self.next_file() };
        let step = |kind, file, offset, length| Some(Step { kind, count: 1, object: file, offset, length });
        if open.next < open.records {
            let record = open.order.as_ref().map_or(open.next, |order| order.at(open.next));
            open.next += 1;
            self.drawn_records += 1;
            let kind = match &self.settings.action {
                FileAction::Uniform(kind) => *kind,
                FileAction::MixedRecords(mixed) => mixed.kind(self.drawn_records),
                FileAction::MixedFiles(_) => open.kind,
            };
            open.written |= kind == OpKind::Write;
            let offset = record * self.settings.record;
            return step(kind, open.file, offset, self.settings.record.min(open.size - offset));
        }
        if self.settings.flushes && open.written && !open.flushed {
            open.flushed = true;
            return step(OpKind::Sync, open.file, 0, 0);
        }
        let file = open.file;
        self.open = None;
        step(OpKind::Close, file, 0, 0)
    }

    fn next_file(&mut self) -> Option<Step> {
        if self.begun == self.files {
            if !self.settings.repeats || self.files == 0 {
                return None;
            }
            (self.begun, self.pass) = (0, self.pass + 1);
            self.order = self.order_of_pass();
        }
        let (kind, file) = match &mut self.settings.action {
            FileAction::MixedFiles(file_mix) => file_mix.next(self.files, self.settings.random_files),
            FileAction::Uniform(_) | FileAction::MixedRecords(_) => {
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
        let records = size.div_ceil(self.settings.record);
        let order = (self.settings.random_records && records > 0)
            .then(|| Permutation::new(records, mix2(mix2(!self.settings.seed, self.pass), file)));
        let (opens, each) = if kind == OpKind::Create { (kind, OpKind::Write) } else { (OpKind::Open, kind) };
        let offset = if kind == OpKind::Read { OPEN_TO_READ } else { 0 };
        self.open = Some(Open { file, kind: each, size, records, next: 0, order, written: false, flushed: false });
        Some(Step { kind: opens, count: 1, object: file, offset, length: 0 })
    }

    /// Note that a step has ended. A file that could not be opened is skipped.
    pub(crate) fn on_end(&mut self, step: &Step, well: bool) {
        self.failed |= !well;
        if !well {
            self.whole = self.whole.min(step.object);
        }
        match step.kind {
            OpKind::Open if !well => self.open = None,
            OpKind::Create if !well => {
                self.open = None;
                self.mark_missing(step.object);
            }
            OpKind::Unlink if well => self.mark_missing(step.object),
            OpKind::Close if !self.failed && self.pass == 0 => self.note_whole(step.object),
            data_kinds!() | name_kinds!() | object_kinds!() | program_kinds!() => {}
        }
    }

    /// Note that a file of a mix was removed or could not be created.
    fn mark_missing(&mut self, file: u64) {
        if let FileAction::MixedFiles(file_mix) = &mut self.settings.action {
            file_mix.missing.insert(file);
        }
    }

    /// Note that a file was processed. In random order it is unknown which files are complete before all are.
    fn note_whole(&mut self, file: u64) {
        if self.settings.random_files || file == self.whole {
            self.whole += 1;
        }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;

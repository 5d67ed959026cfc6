//! Which record comes next: a function of the operation's number.

use crate::files::{FileAction, FileMix, FileSettings, FileSteps};
use crate::objects::{ObjectSteps, PresentObjects};
use assay_core::permutation::Permutation;
use assay_core::random::{mix, mix2};
use assay_core::sizes::size_of;
use assay_core::OpKind;
use assay_spec::{data_operations, name_operations, object_operations, program_operations};
use assay_spec::{Layout, Moves, Operation, Phase, Sizes, Tree, PREPARE_BYTES};
use std::collections::BTreeSet;

/// The part of a file that a lane works on, and its records.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Number of the lane.
    pub lane: u64,
    /// Lanes that share the file; 1 with separate files.
    pub sharers: u64,
    /// Records in the file.
    pub file_records: u64,
    /// Bytes of a record.
    pub record: u64,
    /// Records of a block, if the file is divided into segments of one block of each lane.
    pub block: Option<u64>,
}

impl Share {
    /// The share of `lane` of `lanes`.
    pub fn new(layout: Layout, lane: u32, lanes: u32, file_size: u64, record: u64) -> Self {
        let file_records = file_size / record;
        match layout {
            Layout::Separate => Share { file_records, ..Share::whole(0, record) },
            Layout::Shared => {
                Share { lane: u64::from(lane), sharers: u64::from(lanes), file_records, record, block: None }
            }
        }
    }

    /// A whole file of `file_records` records.
    fn whole(file_records: u64, record: u64) -> Self {
        Share { lane: 0, sharers: 1, file_records, record, block: None }
    }

    /// The same, divided into blocks of `block` records, if any; the file holds whole segments of them.
    #[must_use]
    pub fn in_blocks(self, block: Option<u64>) -> Self {
        Share { block, ..self }
    }

    /// The record at position `index` of the lane's records.
    #[inline]
    fn place(&self, index: u64) -> u64 {
        match self.block {
            None => self.start() + index,
            Some(block) => (index / block * self.sharers + self.lane) * block + index % block,
        }
    }

    /// First record of the contiguous part.
    pub fn start(&self) -> u64 {
        (u128::from(self.file_records) * u128::from(self.lane) / u128::from(self.sharers)) as u64
    }

    /// Record after the last of the contiguous part.
    pub fn end(&self) -> u64 {
        (u128::from(self.file_records) * u128::from(self.lane + 1) / u128::from(self.sharers)) as u64
    }

    /// Records of the lane.
    pub fn records(&self) -> u64 {
        match self.block {
            None => self.end() - self.start(),
            Some(_) => self.file_records / self.sharers,
        }
    }

    /// Bytes of the lane.
    pub fn bytes(&self) -> u64 {
        self.records() * self.record
    }

    /// Records of this lane in one random pass: every `sharers`-th of the common order.
    fn dealt(&self) -> u64 {
        (self.file_records - self.lane).div_ceil(self.sharers)
    }

    /// Records of one random pass of all lanes: the file, or a segment of it.
    fn shuffled(&self) -> u64 {
        self.block.map_or(self.file_records, |block| block * self.sharers)
    }
}

/// The kind of operation on each name of a tree, or for each task; None if the operation is on data or objects.
fn name_kind(operation: Operation) -> Option<OpKind> {
    match operation {
        Operation::Prepare | Operation::Create => Some(OpKind::Create),
        Operation::Stat => Some(OpKind::Stat),
        Operation::Open => Some(OpKind::Open),
        Operation::Readdir => Some(OpKind::Readdir),
        Operation::Rename => Some(OpKind::Rename),
        Operation::Unlink => Some(OpKind::Unlink),
        Operation::Mkdir => Some(OpKind::Mkdir),
        Operation::Rmdir => Some(OpKind::Rmdir),
        Operation::Run | Operation::Replay => Some(OpKind::Run),
        data_operations!() | object_operations!() => None,
    }
}

/// The order in which an operation on data processes the records.
enum Course {
    Forward,
    Backward,
    Same,
    Stride,
    Random,
}

fn course(operation: Operation) -> Course {
    match operation {
        Operation::BackwardRead => Course::Backward,
        Operation::RecordRewrite => Course::Same,
        Operation::StrideRead => Course::Stride,
        Operation::RandomRead | Operation::RandomWrite | Operation::RandomMix => Course::Random,
        Operation::Prepare
        | Operation::Write
        | Operation::Rewrite
        | Operation::Read
        | Operation::Reread
        | Operation::Fwrite
        | Operation::ReFwrite
        | Operation::Fread
        | Operation::ReFread
        | Operation::SequentialMix
        | Operation::FileMix => Course::Forward,
        name_operations!() | object_operations!() | program_operations!() => {
            unreachable!("the job's rules keep names and objects apart from data")
        }
    }
}

/// One step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The kind of operation.
    pub kind: OpKind,
    /// Number of objects (see `Op::count`).
    pub count: u16,
    /// Number of the name, leaf directory or object; 0 for the data of a file.
    pub object: u64,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

#[derive(Clone)]
enum Order {
    /// From the first byte to the last, in steps of `PREPARE_BYTES`.
    Fill {
        from: u64,
        to: u64,
    },
    /// The same in blocks; `first` is the number of the first write.
    FillBlocks {
        first: u64,
        per_block: u64,
    },
    Forward,
    /// Forward, block by block.
    Rows,
    Backward,
    Same,
    Stride(u64),
    Random {
        permutation: Permutation,
        seed: u64,
    },
    /// Segment by segment, each in its own random order.
    RandomRows {
        permutation: Permutation,
        seed: u64,
        block: u64,
    },
    /// Names from a number on, in order; all files have the same length.
    Names {
        from: u64,
        length: u64,
    },
    /// The same for files of different sizes.
    Sized {
        from: u64,
        contents: Contents,
    },
    Objects(Box<ObjectSteps>),
    Files(Box<FileSteps>),
}

/// Sizes of the files of a tree, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// The same size for all.
    Fixed(u64),
    /// A function of the seed and of the number among all files; the lane's first file is number `first`.
    Drawn {
        /// The distribution.
        sizes: Sizes,
        /// The job's seed.
        seed: u64,
        /// Number of the lane's first file among all.
        first: u64,
    },
}

impl Contents {
    pub(crate) fn of(&self, number: u64) -> u64 {
        match self {
            Contents::Fixed(bytes) => *bytes,
            Contents::Drawn { sizes, seed, first } => size_of(sizes, *seed, first + number),
        }
    }

    /// Bytes of the largest possible file.
    pub(crate) fn largest(&self) -> u64 {
        match self {
            Contents::Fixed(bytes) => *bytes,
            Contents::Drawn { sizes, .. } => sizes.largest(),
        }
    }

    /// Number of records of `record` bytes, and bytes, of the first `files` files.
    pub(crate) fn records_and_bytes(&self, files: u64, record: u64) -> (u64, u64) {
        let of = |bytes: u64| (bytes.div_ceil(record), bytes);
        match self {
            Contents::Fixed(bytes) => (files.saturating_mul(of(*bytes).0), files.saturating_mul(*bytes)),
            Contents::Drawn { .. } => (0..files)
                .map(|number| of(self.of(number)))
                .fold((0, 0), |sum: (u64, u64), one| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1))),
        }
    }

    fn of_all(&self, from: u64, to: u64) -> u64 {
        match self {
            Contents::Fixed(bytes) => (to - from).saturating_mul(*bytes),
            Contents::Drawn { .. } => (from..to).fold(0, |sum: u64, number| sum.saturating_add(self.of(number))),
        }
    }
}

/// Kinds of operations by percent.
#[derive(Clone)]
pub(crate) struct Mixed {
    /// The kind for each percent.
    kinds: [OpKind; 100],
    /// Decides the kind of each step; already passed through `mix`.
    seed: u64,
}

impl Mixed {
    fn new(phase: &Phase, seed: u64) -> Self {
        let kinds = percents(phase).try_into().expect("the job's rules make percents add up to 100");
        Mixed { kinds, seed: mix(seed) }
    }

    /// The kinds that occur.
    pub(crate) fn all(&self) -> BTreeSet<OpKind> {
        BTreeSet::from(self.kinds)
    }

    /// The kind of step `number`.
    #[inline(always)]
    pub(crate) fn kind(&self, number: u64) -> OpKind {
        self.kinds[(mix(self.seed ^ number) % 100) as usize]
    }
}

/// The steps of one lane in one phase; endless, pass after pass.
#[derive(Clone)]
pub struct Pattern {
    share: Share,
    order: Order,
    /// Steps in one pass over the data.
    count: u64,
    first: u64,
    /// Bytes of one pass.
    bytes: u64,
    mix: Option<Box<Mixed>>,
    kind: OpKind,
    index: u64,
    pass: u64,
}

impl Pattern {
    /// The steps of a phase on the data of `share`.
    pub fn new(phase: &Phase, share: Share, seed: u64) -> Self {
        let first = share.start();
        let order = match (course(phase.operation), share.block) {
            (Course::Forward, None) => Order::Forward,
            (Course::Forward, Some(_)) => Order::Rows,
            (Course::Backward, _) => Order::Backward,
            (Course::Same, _) => Order::Same,
            (Course::Stride, _) => Order::Stride(u64::from(phase.stride_records)),
            (Course::Random, block) => {
                let permutation = Permutation::new(share.shuffled(), mix2(seed, 0));
                match block {
                    None => Order::Random { permutation, seed },
                    Some(block) => Order::RandomRows { permutation, seed, block },
                }
            }
        };
        let count = if matches!(order, Order::Random { .. }) { share.dealt() } else { share.records() };
        let kind = if phase.operation.reads() { OpKind::Read } else { OpKind::Write };
        let lane_seed = mix2(seed ^ mix(share.lane), 1);
        let mix = phase.mix.is_some().then(|| Box::new(Mixed::new(phase, lane_seed)));
        let bytes = count * share.record;
        Pattern { share, order, count, first, bytes, mix, kind, index: 0, pass: 0 }
    }

    /// The writes that complete a share whose first `written` bytes exist.
    pub fn fill(share: Share, written: u64) -> Self {
        let first = share.start();
        if let Some(block) = share.block {
            return Self::fill_blocks(share, block * share.record, written.min(share.bytes()));
        }
        let (from, to) = (first * share.record + written.min(share.bytes()), share.end() * share.record);
        let count = (to - from).div_ceil(PREPARE_BYTES);
        let order = Order::Fill { from, to };
        Pattern { share, order, count, first, bytes: to - from, mix: None, kind: OpKind::Write, index: 0, pass: 0 }
    }

    /// The same in blocks of `block` bytes; a partial write is repeated whole.
    fn fill_blocks(share: Share, block: u64, written: u64) -> Self {
        let per_block = block.div_ceil(PREPARE_BYTES);
        let first = written / block * per_block + written % block / PREPARE_BYTES;
        let order = Order::FillBlocks { first, per_block };
        let count = share.bytes() / block * per_block - first;
        let bytes = share.bytes() - (first / per_block * block + first % per_block * PREPARE_BYTES);
        Pattern { share, order, count, first, bytes, mix: None, kind: OpKind::Write, index: 0, pass: 0 }
    }

    /// One metadata operation on each of the names from `from` to `to`, files with these `contents`.
    pub fn names(operation: Operation, tree: &Tree, from: u64, to: u64, contents: Contents) -> Self {
        let kind = name_kind(operation).expect("the job's rules keep data and objects apart from names");
        let (from, to) =
            if kind == OpKind::Readdir { (0, to.div_ceil(tree.files_per_leaf())) } else { (from, to.max(from)) };
        let bytes = if kind == OpKind::Create { contents.of_all(from, to) } else { 0 };
        let sized = matches!(kind, OpKind::Create | OpKind::Stat);
        let order = match contents {
            Contents::Drawn { .. } if sized => Order::Sized { from, contents },
            Contents::Fixed(length) if sized => Order::Names { from, length },
            Contents::Drawn { .. } | Contents::Fixed(_) => Order::Names { from, length: 0 },
        };
        let share = Share::whole(to - from, 0);
        Pattern { share, order, count: to - from, first: from, bytes, mix: None, kind, index: 0, pass: 0 }
    }

    /// The steps of a phase on objects.
    pub fn objects(steps: ObjectSteps) -> Self {
        let (count, bytes) = steps.pass();
        let share = Share::whole(count, 0);
        let kind = steps.kinds()[0];
        let order = Order::Objects(Box::new(steps));
        Pattern { share, order, count, first: 0, bytes, mix: None, kind, index: 0, pass: 0 }
    }

    /// The steps of a phase on the data of the lane's first `files` files of a tree.
    pub fn files(phase: &Phase, record: u64, files: u64, contents: Contents, flushes: bool, seed: u64) -> Self {
        let kind = if phase.operation.reads() { OpKind::Read } else { OpKind::Write };
        let mixed = || Box::new(Mixed::new(phase, seed));
        let action = if phase.operation == Operation::FileMix {
            FileAction::MixedFiles(Box::new(FileMix::new(mixed(), seed)))
        } else if phase.mix.is_some() {
            FileAction::MixedRecords(mixed())
        } else {
            FileAction::Uniform(kind)
        };
        let settings = FileSettings {
            action,
            record,
            random_files: !phase.file_order.is_sequential(),
            random_records: matches!(course(phase.operation), Course::Random),
            flushes: flushes && phase.operation.writes(),
            repeats: phase.runtime_ns.is_some(),
            seed,
        };
        let steps = FileSteps::new(settings, files, contents);
        let (count, bytes) = (steps.steps(), steps.bytes());
        let share = Share::whole(files, record);
        let order = Order::Files(Box::new(steps));
        Pattern { share, order, count, first: 0, bytes, mix: None, kind, index: 0, pass: 0 }
    }

    /// Operations of one pass that count as progress.
    pub fn operations(&self) -> u64 {
        match &self.order {
            Order::Files(steps) => steps.records(),
            _ => self.count,
        }
    }

    /// Steps in one pass over the data.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of one pass over the data.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Kinds of operations that may occur.
    pub fn kinds(&self) -> Vec<OpKind> {
        match (&self.order, &self.mix) {
            (Order::Objects(steps), _) => steps.kinds(),
            (Order::Files(steps), _) => steps.kinds(),
            (_, Some(mixed)) => mixed.all().into_iter().collect(),
            (_, None) => vec![self.kind],
        }
    }

    /// True if some steps write data that must be made.
    pub fn writes(&self) -> bool {
        self.kinds().into_iter().any(|kind| kind.moves() == Moves::Out)
    }

    /// True for steps on objects and on opened files, which depend on the results of operations.
    pub fn needs_results(&self) -> bool {
        matches!(self.order, Order::Objects(_) | Order::Files(_))
    }

    /// True if the steps are on objects.
    pub fn is_on_objects(&self) -> bool {
        matches!(self.order, Order::Objects(_))
    }

    /// True if the steps are on the data of files of a tree.
    pub fn is_on_files(&self) -> bool {
        matches!(self.order, Order::Files(_))
    }

    /// Number of a tree's files, the first ones, that were processed completely and without failure; None if the steps
    /// are on anything else.
    pub fn whole_files(&self) -> Option<u64> {
        match &self.order {
            Order::Files(steps) => Some(steps.whole()),
            _ => None,
        }
    }

    /// Note that an operation has ended, successfully or not; returns whether it fetched an object again.
    #[cold]
    pub fn on_end(&mut self, step: &Step, well: bool) -> bool {
        match &mut self.order {
            Order::Objects(steps) => steps.on_end(step, well),
            Order::Files(steps) => {
                steps.on_end(step, well);
                false
            }
            _ => false,
        }
    }

    /// The objects that exist now; None if the steps are not on objects.
    pub fn objects_left(&self) -> Option<PresentObjects> {
        match &self.order {
            Order::Objects(steps) => Some((**steps).clone().left()),
            _ => None,
        }
    }

    /// The next step; None, with objects and files, if an operation in flight must end first or there is no more to do.
    pub fn next_step(&mut self) -> Option<Step> {
        match &mut self.order {
            Order::Objects(steps) => steps.next_step(),
            Order::Files(steps) => steps.next_step(),
            _ => Some(self.step()),
        }
    }

    /// Return the last step, which was not executed: it comes again.
    pub(crate) fn take_back(&mut self) {
        self.index -= 1;
    }

    /// The same, limited to the first `steps` steps, for a sequential pattern.
    #[must_use]
    pub fn limited(self, steps: Option<u64>) -> Self {
        let count = steps.map_or(self.count, |steps| steps.min(self.count));
        Pattern { count, bytes: count * self.share.record, ..self }
    }

    /// The next step of a pattern that does not depend on results.
    #[inline(always)]
    pub(crate) fn step(&mut self) -> Step {
        if self.index == self.count {
            self.index = 0;
            self.pass += 1;
            if let Order::Random { permutation, seed } = &mut self.order {
                *permutation = Permutation::new(self.share.file_records, mix2(*seed, self.pass));
            }
        }
        let index = self.index;
        self.index += 1;
        let kind = match &self.mix {
            None => self.kind,
            Some(mixed) => mixed.kind(self.pass * self.count + self.index),
        };
        // The commonest orders first: a jump table is often mispredicted after a system call.
        let record = if let Order::Random { permutation, .. } = &self.order {
            permutation.at(self.share.lane + index * self.share.sharers)
        } else if let Order::Forward = &self.order {
            self.first + index
        } else if let Order::Names { from, length } = self.order {
            return Step { kind, count: 1, object: from + index, offset: 0, length };
        } else {
            return self.rarer_step(kind, index);
        };
        Step { kind, count: 1, object: 0, offset: record * self.share.record, length: self.share.record }
    }

    fn rarer_step(&mut self, kind: OpKind, index: u64) -> Step {
        let share = self.share;
        let record = match &mut self.order {
            Order::Rows => share.place(index),
            Order::Backward => share.place(self.count - 1 - index),
            Order::Same => share.place(0),
            Order::Stride(stride) => share.place(strided(index, self.count, *stride)),
            Order::RandomRows { permutation, seed, block } => {
                let (segment, within) = (index / *block, index % *block);
                if within == 0 {
                    let number = self.pass * (self.count / *block) + segment;
                    *permutation = Permutation::new(share.shuffled(), mix2(*seed, number));
                }
                segment * share.shuffled() + permutation.at(share.lane + within * share.sharers)
            }
            Order::FillBlocks { first, per_block } => {
                let (number, block) = (*first + index, share.block.unwrap_or(1) * share.record);
                let (row, within) = (number / *per_block, number % *per_block * PREPARE_BYTES);
                let offset = (row * share.sharers + share.lane) * block + within;
                return Step { kind, count: 1, object: 0, offset, length: PREPARE_BYTES.min(block - within) };
            }
            Order::Fill { from, to } => {
                let offset = *from + index * PREPARE_BYTES;
                return Step { kind, count: 1, object: 0, offset, length: PREPARE_BYTES.min(*to - offset) };
            }
            Order::Sized { from, contents } => {
                let object = *from + index;
                return Step { kind, count: 1, object, offset: 0, length: contents.of(object) };
            }
            Order::Forward | Order::Random { .. } | Order::Names { .. } | Order::Objects(_) | Order::Files(_) => {
                unreachable!("step and next do these")
            }
        };
        Step { kind, count: 1, object: 0, offset: record * self.share.record, length: self.share.record }
    }
}

/// The kind for each percent.
pub(crate) fn percents(phase: &Phase) -> Vec<OpKind> {
    let shares = phase.mix.iter().flatten();
    shares.flat_map(|(kind, percent)| std::iter::repeat_n(*kind, usize::from(*percent))).collect()
}

/// The record at position `index` of the order 0, s, 2s, ..., 1, 1+s, ... of n records: iozone's stride read, which
/// starts the next sweep one record further on each time it reaches the end, but with each record exactly once (iozone
/// turns back a little early and so misses the last ones).
fn strided(index: u64, n: u64, stride: u64) -> u64 {
    let (whole, long) = (n / stride, n % stride);
    let in_long = long * (whole + 1);
    if index < in_long {
        return index / (whole + 1) + index % (whole + 1) * stride;
    }
    let rest = index - in_long;
    long + rest / whole + rest % whole * stride
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spec::Group;
    use proptest::prelude::*;
    use serde_json::json;

    fn phase(operation: Operation, reads: u8) -> Phase {
        let mix = if operation.mixes() { json!({ "read": reads, "write": 100 - reads }) } else { json!(null) };
        serde_json::from_value(json!({ "operation": operation.name(), "mix": mix })).unwrap()
    }

    fn records(operation: Operation, share: Share) -> Vec<u64> {
        let mut pattern = Pattern::new(&phase(operation, 50), share, 11);
        (0..pattern.count()).map(|_| pattern.step().offset / share.record).collect()
    }

    proptest! {
        /// Every operation except record rewrite touches each record of the file exactly once, over all lanes together.
        #[test]
        fn each_record_once(lanes in 1_u32..9, extra in 0_u64..300, shared: bool, operation in 0_usize..15) {
            let operation = Operation::of_group(Group::Data).nth(operation).unwrap();
            prop_assume!(operation != Operation::RecordRewrite);
            let layout = if shared { Layout::Shared } else { Layout::Separate };
            let size = (u64::from(lanes) + extra) * 512 + 100;
            let files = if shared { 1 } else { lanes as usize };
            let mut seen = Vec::new();
            for lane in 0..lanes {
                seen.extend(records(operation, Share::new(layout, lane, lanes, size, 512)));
            }
            seen.sort_unstable();
            let want: Vec<u64> = (0..size / 512).flat_map(|record| vec![record; files]).collect();
            prop_assert_eq!(seen, want);
        }

        #[test]
        fn fill_covers_what_is_missing(lane in 0_u32..4, written in 0_u64..5_000_000) {
            let share = Share::new(Layout::Shared, lane, 4, 20_000_000, 4096);
            let mut pattern = Pattern::fill(share, written);
            let mut at = share.start() * 4096 + written.min(share.bytes());
            for _ in 0..pattern.count() {
                let step = pattern.step();
                prop_assert_eq!(step.offset, at);
                at += step.length;
            }
            prop_assert_eq!(at, share.end() * 4096);
        }
    }

    #[test]
    fn orders_are_iozones() {
        let share = Share::new(Layout::Separate, 0, 1, 40 * 4, 4);
        assert_eq!(records(Operation::Read, share)[..3], [0, 1, 2]);
        assert_eq!(records(Operation::BackwardRead, share)[..3], [39, 38, 37]);
        assert_eq!(records(Operation::RecordRewrite, share), vec![0; 40]);
        assert_eq!(records(Operation::StrideRead, share)[..6], [0, 17, 34, 1, 18, 35]);
    }

    /// The records of a lane's transfers in IOR (WriteOrRead in its ior.c): segments of one block of each task.
    fn iors(lane: u64, lanes: u64, segments: u64, block: u64) -> Vec<u64> {
        (0..segments).flat_map(|segment| (0..block).map(move |at| (segment * lanes + lane) * block + at)).collect()
    }

    proptest! {
        #[test]
        fn blocks_are_iors(lanes in 1_u32..6, segments in 1_u64..5, block in 1_u64..9, shared: bool, seed: u64) {
            let layout = if shared { Layout::Shared } else { Layout::Separate };
            let sharers = if shared { u64::from(lanes) } else { 1 };
            let size = segments * block * sharers * 512;
            let share = |lane| Share::new(layout, lane, lanes, size, 512).in_blocks(Some(block));
            let mut random = BTreeSet::new();
            for lane in 0..lanes {
                let own = if shared { u64::from(lane) } else { 0 };
                let ours = iors(own, sharers, segments, block);
                prop_assert_eq!(records(Operation::Write, share(lane)), ours.clone());
                let backward: Vec<u64> = ours.iter().rev().copied().collect();
                prop_assert_eq!(records(Operation::BackwardRead, share(lane)), backward);
                let mut shuffled = Pattern::new(&phase(Operation::RandomRead, 50), share(lane), seed);
                for index in 0..shuffled.count() {
                    let record = shuffled.step().offset / 512;
                    // Segment by segment, and each record once.
                    prop_assert_eq!(record / (block * sharers), index / block);
                    let file = if shared { 0 } else { lane };
                    prop_assert!(random.insert((file, record)));
                }
            }
            prop_assert_eq!(random.len() as u64 * 512, size * if shared { 1 } else { u64::from(lanes) });
        }

        #[test]
        fn fill_covers_what_is_missing_of_blocks(block in 1_u64..700, written in 0_u64..9_000_000, lane in 0_u32..3) {
            let share = Share::new(Layout::Shared, lane, 3, block * 4096 * 3 * 4, 4096).in_blocks(Some(block));
            let mut pattern = Pattern::fill(share, written);
            let (mut bytes, mut places) = (0, Vec::new());
            for _ in 0..pattern.count() {
                let step = pattern.step();
                bytes += step.length;
                places.extend((0..step.length / 4096).map(|at| step.offset / 4096 + at));
            }
            let all = iors(u64::from(lane), 3, 4, block);
            prop_assert_eq!(bytes, pattern.bytes());
            prop_assert_eq!(&places[..], &all[all.len() - places.len()..]);
            prop_assert!(share.bytes() - bytes <= written.min(share.bytes()), "what was not written is missing");
        }
    }

    #[test]
    fn later_random_passes_differ() {
        let share = Share::new(Layout::Separate, 0, 1, 1 << 20, 4096);
        let mut pattern = Pattern::new(&phase(Operation::RandomRead, 50), share, 5);
        let mut pass = || (0..256).map(|_| pattern.step().offset).collect::<Vec<_>>();
        assert_ne!(pass(), pass());
    }

    #[test]
    fn mix_keeps_its_percentage() {
        let share = Share::new(Layout::Separate, 0, 1, 10_000 * 512, 512);
        let mut pattern = Pattern::new(&phase(Operation::RandomMix, 70), share, 5);
        let reads = (0..10_000).filter(|_| pattern.step().kind == OpKind::Read).count();
        assert!((6_800..7_200).contains(&reads), "{reads}");
    }
}

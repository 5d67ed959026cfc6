//! Which record comes next: a function of the operation's number.

use crate::permutation::Permutation;
use assay_core::random::{mix, mix2};
use assay_core::OpKind;
use assay_spec::{Layout, Operation, Tree, PREPARE_BYTES};

/// Where a lane works and how.
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
}

impl Share {
    /// The share of `lane` of `lanes`.
    pub fn new(layout: Layout, lane: u32, lanes: u32, file_size: u64, record: u64) -> Self {
        let file_records = file_size / record;
        match layout {
            Layout::Separate => Share { lane: 0, sharers: 1, file_records, record },
            Layout::Shared => Share { lane: u64::from(lane), sharers: u64::from(lanes), file_records, record },
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

    /// Bytes of the contiguous part.
    pub fn bytes(&self) -> u64 {
        (self.end() - self.start()) * self.record
    }

    /// Records this lane touches in one random pass: every `sharers`-th of the common order.
    fn dealt(&self) -> u64 {
        (self.file_records - self.lane).div_ceil(self.sharers)
    }
}

/// What a lane does to each name in a metadata operation.
fn metadata(operation: Operation) -> OpKind {
    match operation {
        Operation::Stat => OpKind::Stat,
        Operation::Open => OpKind::Open,
        Operation::Readdir => OpKind::Readdir,
        Operation::Rename => OpKind::Rename,
        Operation::Unlink => OpKind::Unlink,
        Operation::Mkdir => OpKind::Mkdir,
        Operation::Rmdir => OpKind::Rmdir,
        _ => OpKind::Create,
    }
}

/// One step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Read, write, or what is done to a name.
    pub kind: OpKind,
    /// Offset in the file, in bytes; number of the name or deepest directory.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
}

#[derive(Clone)]
enum Order {
    /// From the first byte to the last, in steps of `PREPARE_BYTES`.
    Fill {
        from: u64,
        to: u64,
    },
    Forward,
    Backward,
    Same,
    Stride(u64),
    Random {
        permutation: Permutation,
        seed: u64,
    },
    /// Names from a number on, in order; `length` is that of the contents.
    Names {
        from: u64,
        length: u32,
    },
}

/// The steps of one lane in one phase; endless, pass after pass.
#[derive(Clone)]
pub struct Pattern {
    share: Share,
    order: Order,
    /// Steps in one pass over the data.
    count: u64,
    first: u64,
    end: u64,
    /// Percent of reads, and the seed that deals them out.
    mix: Option<(u64, u64)>,
    kind: OpKind,
    index: u64,
    pass: u64,
}

impl Pattern {
    /// The steps of `operation` on `share`.
    pub fn new(operation: Operation, share: Share, stride: u32, read_percent: u8, seed: u64) -> Self {
        let (first, end) = (share.start(), share.end());
        let order = match operation {
            Operation::BackwardRead => Order::Backward,
            Operation::RecordRewrite => Order::Same,
            Operation::StrideRead => Order::Stride(u64::from(stride)),
            Operation::RandomRead | Operation::RandomWrite | Operation::RandomMix => {
                Order::Random { permutation: Permutation::new(share.file_records, mix2(seed, 0)), seed }
            }
            _ => Order::Forward,
        };
        let count = if matches!(order, Order::Random { .. }) { share.dealt() } else { end - first };
        let kind = if operation.reads() { OpKind::Read } else { OpKind::Write };
        let lane_seed = mix2(seed ^ mix(share.lane), 1);
        let mix = operation.mixes().then_some((u64::from(read_percent), lane_seed));
        Pattern { share, order, count, first, end, mix, kind, index: 0, pass: 0 }
    }

    /// The writes that make a share complete whose first `written` bytes are there.
    pub fn fill(share: Share, written: u64) -> Self {
        let (first, end) = (share.start(), share.end());
        let (from, to) = (first * share.record + written.min(share.bytes()), end * share.record);
        let count = (to - from).div_ceil(PREPARE_BYTES);
        let order = Order::Fill { from, to };
        Pattern { share, order, count, first, end, mix: None, kind: OpKind::Write, index: 0, pass: 0 }
    }

    /// One metadata operation on each of the names from `from` to `to`; `contents` is the size of the files in bytes.
    pub fn names(operation: Operation, tree: &Tree, from: u64, to: u64, contents: u64) -> Self {
        let kind = metadata(operation);
        let (from, to) =
            if kind == OpKind::Readdir { (0, to.div_ceil(tree.files_per_leaf())) } else { (from, to.max(from)) };
        let length = if matches!(kind, OpKind::Create | OpKind::Stat) { contents as u32 } else { 0 };
        let record = if kind == OpKind::Create { contents } else { 0 };
        let share = Share { lane: 0, sharers: 1, file_records: to - from, record };
        let order = Order::Names { from, length };
        Pattern { share, order, count: to - from, first: from, end: to, mix: None, kind, index: 0, pass: 0 }
    }

    /// Steps in one pass over the data.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of one pass over the data.
    pub fn bytes(&self) -> u64 {
        match self.order {
            Order::Fill { from, to } => to - from,
            _ => self.count * self.share.record,
        }
    }

    /// What the steps do, unless they are mixed.
    pub fn kind(&self) -> OpKind {
        self.kind
    }

    /// Whether some steps write.
    pub fn writes(&self) -> bool {
        self.mix.is_some() || matches!(self.kind, OpKind::Write | OpKind::Create)
    }

    /// The next step.
    #[inline(always)]
    pub fn step(&mut self) -> Step {
        if self.index == self.count {
            self.index = 0;
            self.pass += 1;
            if let Order::Random { permutation, seed } = &mut self.order {
                *permutation = Permutation::new(self.share.file_records, mix2(*seed, self.pass));
            }
        }
        let index = self.index;
        self.index += 1;
        let kind = match self.mix {
            None => self.kind,
            Some((percent, seed)) if mix2(seed, self.pass * self.count + self.index) % 100 < percent => OpKind::Read,
            Some(_) => OpKind::Write,
        };
        // The commonest orders first: a jump by table is often mispredicted after a system call.
        let record = if let Order::Random { permutation, .. } = &self.order {
            permutation.at(self.share.lane + index * self.share.sharers)
        } else if let Order::Forward = &self.order {
            self.first + index
        } else if let Order::Names { from, length } = self.order {
            return Step { kind, offset: from + index, length };
        } else {
            return self.rarer_step(kind, index);
        };
        Step { kind, offset: record * self.share.record, length: self.share.record as u32 }
    }

    fn rarer_step(&self, kind: OpKind, index: u64) -> Step {
        let record = match &self.order {
            Order::Backward => self.end - 1 - index,
            Order::Same => self.first,
            Order::Stride(stride) => self.first + strided(index, self.count, *stride),
            Order::Fill { from, to } => {
                let offset = from + index * PREPARE_BYTES;
                return Step { kind, offset, length: PREPARE_BYTES.min(to - offset) as u32 };
            }
            Order::Forward | Order::Random { .. } | Order::Names { .. } => unreachable!("step does these"),
        };
        Step { kind, offset: record * self.share.record, length: self.share.record as u32 }
    }
}

/// Place `index` of the order 0, s, 2s, ..., 1, 1+s, ... of n records: iozone's stride read, which starts the
/// next sweep one record further on each time it reaches the end, but with each record exactly once (iozone turns
/// back a little early and so misses the last ones).
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
    use proptest::prelude::*;

    fn records(operation: Operation, share: Share) -> Vec<u64> {
        let mut pattern = Pattern::new(operation, share, 17, 50, 11);
        (0..pattern.count()).map(|_| pattern.step().offset / share.record).collect()
    }

    proptest! {
        /// Every operation but record rewrite touches each record of the file exactly once, over all lanes together.
        #[test]
        fn each_record_once(lanes in 1_u32..9, extra in 0_u64..300, shared: bool, operation in 0_usize..15) {
            let operation = Operation::DATA[operation];
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
                at += u64::from(step.length);
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

    #[test]
    fn later_random_passes_differ() {
        let share = Share::new(Layout::Separate, 0, 1, 1 << 20, 4096);
        let mut pattern = Pattern::new(Operation::RandomRead, share, 17, 50, 5);
        let mut pass = || (0..256).map(|_| pattern.step().offset).collect::<Vec<_>>();
        assert_ne!(pass(), pass());
    }

    #[test]
    fn mix_keeps_its_percentage() {
        let share = Share::new(Layout::Separate, 0, 1, 10_000 * 512, 512);
        let mut pattern = Pattern::new(Operation::RandomMix, share, 17, 70, 5);
        let reads = (0..10_000).filter(|_| pattern.step().kind == OpKind::Read).count();
        assert!((6_800..7_200).contains(&reads), "{reads}");
    }
}

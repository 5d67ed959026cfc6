//! Intervals: collected by lanes, summed and reported by the coordinator.

use crate::histogram::{Histogram, Merged, Sparse};
use assay_core::OpKind;
use assay_spec::{Earlier, Interval, Moves, OpCounts, OpInterval, OpTotals};
use std::collections::BTreeMap;

/// Successful operations and the bytes that they moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
}

/// Counts of one kind of operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    pub(crate) errors: u64,
}

/// Counts by kind of operation.
pub(crate) type Totals = BTreeMap<OpKind, Tally>;

pub(crate) fn sum(parts: impl IntoIterator<Item = Counts>) -> Counts {
    let add = |total: Counts, part: Counts| Counts {
        ops: total.ops.saturating_add(part.ops),
        // Bytes that are only counted, not moved, can exceed 64 bits within minutes.
        bytes: total.bytes.saturating_add(part.bytes),
    };
    parts.into_iter().fold(Counts::default(), add)
}

/// True if a kind counts as progress: in a phase on a set of files (`records`) only operations on records do, not
/// opening, flushing and closing files.
pub(crate) fn is_progress(kind: OpKind, records: bool) -> bool {
    !records || matches!(kind, OpKind::Read | OpKind::Write)
}

/// Operations and bytes of all kinds that count as progress.
pub(crate) fn progress(totals: &Totals, records: bool) -> Counts {
    let counts = totals.iter().filter(|(kind, _)| is_progress(**kind, records));
    sum(counts.map(|(_, tally)| tally.counts))
}

/// Counts in the contract's form.
pub(crate) fn op_counts(totals: &Totals) -> Vec<OpCounts> {
    let one = |(operation, tally): (&OpKind, &Tally)| OpCounts {
        operation: *operation,
        ops: tally.counts.ops,
        bytes: tally.counts.bytes,
        errors: tally.errors,
    };
    totals.iter().map(one).collect()
}

/// A lane's operations of one kind in an interval.
pub(crate) struct Part {
    kind: OpKind,
    pub(crate) tally: Tally,
    latency: Sparse,
    first_byte: Sparse,
    repeated: Sparse,
}

/// One lane's completions of one interval.
pub(crate) struct LaneInterval {
    parts: Vec<Part>,
    delay: Sparse,
    earlier: EarlierShares,
}

/// Shares of operations in intervals before the one in which they ended: operations and bytes per interval of a
/// stretch, keyed by its first interval and the one after its last.
#[derive(Debug, Clone, Default, PartialEq)]
struct EarlierShares(BTreeMap<(u64, u64), (f64, f64)>);

impl EarlierShares {
    fn put(&mut self, stretch: (u64, u64), ops: f64, bytes: f64) {
        let sum = self.0.entry(stretch).or_default();
        *sum = (sum.0 + ops, sum.1 + bytes);
    }

    fn add(&mut self, other: &EarlierShares) {
        other.0.iter().for_each(|(stretch, (ops, bytes))| self.put(*stretch, *ops, *bytes));
    }

    /// Spread an operation over the intervals of `interval_ns` in which it began and ran, by the time spent in each;
    /// the share of the interval in which it ended is left out. Times count from the phase's start.
    fn spread(&mut self, interval_ns: u64, start: u64, end: u64, bytes: u64) {
        let (first, last) = (start / interval_ns, end / interval_ns);
        let of = |ns: u64| ns as f64 / (end - start) as f64;
        let mut put = |stretch, share: f64| self.put(stretch, share, share * bytes as f64);
        if first < last {
            put((first, first + 1), of((first + 1) * interval_ns - start));
        }
        if first + 1 < last {
            put((first + 1, last), of(interval_ns));
        }
    }

    fn to_events(&self) -> Vec<Earlier> {
        let one = |(&(from, to), &(ops, bytes)): (&(u64, u64), &(f64, f64))| Earlier { from, to, ops, bytes };
        self.0.iter().map(one).collect()
    }
}

impl LaneInterval {
    /// Add this interval to `totals`.
    pub(crate) fn add_to(&self, totals: &mut Totals) {
        for part in &self.parts {
            let total = totals.entry(part.kind).or_default();
            total.counts = sum([total.counts, part.tally.counts]);
            total.errors += part.tally.errors;
        }
    }
}

/// A lane's current counts of one kind. Its size is one cache line, so that a shift finds it.
#[repr(align(64))]
pub(crate) struct KindCollector {
    kind: OpKind,
    /// All bits set if operations of the kind move their length, else none.
    length_mask: u64,
    pub(crate) tally: Tally,
    latency: Histogram,
    /// None until a first byte is reported: most protocols never report one.
    first_byte: Option<Box<Histogram>>,
    /// None until an object is fetched again.
    repeated: Option<Box<Histogram>>,
}

impl KindCollector {
    fn new(kind: OpKind) -> Self {
        let (tally, latency) = (Tally::default(), Histogram::default());
        KindCollector { kind, length_mask: length_mask(kind), tally, latency, first_byte: None, repeated: None }
    }

    fn reset_kind(&mut self, kind: OpKind) {
        (self.kind, self.length_mask) = (kind, length_mask(kind));
    }

    /// Count a successful operation.
    #[inline(always)]
    pub(crate) fn count(&mut self, length: u64, ns: u64) {
        self.tally.counts.ops += 1;
        // Bytes that are only counted, not moved, may exceed 64 bits.
        self.tally.counts.bytes = self.tally.counts.bytes.saturating_add(length & self.length_mask);
        self.latency.record(ns);
    }

    /// Count the time until a first byte arrived.
    #[cold]
    pub(crate) fn note_first_byte(&mut self, ns: u64) {
        self.first_byte.get_or_insert_default().record(ns);
    }

    /// Count the latency of a repeated fetch of an object.
    #[cold]
    pub(crate) fn note_repeated(&mut self, ns: u64) {
        self.repeated.get_or_insert_default().record(ns);
    }

    fn is_empty(&self) -> bool {
        self.tally.counts.ops + self.tally.errors == 0
    }

    fn take(&mut self) -> Part {
        Part {
            kind: self.kind,
            tally: std::mem::take(&mut self.tally),
            latency: self.latency.take(),
            first_byte: take_histogram(&mut self.first_byte),
            repeated: take_histogram(&mut self.repeated),
        }
    }
}

fn take_histogram(histogram: &mut Option<Box<Histogram>>) -> Sparse {
    histogram.as_mut().map(|histogram| histogram.take()).unwrap_or_default()
}

fn length_mask(kind: OpKind) -> u64 {
    match kind.moves() {
        Moves::In | Moves::Out => u64::MAX,
        Moves::Nothing => 0,
    }
}

/// A lane's current interval.
pub(crate) struct Collector {
    parts: Vec<KindCollector>,
    /// Index of each kind in `parts`.
    places: [u8; OpKind::ALL.len()],
    /// Open loop: time from the intended start to the submission.
    pub(crate) delay: Histogram,
    earlier: EarlierShares,
    /// As for `is_progress`.
    records: bool,
}

impl Default for Collector {
    fn default() -> Self {
        let (parts, places) = (Vec::new(), [0; OpKind::ALL.len()]);
        Collector { parts, places, delay: Histogram::default(), earlier: EarlierShares::default(), records: false }
    }
}

impl Collector {
    /// Prepare for a phase with these kinds of operations, at least one; `records` as for `is_progress`. Discards the
    /// phase before.
    pub(crate) fn begin(&mut self, kinds: &[OpKind], records: bool) {
        self.records = records;
        self.parts.truncate(kinds.len());
        for (place, kind) in kinds.iter().enumerate() {
            match self.parts.get_mut(place) {
                Some(part) => part.reset_kind(*kind),
                None => self.parts.push(KindCollector::new(*kind)),
            }
            self.places[*kind as usize] = place as u8;
        }
    }

    /// The counts of a kind of this phase.
    #[inline(always)]
    pub(crate) fn of(&mut self, kind: OpKind) -> &mut KindCollector {
        &mut self.parts[usize::from(self.places[kind as usize])]
    }

    /// Spread a counted operation over the intervals in which it ran; times count from the phase's start.
    #[cold]
    pub(crate) fn spread(&mut self, interval_ns: u64, start: u64, end: u64, kind: OpKind, length: u64) {
        if is_progress(kind, self.records) {
            self.earlier.spread(interval_ns, start, end, length & length_mask(kind));
        }
    }

    /// Operations and bytes of all kinds that count as progress.
    pub(crate) fn progress(&self) -> Counts {
        let parts = self.parts.iter().filter(|part| is_progress(part.kind, self.records));
        sum(parts.map(|part| part.tally.counts))
    }

    /// Operations so far of the wanted kinds.
    pub(crate) fn ops(&self, wanted: impl Fn(OpKind) -> bool) -> u64 {
        self.parts.iter().filter(|part| wanted(part.kind)).map(|part| part.tally.counts.ops).sum()
    }

    /// Return what was collected and start anew; None if nothing was.
    pub(crate) fn take(&mut self) -> Option<LaneInterval> {
        if self.parts.iter().all(KindCollector::is_empty) {
            return None;
        }
        let parts = self.parts.iter_mut().filter(|part| !part.is_empty()).map(KindCollector::take).collect();
        Some(LaneInterval { parts, delay: self.delay.take(), earlier: std::mem::take(&mut self.earlier) })
    }
}

#[derive(Default)]
struct KindSum {
    tally: Tally,
    latency: Merged,
    first_byte: Merged,
    repeated: Merged,
}

#[derive(Default)]
struct Sum {
    kinds: BTreeMap<OpKind, KindSum>,
    earlier: EarlierShares,
}

impl Sum {
    fn add(&mut self, interval: &LaneInterval) {
        for part in &interval.parts {
            let sum_of_kind = self.kinds.entry(part.kind).or_default();
            sum_of_kind.tally.counts = sum([sum_of_kind.tally.counts, part.tally.counts]);
            sum_of_kind.tally.errors += part.tally.errors;
            sum_of_kind.latency.add(&part.latency);
            sum_of_kind.first_byte.add(&part.first_byte);
            sum_of_kind.repeated.add(&part.repeated);
        }
        self.earlier.add(&interval.earlier);
    }

    fn intervals(&self) -> Vec<OpInterval> {
        let one = |(operation, done): (&OpKind, &KindSum)| OpInterval {
            operation: *operation,
            ops: done.tally.counts.ops,
            bytes: done.tally.counts.bytes,
            errors: done.tally.errors,
            latency: done.latency.encoded(),
            first_byte: done.first_byte.encoded(),
        };
        self.kinds.iter().map(one).collect()
    }

    fn totals(&self) -> Vec<OpTotals> {
        let one = |(operation, done): (&OpKind, &KindSum)| OpTotals {
            operation: *operation,
            ops: done.tally.counts.ops,
            bytes: done.tally.counts.bytes,
            errors: done.tally.errors,
            latency: done.latency.summary(),
            first_byte: done.first_byte.summary(),
            repeated: done.repeated.summary(),
        };
        self.kinds.iter().map(one).collect()
    }
}

/// Sums the lanes' intervals, and the phase's totals from the same parts.
pub(crate) struct Timeline {
    phase: u32,
    interval_ns: u64,
    open: BTreeMap<u64, Sum>,
    total: Sum,
    delay: Merged,
    /// As for `is_progress`.
    records: bool,
}

impl Timeline {
    /// The timeline of a phase; `records` as for `is_progress`.
    pub(crate) fn new(phase: u32, interval_ns: u64, records: bool) -> Self {
        let (open, total, delay) = (BTreeMap::new(), Sum::default(), Merged::default());
        Timeline { phase, interval_ns, open, total, delay, records }
    }

    pub(crate) fn add(&mut self, index: u64, part: &LaneInterval) {
        self.open.entry(index).or_default().add(part);
        self.total.add(part);
        self.delay.add(&part.delay);
    }

    /// The intervals that ended before `elapsed` nanoseconds into the phase.
    pub(crate) fn take(&mut self, elapsed: u64) -> Vec<Interval> {
        let later = self.open.split_off(&(elapsed / self.interval_ns));
        let ready = std::mem::replace(&mut self.open, later);
        ready.into_iter().map(|(index, sum)| self.event(index, &sum, u64::MAX)).collect()
    }

    /// The remaining intervals of a phase that took `elapsed` nanoseconds. The last one ends with the phase.
    pub(crate) fn rest(&mut self, elapsed: u64) -> Vec<Interval> {
        std::mem::take(&mut self.open).into_iter().map(|(index, sum)| self.event(index, &sum, elapsed)).collect()
    }

    fn event(&self, index: u64, sum: &Sum, elapsed: u64) -> Interval {
        let start_ns = index * self.interval_ns;
        Interval {
            phase: self.phase,
            index,
            start_ns,
            // An operation that ends on the border belongs to the interval that begins there.
            end_ns: (start_ns + self.interval_ns).min(elapsed.max(start_ns + 1)),
            operations: sum.intervals(),
            earlier: sum.earlier.to_events(),
        }
    }

    /// The phase's totals, kind by kind.
    pub(crate) fn totals(&self) -> Vec<OpTotals> {
        self.total.totals()
    }

    /// Operations and bytes of the phase that count as progress.
    pub(crate) fn progress(&self) -> Counts {
        let kinds = self.total.kinds.iter().filter(|(kind, _)| is_progress(**kind, self.records));
        sum(kinds.map(|(_, done)| done.tally.counts))
    }

    /// Times from intended starts to submissions.
    pub(crate) fn delay(&self) -> &Merged {
        &self.delay
    }
}

//! Which object comes next: puts, gets, heads and deletes of a lane's objects, whole or in parts.
//!
//! Unlike records of a file, objects come and go, and some operations must wait for others: a part for the upload to be
//! begun, its completion for all parts, a delete for those who read the object.

use crate::pattern::{percents, Step};
use crate::permutation::Permutation;
use assay_core::random::mix2;
use assay_core::sizes::size_of;
use assay_core::OpKind;
use assay_spec::{data_kinds, data_operations, name_kinds, name_operations};
use assay_spec::{Job, Operation, Phase, Sizes};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Names that one page of a list has at most (S3 ListObjectsV2).
pub const PAGE: u64 = 1000;

/// The objects of a lane that are there: all from `low` up to `high` but those that are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct There {
    /// The oldest one.
    pub low: u64,
    /// Number of the next one to be made.
    pub high: u64,
    /// Could not be stored.
    pub missing: BTreeSet<u64>,
}

impl There {
    /// These numbers, without gaps.
    pub fn first(count: u64) -> Self {
        There { low: 0, high: count, missing: BTreeSet::new() }
    }

    fn has(&self, object: u64) -> bool {
        (self.low..self.high).contains(&object) && !self.missing.contains(&object)
    }
}

/// An object that is being stored in parts.
#[derive(Debug, Clone)]
struct Upload {
    object: u64,
    size: u64,
    begun: bool,
    /// Bytes whose parts were handed out, and whose parts have ended.
    given: u64,
    stored: u64,
    /// An operation of it failed: nothing more is done for it.
    failed: bool,
}

/// What a phase does with objects.
#[derive(Debug, Clone)]
enum Deed {
    /// Makes those from the first number up to the second.
    Put { next: u64, from: u64, to: u64 },
    /// One kind on each, in random order.
    Look { kind: OpKind, order: Permutation, index: u64, pass: u64 },
    /// Removes each, the oldest first.
    Delete,
    /// Pages of the list of names.
    List { page: u64 },
    /// By these kinds, one for each percent.
    Mix { kinds: Vec<OpKind>, draws: u64 },
}

/// The steps of one lane in one phase on objects; endless, but for deletes.
#[derive(Debug, Clone)]
pub struct ObjectSteps {
    seed: u64,
    order_seed: u64,
    /// Of the contents: number of the lane's first object among all.
    first: u64,
    sizes: Option<Sizes>,
    size: u64,
    part: u64,
    range: u64,
    deed: Deed,
    there: There,
    uploads: VecDeque<Upload>,
    /// Puts in flight, by object.
    storing: BTreeSet<u64>,
    /// Gets and heads in flight, by object; only where objects are removed meanwhile.
    looking: BTreeMap<u64, u32>,
    /// A kind that was drawn and has to wait.
    drawn: Option<OpKind>,
    /// The phase goes over the objects until its time is over.
    again: bool,
}

impl ObjectSteps {
    /// The steps of a phase on the objects that are `there`; `count` are to be there when they are made.
    pub fn new(job: &Job, phase: &Phase, count: u64, there: There, first: u64, order_seed: u64) -> Self {
        let deed = match phase.operation {
            Operation::Prepare => Deed::Put { next: there.high, from: there.high, to: count.max(there.high) },
            Operation::Get => Self::look(OpKind::Get, &there, order_seed),
            Operation::Head => Self::look(OpKind::Head, &there, order_seed),
            Operation::Delete => Deed::Delete,
            Operation::List => Deed::List { page: 0 },
            Operation::ObjectMix => Deed::Mix { kinds: percents(phase), draws: 0 },
            Operation::Put => Deed::Put { next: 0, from: 0, to: count },
            data_operations!() | name_operations!() => unreachable!("the job's rules keep these apart from objects"),
        };
        let part = job.objects.as_ref().and_then(|objects| objects.part_size_bytes).unwrap_or(u64::MAX);
        ObjectSteps {
            seed: job.seed,
            order_seed,
            first,
            sizes: job.sizes.clone(),
            size: job.file_size_bytes,
            part,
            range: phase.range_bytes.unwrap_or(u64::MAX),
            deed,
            there,
            uploads: VecDeque::new(),
            storing: BTreeSet::new(),
            looking: BTreeMap::new(),
            drawn: None,
            again: phase.runtime_ns.is_some(),
        }
    }

    fn look(kind: OpKind, there: &There, seed: u64) -> Deed {
        Deed::Look { kind, order: Permutation::new((there.high - there.low).max(1), seed), index: 0, pass: 0 }
    }

    /// Kinds of operations that may come.
    pub fn kinds(&self) -> Vec<OpKind> {
        let mut kinds = match &self.deed {
            Deed::Put { .. } => vec![OpKind::Put],
            Deed::Look { kind, .. } => vec![*kind],
            Deed::Delete => vec![OpKind::Delete],
            Deed::List { .. } => vec![OpKind::List],
            Deed::Mix { kinds, .. } => BTreeSet::from_iter(kinds.iter().copied()).into_iter().collect(),
        };
        if kinds.contains(&OpKind::Put) && self.part < u64::MAX {
            kinds.extend([OpKind::StartUpload, OpKind::PutPart, OpKind::CompleteUpload]);
        }
        kinds
    }

    /// Size of an object in bytes.
    pub fn size(&self, object: u64) -> u64 {
        self.sizes.as_ref().map_or(self.size, |sizes| size_of(sizes, self.seed, self.first + object))
    }

    /// Steps and bytes of one pass.
    pub fn pass(&self) -> (u64, u64) {
        let there = self.there.high - self.there.low - self.there.missing.len() as u64;
        match &self.deed {
            Deed::Put { from, to, .. } => self.steps_of_puts(*from, *to),
            Deed::Look { kind: OpKind::Get, .. } => (there, self.bytes_of_gets()),
            Deed::Look { .. } | Deed::Delete => (there, 0),
            Deed::List { .. } => (there.div_ceil(PAGE).max(1), 0),
            // The shares say how many bytes, about; planned are operations.
            Deed::Mix { .. } => (there, 0),
        }
    }

    fn steps_of_puts(&self, from: u64, to: u64) -> (u64, u64) {
        let steps = |size: u64| if size > self.part { size.div_ceil(self.part).saturating_add(2) } else { 1 };
        if self.sizes.is_none() {
            return ((to - from).saturating_mul(steps(self.size)), (to - from).saturating_mul(self.size));
        }
        let sizes = (from..to).map(|object| self.size(object));
        sizes.fold((0, 0), |sum: (u64, u64), size| (sum.0.saturating_add(steps(size)), sum.1.saturating_add(size)))
    }

    fn bytes_of_gets(&self) -> u64 {
        let (there, missing) = (self.there.high - self.there.low, self.there.missing.len() as u64);
        if self.sizes.is_none() {
            return (there - missing).saturating_mul(self.size.min(self.range));
        }
        let numbers = (self.there.low..self.there.high).filter(|object| self.there.has(*object));
        numbers.fold(0, |sum: u64, object| sum.saturating_add(self.size(object).min(self.range)))
    }

    /// The objects that are there.
    pub fn there(&self) -> &There {
        &self.there
    }

    /// The next step; none if something that is in flight must end first, or if there is nothing more to do.
    pub fn next(&mut self) -> Option<Step> {
        if let Some(step) = self.next_of_uploads() {
            return Some(step);
        }
        match &mut self.deed {
            Deed::Put { next, from, to } => {
                if self.again && next == to && self.uploads.is_empty() && self.storing.is_empty() {
                    *next = *from;
                }
                if next == to {
                    return None;
                }
                let object = *next;
                *next += 1;
                Some(self.begin_put(object))
            }
            Deed::Look { .. } => Some(self.next_look()),
            Deed::Delete => {
                let object = (self.there.low..self.there.high).find(|object| self.there.has(*object))?;
                self.there.low = object + 1;
                Some(Step { kind: OpKind::Delete, object, offset: 0, length: 0 })
            }
            Deed::List { page } => {
                let pages = (self.there.high - self.there.low).div_ceil(PAGE).max(1);
                let object = *page % pages;
                *page += 1;
                Some(Step { kind: OpKind::List, object, offset: 0, length: 0 })
            }
            Deed::Mix { .. } => self.next_of_mix(),
        }
    }

    fn next_of_uploads(&mut self) -> Option<Step> {
        let (part, uploads) = (self.part, &mut self.uploads);
        uploads.retain(|upload| !upload.failed || upload.given > upload.stored);
        let upload = uploads.iter_mut().find(|upload| {
            upload.begun && !upload.failed && (upload.given < upload.size || upload.stored == upload.size)
        })?;
        let object = upload.object;
        if upload.given < upload.size {
            let (offset, length) = (upload.given, part.min(upload.size - upload.given));
            upload.given += length;
            return Some(Step { kind: OpKind::PutPart, object, offset, length });
        }
        let length = upload.size;
        // Not ready again until it has ended.
        upload.begun = false;
        Some(Step { kind: OpKind::CompleteUpload, object, offset: 0, length })
    }

    fn begin_put(&mut self, object: u64) -> Step {
        let size = self.size(object);
        self.storing.insert(object);
        self.there.missing.remove(&object);
        self.there.high = self.there.high.max(object + 1);
        if size <= self.part {
            return Step { kind: OpKind::Put, object, offset: 0, length: size };
        }
        self.uploads.push_back(Upload { object, size, begun: false, given: 0, stored: 0, failed: false });
        Step { kind: OpKind::StartUpload, object, offset: 0, length: 0 }
    }

    fn next_look(&mut self) -> Step {
        let (low, count) = (self.there.low, self.there.high - self.there.low);
        let Deed::Look { kind, order, index, pass } = &mut self.deed else { unreachable!("the deed is to look") };
        let kind = *kind;
        loop {
            if *index >= count {
                (*index, *pass) = (0, *pass + 1);
                *order = Permutation::new(count.max(1), mix2(self.order_seed, *pass));
            }
            let object = low + order.at(*index);
            *index += 1;
            if self.there.has(object) {
                let word = mix2(self.order_seed, !(*pass * count + *index));
                return self.look_at(kind, object, word);
            }
        }
    }

    fn look_at(&self, kind: OpKind, object: u64, word: u64) -> Step {
        let size = self.size(object);
        if kind == OpKind::Head {
            return Step { kind, object, offset: 0, length: size };
        }
        let length = size.min(self.range);
        Step { kind, object, offset: word % (size - length + 1), length }
    }

    /// What the shares say; a put where there is nothing to fetch or remove.
    fn next_of_mix(&mut self) -> Option<Step> {
        let Deed::Mix { kinds, draws } = &mut self.deed else { unreachable!("the deed is a mix") };
        let kind = self.drawn.take().unwrap_or_else(|| {
            *draws += 1;
            kinds[(mix2(self.order_seed, *draws) % kinds.len() as u64) as usize]
        });
        let word = mix2(self.order_seed, !*draws);
        let whole = |object: &u64| self.there.has(*object) && !self.storing.contains(object);
        match kind {
            OpKind::Delete => {
                let Some(object) = (self.there.low..self.there.high).find(|object| self.there.has(*object)) else {
                    let object = self.there.high;
                    return Some(self.begin_put(object));
                };
                if !whole(&object) || self.looking.contains_key(&object) {
                    self.drawn = Some(kind);
                    return None;
                }
                self.there.low = object + 1;
                Some(Step { kind, object, offset: 0, length: 0 })
            }
            OpKind::Get | OpKind::Head => {
                let count = self.there.high - self.there.low;
                let from = word % count.max(1);
                let numbers = (0..count).map(|more| self.there.low + (from + more) % count);
                let Some(object) = numbers.into_iter().find(whole) else {
                    let object = self.there.high;
                    return Some(self.begin_put(object));
                };
                *self.looking.entry(object).or_default() += 1;
                Some(self.look_at(kind, object, mix2(word, 1)))
            }
            OpKind::Put | OpKind::List | OpKind::StartUpload | OpKind::PutPart | OpKind::CompleteUpload => {
                let object = self.there.high;
                Some(self.begin_put(object))
            }
            data_kinds!() | name_kinds!() => unreachable!("the job's rules keep these apart from objects"),
        }
    }

    /// A step has ended, well or not.
    pub fn ended(&mut self, kind: OpKind, object: u64, length: u64, well: bool) {
        match kind {
            OpKind::Put => self.stored(object, well),
            OpKind::CompleteUpload => {
                self.uploads.retain(|upload| upload.object != object);
                self.stored(object, well);
            }
            OpKind::StartUpload | OpKind::PutPart => {
                let Some(upload) = self.uploads.iter_mut().find(|upload| upload.object == object) else { return };
                upload.begun |= kind == OpKind::StartUpload && well;
                upload.stored += length;
                upload.failed |= !well;
                if !well {
                    self.stored(object, false);
                }
            }
            OpKind::Get | OpKind::Head => {
                if let Some(count) = self.looking.get_mut(&object) {
                    *count -= 1;
                    if *count == 0 {
                        self.looking.remove(&object);
                    }
                }
            }
            OpKind::Delete | OpKind::List | data_kinds!() | name_kinds!() => {}
        }
    }

    fn stored(&mut self, object: u64, well: bool) {
        self.storing.remove(&object);
        if !well {
            self.there.missing.insert(object);
        }
    }

    /// The objects that are there when the phase has ended: what is still being stored is not.
    pub fn left(mut self) -> There {
        self.there.missing.extend(&self.storing);
        if let Deed::Put { to, .. } = self.deed {
            // What was not begun before the time was over.
            self.there.high = self.there.high.min(to.max(self.there.low));
        }
        self.there.missing = self.there.missing.split_off(&self.there.low);
        self.there
    }
}

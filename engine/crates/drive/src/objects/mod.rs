//! Which object comes next: puts, gets, heads and deletes of a lane's objects, whole or in parts.
//!
//! Unlike records of a file, objects come and go, and some operations must wait for others: a part for the upload to be
//! begun, its completion for all parts, a delete for those who read the object.

mod access;
mod lengths;
mod there;

pub use lengths::Lengths;
pub use there::There;

use crate::pattern::{percents, Step};
use access::Round;
use assay_core::random::mix2;
use assay_core::{OpKind, LIST_PAGE};
use assay_spec::{data_kinds, data_operations, name_kinds, name_operations};
use assay_spec::{Access, Job, Operation, Phase};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Objects that one operation removes at most (S3 DeleteObjects).
const DELETED_AT_ONCE: u64 = 1000;
/// Bytes that one page of a scan reads at most (DynamoDB Scan), and objects.
const SCANNED_BYTES: u64 = 1 << 20;
const SCANNED_AT_ONCE: u64 = 1000;
/// What a scan may find besides a lane's objects: the marks of the table, of the run and of the job.
const MARKS: u64 = 3;
/// An answer to a query that is shorter than this has all that there is (1 MB, DynamoDB Query).
const ANSWERED_BYTES: u64 = 1_000_000;

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
    /// Makes the first so many: all of them, or only those that are not there; so many at once.
    Put { next: u64, to: u64, all: bool, batch: Option<u16> },
    /// One kind on each, or on some more often than on others.
    Look { kind: OpKind, round: Round },
    /// One kind on groups of so many with numbers that follow each other.
    Groups { kind: OpKind, size: u64, round: Round },
    /// Removes them, the oldest first, so many at once.
    Delete { most: u64 },
    /// Pages of so many.
    Pages { kind: OpKind, size: u64, page: u64 },
    /// By these kinds, one for each percent.
    Mix { kinds: Vec<OpKind>, draws: u64 },
}

/// The steps of one lane in one phase on objects; endless, but for deletes.
#[derive(Debug, Clone)]
pub struct ObjectSteps {
    order_seed: u64,
    lengths: Lengths,
    part: u64,
    range: u64,
    access: Access,
    deed: Deed,
    there: There,
    uploads: VecDeque<Upload>,
    /// Puts in flight, by object, and whether it was there before.
    storing: BTreeMap<u64, bool>,
    /// Gets and heads in flight, by object; only where objects are removed meanwhile. Of phases that look for what they have
    /// put, the objects that are not seen yet.
    looking: BTreeMap<u64, u32>,
    /// Names in a list, where it is not of the lane's own objects.
    listed: Option<u64>,
    /// There is no other lane: a scan finds this one's objects.
    alone: bool,
    /// A kind that was drawn and has to wait.
    drawn: Option<OpKind>,
    /// The phase goes over the objects until its time is over.
    again: bool,
    /// Each object that was put is looked for.
    sees: bool,
    /// Those that were put, and are still to be looked for.
    unseen: VecDeque<u64>,
}

impl ObjectSteps {
    /// The steps of a phase on the objects that are `there`; `count` are to be there when they are made.
    pub fn new(job: &Job, phase: &Phase, count: u64, there: There, lengths: Lengths, order_seed: u64) -> Self {
        let sees = phase.operation.sees();
        let puts = matches!(phase.operation, Operation::Prepare | Operation::Put | Operation::BatchPut) || sees;
        let there = if puts { there.renumbered() } else { there };
        let deed = Self::deed(job, phase, count, &there, order_seed);
        let part = job.objects.as_ref().and_then(|objects| objects.part_size_bytes).unwrap_or(u64::MAX);
        ObjectSteps {
            order_seed,
            lengths,
            part,
            range: phase.range_bytes.unwrap_or(u64::MAX),
            access: phase.access.unwrap_or_default(),
            deed,
            there,
            uploads: VecDeque::new(),
            storing: BTreeMap::new(),
            looking: BTreeMap::new(),
            listed: None,
            alone: job.all_lanes() == 1,
            drawn: None,
            again: phase.runtime_ns.is_some(),
            sees,
            unseen: VecDeque::new(),
        }
    }

    /// A list is of so many names, whatever lane has the objects.
    #[must_use]
    pub fn listing(self, names: Option<u64>) -> Self {
        ObjectSteps { listed: names, ..self }
    }

    /// Pages of so many that it takes to go over all there are.
    fn pages(&self, size: u64, there: u64) -> u64 {
        self.listed.unwrap_or(there).div_ceil(size).max(1)
    }

    fn deed(job: &Job, phase: &Phase, count: u64, there: &There, seed: u64) -> Deed {
        let look = |kind| Deed::Look {
            kind,
            round: Round::new(phase.access.unwrap_or_default(), there.high - there.low, seed),
        };
        let groups = |kind, size: u64| {
            let groups = groups_of(there, size);
            Deed::Groups {
                kind,
                size,
                round: Round::new(phase.access.unwrap_or_default(), groups.end - groups.start, seed),
            }
        };
        let batch = job.objects.as_ref().map_or(1, |objects| objects.batch);
        match phase.operation {
            Operation::Prepare => Deed::Put { next: 0, to: count, all: false, batch: None },
            Operation::Get => look(OpKind::Get),
            Operation::Head => look(OpKind::Head),
            Operation::Copy => look(OpKind::Copy),
            Operation::Update => look(OpKind::Update),
            Operation::BatchGet => groups(OpKind::BatchGet, u64::from(batch)),
            Operation::Query => groups(OpKind::Query, job.target.rules().group_objects()),
            Operation::Delete => Deed::Delete { most: 1 },
            Operation::MultiDelete => Deed::Delete { most: DELETED_AT_ONCE },
            Operation::List => Deed::Pages { kind: OpKind::List, size: LIST_PAGE, page: 0 },
            Operation::Scan => {
                let size = (SCANNED_BYTES / job.largest_size().max(1)).clamp(1, SCANNED_AT_ONCE);
                Deed::Pages { kind: OpKind::Scan, size, page: 0 }
            }
            Operation::ObjectMix => Deed::Mix { kinds: percents(phase), draws: 0 },
            Operation::Put | Operation::ReadAfterPut | Operation::ListAfterPut => {
                Deed::Put { next: 0, to: count, all: true, batch: None }
            }
            Operation::BatchPut => Deed::Put { next: 0, to: count, all: true, batch: Some(batch) },
            data_operations!() | name_operations!() => unreachable!("the job's rules keep these apart from objects"),
        }
    }

    /// Kinds of operations that may come.
    pub fn kinds(&self) -> Vec<OpKind> {
        let mut kinds = match &self.deed {
            Deed::Put { batch: Some(_), .. } => vec![OpKind::BatchPut],
            Deed::Put { batch: None, .. } => vec![OpKind::Put],
            Deed::Look { kind, .. } | Deed::Groups { kind, .. } | Deed::Pages { kind, .. } => vec![*kind],
            Deed::Delete { most: 1 } => vec![OpKind::Delete],
            Deed::Delete { .. } => vec![OpKind::MultiDelete],
            Deed::Mix { kinds, .. } => kinds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
        };
        if kinds.contains(&OpKind::Put) && self.part < u64::MAX {
            kinds.extend([OpKind::StartUpload, OpKind::PutPart, OpKind::CompleteUpload]);
        }
        if self.sees {
            kinds.push(OpKind::See);
        }
        kinds
    }

    /// Size of an object in bytes.
    pub fn size(&self, object: u64) -> u64 {
        self.lengths.of(object)
    }

    /// The same of all of several whose numbers follow each other.
    fn size_of_all(&self, objects: Range<u64>) -> u64 {
        objects.fold(0, |sum: u64, object| sum.saturating_add(self.size(object)))
    }

    /// Steps and bytes of one pass. A mix has none that follow from the objects: it takes as many steps as there are
    /// objects, one at least, and its bytes are not known before.
    pub fn pass(&self) -> (u64, u64) {
        let there = self.there.high - self.there.low - self.there.missing.len() as u64;
        match &self.deed {
            Deed::Put { to, batch: Some(batch), .. } => (to.div_ceil(u64::from(*batch)), self.bytes_of(0..*to)),
            // One put and one look for each.
            Deed::Put { to, .. } if self.sees => (to.saturating_mul(2), self.bytes_of(0..*to)),
            Deed::Put { to, all, .. } => self.steps_of_puts(*to, *all),
            Deed::Look { kind: OpKind::Get, .. } => (there, self.bytes_of_gets(self.range)),
            Deed::Look { kind: OpKind::Update, .. } => (there, self.bytes_of_gets(u64::MAX)),
            Deed::Delete { most } => (self.steps_of_deletes(*most), 0),
            Deed::Look { .. } => (there, 0),
            Deed::Groups { kind, size, .. } => self.steps_of_groups(*kind, *size),
            Deed::Mix { .. } => (there.max(1), 0),
            Deed::Pages { kind: OpKind::Scan, size, .. } => {
                (there.div_ceil(*size).max(1), self.bytes_of_gets(u64::MAX))
            }
            Deed::Pages { size, .. } => (self.pages(*size, there), 0),
        }
    }

    fn bytes_of(&self, objects: Range<u64>) -> u64 {
        if self.lengths.are_fixed() {
            return (objects.end - objects.start).saturating_mul(self.size(objects.start));
        }
        self.size_of_all(objects)
    }

    fn steps_of_groups(&self, kind: OpKind, size: u64) -> (u64, u64) {
        let groups = groups_of(&self.there, size);
        if self.there.missing.is_empty() {
            return (groups.end - groups.start, self.bytes_of(self.there.low..self.there.high));
        }
        let steps = groups.filter_map(|group| self.group(kind, size, group));
        steps.fold((0, 0), |sum: (u64, u64), step| (sum.0 + 1, sum.1.saturating_add(step.length)))
    }

    fn steps_of_puts(&self, to: u64, all: bool) -> (u64, u64) {
        let steps = |size: u64| if size > self.part { size.div_ceil(self.part).saturating_add(2) } else { 1 };
        if self.lengths.are_fixed() {
            let puts = if all { to } else { to - self.there.among(to) };
            let size = self.size(0);
            return (puts.saturating_mul(steps(size)), puts.saturating_mul(size));
        }
        let sizes = (0..to).filter(|object| all || !self.there.has(*object)).map(|object| self.size(object));
        sizes.fold((0, 0), |sum: (u64, u64), size| (sum.0.saturating_add(steps(size)), sum.1.saturating_add(size)))
    }

    fn bytes_of_gets(&self, range: u64) -> u64 {
        let (there, missing) = (self.there.high - self.there.low, self.there.missing.len() as u64);
        if self.lengths.are_fixed() {
            return (there - missing).saturating_mul(self.size(0).min(range));
        }
        let numbers = (self.there.low..self.there.high).filter(|object| self.there.has(*object));
        numbers.fold(0, |sum: u64, object| sum.saturating_add(self.size(object).min(range)))
    }

    /// The next step; none if something that is in flight must end first, or if there is nothing more to do.
    pub fn next_step(&mut self) -> Option<Step> {
        if let Some(step) = self.next_of_uploads() {
            return Some(step);
        }
        if let Some(object) = self.unseen.pop_front() {
            return Some(step(OpKind::See, object, 0));
        }
        let there = self.there.high - self.there.low;
        match &mut self.deed {
            Deed::Put { .. } => self.next_put(),
            Deed::Look { .. } => Some(self.next_look()),
            Deed::Groups { .. } => Some(self.next_group()),
            Deed::Delete { most } => {
                let most = *most;
                self.next_delete(most)
            }
            Deed::Pages { kind, size, page } => {
                let pages = self.listed.unwrap_or(there).div_ceil(*size).max(1);
                let (kind, size, object) = (*kind, *size, *page % pages);
                *page += 1;
                let all = self.alone && kind == OpKind::Scan && self.there.high + MARKS <= size;
                let length = if all { self.length_of_query(self.there.low..self.there.high) } else { 0 };
                Some(Step { count: size as u16, ..step(kind, object, length) })
            }
            Deed::Mix { .. } => self.next_of_mix(),
        }
    }

    fn next_put(&mut self) -> Option<Step> {
        let Deed::Put { next, to, all, batch } = &mut self.deed else { unreachable!("the deed is to put") };
        if self.again && next == to && self.uploads.is_empty() && self.storing.is_empty() && self.looking.is_empty() {
            *next = 0;
        }
        let wanted = |object: &u64| *all || !self.there.has(*object);
        let object = (*next..*to).find(wanted);
        let most = batch.map_or(1, u64::from);
        let end = object.map_or(*to, |object| {
            (object + 1..*to).take_while(wanted).take(most as usize - 1).last().unwrap_or(object) + 1
        });
        *next = end;
        let object = object?;
        if batch.is_none() {
            return Some(self.begin_put(object));
        }
        (object..end).for_each(|object| self.begin_storing(object));
        let length = self.size_of_all(object..end);
        Some(Step { count: (end - object) as u16, ..step(OpKind::BatchPut, object, length) })
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
            return Some(Step { offset, ..step(OpKind::PutPart, object, length) });
        }
        let length = upload.size;
        // Not ready again until it has ended.
        upload.begun = false;
        Some(step(OpKind::CompleteUpload, object, length))
    }

    fn begin_storing(&mut self, object: u64) {
        self.storing.insert(object, self.there.has(object));
        self.there.missing.remove(&object);
        self.there.high = self.there.high.max(object + 1);
    }

    fn begin_put(&mut self, object: u64) -> Step {
        let size = self.size(object);
        self.begin_storing(object);
        if size <= self.part {
            return step(OpKind::Put, object, size);
        }
        self.uploads.push_back(Upload { object, size, begun: false, given: 0, stored: 0, failed: false });
        step(OpKind::StartUpload, object, 0)
    }

    /// How many deletes it takes, of so many objects from an existing one on.
    fn steps_of_deletes(&self, most: u64) -> u64 {
        let There { low, high, missing, .. } = &self.there;
        if most == 1 || missing.is_empty() {
            return (high - low - missing.len() as u64).div_ceil(most);
        }
        let mut left = self.there.clone();
        std::iter::from_fn(|| left.take(most)).count() as u64
    }

    fn next_delete(&mut self, most: u64) -> Option<Step> {
        let (object, count) = self.there.take(most)?;
        if most == 1 {
            return Some(step(OpKind::Delete, object, 0));
        }
        Some(Step { count: count as u16, ..step(OpKind::MultiDelete, object, 0) })
    }

    fn next_look(&mut self) -> Step {
        let Deed::Look { kind, round } = &mut self.deed else { unreachable!("the deed is to look") };
        let (kind, each, count) = (*kind, round.is_each(), self.there.high - self.there.low);
        loop {
            let (place, word) = round.next();
            // Where some come more often than others, the next one stands in for one that is missing.
            let numbers = (0..if each { 1 } else { count }).map(|more| self.there.low + (place + more) % count);
            if let Some(object) = numbers.into_iter().find(|object| self.there.has(*object)) {
                return self.look_at(kind, object, word);
            }
        }
    }

    fn look_at(&self, kind: OpKind, object: u64, word: u64) -> Step {
        let size = self.size(object);
        if kind == OpKind::Copy {
            return step(kind, object, 0);
        }
        if kind != OpKind::Get {
            return step(kind, object, size);
        }
        let length = size.min(self.range);
        Step { offset: word % (size - length + 1), ..step(kind, object, length) }
    }

    fn next_group(&mut self) -> Step {
        let Deed::Groups { kind, size, round } = &self.deed else { unreachable!("the deed is of groups") };
        let (kind, size, each) = (*kind, *size, round.is_each());
        let groups = groups_of(&self.there, size);
        let count = groups.end - groups.start;
        loop {
            let Deed::Groups { round, .. } = &mut self.deed else { unreachable!("the deed is of groups") };
            let (place, _) = round.next();
            let mut numbers = (0..if each { 1 } else { count }).map(|more| groups.start + (place + more) % count);
            if let Some(step) = numbers.find_map(|group| self.group(kind, size, group)) {
                return step;
            }
        }
    }

    /// The step on a group of objects; none if none of them is there. A batch ends before the first that is missing.
    fn group(&self, kind: OpKind, size: u64, group: u64) -> Option<Step> {
        let (from, to) = (group.saturating_mul(size), (group + 1).saturating_mul(size).min(self.there.high));
        let first = (from.max(self.there.low)..to).find(|object| self.there.has(*object))?;
        if kind == OpKind::Query {
            return Some(step(kind, from, self.length_of_query(first..to)));
        }
        let end = (first..to).find(|object| !self.there.has(*object)).unwrap_or(to);
        let length = self.size_of_all(first..end);
        Some(Step { count: (end - first) as u16, ..step(kind, first, length) })
    }

    /// Bytes of what is there of a group, if all of it comes with one answer; 0 if it may not.
    fn length_of_query(&self, objects: Range<u64>) -> u64 {
        let there = objects.filter(|object| self.there.has(*object));
        let length = there.fold(0, |sum: u64, object| sum.saturating_add(self.size(object)));
        if length < ANSWERED_BYTES {
            length
        } else {
            0
        }
    }

    /// What the shares say; a put where there is nothing to fetch or remove.
    fn next_of_mix(&mut self) -> Option<Step> {
        let Deed::Mix { kinds, draws } = &mut self.deed else { unreachable!("the deed is a mix") };
        let kind = self.drawn.take().unwrap_or_else(|| {
            *draws += 1;
            kinds[(mix2(self.order_seed, *draws) % kinds.len() as u64) as usize]
        });
        let word = mix2(self.order_seed, !*draws);
        let whole = |object: &u64| self.there.has(*object) && !self.storing.contains_key(object);
        match kind {
            OpKind::Delete => {
                // The oldest that nobody uses.
                let free = |object: &u64| whole(object) && !self.looking.contains_key(object);
                if let Some(object) = (self.there.low..self.there.high).find(free) {
                    self.there.remove(object);
                    return Some(step(kind, object, 0));
                }
                if self.storing.is_empty() && self.looking.is_empty() {
                    return self.put_another();
                }
                self.drawn = Some(kind);
                None
            }
            OpKind::Get | OpKind::Head | OpKind::Update => {
                let count = self.there.high - self.there.low;
                let from = access::place(self.access, count.max(1), word);
                let numbers = (0..count).map(|more| self.there.low + (from + more) % count);
                let Some(object) = numbers.into_iter().find(whole) else { return self.put_another() };
                *self.looking.entry(object).or_default() += 1;
                Some(self.look_at(kind, object, mix2(word, 1)))
            }
            OpKind::Put
            | OpKind::List
            | OpKind::StartUpload
            | OpKind::PutPart
            | OpKind::CompleteUpload
            | OpKind::Copy
            | OpKind::MultiDelete
            | OpKind::BatchPut
            | OpKind::BatchGet
            | OpKind::Query
            | OpKind::Scan
            | OpKind::See => self.put_another(),
            data_kinds!() | name_kinds!() => unreachable!("the job's rules keep these apart from objects"),
        }
    }

    /// A new object; none if the mix has no puts.
    fn put_another(&mut self) -> Option<Step> {
        let puts = matches!(&self.deed, Deed::Mix { kinds, .. } if kinds.contains(&OpKind::Put));
        puts.then(|| self.begin_put(self.there.high))
    }

    /// A step has ended, well or not; whether it has fetched an object that this job had fetched before.
    pub fn ended(&mut self, step: &Step, well: bool) -> bool {
        let Step { kind, object, length, count, .. } = *step;
        match kind {
            OpKind::BatchPut => (object..object + u64::from(count)).for_each(|object| self.stored(object, well)),
            OpKind::Put => {
                self.stored(object, well);
                if self.sees && well {
                    self.unseen.push_back(object);
                    self.looking.insert(object, 1);
                }
            }
            OpKind::CompleteUpload => {
                self.uploads.retain(|upload| upload.object != object);
                self.stored(object, well);
            }
            OpKind::StartUpload | OpKind::PutPart => {
                let Some(upload) = self.uploads.iter_mut().find(|upload| upload.object == object) else { return false };
                upload.begun |= kind == OpKind::StartUpload && well;
                upload.stored += length;
                upload.failed |= !well;
                if !well {
                    self.stored(object, false);
                }
            }
            OpKind::Get | OpKind::Head | OpKind::Update | OpKind::See => {
                if let Some(count) = self.looking.get_mut(&object) {
                    *count -= 1;
                    if *count == 0 {
                        self.looking.remove(&object);
                    }
                }
                if well && kind == OpKind::Update {
                    self.there.store(object);
                }
                return well && kind == OpKind::Get && self.there.fetch(object);
            }
            OpKind::Delete
            | OpKind::List
            | OpKind::Copy
            | OpKind::MultiDelete
            | OpKind::BatchGet
            | OpKind::Query
            | OpKind::Scan
            | data_kinds!()
            | name_kinds!() => {}
        }
        false
    }

    fn stored(&mut self, object: u64, well: bool) {
        self.storing.remove(&object);
        self.there.store(object);
        if !well {
            self.there.missing.insert(object);
        }
    }

    /// The objects that are there when the phase has ended: what is still being stored is not, unless it was there
    /// before.
    pub fn left(mut self) -> There {
        self.there.missing.extend(self.storing.iter().filter(|(_, before)| !**before).map(|(object, _)| *object));
        self.there.missing = self.there.missing.split_off(&self.there.low);
        self.there
    }
}

/// A step on one object, from its beginning on.
fn step(kind: OpKind, object: u64, length: u64) -> Step {
    Step { kind, count: 1, object, offset: 0, length }
}

/// Numbers of the groups of so many in which objects may be there.
fn groups_of(there: &There, size: u64) -> Range<u64> {
    if there.low == there.high {
        return 0..0;
    }
    there.low / size..there.high.div_ceil(size)
}

#[cfg(test)]
mod tests;

//! Which object comes next: puts, gets, heads and deletes of a lane's objects, complete or in parts.
//!
//! Unlike records of a file, objects come and go, and some operations must wait for others: a part for the start of its
//! upload, the completion for all parts, a delete for reads of the object.

mod access;
mod lengths;
mod present;

pub use lengths::Lengths;
pub use present::PresentObjects;

use crate::pattern::{percents, Step};
use access::Round;
use assay_core::random::mix2;
use assay_core::{OpKind, LIST_PAGE};
use assay_spec::{data_kinds, data_operations, name_kinds, name_operations, program_kinds, program_operations};
use assay_spec::{Access, Job, Operation, Phase};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Most objects that one operation removes (S3 DeleteObjects).
const DELETED_AT_ONCE: u64 = 1000;
/// Most bytes that one page of a scan reads (DynamoDB Scan), and most objects.
const SCANNED_BYTES: u64 = 1 << 20;
const SCANNED_AT_ONCE: u64 = 1000;
/// Other items that a scan may find: the marks of the table, the run and the job.
const MARKS: u64 = 3;
/// A response to a query that is shorter than this is complete (1 MB, DynamoDB Query).
const ANSWERED_BYTES: u64 = 1_000_000;

/// An upload of an object in parts.
#[derive(Debug, Clone)]
struct Upload {
    object: u64,
    size: u64,
    begun: bool,
    /// Bytes of the parts that were issued, and of those that have ended.
    issued: u64,
    stored: u64,
    /// One of the upload's operations failed: it is not continued.
    failed: bool,
}

/// What a phase does with objects.
#[derive(Debug, Clone)]
enum ObjectAction {
    /// Stores the objects below `to`: all, or only those that do not exist; `batch` of them at once.
    Put { next: u64, to: u64, all: bool, batch: Option<u16> },
    /// One kind of read on each, or on some more often than on others.
    Read { kind: OpKind, round: Round },
    /// One kind of read on groups of `size` consecutive numbers.
    Groups { kind: OpKind, size: u64, round: Round },
    /// Removes objects, the oldest first, at most `most` at once.
    Delete { most: u64 },
    /// Reads pages of `size` objects.
    Pages { kind: OpKind, size: u64, page: u64 },
    /// Draws one of these kinds, one for each percent.
    Mix { kinds: Vec<OpKind>, draws: u64 },
}

/// The steps of one lane in one phase on objects; endless, except for deletes.
#[derive(Debug, Clone)]
pub struct ObjectSteps {
    order_seed: u64,
    lengths: Lengths,
    part: u64,
    range: u64,
    access: Access,
    action: ObjectAction,
    present: PresentObjects,
    uploads: VecDeque<Upload>,
    /// Puts in flight, by object, and whether the object existed before.
    puts_in_flight: BTreeMap<u64, bool>,
    /// Gets and heads in flight, by object; only if objects are removed meanwhile. In phases that look for what they
    /// have put: the objects not yet found.
    reads_in_flight: BTreeMap<u64, u32>,
    /// Number of names in a list, if it is not of the lane's own objects.
    listed: Option<u64>,
    /// There is no other lane: a scan finds only this one's objects.
    alone: bool,
    /// A drawn kind that has to wait.
    drawn: Option<OpKind>,
    /// The phase repeats the objects until its time is over.
    repeats: bool,
    /// The phase looks for each object that was put.
    looks_up: bool,
    /// Objects that were put and are still to be looked for.
    unseen: VecDeque<u64>,
}

impl ObjectSteps {
    /// The steps of a phase on the objects `there`; `count` objects exist once they are stored.
    pub fn new(
        job: &Job,
        phase: &Phase,
        count: u64,
        present: PresentObjects,
        lengths: Lengths,
        order_seed: u64,
    ) -> Self {
        let looks_up = phase.operation.checks_visibility();
        let puts = matches!(phase.operation, Operation::Prepare | Operation::Put | Operation::BatchPut) || looks_up;
        let present = if puts { present.renumbered() } else { present };
        let action = Self::action(job, phase, count, &present, order_seed);
        let part = job.objects.as_ref().and_then(|objects| objects.part_size_bytes).unwrap_or(u64::MAX);
        ObjectSteps {
            order_seed,
            lengths,
            part,
            range: phase.range_bytes.unwrap_or(u64::MAX),
            access: phase.access.unwrap_or_default(),
            action,
            present,
            uploads: VecDeque::new(),
            puts_in_flight: BTreeMap::new(),
            reads_in_flight: BTreeMap::new(),
            listed: None,
            alone: job.all_lanes() == 1,
            drawn: None,
            repeats: phase.runtime_ns.is_some(),
            looks_up,
            unseen: VecDeque::new(),
        }
    }

    /// The same, with lists of `names` names, whatever lane has the objects.
    #[must_use]
    pub fn listing(self, names: Option<u64>) -> Self {
        ObjectSteps { listed: names, ..self }
    }

    /// Pages of `size` objects that a pass through all needs.
    fn pages(&self, size: u64, present: u64) -> u64 {
        self.listed.unwrap_or(present).div_ceil(size).max(1)
    }

    fn action(job: &Job, phase: &Phase, count: u64, present: &PresentObjects, seed: u64) -> ObjectAction {
        let look = |kind| ObjectAction::Read {
            kind,
            round: Round::new(phase.access.unwrap_or_default(), present.high - present.low, seed),
        };
        let groups = |kind, size: u64| {
            let groups = groups_of(present, size);
            ObjectAction::Groups {
                kind,
                size,
                round: Round::new(phase.access.unwrap_or_default(), groups.end - groups.start, seed),
            }
        };
        let batch = job.objects.as_ref().map_or(1, |objects| objects.batch);
        match phase.operation {
            Operation::Prepare => ObjectAction::Put { next: 0, to: count, all: false, batch: None },
            Operation::Get => look(OpKind::Get),
            Operation::Head => look(OpKind::Head),
            Operation::Copy => look(OpKind::Copy),
            Operation::Update => look(OpKind::Update),
            Operation::BatchGet => groups(OpKind::BatchGet, u64::from(batch)),
            Operation::Query => groups(OpKind::Query, job.target.rules().group_objects()),
            Operation::Delete => ObjectAction::Delete { most: 1 },
            Operation::MultiDelete => ObjectAction::Delete { most: DELETED_AT_ONCE },
            Operation::List => ObjectAction::Pages { kind: OpKind::List, size: LIST_PAGE, page: 0 },
            Operation::Scan => {
                let size = (SCANNED_BYTES / job.largest_size().max(1)).clamp(1, SCANNED_AT_ONCE);
                ObjectAction::Pages { kind: OpKind::Scan, size, page: 0 }
            }
            Operation::ObjectMix => ObjectAction::Mix { kinds: percents(phase), draws: 0 },
            Operation::Put | Operation::ReadAfterPut | Operation::ListAfterPut => {
                ObjectAction::Put { next: 0, to: count, all: true, batch: None }
            }
            Operation::BatchPut => ObjectAction::Put { next: 0, to: count, all: true, batch: Some(batch) },
            data_operations!() | name_operations!() | program_operations!() => {
                unreachable!("the job's rules keep these apart from objects")
            }
        }
    }

    /// Kinds of operations that may occur.
    pub fn kinds(&self) -> Vec<OpKind> {
        let mut kinds = match &self.action {
            ObjectAction::Put { batch: Some(_), .. } => vec![OpKind::BatchPut],
            ObjectAction::Put { batch: None, .. } => vec![OpKind::Put],
            ObjectAction::Read { kind, .. } | ObjectAction::Groups { kind, .. } | ObjectAction::Pages { kind, .. } => {
                vec![*kind]
            }
            ObjectAction::Delete { most: 1 } => vec![OpKind::Delete],
            ObjectAction::Delete { .. } => vec![OpKind::MultiDelete],
            ObjectAction::Mix { kinds, .. } => kinds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
        };
        if kinds.contains(&OpKind::Put) && self.part < u64::MAX {
            kinds.extend([OpKind::StartUpload, OpKind::PutPart, OpKind::CompleteUpload]);
        }
        if self.looks_up {
            kinds.push(OpKind::See);
        }
        kinds
    }

    /// Size of an object in bytes.
    pub fn size(&self, object: u64) -> u64 {
        self.lengths.of(object)
    }

    /// The sum of the sizes of several consecutive objects.
    fn size_of_all(&self, objects: Range<u64>) -> u64 {
        objects.fold(0, |sum: u64, object| sum.saturating_add(self.size(object)))
    }

    /// Steps and bytes of one pass. Those of a mix do not follow from the objects: it takes as many steps as there are
    /// objects, at least one, and its bytes are not known beforehand (0).
    pub fn pass(&self) -> (u64, u64) {
        let present = self.present.high - self.present.low - self.present.missing.len() as u64;
        match &self.action {
            ObjectAction::Put { to, batch: Some(batch), .. } => (to.div_ceil(u64::from(*batch)), self.bytes_of(0..*to)),
            // One put and one look for each.
            ObjectAction::Put { to, .. } if self.looks_up => (to.saturating_mul(2), self.bytes_of(0..*to)),
            ObjectAction::Put { to, all, .. } => self.steps_of_puts(*to, *all),
            ObjectAction::Read { kind: OpKind::Get, .. } => (present, self.bytes_of_gets(self.range)),
            ObjectAction::Read { kind: OpKind::Update, .. } => (present, self.bytes_of_gets(u64::MAX)),
            ObjectAction::Delete { most } => (self.steps_of_deletes(*most), 0),
            ObjectAction::Read { .. } => (present, 0),
            ObjectAction::Groups { kind, size, .. } => self.steps_of_groups(*kind, *size),
            ObjectAction::Mix { .. } => (present.max(1), 0),
            ObjectAction::Pages { kind: OpKind::Scan, size, .. } => {
                (present.div_ceil(*size).max(1), self.bytes_of_gets(u64::MAX))
            }
            ObjectAction::Pages { size, .. } => (self.pages(*size, present), 0),
        }
    }

    fn bytes_of(&self, objects: Range<u64>) -> u64 {
        if self.lengths.are_fixed() {
            return (objects.end - objects.start).saturating_mul(self.size(objects.start));
        }
        self.size_of_all(objects)
    }

    fn steps_of_groups(&self, kind: OpKind, size: u64) -> (u64, u64) {
        let groups = groups_of(&self.present, size);
        if self.present.missing.is_empty() {
            return (groups.end - groups.start, self.bytes_of(self.present.low..self.present.high));
        }
        let steps = groups.filter_map(|group| self.group(kind, size, group));
        steps.fold((0, 0), |sum: (u64, u64), step| (sum.0 + 1, sum.1.saturating_add(step.length)))
    }

    fn steps_of_puts(&self, to: u64, all: bool) -> (u64, u64) {
        let steps = |size: u64| if size > self.part { size.div_ceil(self.part).saturating_add(2) } else { 1 };
        if self.lengths.are_fixed() {
            let puts = if all { to } else { to - self.present.among(to) };
            let size = self.size(0);
            return (puts.saturating_mul(steps(size)), puts.saturating_mul(size));
        }
        let sizes = (0..to).filter(|object| all || !self.present.has(*object)).map(|object| self.size(object));
        sizes.fold((0, 0), |sum: (u64, u64), size| (sum.0.saturating_add(steps(size)), sum.1.saturating_add(size)))
    }

    fn bytes_of_gets(&self, range: u64) -> u64 {
        let (present, missing) = (self.present.high - self.present.low, self.present.missing.len() as u64);
        if self.lengths.are_fixed() {
            return (present - missing).saturating_mul(self.size(0).min(range));
        }
        let numbers = (self.present.low..self.present.high).filter(|object| self.present.has(*object));
        numbers.fold(0, |sum: u64, object| sum.saturating_add(self.size(object).min(range)))
    }

    /// The next step; None if an operation in flight must end first, or if there is no more to do.
    pub fn next_step(&mut self) -> Option<Step> {
        if let Some(step) = self.next_of_uploads() {
            return Some(step);
        }
        if let Some(object) = self.unseen.pop_front() {
            return Some(step(OpKind::See, object, 0));
        }
        let present = self.present.high - self.present.low;
        match &mut self.action {
            ObjectAction::Put { .. } => self.next_put(),
            ObjectAction::Read { .. } => Some(self.next_read()),
            ObjectAction::Groups { .. } => Some(self.next_group()),
            ObjectAction::Delete { most } => {
                let most = *most;
                self.next_delete(most)
            }
            ObjectAction::Pages { kind, size, page } => {
                let pages = self.listed.unwrap_or(present).div_ceil(*size).max(1);
                let (kind, size, object) = (*kind, *size, *page % pages);
                *page += 1;
                let all = self.alone && kind == OpKind::Scan && self.present.high + MARKS <= size;
                let length = if all { self.length_of_query(self.present.low..self.present.high) } else { 0 };
                Some(Step { count: size as u16, ..step(kind, object, length) })
            }
            ObjectAction::Mix { .. } => self.next_of_mix(),
        }
    }

    fn next_put(&mut self) -> Option<Step> {
        let ObjectAction::Put { next, to, all, batch } = &mut self.action else { unreachable!("the deed is to put") };
        if self.repeats
            && next == to
            && self.uploads.is_empty()
            && self.puts_in_flight.is_empty()
            && self.reads_in_flight.is_empty()
        {
            *next = 0;
        }
        let wanted = |object: &u64| *all || !self.present.has(*object);
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
        uploads.retain(|upload| !upload.failed || upload.issued > upload.stored);
        let upload = uploads.iter_mut().find(|upload| {
            upload.begun && !upload.failed && (upload.issued < upload.size || upload.stored == upload.size)
        })?;
        let object = upload.object;
        if upload.issued < upload.size {
            let (offset, length) = (upload.issued, part.min(upload.size - upload.issued));
            upload.issued += length;
            return Some(Step { offset, ..step(OpKind::PutPart, object, length) });
        }
        let length = upload.size;
        // Not ready again until it has ended.
        upload.begun = false;
        Some(step(OpKind::CompleteUpload, object, length))
    }

    fn begin_storing(&mut self, object: u64) {
        self.puts_in_flight.insert(object, self.present.has(object));
        self.present.missing.remove(&object);
        self.present.high = self.present.high.max(object + 1);
    }

    fn begin_put(&mut self, object: u64) -> Step {
        let size = self.size(object);
        self.begin_storing(object);
        if size <= self.part {
            return step(OpKind::Put, object, size);
        }
        self.uploads.push_back(Upload { object, size, begun: false, issued: 0, stored: 0, failed: false });
        step(OpKind::StartUpload, object, 0)
    }

    /// Number of deletes of at most `most` objects each.
    fn steps_of_deletes(&self, most: u64) -> u64 {
        let PresentObjects { low, high, missing, .. } = &self.present;
        if most == 1 || missing.is_empty() {
            return (high - low - missing.len() as u64).div_ceil(most);
        }
        let mut left = self.present.clone();
        std::iter::from_fn(|| left.take(most)).count() as u64
    }

    fn next_delete(&mut self, most: u64) -> Option<Step> {
        let (object, count) = self.present.take(most)?;
        if most == 1 {
            return Some(step(OpKind::Delete, object, 0));
        }
        Some(Step { count: count as u16, ..step(OpKind::MultiDelete, object, 0) })
    }

    fn next_read(&mut self) -> Step {
        let ObjectAction::Read { kind, round } = &mut self.action else { unreachable!("the deed is to look") };
        let (kind, each, count) = (*kind, round.is_each(), self.present.high - self.present.low);
        loop {
            let (place, word) = round.next();
            // If some come more often than others, the next object replaces a missing one.
            let numbers = (0..if each { 1 } else { count }).map(|more| self.present.low + (place + more) % count);
            if let Some(object) = numbers.into_iter().find(|object| self.present.has(*object)) {
                return self.read_step(kind, object, word);
            }
        }
    }

    fn read_step(&self, kind: OpKind, object: u64, word: u64) -> Step {
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
        let ObjectAction::Groups { kind, size, round } = &self.action else { unreachable!("the deed is of groups") };
        let (kind, size, each) = (*kind, *size, round.is_each());
        let groups = groups_of(&self.present, size);
        let count = groups.end - groups.start;
        loop {
            let ObjectAction::Groups { round, .. } = &mut self.action else { unreachable!("the deed is of groups") };
            let (place, _) = round.next();
            let mut numbers = (0..if each { 1 } else { count }).map(|more| groups.start + (place + more) % count);
            if let Some(step) = numbers.find_map(|group| self.group(kind, size, group)) {
                return step;
            }
        }
    }

    /// The step on a group of objects; None if none of them exists. A batch ends before the first missing one.
    fn group(&self, kind: OpKind, size: u64, group: u64) -> Option<Step> {
        let (from, to) = (group.saturating_mul(size), (group + 1).saturating_mul(size).min(self.present.high));
        let first = (from.max(self.present.low)..to).find(|object| self.present.has(*object))?;
        if kind == OpKind::Query {
            return Some(step(kind, from, self.length_of_query(first..to)));
        }
        let end = (first..to).find(|object| !self.present.has(*object)).unwrap_or(to);
        let length = self.size_of_all(first..end);
        Some(Step { count: (end - first) as u16, ..step(kind, first, length) })
    }

    /// Bytes of a group's existing objects if one response holds them all; 0 if it may not.
    fn length_of_query(&self, objects: Range<u64>) -> u64 {
        let present = objects.filter(|object| self.present.has(*object));
        let length = present.fold(0, |sum: u64, object| sum.saturating_add(self.size(object)));
        if length < ANSWERED_BYTES {
            length
        } else {
            0
        }
    }

    /// A step by the shares of the mix; a put if there is nothing to fetch or remove.
    fn next_of_mix(&mut self) -> Option<Step> {
        let ObjectAction::Mix { kinds, draws } = &mut self.action else { unreachable!("the deed is a mix") };
        let kind = self.drawn.take().unwrap_or_else(|| {
            *draws += 1;
            kinds[(mix2(self.order_seed, *draws) % kinds.len() as u64) as usize]
        });
        let word = mix2(self.order_seed, !*draws);
        let whole = |object: &u64| self.present.has(*object) && !self.puts_in_flight.contains_key(object);
        match kind {
            OpKind::Delete => {
                // The oldest object without an operation in flight.
                let free = |object: &u64| whole(object) && !self.reads_in_flight.contains_key(object);
                if let Some(object) = (self.present.low..self.present.high).find(free) {
                    self.present.remove(object);
                    return Some(step(kind, object, 0));
                }
                if self.puts_in_flight.is_empty() && self.reads_in_flight.is_empty() {
                    return self.put_another();
                }
                self.drawn = Some(kind);
                None
            }
            OpKind::Get | OpKind::Head | OpKind::Update => {
                let count = self.present.high - self.present.low;
                let from = access::place(self.access, count.max(1), word);
                let numbers = (0..count).map(|more| self.present.low + (from + more) % count);
                let Some(object) = numbers.into_iter().find(whole) else { return self.put_another() };
                *self.reads_in_flight.entry(object).or_default() += 1;
                Some(self.read_step(kind, object, mix2(word, 1)))
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
            data_kinds!() | name_kinds!() | program_kinds!() => {
                unreachable!("the job's rules keep these apart from objects")
            }
        }
    }

    /// A put of a new object; None if the mix has no puts.
    fn put_another(&mut self) -> Option<Step> {
        let puts = matches!(&self.action, ObjectAction::Mix { kinds, .. } if kinds.contains(&OpKind::Put));
        puts.then(|| self.begin_put(self.present.high))
    }

    /// Note that a step has ended, successfully or not; returns whether it fetched an object that this job had fetched
    /// before.
    pub fn on_end(&mut self, step: &Step, well: bool) -> bool {
        let Step { kind, object, length, count, .. } = *step;
        match kind {
            OpKind::BatchPut => (object..object + u64::from(count)).for_each(|object| self.stored(object, well)),
            OpKind::Put => {
                self.stored(object, well);
                if self.looks_up && well {
                    self.unseen.push_back(object);
                    self.reads_in_flight.insert(object, 1);
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
                if let Some(count) = self.reads_in_flight.get_mut(&object) {
                    *count -= 1;
                    if *count == 0 {
                        self.reads_in_flight.remove(&object);
                    }
                }
                if well && kind == OpKind::Update {
                    self.present.store(object);
                }
                return well && kind == OpKind::Get && self.present.fetch(object);
            }
            OpKind::Delete
            | OpKind::List
            | OpKind::Copy
            | OpKind::MultiDelete
            | OpKind::BatchGet
            | OpKind::Query
            | OpKind::Scan
            | data_kinds!()
            | name_kinds!()
            | program_kinds!() => {}
        }
        false
    }

    fn stored(&mut self, object: u64, well: bool) {
        self.puts_in_flight.remove(&object);
        self.present.store(object);
        if !well {
            self.present.missing.insert(object);
        }
    }

    /// The objects that exist when the phase has ended; one that is still being stored does not, unless it existed
    /// before.
    pub fn left(mut self) -> PresentObjects {
        self.present
            .missing
            .extend(self.puts_in_flight.iter().filter(|(_, before)| !**before).map(|(object, _)| *object));
        self.present.missing = self.present.missing.split_off(&self.present.low);
        self.present
    }
}

/// A step on one object, from offset 0.
fn step(kind: OpKind, object: u64, length: u64) -> Step {
    Step { kind, count: 1, object, offset: 0, length }
}

/// Numbers of the groups of `size` in which objects may exist.
fn groups_of(present: &PresentObjects, size: u64) -> Range<u64> {
    if present.low == present.high {
        return 0..0;
    }
    present.low / size..present.high.div_ceil(size)
}

#[cfg(test)]
mod tests;

//! Which object comes next: puts, gets, heads and deletes of a lane's objects, whole or in parts.
//!
//! Unlike records of a file, objects come and go, and some operations must wait for others: a part for the upload to be
//! begun, its completion for all parts, a delete for those who read the object.

use crate::pattern::{percents, Step};
use crate::permutation::Permutation;
use assay_core::random::mix2;
use assay_core::sizes::size_of;
use assay_core::{OpKind, LIST_PAGE};
use assay_spec::{data_kinds, data_operations, name_kinds, name_operations};
use assay_spec::{Job, Operation, Phase, Sizes};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Objects that one operation removes at most (S3 DeleteObjects).
const DELETED_AT_ONCE: u64 = 1000;

/// The objects of a lane that are there: all from `low` up to `high` but those that are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct There {
    /// The oldest one.
    pub low: u64,
    /// Number of the next one to be made.
    pub high: u64,
    /// Are not there: could not be stored, or were removed before the oldest one.
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

    /// The same objects, told from number 0 on, so that those that were removed can be made again.
    fn renumbered(mut self) -> Self {
        if self.low == self.high {
            return There::default();
        }
        self.missing.extend(0..self.low);
        There { low: 0, ..self }
    }

    /// How many of the first `count` numbers are there; `low` is 0.
    fn among(&self, count: u64) -> u64 {
        let end = count.min(self.high);
        end - self.missing.range(..end).count() as u64
    }

    /// Takes the oldest ones away: the first of them, and of how many numbers from it on, `most` at most. Such as are
    /// missing may be among them, the first and the last are there.
    fn take(&mut self, most: u64) -> Option<(u64, u64)> {
        let first = (self.low..self.high).find(|object| self.has(*object))?;
        let end = self.high.min(first.saturating_add(most));
        let last = (first..end).rev().find(|object| self.has(*object)).unwrap_or(first);
        self.missing = self.missing.split_off(&(last + 1));
        self.low = last + 1;
        Some((first, last + 1 - first))
    }

    fn remove(&mut self, object: u64) {
        self.missing.insert(object);
        while self.low < self.high && self.missing.remove(&self.low) {
            self.low += 1;
        }
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
    /// Makes the first so many: all of them, or only those that are not there.
    Put { next: u64, to: u64, all: bool },
    /// One kind on each, in random order.
    Look { kind: OpKind, order: Permutation, index: u64, pass: u64 },
    /// Removes them, the oldest first, so many at once.
    Delete { most: u64 },
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
    /// Puts in flight, by object, and whether it was there before.
    storing: BTreeMap<u64, bool>,
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
        let puts = matches!(phase.operation, Operation::Prepare | Operation::Put);
        let there = if puts { there.renumbered() } else { there };
        let deed = match phase.operation {
            Operation::Prepare => Deed::Put { next: 0, to: count, all: false },
            Operation::Get => Self::look(OpKind::Get, &there, order_seed),
            Operation::Head => Self::look(OpKind::Head, &there, order_seed),
            Operation::Copy => Self::look(OpKind::Copy, &there, order_seed),
            Operation::Delete => Deed::Delete { most: 1 },
            Operation::MultiDelete => Deed::Delete { most: DELETED_AT_ONCE },
            Operation::List => Deed::List { page: 0 },
            Operation::ObjectMix => Deed::Mix { kinds: percents(phase), draws: 0 },
            Operation::Put => Deed::Put { next: 0, to: count, all: true },
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
            storing: BTreeMap::new(),
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
            Deed::Delete { most: 1 } => vec![OpKind::Delete],
            Deed::Delete { .. } => vec![OpKind::MultiDelete],
            Deed::List { .. } => vec![OpKind::List],
            Deed::Mix { kinds, .. } => kinds.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
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

    /// Steps and bytes of one pass. A mix has none that follow from the objects: it takes as many steps as there are
    /// objects, one at least, and its bytes are not known before.
    pub fn pass(&self) -> (u64, u64) {
        let there = self.there.high - self.there.low - self.there.missing.len() as u64;
        match &self.deed {
            Deed::Put { to, all, .. } => self.steps_of_puts(*to, *all),
            Deed::Look { kind: OpKind::Get, .. } => (there, self.bytes_of_gets()),
            Deed::Delete { most } => (self.steps_of_deletes(*most), 0),
            Deed::Look { .. } => (there, 0),
            Deed::Mix { .. } => (there.max(1), 0),
            Deed::List { .. } => (there.div_ceil(LIST_PAGE).max(1), 0),
        }
    }

    fn steps_of_puts(&self, to: u64, all: bool) -> (u64, u64) {
        let steps = |size: u64| if size > self.part { size.div_ceil(self.part).saturating_add(2) } else { 1 };
        if self.sizes.is_none() {
            let puts = if all { to } else { to - self.there.among(to) };
            return (puts.saturating_mul(steps(self.size)), puts.saturating_mul(self.size));
        }
        let sizes = (0..to).filter(|object| all || !self.there.has(*object)).map(|object| self.size(object));
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

    /// The next step; none if something that is in flight must end first, or if there is nothing more to do.
    pub fn next_step(&mut self) -> Option<Step> {
        if let Some(step) = self.next_of_uploads() {
            return Some(step);
        }
        match &mut self.deed {
            Deed::Put { next, to, all } => {
                if self.again && next == to && self.uploads.is_empty() && self.storing.is_empty() {
                    *next = 0;
                }
                let object = (*next..*to).find(|object| *all || !self.there.has(*object));
                *next = object.map_or(*to, |object| object + 1);
                object.map(|object| self.begin_put(object))
            }
            Deed::Look { .. } => Some(self.next_look()),
            Deed::Delete { most } => {
                let most = *most;
                self.next_delete(most)
            }
            Deed::List { page } => {
                let pages = (self.there.high - self.there.low).div_ceil(LIST_PAGE).max(1);
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
        self.storing.insert(object, self.there.has(object));
        self.there.missing.remove(&object);
        self.there.high = self.there.high.max(object + 1);
        if size <= self.part {
            return Step { kind: OpKind::Put, object, offset: 0, length: size };
        }
        self.uploads.push_back(Upload { object, size, begun: false, given: 0, stored: 0, failed: false });
        Step { kind: OpKind::StartUpload, object, offset: 0, length: 0 }
    }

    /// How many deletes it takes, of so many objects from an existing one on.
    fn steps_of_deletes(&self, most: u64) -> u64 {
        let There { low, high, missing } = &self.there;
        if most == 1 || missing.is_empty() {
            return (high - low - missing.len() as u64).div_ceil(most);
        }
        let mut left = self.there.clone();
        std::iter::from_fn(|| left.take(most)).count() as u64
    }

    fn next_delete(&mut self, most: u64) -> Option<Step> {
        let (object, count) = self.there.take(most)?;
        if most == 1 {
            return Some(Step { kind: OpKind::Delete, object, offset: 0, length: 0 });
        }
        Some(Step { kind: OpKind::MultiDelete, object, offset: 0, length: count })
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
        if kind == OpKind::Copy {
            return Step { kind, object, offset: 0, length: 0 };
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
        let whole = |object: &u64| self.there.has(*object) && !self.storing.contains_key(object);
        match kind {
            OpKind::Delete => {
                // The oldest that nobody uses.
                let free = |object: &u64| whole(object) && !self.looking.contains_key(object);
                if let Some(object) = (self.there.low..self.there.high).find(free) {
                    self.there.remove(object);
                    return Some(Step { kind, object, offset: 0, length: 0 });
                }
                if self.storing.is_empty() && self.looking.is_empty() {
                    return self.put_another();
                }
                self.drawn = Some(kind);
                None
            }
            OpKind::Get | OpKind::Head => {
                let count = self.there.high - self.there.low;
                let from = word % count.max(1);
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
            | OpKind::MultiDelete => self.put_another(),
            data_kinds!() | name_kinds!() => unreachable!("the job's rules keep these apart from objects"),
        }
    }

    /// A new object; none if the mix has no puts.
    fn put_another(&mut self) -> Option<Step> {
        let puts = matches!(&self.deed, Deed::Mix { kinds, .. } if kinds.contains(&OpKind::Put));
        puts.then(|| self.begin_put(self.there.high))
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
            OpKind::Delete | OpKind::List | OpKind::Copy | OpKind::MultiDelete | data_kinds!() | name_kinds!() => {}
        }
    }

    fn stored(&mut self, object: u64, well: bool) {
        self.storing.remove(&object);
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

#[cfg(test)]
mod tests {
    use super::*;
    use assay_spec::SPEC_VERSION;
    use proptest::prelude::*;
    use serde_json::{json, Value};

    fn job(objects: &Value, sizes: &Value, phase: &Value) -> Job {
        let job = json!({
            "spec_version": SPEC_VERSION, "id": "job", "target": {"kind": "null"}, "file_size_bytes": 1000,
            "record_size_bytes": 4096, "objects": objects, "sizes": sizes, "phases": [phase], "seed": 3,
        });
        serde_json::from_value(job).unwrap()
    }

    fn steps(job: &Job, there: There) -> ObjectSteps {
        ObjectSteps::new(job, &job.phases[0], job.objects.as_ref().unwrap().count, there, 7 << 40, 11)
    }

    /// A store that holds the steps to their order: `depth` are in flight, and which one ends is drawn from `seed`.
    #[derive(Default)]
    struct Store {
        objects: BTreeMap<u64, u64>,
        uploads: BTreeMap<u64, BTreeMap<u64, u64>>,
        flight: Vec<Step>,
        done: BTreeMap<OpKind, u64>,
    }

    impl Store {
        fn end_one(&mut self, steps: &mut ObjectSteps, word: u64, fails: bool) {
            let step = self.flight.swap_remove((word % self.flight.len() as u64) as usize);
            let well = !fails;
            if well {
                self.apply(step);
            }
            steps.ended(step.kind, step.object, step.length, well);
            *self.done.entry(step.kind).or_default() += 1;
        }

        fn apply(&mut self, step: Step) {
            let Step { kind, object, offset, length } = step;
            match kind {
                OpKind::Put => drop(self.objects.insert(object, length)),
                OpKind::StartUpload => drop(self.uploads.insert(object, BTreeMap::new())),
                OpKind::PutPart => drop(self.uploads.get_mut(&object).expect("it was begun").insert(offset, length)),
                OpKind::CompleteUpload => {
                    let parts = self.uploads.remove(&object).expect("it was begun");
                    let end = parts.iter().fold(0, |at, (offset, length)| {
                        assert_eq!(at, *offset, "parts follow each other");
                        offset + length
                    });
                    assert_eq!(end, length, "all parts are there");
                    self.objects.insert(object, length);
                }
                OpKind::Get => assert!(offset + length <= self.objects[&object], "{step:?}"),
                OpKind::Head => assert_eq!(length, self.objects[&object]),
                OpKind::Delete => assert!(self.objects.remove(&object).is_some(), "{object} was not there"),
                OpKind::Copy => assert!(self.objects.contains_key(&object), "{object} was not there"),
                OpKind::MultiDelete => {
                    assert!(self.objects.contains_key(&object) && length <= DELETED_AT_ONCE, "{step:?}");
                    self.objects.retain(|known, _| !(object..object + length).contains(known));
                }
                OpKind::List | data_kinds!() | name_kinds!() => {}
            }
        }
    }

    /// Plays a phase through; what the store has done, and what is said to be there.
    fn play(steps: ObjectSteps, store: &mut Store, depth: usize, most: u64, fails: impl Fn(u64) -> bool) -> There {
        let mut steps = steps;
        for number in 0..most {
            while store.flight.len() < depth {
                let Some(step) = steps.next_step() else { break };
                assert!(steps.kinds().contains(&step.kind), "{step:?}");
                store.flight.push(step);
            }
            if store.flight.is_empty() {
                break;
            }
            store.end_one(&mut steps, mix2(5, number), fails(number));
        }
        while !store.flight.is_empty() {
            store.end_one(&mut steps, 0, false);
        }
        steps.left()
    }

    fn sizes_of(least: u64, most: u64) -> Value {
        json!({"distribution": "range", "min_bytes": least, "max_bytes": most})
    }

    proptest! {
        /// Whatever is in flight and ends when: a part waits for its upload, its completion for all parts, nothing is
        /// fetched that is not there, and in the end all objects are there whole.
        #[test]
        fn puts_store_each_object_once(depth in 1_usize..40, count in 1_u64..60, part in prop::option::of(1_u64..5000)) {
            let objects = json!({"count": count, "part_size_bytes": part});
            let job = job(&objects, &sizes_of(0, 20_000), &json!({"operation": "put"}));
            let steps = steps(&job, There::default());
            let (planned, bytes) = steps.pass();
            let mut store = Store::default();
            let sizes: Vec<u64> = (0..count).map(|object| steps.size(object)).collect();
            let there = play(steps, &mut store, depth, u64::MAX, |_| false);
            prop_assert_eq!(there, There::first(count));
            prop_assert_eq!(store.objects.into_values().collect::<Vec<_>>(), sizes);
            prop_assert_eq!(store.done.values().sum::<u64>(), planned);
            prop_assert!(bytes <= count * 20_000 && store.uploads.is_empty());
        }

        #[test]
        fn a_mix_fetches_and_removes_only_what_is_there(depth in 1_usize..40, count in 1_u64..40, large: bool) {
            let objects = json!({"count": count, "part_size_bytes": if large { Some(4000) } else { None }});
            let mix = json!({"operation": "object_mix", "mix": {"get": 45, "put": 15, "delete": 15, "head": 25}});
            let job = job(&objects, &sizes_of(1, 9000), &mix);
            let steps = steps(&job, There::first(count));
            let sizes = (0..count).map(|object| (object, steps.size(object)));
            let mut store = Store { objects: sizes.collect(), ..Store::default() };
            let there = play(steps, &mut store, depth, 3000, |_| false);
            for object in there.low..there.high {
                prop_assert_eq!(there.has(object), store.objects.contains_key(&object), "{}", object);
            }
            prop_assert!(store.objects.keys().all(|object| there.has(*object)));
        }

        /// What could not be stored is neither fetched nor removed later.
        #[test]
        fn what_failed_is_missing(depth in 1_usize..20, count in 1_u64..60, part in prop::option::of(1_u64..5000)) {
            let objects = json!({"count": count, "part_size_bytes": part});
            let put = job(&objects, &sizes_of(0, 9000), &json!({"operation": "put"}));
            let mut store = Store::default();
            let there = play(steps(&put, There::default()), &mut store, depth, u64::MAX, |number| number % 5 == 3);
            let stored: BTreeSet<u64> = store.objects.keys().copied().collect();
            prop_assert_eq!((0..count).filter(|object| there.has(*object)).collect::<BTreeSet<_>>(), stored.clone());
            for operation in ["get", "head", "copy", "delete", "multi_delete"] {
                let job = job(&objects, &sizes_of(0, 9000), &json!({"operation": operation}));
                let steps = steps(&job, there.clone());
                let count = steps.pass().0;
                let few = operation == "multi_delete" && !stored.is_empty();
                prop_assert_eq!(count, if few { 1 } else { stored.len() as u64 });
                let before = store.objects.clone();
                play(steps, &mut store, depth, count, |_| false);
                prop_assert_eq!(store.objects.is_empty(), operation.contains("delete") || stored.is_empty());
                store.objects = before;
            }
        }
    }

    proptest! {
        /// Whatever phases follow each other, cut off or not: what is said to be there is there, all of it unless
        /// something failed, and each phase finds what it needs.
        #[test]
        fn phases_leave_what_they_say(
            phases in prop::collection::vec((0_usize..9, 1_u64..400), 1..8),
            depth in 1_usize..9, count in 1_u64..30, part in prop::option::of(1_u64..5000),
            failing in prop::option::of(3_u64..20),
        ) {
            let (mut store, mut there) = (Store::default(), There::default());
            for (which, most) in phases {
                let operation =
                    ["put", "prepare", "get", "head", "delete", "list", "object_mix", "copy", "multi_delete"][which];
                let mut phase = json!({"operation": operation});
                if operation == "object_mix" {
                    phase["mix"] = json!({"get": 40, "put": 30, "delete": 25, "head": 5});
                }
                let job = job(&json!({"count": count, "part_size_bytes": part}), &sizes_of(0, 9000), &phase);
                let steps = steps(&job, there.clone());
                let pass = steps.pass().0;
                let most = if operation == "object_mix" { most } else { most.min(pass) };
                let before = store.done.values().sum::<u64>();
                there = play(steps, &mut store, depth, most, |number| failing.is_some_and(|every| number % every == 1));
                let done = store.done.values().sum::<u64>() - before;
                prop_assert!(done >= most || failing.is_some(), "{operation}: {done} of {most}");
                store.uploads.clear();
                let said: BTreeSet<u64> = (there.low..there.high).filter(|object| there.has(*object)).collect();
                let held: BTreeSet<u64> = store.objects.keys().copied().collect();
                prop_assert!(said.is_subset(&held), "{operation}: {said:?} {held:?}");
                prop_assert!(failing.is_some() || said == held, "{operation}: {said:?} {held:?}");
                if matches!(operation, "put" | "prepare") && failing.is_none() && most == pass {
                    prop_assert!((0..count).all(|object| held.contains(&object)));
                }
            }
        }
    }

    #[test]
    fn a_mix_without_puts_ends_where_nothing_is_left() {
        let mix = json!({"operation": "object_mix", "mix": {"get": 50, "head": 50}, "runtime_ns": 1});
        let job = job(&json!({"count": 3}), &Value::Null, &mix);
        let there = There { low: 0, high: 3, missing: BTreeSet::from([0, 1, 2]) };
        assert_eq!(steps(&job, there).next_step(), None);
    }

    /// A delete does not wait for who reads the oldest object: it takes the next.
    #[test]
    fn a_slow_get_holds_nothing_up() {
        let mix = json!({"operation": "object_mix", "mix": {"get": 1, "put": 50, "delete": 49}});
        let job = job(&json!({"count": 10}), &Value::Null, &mix);
        let mut steps = steps(&job, There::first(10));
        steps.looking.insert(0, 1);
        for _ in 0..1000 {
            let step = steps.next_step().expect("there is always one that nobody reads");
            assert!(step.kind != OpKind::Delete || step.object != 0);
            steps.ended(step.kind, step.object, step.length, true);
        }
        steps.ended(OpKind::Get, 0, 1000, true);
        assert!(steps.left().has(0));
    }

    #[test]
    fn shares_are_kept() {
        let mix = json!({"operation": "object_mix", "mix": {"get": 45, "put": 15, "delete": 10, "head": 30}});
        let job = job(&json!({"count": 1000}), &Value::Null, &mix);
        let mut store = Store { objects: (0..1000).map(|object| (object, 1000)).collect(), ..Store::default() };
        play(steps(&job, There::first(1000)), &mut store, 8, 20_000, |_| false);
        for (kind, share) in [(OpKind::Get, 45), (OpKind::Put, 15), (OpKind::Delete, 10), (OpKind::Head, 30)] {
            let found = store.done[&kind] as f64 / 200.0;
            assert!((found - f64::from(share)).abs() < 1.5, "{kind:?}: {found} %");
        }
    }

    #[test]
    fn ranges_lie_in_their_objects_and_vary() {
        let get = json!({"operation": "get", "range_bytes": 100, "runtime_ns": 1});
        let job = job(&json!({"count": 50}), &sizes_of(1, 1000), &get);
        let mut steps = steps(&job, There::first(50));
        let mut offsets = BTreeSet::new();
        for _ in 0..500 {
            let step = steps.next_step().unwrap();
            assert_eq!(step.length, steps.size(step.object).min(100));
            assert!(step.offset + step.length <= steps.size(step.object));
            offsets.insert((step.object, step.offset));
        }
        assert!(offsets.len() > 200, "{}", offsets.len());
    }
}

//! Effects of the steps, in any order of completions.

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

fn steps(job: &Job, there: PresentObjects) -> ObjectSteps {
    ObjectSteps::new(job, &job.phases[0], job.objects.as_ref().unwrap().count, there, Lengths::new(job, 7 << 40), 11)
}

/// Existing objects have their listed sizes, whatever sizes the job has.
#[test]
fn objects_that_were_there_before_are_as_large_as_they_were_listed() {
    let object = |bytes| assay_core::ExistingObject { name: "a".into(), bytes };
    let lane: std::sync::Arc<[_]> = [object(0), object(7), object(5000)].into();
    let of = |phase: Value| {
        let job = job(&json!({"count": 100}), &Value::Null, &phase);
        let lengths = Lengths::new(&job, 1 << 40).of_existing(Some(std::sync::Arc::clone(&lane)));
        ObjectSteps::new(&job, &job.phases[0], 100, PresentObjects::first(3), lengths, 11).listing(Some(2500))
    };
    let mut gets = of(json!({"operation": "get", "range_bytes": 100}));
    assert_eq!(gets.pass(), (3, 107));
    let mut asked: Vec<_> = (0..3).map(|_| gets.next_step().unwrap()).map(|step| (step.object, step.length)).collect();
    asked.sort_unstable();
    assert_eq!(asked, [(0, 0), (1, 7), (2, 100)]);
    assert_eq!(of(json!({"operation": "get"})).pass(), (3, 5007));
    let mut pages = of(json!({"operation": "list"}));
    assert_eq!(pages.pass(), (3, 0), "the whole list, not only the lane's objects");
    let numbers: Vec<u64> = (0..4).map(|_| pages.next_step().unwrap().object).collect();
    assert_eq!(numbers, [0, 1, 2, 0]);
}

/// Items of a partition.
const TOGETHER: u64 = 7;

/// A job on items of 1000 bytes, keys included.
fn table_job(objects: &Value, phase: &Value) -> Job {
    let mut job = job(objects, &Value::Null, phase);
    job.target = serde_json::from_value(json!({
        "kind": "dynamodb", "endpoints": ["http://h"], "table": "abc", "root": "a", "directory": "b", "sort_key": "sk",
        "partition_items": TOGETHER,
    }))
    .unwrap();
    job
}

/// A store that checks the order of steps: `depth` are in flight, and `seed` decides which one ends.
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
        steps.on_end(&step, well);
        *self.done.entry(step.kind).or_default() += 1;
    }

    fn apply(&mut self, step: Step) {
        let Step { kind, count, object, offset, length } = step;
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
            OpKind::Head | OpKind::Update => assert_eq!(length, self.objects[&object]),
            OpKind::Delete => assert!(self.objects.remove(&object).is_some(), "{object} was not there"),
            OpKind::Copy | OpKind::See => assert!(self.objects.contains_key(&object), "{object} was not there"),
            OpKind::MultiDelete => {
                let count = u64::from(count);
                assert!(self.objects.contains_key(&object) && count <= DELETED_AT_ONCE, "{step:?}");
                self.objects.retain(|known, _| !(object..object + count).contains(known));
            }
            OpKind::BatchPut => {
                assert_eq!(length % u64::from(count), 0, "all have the same size");
                self.objects.extend((object..object + u64::from(count)).map(|one| (one, length / u64::from(count))));
            }
            OpKind::BatchGet => {
                let found: u64 = (object..object + u64::from(count)).map(|one| self.objects[&one]).sum();
                assert_eq!(length, found, "{step:?}");
            }
            OpKind::Query => {
                assert!(self.objects.range(object..object + TOGETHER).next().is_some() && object % TOGETHER == 0);
            }
            OpKind::List | OpKind::Scan | data_kinds!() | name_kinds!() | program_kinds!() => {}
        }
    }
}

/// Run a phase to its end; returns the objects that the steps report.
fn play(steps: ObjectSteps, store: &mut Store, depth: usize, most: u64, fails: impl Fn(u64) -> bool) -> PresentObjects {
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

/// A look follows each successful put, once, whatever is in flight, and again if the objects are put again.
#[test]
fn each_object_that_was_put_is_looked_for() {
    for (depth, rounds) in [(1, 1), (4, 1), (4, 3)] {
        let runtime = if rounds > 1 { json!(1_000_000_000) } else { Value::Null };
        let phase = json!({"operation": "list_after_put", "runtime_ns": runtime});
        let job = job(&json!({"count": 10}), &Value::Null, &phase);
        let mut store = Store::default();
        let there = play(steps(&job, PresentObjects::default()), &mut store, depth, 20 * rounds, |number| number == 3);
        assert_eq!(there.high, 10);
        let (puts, looks) = (store.done[&OpKind::Put], store.done[&OpKind::See]);
        // Puts in flight at the end have none yet, and the failed one gets none.
        assert!(puts + looks >= 20 * rounds - 1 && puts - looks <= depth as u64 + 1, "{puts} puts, {looks} looks");
    }
    let job = job(&json!({"count": 10}), &Value::Null, &json!({"operation": "read_after_put"}));
    assert_eq!(steps(&job, PresentObjects::default()).pass(), (20, 10_000));
}

#[test]
fn a_repeated_fetch_is_reported_until_the_object_is_stored_again() {
    let job = |operation: &str| job(&json!({"count": 100}), &sizes_of(1, 1), &json!({"operation": operation}));
    let fetched = |there: PresentObjects| {
        let mut steps = steps(&job("get"), there);
        let found: Vec<bool> = (0..100)
            .map(|_| steps.next_step().unwrap())
            .collect::<Vec<_>>()
            .iter()
            .map(|step| steps.on_end(step, step.object != 7))
            .collect();
        (found.iter().filter(|again| **again).count(), steps.left())
    };
    let (again, there) = fetched(PresentObjects::first(100));
    assert_eq!(again, 0);
    let (again, mut there) = fetched(there);
    assert_eq!(again, 99, "what failed was not fetched");
    there.store(3);
    assert_eq!(fetched(there).0, 98);
    let left = play(steps(&job("put"), PresentObjects::first(100)), &mut Store::default(), 3, u64::MAX, |_| false);
    assert_eq!(fetched(left).0, 0);
}

proptest! {
    /// In any order of completions: a part waits for its upload, its completion for all parts, nothing is fetched that
    /// does not exist, and in the end all objects exist completely.
    #[test]
    fn puts_store_each_object_once(depth in 1_usize..40, count in 1_u64..60, part in prop::option::of(1_u64..5000)) {
        let objects = json!({"count": count, "part_size_bytes": part});
        let job = job(&objects, &sizes_of(0, 20_000), &json!({"operation": "put"}));
        let steps = steps(&job, PresentObjects::default());
        let (planned, bytes) = steps.pass();
        let mut store = Store::default();
        let sizes: Vec<u64> = (0..count).map(|object| steps.size(object)).collect();
        let there = play(steps, &mut store, depth, u64::MAX, |_| false);
        prop_assert_eq!(there, PresentObjects::first(count));
        prop_assert_eq!(store.objects.into_values().collect::<Vec<_>>(), sizes);
        prop_assert_eq!(store.done.values().sum::<u64>(), planned);
        prop_assert!(bytes <= count * 20_000 && store.uploads.is_empty());
    }

    #[test]
    fn a_mix_fetches_and_removes_only_what_is_there(depth in 1_usize..40, count in 1_u64..40, large: bool) {
        let objects = json!({"count": count, "part_size_bytes": if large { Some(4000) } else { None }});
        let mix = json!({"operation": "object_mix", "mix": {"get": 45, "put": 15, "delete": 15, "head": 25}});
        let job = job(&objects, &sizes_of(1, 9000), &mix);
        let steps = steps(&job, PresentObjects::first(count));
        let sizes = (0..count).map(|object| (object, steps.size(object)));
        let mut store = Store { objects: sizes.collect(), ..Store::default() };
        let there = play(steps, &mut store, depth, 3000, |_| false);
        for object in there.low..there.high {
            prop_assert_eq!(there.has(object), store.objects.contains_key(&object), "{}", object);
        }
        prop_assert!(store.objects.keys().all(|object| there.has(*object)));
    }

    /// Objects that could not be stored are neither fetched nor removed later.
    #[test]
    fn what_failed_is_missing(depth in 1_usize..20, count in 1_u64..60, part in prop::option::of(1_u64..5000)) {
        let objects = json!({"count": count, "part_size_bytes": part});
        let put = job(&objects, &sizes_of(0, 9000), &json!({"operation": "put"}));
        let mut store = Store::default();
        let there = play(steps(&put, PresentObjects::default()), &mut store, depth, u64::MAX, |number| number % 5 == 3);
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
    /// After any phases, cut short or not: reported objects exist, all of them unless something failed, and each phase
    /// finds what it needs.
    #[test]
    fn phases_leave_the_objects_that_they_report(
        phases in prop::collection::vec((0_usize..9, 1_u64..400), 1..8),
        depth in 1_usize..9, count in 1_u64..30, part in prop::option::of(1_u64..5000),
        failing in prop::option::of(3_u64..20),
    ) {
        let (mut store, mut there) = (Store::default(), PresentObjects::default());
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
    let mut there = PresentObjects::first(3);
    there.missing.extend(0..3);
    assert_eq!(steps(&job, there).next_step(), None);
}

/// A delete does not wait for reads of the oldest object: it takes the next.
#[test]
fn a_slow_get_holds_nothing_up() {
    let mix = json!({"operation": "object_mix", "mix": {"get": 1, "put": 50, "delete": 49}});
    let job = job(&json!({"count": 10}), &Value::Null, &mix);
    let mut steps = steps(&job, PresentObjects::first(10));
    steps.reads_in_flight.insert(0, 1);
    for _ in 0..1000 {
        let step = steps.next_step().expect("there is always one that nobody reads");
        assert!(step.kind != OpKind::Delete || step.object != 0);
        steps.on_end(&step, true);
    }
    steps.on_end(&step(OpKind::Get, 0, 1000), true);
    assert!(steps.left().has(0));
}

#[test]
fn a_mix_keeps_its_shares() {
    let mix = json!({"operation": "object_mix", "mix": {"get": 45, "put": 15, "delete": 10, "head": 30}});
    let job = job(&json!({"count": 1000}), &Value::Null, &mix);
    let mut store = Store { objects: (0..1000).map(|object| (object, 1000)).collect(), ..Store::default() };
    play(steps(&job, PresentObjects::first(1000)), &mut store, 8, 20_000, |_| false);
    for (kind, share) in [(OpKind::Get, 45), (OpKind::Put, 15), (OpKind::Delete, 10), (OpKind::Head, 30)] {
        let found = store.done[&kind] as f64 / 200.0;
        assert!((found - f64::from(share)).abs() < 1.5, "{kind:?}: {found} %");
    }
}

#[test]
fn ranges_lie_in_their_objects_and_vary() {
    let get = json!({"operation": "get", "range_bytes": 100, "runtime_ns": 1});
    let job = job(&json!({"count": 50}), &sizes_of(1, 1000), &get);
    let mut steps = steps(&job, PresentObjects::first(50));
    let mut offsets = BTreeSet::new();
    for _ in 0..500 {
        let step = steps.next_step().unwrap();
        assert_eq!(step.length, steps.size(step.object).min(100));
        assert!(step.offset + step.length <= steps.size(step.object));
        offsets.insert((step.object, step.offset));
    }
    assert!(offsets.len() > 200, "{}", offsets.len());
}

proptest! {
    /// Batches, partitions and pages hold all existing objects, each once, also if some could not be stored.
    #[test]
    fn several_at_once_are_all(
        depth in 1_usize..9, count in 1_u64..200, batch in 1_u64..26, failing in prop::option::of(2_u64..6),
    ) {
        let objects = json!({"count": count, "batch": batch});
        let put = table_job(&objects, &json!({"operation": "batch_put"}));
        let first = steps(&put, PresentObjects::default());
        let contents = put.largest_size();
        prop_assert_eq!(first.pass(), (count.div_ceil(batch), count * contents));
        let mut store = Store::default();
        let there = play(first, &mut store, depth, u64::MAX, |number| failing.is_some_and(|every| number % every == 1));
        let stored: BTreeSet<u64> = store.objects.keys().copied().collect();
        prop_assert_eq!((0..count).filter(|object| there.has(*object)).collect::<BTreeSet<_>>(), stored.clone());
        prop_assert!(failing.is_some() || stored.len() as u64 == count);
        for operation in ["batch_get", "query", "update", "scan"] {
            let job = table_job(&objects, &json!({"operation": operation}));
            let mut steps = steps(&job, there.clone());
            let (planned, bytes) = steps.pass();
            let mut seen = BTreeSet::new();
            for _ in 0..if stored.is_empty() { 0 } else { planned } {
                let step = steps.next_step().expect("there is one for each that was planned");
                store.apply(step);
                let end = if operation == "query" { step.object + TOGETHER } else { step.object + u64::from(step.count) };
                seen.extend((step.object..end).filter(|object| stored.contains(object)));
                steps.on_end(&step, true);
            }
            // Of a batch with a gap only the objects before it are fetched.
            let whole = operation == "query" || operation == "update" || failing.is_none();
            prop_assert!(operation == "scan" || !whole || seen == stored, "{}: {:?} {:?}", operation, seen, stored);
            prop_assert!(failing.is_some() || operation == "query" || bytes == count * contents || stored.is_empty());
        }
    }

    /// If some objects come more often than others, only existing ones come.
    #[test]
    fn popular_objects_are_there(count in 1_u64..60, zipfian: bool, failing in 2_u64..6, operation in 0_usize..4) {
        let operation = ["get", "update", "batch_get", "query"][operation];
        let access = if zipfian {
            json!({"distribution": "zipfian", "exponent": 0.99})
        } else {
            json!({"distribution": "hotspot", "operations_percent": 90, "objects_percent": 10.0})
        };
        let objects = json!({"count": count, "batch": 3});
        let mut store = Store::default();
        let put = table_job(&objects, &json!({"operation": "put"}));
        let there = play(steps(&put, PresentObjects::default()), &mut store, 4, u64::MAX, |number| number % failing == 1);
        let phase = json!({"operation": operation, "access": access, "runtime_ns": 1_000_000});
        let mut steps = steps(&table_job(&objects, &phase), there);
        for _ in 0..if store.objects.is_empty() { 0 } else { 300 } {
            let step = steps.next_step().expect("it goes on for ever");
            store.apply(step);
            steps.on_end(&step, true);
        }
    }
}

//! Jobs and control lines that nobody meant: samples of the contract with parts changed, swapped and made extreme.
//!
//! `ASSAY_SOAK=1` makes it 100,000 of each. What is found becomes a sample in `contract/golden/jobs-bad`.
#![allow(missing_docs, clippy::print_stdout)]

#[path = "../../testing/soak.rs"]
mod soak;

use assay_core::random::mix2;
use assay_fuzz::Fate;
use assay_spec::SPEC_VERSION;
use serde_json::{json, Number, Value};
use soak::times;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Once;

/// More memory than that is not taken while any number of jobs is looked at.
const MAX_BYTES: u64 = 200_000_000;

/// Panics of any thread: that of a lane does not end the test by itself.
fn panics() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            COUNT.fetch_add(1, Ordering::SeqCst);
            usual(info);
        }));
    });
    COUNT.load(Ordering::SeqCst)
}

/// Numbers that are the same each time.
struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    fn next(&mut self) -> u64 {
        self.thrown += 1;
        mix2(self.seed, self.thrown)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn samples() -> Vec<Value> {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../contract/golden");
    let mut files: Vec<PathBuf> = ["jobs", "jobs-bad"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(golden.join(folder)).unwrap().map(|entry| entry.unwrap().path()))
        .collect();
    files.sort();
    let read = |file: &PathBuf| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).ok();
    let mut samples: Vec<Value> = files.iter().filter_map(read).collect();
    // Small ones that can be run: mutated, most of them still can.
    for number in 0..samples.len() / 2 {
        samples.push(json!({
            "spec_version": SPEC_VERSION, "id": "small", "lanes": 1 + number % 3, "queue_depth": 1 + number % 5,
            "target": {"kind": "null", "latency": {"distribution": "fixed", "ns": 1000}, "make_data": number % 2 == 0},
            "file_size_bytes": 65_536, "record_size_bytes": 4096, "seed": 7, "interval_ns": 10_000_000,
            "phases": [{"operation": "prepare", "measured": false}, {"operation": "random_mix", "mix": {"read": 50, "write": 50}}],
        }));
        samples.push(json!({
            "spec_version": SPEC_VERSION, "id": "objects", "target": {"kind": "null"}, "file_size_bytes": 9000,
            "record_size_bytes": 512, "objects": {"count": 20, "part_size_bytes": 4000}, "queue_depth": 1 + number % 3,
            "phases": [{"operation": "put"}, {"operation": "object_mix", "mix": {"get": 60, "put": 20, "delete": 20}}],
        }));
        samples.push(json!({
            "spec_version": SPEC_VERSION, "id": "names", "target": {"kind": "null"}, "file_size_bytes": 10, "record_size_bytes": 512,
            "tree": {"files": 20, "depth": 2, "width": 2}, "layout": "shared",
            "phases": [{"operation": "create"}, {"operation": "stat"}, {"operation": "unlink"}],
        }));
    }
    samples
}

fn extreme(dice: &mut Dice) -> Value {
    let random = dice.next();
    let shift = random % 64;
    let numbers = [
        0,
        1,
        2,
        99,
        100,
        101,
        1023,
        1024,
        1025,
        4096,
        65_535,
        65_536,
        u64::from(u32::MAX),
        1 << 32,
        i64::MAX as u64,
        1 << 63,
        u64::MAX,
        u64::MAX - 1,
        31_536_000_000_000_000,
        31_536_000_000_000_001,
        1 << shift,
        (1 << shift) - 1,
        random >> shift,
    ];
    match dice.below(10) {
        0 => json!(-((random >> 1) as i64)),
        1 => json!(i64::MIN),
        2 => json!([f64::MAX, -0.0, 1e-300, 0.001, 1e9, 0.5, 1e19][dice.below(7)]),
        _ => Value::Number(Number::from(*dice.one_of(&numbers))),
    }
}

fn odd(dice: &mut Dice) -> Value {
    let words =
        ["", "null", "read", "write", "random_read", "create", "fwrite", "shared", "io_uring", "mmap", "a\n\u{1b}[2J"];
    match dice.below(9) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(false),
        3 => json!([]),
        4 => json!({}),
        5 => json!("x".repeat(dice.below(10_000))),
        6 => json!(*dice.one_of(&words)),
        _ => extreme(dice),
    }
}

/// All places of a value, as pointers (RFC 6901).
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, inner)| places(inner, &format!("{at}/{name}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, inner)| places(inner, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

/// Changes one place.
fn mutate(job: &mut Value, others: &[Value], dice: &mut Dice) {
    let mut found = Vec::new();
    places(job, "", &mut found);
    let at = dice.one_of(&found).clone();
    let other = dice.one_of(others).clone();
    let Some(place) = job.pointer_mut(&at) else { return };
    match (dice.below(20), place) {
        (0, place) => *place = odd(dice),
        (1, Value::Object(fields)) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            if !names.is_empty() {
                fields.remove(dice.one_of(&names));
            }
        }
        (2, Value::Array(items)) if !items.is_empty() => {
            let copy = dice.one_of(items).clone();
            let most = if dice.below(20) == 0 { 300 } else { 3 };
            items.extend(std::iter::repeat_n(copy, dice.below(most)));
        }
        // A field of another job, wherever it was there.
        (3, Value::Object(fields)) => {
            let mut theirs = Vec::new();
            places(&other, "", &mut theirs);
            let from = dice.one_of(&theirs);
            let name = from.rsplit('/').next().unwrap_or_default().to_owned();
            fields.insert(name, other.pointer(from).cloned().unwrap_or_default());
        }
        (_, place @ Value::Number(_)) => *place = extreme(dice),
        // The same field of another job.
        (_, place) => {
            if let Some(theirs) = other.pointer(&at) {
                *place = theirs.clone();
            }
        }
    }
}

fn mutated(samples: &[Value], seed: u64) -> Vec<u8> {
    let mut dice = Dice { seed, thrown: 0 };
    let mut job = dice.one_of(samples).clone();
    for _ in 0..=dice.below(4) {
        mutate(&mut job, samples, &mut dice);
    }
    let mut text = job.to_string().into_bytes();
    match dice.below(40) {
        0 => text.truncate(dice.below(text.len())),
        1 => {
            let at = dice.below(text.len());
            text[at] = dice.next() as u8;
        }
        2 => text = [b"[".repeat(dice.below(100_000)), text].concat(),
        _ => {}
    }
    text
}

#[test]
fn no_job_is_too_much() {
    let samples = samples();
    let before = panics();
    let (mut fates, count) = ([0; 4], u64::from(times(3_000, 100_000)));
    for seed in 0..count {
        let text = mutated(&samples, seed);
        let fate = assay_fuzz::job(&text);
        assert_eq!(panics(), before, "a lane panicked: seed {seed}: {}", String::from_utf8_lossy(&text));
        fates[fate as usize] += 1;
    }
    let memory = assay_drive::max_rss_bytes();
    let [unread, refused, passed, ran] = fates;
    println!("{count} jobs: {unread} unread, {refused} refused, {passed} passed, {ran} run; {memory} bytes at most");
    assert!(memory <= MAX_BYTES, "{memory} bytes");
    // That all kinds are met shows that jobs are neither mutated beyond recognition nor hardly at all.
    assert!(fates.iter().all(|met| *met > count / 100), "{fates:?}");
    assert_eq!(assay_fuzz::job(samples.last().unwrap().to_string().as_bytes()), Fate::Ran);
}

#[test]
fn no_control_line_is_too_much() {
    let samples = [
        json!({"go": true}),
        json!({"go": true, "at_ns": 5}),
        json!({"ping": 3}),
        json!({"stop": true}),
        json!({"go": true, "at_ns": u64::MAX}),
        json!([[]]),
    ];
    let (mut understood, count) = (0, u64::from(times(3_000, 100_000)));
    for seed in 0..count {
        let mut dice = Dice { seed, thrown: 1 << 32 };
        let lines: Vec<Vec<u8>> = (0..=dice.below(4)).map(|_| mutated(&samples, dice.next())).collect();
        understood += assay_fuzz::control(&lines.join(&b'\n'));
    }
    println!("{count} inputs of control lines, {understood} lines understood");
    assert!(understood as u64 > count / 100);
}

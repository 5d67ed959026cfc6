//! Which objects or items a job can have made, by its lanes and its number of objects. Lists only find keys; this
//! decides which of them are the job's.

use assay_core::{creation_log, Op, OpKind};
use assay_spec::{Beyond, Event, Job, LeftJob, Operation};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A lane that goes beyond the job's number of objects announces that so many objects ahead.
const AHEAD: u64 = 1024;

/// The objects, or items, of a job.
#[derive(Debug)]
pub(crate) struct JobObjects {
    /// Lanes of all processes.
    all_lanes: u32,
    /// First lane of this process.
    first_lane: u32,
    /// Objects of each lane, from the job.
    count: u64,
    /// The job copies objects.
    copies: AtomicBool,
    /// The job uploads objects in parts.
    parts: bool,
    /// By lane of this process: the number of objects it has reached, and the number it has announced.
    reached: Vec<AtomicU64>,
    announced: Vec<AtomicU64>,
}

fn copies(job: &Job) -> bool {
    let mixed = |mix: &std::collections::BTreeMap<OpKind, u8>| mix.contains_key(&OpKind::Copy);
    job.phases.iter().any(|phase| phase.operation == Operation::Copy || phase.mix.as_ref().is_some_and(mixed))
}

fn counters(lanes: u32) -> Vec<AtomicU64> {
    (0..lanes).map(|_| AtomicU64::new(0)).collect()
}

impl JobObjects {
    /// The objects of a job that this process executes, alone or with others.
    pub(crate) fn of(job: &Job) -> Self {
        JobObjects {
            first_lane: job.first_lane(),
            reached: counters(job.lanes),
            announced: counters(job.lanes),
            ..JobObjects::without_counters(job)
        }
    }

    /// The objects of a job that is over.
    pub(crate) fn of_left(left: &LeftJob) -> Self {
        let made = JobObjects { reached: counters(left.job.all_lanes()), ..JobObjects::without_counters(&left.job) };
        for Beyond { lane, objects } in &left.beyond {
            if let Some(reached) = made.reached.get(*lane as usize) {
                reached.fetch_max(*objects, Ordering::Relaxed);
            }
        }
        made
    }

    fn without_counters(job: &Job) -> Self {
        let count = job.objects.as_ref().map_or(0, |objects| objects.count);
        let parts = job.objects.as_ref().is_some_and(|objects| objects.part_size_bytes.is_some());
        let (reached, announced) = (Vec::new(), Vec::new());
        JobObjects {
            all_lanes: job.all_lanes(),
            first_lane: 0,
            count,
            copies: AtomicBool::new(copies(job)),
            parts,
            reached,
            announced,
        }
    }

    /// The objects of no job.
    #[cfg(test)]
    pub(crate) fn nothing() -> Self {
        JobObjects {
            all_lanes: 0,
            first_lane: 0,
            count: 0,
            copies: AtomicBool::new(false),
            parts: false,
            reached: Vec::new(),
            announced: Vec::new(),
        }
    }

    /// Whether the job may have copied objects.
    pub(crate) fn copies(&self) -> bool {
        self.copies.load(Ordering::Relaxed)
    }

    /// Whether the job may have begun uploads in parts.
    pub(crate) fn has_parts(&self) -> bool {
        self.parts
    }

    /// Lanes of all processes.
    pub(crate) fn lanes(&self) -> Range<u32> {
        0..self.all_lanes
    }

    /// Whether a lane can have made the object with this number.
    pub(crate) fn has(&self, lane: u32, number: u64) -> bool {
        let index = lane.checked_sub(self.first_lane).map(|index| index as usize);
        let reached = index.and_then(|index| self.reached.get(index)).map_or(0, |most| most.load(Ordering::Relaxed));
        lane < self.all_lanes && number < self.count.max(reached)
    }

    /// Notes an operation of a lane before it is executed.
    pub(crate) fn note(&self, lane: u32, op: &Op) {
        if !op.kind.stores() {
            return;
        }
        if op.kind == OpKind::Copy {
            self.copies.store(true, Ordering::Relaxed);
        }
        let (end, index) = (op.object + u64::from(op.count.max(1)), (lane - self.first_lane) as usize);
        if end <= self.count {
            return;
        }
        let (Some(reached), Some(announced)) = (self.reached.get(index), self.announced.get(index)) else { return };
        if announced.load(Ordering::Relaxed) < end {
            announced.store(end + AHEAD, Ordering::Relaxed);
            creation_log::record(&Event::Beyond(Beyond { lane, objects: end + AHEAD }));
        }
        reached.fetch_max(end, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(more: &serde_json::Value) -> Job {
        let mut job = json!({
            "spec_version": assay_spec::SPEC_VERSION, "id": "made", "file_size_bytes": 1, "record_size_bytes": 1,
            "lanes": 2, "objects": {"count": 5}, "phases": [{"operation": "put"}],
            "target": {"kind": "s3", "endpoints": ["http://h"], "bucket": "abc", "root": "a", "directory": "b"},
        });
        job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn objects_with_lanes_and_numbers_of_the_job_belong_to_it() {
        let made = JobObjects::of(&job(&json!({})));
        let has = [(0, 0), (1, 4), (2, 0), (0, 5), (0, 99_999)].map(|(lane, number)| made.has(lane, number));
        assert_eq!((has, made.copies()), ([true, true, false, false, false], false));
        assert!(JobObjects::of(&job(&json!({"phases": [{"operation": "put"}, {"operation": "copy"}]}))).copies());
        assert!(!JobObjects::nothing().has(0, 0));
    }

    #[test]
    fn objects_beyond_the_number_of_the_job_belong_to_it_once_lanes_reach_them() {
        let made = JobObjects::of(&job(&json!({"ranks": 2, "rank": 1})));
        let put = Op { kind: OpKind::Put, object: 7, offset: 0, length: 1, count: 1, slot: 0 };
        made.note(3, &put);
        assert_eq!(
            [(3, 7), (3, 8), (2, 7), (1, 4)].map(|(lane, number)| made.has(lane, number)),
            [true, false, false, true]
        );
        made.note(3, &Op { kind: OpKind::Get, object: 900, ..put });
        assert!(!made.has(3, 900));
        let left = LeftJob { job: job(&json!({})), uploads: vec![], beyond: vec![Beyond { lane: 1, objects: 1031 }] };
        let left = JobObjects::of_left(&left);
        assert_eq!([(1, 1030), (1, 1031), (0, 5)].map(|(lane, number)| left.has(lane, number)), [true, false, false]);
    }
}

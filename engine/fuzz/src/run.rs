//! Whole runs of jobs that end by themselves within milliseconds.

use assay_backend_null::NullBackend;
use assay_core::Backend;
use assay_drive::{Ending, EventSink};
use assay_spec::{
    ByeStatus, Event, Group, Job, LatencyModel, Method, NullTarget, Objects, OpKind, Phase, PhaseStatus, Target, Tuning,
};
use std::sync::Arc;

/// Most operations of a phase, and how long they may be scripted to take.
const MAX_STEPS: u64 = 500;
const MAX_SCRIPTED_NS: u64 = 2_000_000;
/// Most bytes of memory of a run.
const MAX_BYTES: u64 = 48 << 20;
/// Longest phase that runs by time.
const LONGEST_NS: u64 = 2_000_000;

/// Whether a job that passes its rules can be run here.
pub(crate) fn is_small(job: &Job) -> bool {
    let Target::Null(target) = &job.target else { return false };
    let can = NullBackend::new(target.clone(), job.seed).capabilities();
    let able = job.phases.iter().all(|phase| can.operations.contains(&phase.operation) || !phase.measured)
        && matches!(job.method, Method::Auto | Method::Sync)
        && (!job.data.verify || can.verify);
    able && job.lanes <= 4
        && job.phases.len() <= 4
        && job.tuning == Tuning::default()
        && !job.wait_for_go
        && job.memory_bytes() <= MAX_BYTES
        && job.phases.iter().all(|phase| is_short(job, target, phase))
}

fn is_short(job: &Job, target: &NullTarget, phase: &Phase) -> bool {
    let records = job.file_size_bytes / job.record_size_bytes;
    // An object in parts takes as many steps as it has parts, and two more.
    let parts = |objects: &Objects| {
        let most = job.largest_size().div_ceil(objects.part_size_bytes.unwrap_or(u64::MAX)).saturating_add(2);
        objects.count.saturating_mul(most)
    };
    // A file of a set is opened, flushed and closed besides.
    let each_file =
        if job.on_file_set() { job.largest_size().div_ceil(job.record_size_bytes).saturating_add(3) } else { 1 };
    let of_tree = job.tree.as_ref().map(|tree| tree.max_files().saturating_mul(each_file));
    let steps = of_tree.or(job.objects.as_ref().map(parts)).unwrap_or(records);
    let each = target.latency.iter().chain(target.changes.iter().map(|change| &change.latency)).map(longest).max();
    let stalls = target.stalls.iter().fold(0, |sum: u64, stall| sum.saturating_add(stall.duration_ns));
    let scripted = steps.saturating_mul(each.unwrap_or(0)).saturating_add(stalls);
    let in_time = match (phase.rate_per_s, phase.runtime_ns) {
        (_, Some(runtime)) => runtime <= LONGEST_NS,
        (Some(rate), None) => steps as f64 / rate * f64::from(job.all_lanes()) * 1e9 <= LONGEST_NS as f64,
        (None, None) => true,
    };
    steps <= MAX_STEPS && scripted <= MAX_SCRIPTED_NS && in_time
}

fn longest(latency: &LatencyModel) -> u64 {
    match *latency {
        LatencyModel::Fixed { ns } => ns.saturating_mul(2),
        LatencyModel::Uniform { max_ns, .. } => max_ns.saturating_mul(2),
        // One of 2^53 takes 37 times the mean.
        LatencyModel::Exponential { mean_ns } => mean_ns.saturating_mul(74),
    }
}

/// Counts what a run says.
#[derive(Default)]
struct Told {
    ready: usize,
    ends: Vec<PhaseStatus>,
}

impl EventSink for Told {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        // What cannot be written would be lost on the way.
        serde_json::to_string(event).map_err(std::io::Error::other)?;
        match event {
            Event::Ready(_) => self.ready += 1,
            Event::PhaseEnd(end) => {
                // That files of a set are opened, flushed and closed is no progress.
                let data = end.operation.group() == Some(Group::Data);
                let moved = end.ops(OpKind::Read) + end.ops(OpKind::Write);
                assert!(end.last_finisher.ops == if data { moved } else { end.all_ops() }, "{end:?}");
                self.ends.push(end.status);
            }
            _ => {}
        }
        Ok(())
    }
}

/// Runs the job to its end.
pub(crate) fn run(job: &Job) {
    let Target::Null(target) = &job.target else { return };
    let backend: Arc<dyn Backend> = Arc::new(NullBackend::new(target.clone(), job.seed));
    let mut told = Told::default();
    let mut go = || Some(assay_drive::control::Go::default());
    let Ending { status, reason, .. } = assay_drive::run(job, &backend, &mut told, &Arc::default(), &mut go);
    assert!(matches!(status, ByeStatus::Ok | ByeStatus::Errors), "{status:?}: {reason:?}");
    assert_eq!((told.ready, told.ends.len()), (1, job.phases.len()), "{reason:?}");
    let failed = told.ends.contains(&PhaseStatus::Failed);
    assert!(!failed || status == ByeStatus::Errors, "a failed phase is no success");
}

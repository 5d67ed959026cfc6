//! The null device of one worker.

use assay_core::random::{exponential, mix2, unit};
use assay_core::{
    clock, Buffers, Completion, Fault, Lane, LaneSetup, MethodChoice, Op, OpKind, PhasePlan, SetupError, Source,
};
use assay_spec::{LatencyModel, Method, Moves, NullTarget, ScriptedChange};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

/// A script: service times, stalls and errors by number of the operation.
pub(crate) struct Script {
    initial_latency: Option<LatencyModel>,
    latency: Option<LatencyModel>,
    changes: Vec<ScriptedChange>,
    /// Index of the next change.
    next_change: usize,
    variation: f64,
    /// Factor of this phase's service times.
    factor: f64,
    /// How many phases have begun.
    phases: u64,
    stalls: BTreeMap<u64, u64>,
    errors: BTreeMap<u64, i32>,
    seed: u64,
    /// From this seed all lanes draw the same factors.
    common_seed: u64,
    /// Operations submitted in this phase.
    submitted: u64,
    /// Time until which the device is stalled, in nanoseconds.
    stalled_until: u64,
}

impl Script {
    /// The script of a lane; none if nothing is scripted.
    pub(crate) fn new(target: &NullTarget, seed: u64, lane: u32) -> Option<Self> {
        let unscripted = NullTarget { make_data: target.make_data, ..NullTarget::default() };
        if *target == unscripted {
            return None;
        }
        let ours = |only: Option<u32>| only.is_none_or(|number| number == lane);
        let stalls = target.stalls.iter().filter(|stall| ours(stall.lane));
        let errors = target.errors.iter().filter(|error| ours(error.lane));
        let mut changes: Vec<_> = target.changes.iter().filter(|change| ours(change.lane)).cloned().collect();
        changes.sort_by_key(|change| change.at_op);
        Some(Script {
            initial_latency: target.latency.clone(),
            latency: target.latency.clone(),
            changes,
            next_change: 0,
            variation: f64::from(target.vary_percent) / 100.0,
            factor: 1.0,
            phases: 0,
            stalls: stalls.map(|stall| (stall.at_op, stall.duration_ns)).collect(),
            errors: errors.map(|error| (error.at_op, error.errno)).collect(),
            seed: mix2(seed, u64::from(lane)),
            common_seed: seed,
            submitted: 0,
            stalled_until: 0,
        })
    }

    /// Begins a phase.
    pub(crate) fn begin(&mut self) {
        self.submitted = 0;
        self.stalled_until = 0;
        self.next_change = 0;
        self.latency.clone_from(&self.initial_latency);
        self.factor = 1.0 + self.variation * (2.0 * unit(mix2(self.common_seed, !self.phases)) - 1.0);
        self.phases += 1;
    }

    /// Executes an operation and waits for its end.
    #[inline(never)]
    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        let (end, result) = self.serve(op, clock::now());
        clock::wait_until(end);
        result
    }

    /// Returns when the operation submitted at `now` ends, and its result.
    pub(crate) fn serve(&mut self, op: &Op, now: u64) -> (u64, Result<u64, Fault>) {
        let number = self.submitted;
        self.submitted += 1;
        if let Some(duration) = self.stalls.get(&number) {
            self.stalled_until = self.stalled_until.max(now.saturating_add(*duration));
        }
        while let Some(change) = self.changes.get(self.next_change).filter(|change| change.at_op <= number) {
            self.latency = Some(change.latency.clone());
            self.next_change += 1;
        }
        let word = mix2(self.seed, number);
        let service = match self.latency {
            None => 0,
            Some(LatencyModel::Fixed { ns }) => ns,
            Some(LatencyModel::Uniform { min_ns, max_ns }) => {
                let span = max_ns.saturating_sub(min_ns) as f64;
                min_ns.saturating_add((unit(word) * span) as u64)
            }
            Some(LatencyModel::Exponential { mean_ns }) => exponential(word, mean_ns as f64) as u64,
        };
        let service = (service as f64 * self.factor) as u64;
        let result = self.errors.get(&number).map_or(Ok(op.length), |errno| Err(Fault::os(*errno)));
        (now.max(self.stalled_until).saturating_add(service), result)
    }
}

/// A lane whose operations wait until their scripted end.
pub(crate) struct NullLane {
    script: Option<Script>,
    depth: u32,
    ended: Vec<Completion>,
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    results: Vec<Result<u64, Fault>>,
    /// Data longer than a slot is generated piece by piece, as for storage that keeps it.
    long: Option<(Arc<dyn Source>, Arc<Buffers>)>,
}

impl NullLane {
    pub(crate) fn new(target: &NullTarget, seed: u64, setup: &LaneSetup) -> Self {
        let slots = setup.queue_depth as usize;
        NullLane {
            script: Script::new(target, seed, setup.lane),
            depth: setup.queue_depth,
            ended: Vec::with_capacity(slots),
            waiting: BinaryHeap::with_capacity(slots),
            results: vec![Ok(0); slots],
            long: setup.source.clone().zip(Some(Arc::clone(&setup.buffers))),
        }
    }

    /// Generates the data of an operation that is longer than its slot.
    #[cold]
    fn generate_long(&self, op: &Op) {
        let Some((source, buffers)) = &self.long else { return };
        let piece = buffers.length() as u64;
        if op.kind.moves() != Moves::Out || op.length <= piece {
            return;
        }
        let mut at = 0;
        while at < op.length {
            let length = piece.min(op.length - at);
            // SAFETY: the slot belongs to this operation until its completion.
            source.fill(op.object, op.offset + at, unsafe { buffers.slice(op.slot, length as usize) });
            at += length;
        }
    }

    /// Whether nothing is in flight, and nothing that has ended waits to be reaped.
    #[cfg(test)]
    pub(crate) fn is_idle(&self) -> bool {
        self.ended.is_empty() && self.waiting.is_empty()
    }
}

impl Lane for NullLane {
    fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        if let Some(script) = &mut self.script {
            script.begin();
        }
        let reason = "the null device needs no kernel".to_owned();
        Ok(MethodChoice::of(Method::Sync, reason, self.depth))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            if self.long.is_some() {
                self.generate_long(op);
            }
            match &mut self.script {
                Some(script) if op.kind != OpKind::Sync => {
                    let (end, result) = script.serve(op, clock::now());
                    self.results[op.slot as usize] = result;
                    self.waiting.push(Reverse((end, op.slot)));
                }
                Some(_) | None => self.ended.push(Completion::new(op.slot, Ok(op.length))),
            }
        }
        ops.len()
    }

    fn exchange(&mut self, ops: &[Op], done: &mut Vec<Completion>, deadline: u64) {
        if self.script.is_none() && self.long.is_none() {
            done.extend(ops.iter().map(|op| Completion::new(op.slot, Ok(op.length))));
            return;
        }
        self.submit(ops);
        self.reap(done, deadline);
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        if self.long.is_some() {
            self.generate_long(op);
        }
        match &mut self.script {
            Some(script) if op.kind != OpKind::Sync => script.execute(op),
            Some(_) | None => Ok(op.length),
        }
    }

    fn reap(&mut self, done: &mut Vec<Completion>, deadline: u64) {
        done.append(&mut self.ended);
        let Some(Reverse((first, _))) = self.waiting.peek().copied() else {
            return;
        };
        let limit = if done.is_empty() { first.min(deadline) } else { 0 };
        let now = clock::wait_until(limit);
        while let Some(Reverse((end, slot))) = self.waiting.peek().copied() {
            if end > now {
                break;
            }
            self.waiting.pop();
            done.push(Completion::new(slot, self.results[slot as usize]));
        }
    }

    fn end(&mut self) -> Result<(), SetupError> {
        Ok(())
    }
}

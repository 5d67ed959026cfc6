//! Replays one copy.

use crate::backend::Traces;
use crate::copy::CopyRun;
use assay_core::{creation_log, Completion, Fault, Lane, MethodChoice, Op, OpKind, PhasePlan, SetupError};
use assay_posix::place::open_below;
use assay_spec::{Event, FaultDomain, Method, Replay};
use rustix::fs::OFlags;
use std::ffi::CString;
use std::sync::Arc;

/// A lane that replays its copy of the trace once.
pub(crate) struct ReplayLane {
    traces: Arc<Traces>,
    lane: u32,
    /// Why the replay has failed.
    message: Option<String>,
    done: Vec<Completion>,
}

impl ReplayLane {
    pub(crate) fn new(traces: Arc<Traces>, lane: u32) -> Self {
        ReplayLane { traces, lane, message: None, done: Vec::new() }
    }

    fn replay(&mut self) -> Result<u64, Fault> {
        let counted = self.copy().and_then(|copy| copy.run(&self.traces.target.trace).map(|counted| (copy, counted)));
        let (copy, (begin, totals)) = match counted {
            Ok(counted) => counted,
            Err(error) => {
                self.message = Some(error.to_string());
                return Err(Fault::new(FaultDomain::Replay, 0));
            }
        };
        let (differences, first) = (totals.differences, totals.samples.first().cloned());
        creation_log::record(&Event::Replay(Replay {
            lane: self.lane,
            at_ns: begin,
            elapsed_ns: totals.last_end.saturating_sub(begin),
            recorded_ns: copy.survey.recorded_ns,
            tasks: u64::from(copy.survey.tasks),
            operations: totals.operations,
            differences,
            first_differences: totals.samples,
            opened: totals.opened,
            max_delay_ns: totals.max_delay,
        }));
        if differences == 0 {
            return Ok(0);
        }
        self.message = first.map(|first| {
            format!("{} of {}, line {} of the trace: {}", first.operation, first.file, first.line, first.message)
        });
        Err(Fault::new(FaultDomain::Replay, i32::try_from(differences).unwrap_or(i32::MAX)))
    }

    /// The copy in its directory.
    fn copy(&self) -> Result<CopyRun<'_>, SetupError> {
        let traces = &self.traces;
        let name = crate::backend::directory_of(self.lane);
        let error = |errno| SetupError::os("open", name.as_str(), errno);
        let path = CString::new(name.as_str()).map_err(|_| error(rustix::io::Errno::INVAL))?;
        let above = traces.place.open_folder().map_err(error)?;
        let folder = open_below(&above, &path, OFlags::empty()).map_err(error)?;
        Ok(CopyRun::new(&traces.survey, &traces.maker, folder, self.lane, traces.pacing, traces.verify))
    }
}

impl Lane for ReplayLane {
    fn begin(&mut self, _plan: &PhasePlan) -> Result<MethodChoice, SetupError> {
        Ok(MethodChoice::of(Method::Sync, "one thread for each task of the trace".to_owned(), 1))
    }

    fn submit(&mut self, ops: &[Op]) -> usize {
        for op in ops {
            let result = self.execute(op);
            self.done.push(Completion::new(op.slot, result));
        }
        ops.len()
    }

    fn reap(&mut self, done: &mut Vec<Completion>, _deadline: u64) {
        done.append(&mut self.done);
    }

    fn execute(&mut self, op: &Op) -> Result<u64, Fault> {
        if op.kind != OpKind::Run {
            return Err(Fault::os(libc::EINVAL));
        }
        self.replay()
    }

    fn failure_message(&self, _slot: u32) -> Option<String> {
        self.message.clone()
    }

    fn end(&mut self) -> Result<(), SetupError> {
        // What is left in memory is written before the next case, which must not pay for it.
        if let Ok(folder) = self.traces.place.open_folder() {
            let _ = rustix::fs::syncfs(folder);
        }
        Ok(())
    }
}

//! A lane's thread: opens its channel once, then waits for phases.

use crate::interval::Collector;
use crate::lane::{self, LanePlan, Links};
use crate::outcome::{LaneMessage, LaneOutcome};
use crate::pattern::PREPARE_BYTES;
use assay_core::{clock, os_message, Backend, Buffers, Lane, LaneSetup, MethodChoice, PhasePlan, SetupError};
use assay_spec::{Method, Operation, SyncPolicy};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::Arc;

/// Writes of `prepare` in flight per lane.
const PREPARE_DEPTH: u32 = 4;

/// What the coordinator tells a lane.
pub(crate) enum Command {
    /// Get ready for a phase.
    Begin(PhasePlan, Box<LanePlan>, Links),
    /// Start at this time.
    Go(u64),
    /// Do not start: another lane could not get ready.
    Abort,
}

/// A lane's thread.
pub(crate) struct Worker {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) setup: LaneSetup,
    pub(crate) commands: Receiver<Command>,
}

impl Worker {
    /// Opens the lane, reports, then serves commands until the coordinator hangs up.
    pub(crate) fn serve(self, opened: &Sender<Result<(), SetupError>>) {
        precise_timers();
        let mut channel = match self.backend.open_lane(self.setup.clone()) {
            Ok(channel) => {
                let _ = opened.send(Ok(()));
                channel
            }
            Err(error) => {
                let _ = opened.send(Err(error));
                return;
            }
        };
        let mut collector = Collector::default();
        while let Ok(command) = self.commands.recv() {
            let Command::Begin(phase, mut plan, links) = command else {
                continue;
            };
            let outcome = if phase.operation == Operation::Prepare {
                self.prepare(&phase, &mut plan, &links, &mut collector)
            } else {
                self.phase(channel.as_mut(), &self.setup.buffers, &phase, &mut plan, &links, &mut collector)
            };
            let Some(outcome) = outcome else { continue };
            let _ = links.messages.send(LaneMessage::Ended(self.setup.lane, Box::new(outcome)));
        }
    }

    /// Gets ready, waits for the start, runs.
    fn phase(
        &self,
        channel: &mut dyn Lane,
        buffers: &Buffers,
        phase: &PhasePlan,
        plan: &mut LanePlan,
        links: &Links,
        collector: &mut Collector,
    ) -> Option<LaneOutcome> {
        let began = channel.begin(phase);
        let depth = began.as_ref().map_or(0, |choice| choice.depth);
        let _ = links.messages.send(LaneMessage::Began(began));
        let outcome = match (self.commands.recv(), depth) {
            (Ok(Command::Go(start)), 1..) => {
                plan.depth = depth;
                clock::wait_until(start);
                Some(lane::run(plan, links, channel, buffers, collector, start))
            }
            _ => None,
        };
        let settled = if outcome.is_some() && phase.sync == SyncPolicy::None && phase.operation.writes() {
            settle(channel, &plan.object)
        } else {
            Ok(())
        };
        if let Err(error) = settled.and(channel.end()) {
            let _ = links.messages.send(LaneMessage::Began(Err(error)));
        }
        outcome
    }

    /// The same through a channel of its own, with large writes.
    fn prepare(
        &self,
        phase: &PhasePlan,
        plan: &mut LanePlan,
        links: &Links,
        collector: &mut Collector,
    ) -> Option<LaneOutcome> {
        let length = PREPARE_BYTES.min(plan.pattern.bytes()).max(1) as usize;
        let opened = Buffers::new(PREPARE_DEPTH as usize, length)
            .map_err(|errno| SetupError::os("allocate", "buffers", errno))
            .and_then(|buffers| {
                let buffers = Arc::new(buffers);
                let setup = LaneSetup {
                    lane: self.setup.lane,
                    queue_depth: PREPARE_DEPTH,
                    method: Method::Auto,
                    buffers: Arc::clone(&buffers),
                };
                Ok((self.backend.open_lane(setup)?, buffers))
            });
        match opened {
            Ok((mut channel, buffers)) => self.phase(channel.as_mut(), &buffers, phase, plan, links, collector),
            Err(error) => {
                let _ = links.messages.send(LaneMessage::Began(Err::<MethodChoice, _>(error)));
                let _ = self.commands.recv();
                None
            }
        }
    }
}

/// Flushes what a phase has left in memory, after its clock has stopped: the next phase shall not pay for it, and a
/// write that cannot be made stable shall be known.
fn settle(channel: &mut dyn Lane, object: &str) -> Result<(), SetupError> {
    lane::sync(channel, &mut Vec::new())
        .map_err(|errno| SetupError { errno: Some(errno), ..SetupError::new("flush", object, os_message(errno)) })
}

/// Asks the kernel to wake this thread when it asked to be, not up to 50 microseconds later.
fn precise_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
}

//! A lane's thread: opens its channel once, then waits for phases.

use crate::interval::Collector;
use crate::lane::{self, LanePlan, Links};
use crate::outcome::{LaneMessage, LaneOutcome};
use crate::placement;
use crate::resources;
use crate::stream::Stream;
use assay_core::clock::Clock;
use assay_core::{fault_message, Backend, Buffers, Lane, LaneSetup, MethodChoice, PhasePlan, SetupError, Source};
use assay_spec::{Operation, SyncPolicy, Tuning, PREPARE_BYTES, PREPARE_DEPTH};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::Arc;

/// Commands of the coordinator to a lane.
pub(crate) enum Command {
    /// Prepare for a phase.
    Begin(PhasePlan, Box<LanePlan>, Links),
    /// Start at this time.
    Go(u64),
    /// Do not start: another lane failed to prepare.
    Abort,
}

/// A lane's thread.
pub(crate) struct Worker {
    pub(crate) backend: Arc<dyn Backend>,
    /// Number among the lanes of this process.
    pub(crate) index: u32,
    /// Number among the lanes of all processes.
    pub(crate) lane: u32,
    pub(crate) queue_depth: u32,
    /// Buffers, one for each operation in flight, or more.
    pub(crate) buffers: u32,
    /// Bytes of one buffer.
    pub(crate) buffer_bytes: usize,
    pub(crate) tuning: Tuning,
    pub(crate) direct: bool,
    /// Data of operations that are longer than a buffer; None if there are none.
    pub(crate) stream: Option<Arc<Stream>>,
    pub(crate) commands: Receiver<Command>,
}

impl Worker {
    /// Open the lane, report the bytes of its buffers, then serve commands until the coordinator hangs up.
    pub(crate) fn serve(self, opened: &Sender<Result<u64, SetupError>>) {
        placement::precise_timers();
        if self.backend.collective().is_none() {
            own_descriptors();
        }
        let (mut channel, buffers) = match self.open() {
            Ok((channel, buffers)) => {
                let _ = opened.send(Ok(buffers.total() as u64));
                (channel, buffers)
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
            let outcome = if phase.operation == Operation::Prepare && plan.first_object.is_none() {
                self.prepare(&phase, &mut plan, &links, &mut collector)
            } else {
                self.phase(channel.as_mut(), &buffers, &phase, &mut plan, &links, &mut collector)
            };
            let Some(outcome) = outcome else { continue };
            let _ = links.messages.send(LaneMessage::Ended(self.index, Box::new(outcome)));
        }
    }

    /// Bind the thread to its CPU, then allocate buffers near it, then open a channel.
    fn open(&self) -> Result<(Box<dyn Lane>, Arc<Buffers>), SetupError> {
        placement::apply(&self.tuning, self.index)?;
        self.channel(self.queue_depth, self.buffers, self.buffer_bytes, self.tuning.clone())
    }

    fn channel(
        &self,
        depth: u32,
        buffers: u32,
        bytes: usize,
        tuning: Tuning,
    ) -> Result<(Box<dyn Lane>, Arc<Buffers>), SetupError> {
        let buffers = Arc::new(Buffers::new(buffers as usize, bytes, tuning.huge_pages).map_err(|errno| {
            let hint = if tuning.huge_pages { " (huge pages: reserve more with vm.nr_hugepages)" } else { "" };
            SetupError::os("allocate", format!("buffers of lane {}{hint}", self.lane), errno)
        })?);
        let setup = LaneSetup {
            lane: self.lane,
            queue_depth: depth,
            tuning,
            direct: self.direct,
            buffers: Arc::clone(&buffers),
            source: self.stream.as_ref().map(|stream| Arc::clone(stream) as Arc<dyn Source>),
        };
        Ok((self.backend.open_lane(setup)?, buffers))
    }

    /// Prepare for a phase, wait for the start, run it.
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
        let (depth, at_once) = began.as_ref().map_or((0, 0), |choice| (choice.depth, choice.batch));
        (plan.depth, plan.batch) = (depth, at_once);
        plan.reports_first_byte = began.as_ref().is_ok_and(|choice| choice.reports_first_byte);
        plan.ahead = began.as_ref().is_ok_and(|choice| choice.ahead);
        plan.in_step = began.is_ok() && channel.collective().is_some_and(|lanes| lanes.in_step());
        let prefilled = lane::prefill(plan, buffers);
        let _ = links.messages.send(LaneMessage::Began(began));
        let outcome = match (self.commands.recv(), depth) {
            (Ok(Command::Go(start)), 1..) => {
                let waited = resources::cpu_wait_ns();
                let mut outcome = lane::run(plan, links, channel, prefilled, collector, Clock::new(), start);
                if let Some(service) = channel.service() {
                    (outcome.hosts, outcome.service) = (service.host_counts(), service.service_counts());
                }
                outcome.cpu_wait_ns = waited.zip(resources::cpu_wait_ns()).map(|(from, to)| to.saturating_sub(from));
                Some(outcome)
            }
            _ => None,
        };
        let changes = plan.pattern.kinds().into_iter().any(assay_core::OpKind::changes);
        let settled = if outcome.is_some() && phase.sync == SyncPolicy::None && changes {
            settle(channel, &plan.object)
        } else {
            Ok(())
        };
        if let Err(error) = settled.and(channel.end()) {
            let _ = links.messages.send(LaneMessage::Began(Err(error)));
        }
        outcome
    }

    /// The same through a separate channel, with large writes.
    fn prepare(
        &self,
        phase: &PhasePlan,
        plan: &mut LanePlan,
        links: &Links,
        collector: &mut Collector,
    ) -> Option<LaneOutcome> {
        let length = PREPARE_BYTES.min(plan.pattern.bytes()).max(1) as usize;
        match self.channel(PREPARE_DEPTH, PREPARE_DEPTH, length, Tuning::default()) {
            Ok((mut channel, buffers)) => self.phase(channel.as_mut(), &buffers, phase, plan, links, collector),
            Err(error) => {
                let _ = links.messages.send(LaneMessage::Began(Err::<MethodChoice, _>(error)));
                let _ = self.commands.recv();
                None
            }
        }
    }
}

/// Flush what a phase has left in memory, after its clock has stopped: the next phase must not pay for it, and a write
/// that cannot be made stable must be known.
fn settle(channel: &mut dyn Lane, object: &str) -> Result<(), SetupError> {
    lane::sync(channel)
        .map_err(|fault| SetupError { fault: Some(fault), ..SetupError::new("flush", object, fault_message(fault)) })
}

/// Give this thread its own table of descriptors: in a shared table the kernel counts references to the file in each
/// call, with locked instructions. Only the lane uses what it opens.
fn own_descriptors() {
    // SAFETY: unshare takes a number and touches no memory. Where it is refused the table stays shared.
    unsafe { libc::unshare(libc::CLONE_FILES) };
}

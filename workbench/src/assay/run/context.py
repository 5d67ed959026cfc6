"""What the parts of a session of a run share."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from assay.launch.binary import Engine
from assay.launch.cold.remount import Remounter
from assay.model.deadline import Deadline
from assay.model.result.added_repeats import AddedRepeats
from assay.model.result.host_loss import HostLoss
from assay.plan.estimate import StudyEstimate
from assay.plan.schedule import RepeatKey
from assay.run.ceilings.passes import CeilingPasses
from assay.run.costs.meter import Meter
from assay.run.fleet import Fleet, LocalFleet
from assay.run.interruption import Interruption
from assay.run.listener import Listener
from assay.run.places.targets import used_targets
from assay.run.replayed_traces import PlacedTrace
from assay.run.study_plan import Plan
from assay.site.site import SiteState
from assay.store import RunStore


@dataclass
class RunContext:
    """One session of a run: what it measures, with what, and what has become known meanwhile.

    Attributes:
        plan: The study, or the stage of it, that is measured; its targets get their addresses once the site is up.
        store: The run, open for writing.
        engine: The engine of this workbench.
        estimate: What the repeats take.
        destroy: The user has confirmed that devices may be overwritten.
        meter: Holds the run to its budget; None without one.
        listener: Receives what the run reports.
        settling: The repeats that are being added to a complete run; None in any other session.
        deadline: When the run ends, whatever is left to do; None for no such time.
        begun: Start of the session, in monotonic seconds.
        interruption: Requests of the user to stop.
        descriptors: Open file descriptors that engines inherit: the lock that shows that an engine is alive, then
            those that keep devices locked until the run is over.
        fleet: The hosts that generate the load.
        remounting: Remounts file systems of the study between phases; None on this machine.
        passes: Measurements of ceilings between the repeats; None if none are made.
        silent: Paths of targets whose storage did not answer.
        traces: Path of a trace that is replayed -> where hosts have it.
        used_up: Limit of a target that has ended the run, in words; empty if none has.
        losses: Hosts that their cloud has ended, so that nothing more is measured with this fleet.
    """

    plan: Plan
    store: RunStore
    engine: Engine
    estimate: StudyEstimate
    destroy: bool
    meter: Meter | None
    listener: Listener
    settling: AddedRepeats | None = None
    deadline: Deadline | None = None
    begun: float = field(default_factory=time.monotonic)
    interruption: Interruption = field(default_factory=Interruption)
    descriptors: list[int] = field(init=False)
    fleet: Fleet = field(init=False)
    remounting: Remounter | None = None
    passes: CeilingPasses | None = None
    silent: set[str] = field(default_factory=set)
    traces: dict[str, PlacedTrace] = field(default_factory=dict)
    used_up: str = ""
    losses: tuple[HostLoss, ...] = ()

    def __post_init__(self) -> None:
        """Begin with this machine alone."""
        self.descriptors = [self.store.engine_lock_fd]
        self.fleet = self.local_fleet(SiteState(()))

    def with_other_hosts(self) -> "RunContext":
        """Return the session as it goes on after its site was down, with nothing that belongs to the hosts before."""
        return replace(self, remounting=None, passes=None, silent=set(), losses=())

    def local_fleet(self, site: SiteState) -> Fleet:
        """Return this machine as the fleet, with what its site provides."""
        return LocalFleet.of(site, self.engine, self.plan.engines, self.descriptors)

    @property
    def print_line(self) -> Callable[[str], None]:
        """Prints a line for the user."""
        return self.listener.print_line

    @property
    def names(self) -> list[str]:
        """The targets that the cases use."""
        return used_targets(self.plan.study, self.plan.cases)

    @property
    def served(self) -> set[str]:
        """Names and addresses of the servers of all targets."""
        return {name for target in self.plan.study.targets.values() for name in target.server_names}

    @property
    def is_partial(self) -> bool:
        """Whether the plan has only some cases of the run: those of its stages so far."""
        return len(self.plan.cases) < self.store.case_count()

    def pending(self, settled_too: bool = False) -> list[RepeatKey]:
        """Return the pending repeats of the stage, or of the whole run."""
        cases = {case.id for case in self.plan.cases}
        if self.settling is not None:
            cases &= self.settling.repeats.keys()
        return [job for job in self.store.pending(settled_too) if job[0] in cases]

    def stop_level(self) -> int:
        """Return 0 to go on, 1 to stop after clean-up, 2 to stop now: by the user, or because the time is over."""
        return max(self.interruption.count, self.deadline.stop_level() if self.deadline is not None else 0)

    def affords(self, seconds: float) -> bool:
        """Return whether time and budget allow a measurement of this length."""
        in_time = self.deadline is None or self.deadline.allows(seconds)
        return in_time and (self.meter is None or self.meter.affords(seconds))

"""The machines that generate the load of a run, and jobs on them: other hosts, or this machine alone."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from assay.contract._generated import Job
from assay.contract.bounds import Bounds
from assay.contract.messages import Event
from assay.contract.parts import HostPart, join_parts
from assay.launch.binary import Engine
from assay.launch.engine import Outcome, run_job
from assay.launch.environment.remote import capture_hosts
from assay.launch.group import Member, MemberOutcome, run_group
from assay.launch.host_counters import CounterRecorder
from assay.launch.launcher import Launcher, LocalLauncher, engine_arguments
from assay.launch.parallel.step import StepLauncher
from assay.launch.shell import Shell, make_shell
from assay.model.result.environment import INSTANCES
from assay.model.result.host_use import HostUse
from assay.model.site.host import THIS_HOST, Host, instance_ids
from assay.plan.jobs import joint_job, rank_job
from assay.site.site import SiteState


@dataclass(frozen=True)
class JobOptions:
    """How a job is executed.

    Attributes:
        bounds: Limits of each engine's output, as for `run_job`.
        before_start: As for `run_group`: what is done before a phase starts on all hosts.
        tasks: Engines on each host, which share its lanes.
        mpi: The engines are ranks of one MPI job.
        target: Where the job works; on this machine, a target may have an engine of its own.
        on_start: Called with the process id of an engine on this machine before it gets the job.
    """

    bounds: Bounds | None = None
    before_start: Callable[[int], None] = lambda _: None
    tasks: int = 1
    mpi: bool = False
    target: str = ""
    on_start: Callable[[int], None] = lambda _: None


PLAIN = JobOptions()


@dataclass(frozen=True)
class Fleet:
    """Hosts and what starts engines on them, in the same order.

    Attributes:
        site: What else their site provides.
        counting: Counts links, CPUs and disks of the hosts during the measurement; None while nothing is counted.
        steps: Starts engines on all of them with one command; None if each is started by itself.
        mpi_steps: Starts engines that are linked to an MPI; None if no target is reached through it.
    """

    hosts: tuple[Host, ...]
    launchers: tuple[Launcher, ...]
    site: SiteState = field(default_factory=lambda: SiteState(()))
    counting: CounterRecorder | None = None
    steps: StepLauncher | None = None
    mpi_steps: StepLauncher | None = None

    @property
    def is_local(self) -> bool:
        """Whether this machine alone generates the load, and its directories and devices are those of the targets."""
        return False

    def launcher_for(self, target: str) -> Launcher:  # noqa: ARG002
        """Return what starts single engines for a target: on the first host."""
        return self.launchers[0]

    def joint_job(self, job: Job, ranks: int) -> Job:
        """Return a job for as many of the hosts."""
        return joint_job(job, ranks)

    @property
    def launchers_by_host(self) -> dict[str, Launcher]:
        """What starts engines on each host, by its name."""
        return {host.name: launcher for host, launcher in zip(self.hosts, self.launchers, strict=True)}

    def environment(self, names: Collection[str] = ()) -> dict[str, dict[str, str]]:
        """Return the facts and settings of each host, and of what was started for the run.

        Args:
            names: As for `watched_hosts`.
        """
        hosts = self.watched_hosts(names)
        instances = instance_ids(hosts)
        found = capture_hosts([make_shell(host) for host in hosts]) | self.server_facts
        return found | ({INSTANCES: instances} if instances else {})

    @property
    def server_facts(self) -> dict[str, dict[str, str]]:
        """Facts of what was started for the run."""
        return {name: dict(section) for name, section in self.site.server_facts.items()}

    @property
    def enterable_hosts(self) -> list[Host]:
        """The hosts that a run may enter: its own, and those made with its site; no others."""
        return [*self.hosts, *(host for host in self.site.created_hosts if host not in self.hosts)]

    def watched_hosts(self, names: Collection[str]) -> list[Host]:
        """Return the hosts that a run may enter, and other reachable hosts that serve a target.

        Args:
            names: Names or addresses of the servers of the targets.
        """
        servers = [host for host in self.site.other_hosts if {host.name, host.address} & set(names)]
        return [*self.enterable_hosts, *(host for host in servers if host not in self.enterable_hosts)]

    def host_uses(self, started_at: float, seconds: float, ranks: int) -> tuple[HostUse, ...]:
        """Return what links, CPUs and disks did in a phase, for all counted hosts but clients that took no part in it.

        Args:
            started_at: Seconds since 1970.
            seconds: How long it took.
            ranks: How many of the hosts, the first ones, generated the load.
        """
        if self.counting is None:
            return ()
        idle = {host.name for host in self.hosts[ranks:]}
        return tuple(use for use in self.counting.between(started_at, started_at + seconds) if use.host not in idle)

    def serving_hosts(self, names: Collection[str]) -> list[Host]:
        """Return the hosts that serve a target and that a run may enter: those it names, else those made with the site.

        Args:
            names: Names or addresses of its servers; empty if it names none.
        """
        reachable = [
            *self.site.created_hosts,
            *(host for host in self.site.other_hosts if host not in self.site.created_hosts),
        ]
        if names:
            return [host for host in reachable if {host.name, host.address} & set(names)]
        return [host for host in self.site.created_hosts if host not in self.site.clients]

    @property
    def shells(self) -> list[Shell]:
        """Shells that run commands on the hosts."""
        return [make_shell(host) for host in self.hosts]

    def run(
        self,
        job: Job,
        silence_limit: float,
        on_event: Callable[[str, Event], None],
        stop: Callable[[], int],
        how: JobOptions = PLAIN,
    ) -> Outcome:
        """Execute a job on as many hosts as it has ranks, the first ones.

        Args:
            job: As `joint_job` returns it.
            silence_limit: Seconds without progress after which an engine counts as hung.
            on_event: Called with the host's name and each event.
            stop: As for `run_job`.
            how: How it is executed.

        Raises:
            AssayError: An engine cannot be started.
        """
        ranks = job.ranks or 1
        members = [
            Member(host.name, launcher, rank_job(job, rank).model_dump_json(), engine_arguments(how.tasks))
            for rank, (host, launcher) in enumerate(zip(self.hosts, self.launchers, strict=True))
            if rank < ranks
        ]
        steps = self.mpi_steps if how.mpi else self.steps
        step = partial(steps.start, ranks, how.tasks) if steps else None
        outcome = run_group(
            members, silence_limit, on_event, stop=stop, bounds=how.bounds, before_start=how.before_start, step=step
        )
        events = join_parts(_part(part) for part in outcome.parts)
        return Outcome(
            outcome.status,
            outcome.reason,
            outcome.started_at,
            outcome.seconds,
            outcome.stop_requested,
            events,
            has_leftovers=outcome.has_leftovers,
        )


def _part(part: MemberOutcome) -> HostPart:
    return HostPart(part.host, part.status, part.reason, part.offset_ns, part.uncertainty_ns, part.events)


@dataclass(frozen=True)
class LocalFleet(Fleet):
    """This machine alone.

    Attributes:
        own_launchers: Target -> what starts its engines, if another program or environment than for the others.
    """

    own_launchers: Mapping[str, Launcher] = field(default_factory=dict)

    @classmethod
    def of(
        cls, site: SiteState, engine: Engine, engines: Mapping[str, Engine], descriptors: Sequence[int]
    ) -> "LocalFleet":
        """Return the fleet.

        Args:
            site: What the site of the study provides.
            engine: The engine of targets that have no other.
            engines: Target -> its own engine.
            descriptors: Open file descriptors that engines inherit; some may be added later.
        """
        own = {
            name: LocalLauncher(engines.get(name, engine).path, descriptors, site.engine_variables.get(name, {}))
            for name in dict.fromkeys((*engines, *site.engine_variables))
        }
        return cls((THIS_HOST,), (LocalLauncher(engine.path, descriptors),), site, own_launchers=own)

    @property
    def is_local(self) -> bool:
        """See `Fleet`."""
        return True

    def environment(self, names: Collection[str] = ()) -> dict[str, dict[str, str]]:  # noqa: ARG002
        """Return the facts of what was started for the run; this machine is described in any case."""
        return self.server_facts

    def launcher_for(self, target: str) -> Launcher:
        """Return what starts engines for a target."""
        return self.own_launchers.get(target, self.launchers[0])

    def joint_job(self, job: Job, ranks: int) -> Job:  # noqa: ARG002
        """Return the job as it is: one engine needs no ranks."""
        return job

    def run(
        self,
        job: Job,
        silence_limit: float,
        on_event: Callable[[str, Event], None],
        stop: Callable[[], int],
        how: JobOptions = PLAIN,
    ) -> Outcome:
        """Execute a job with one engine; arguments as for `Fleet.run`, and no phase waits for other hosts."""
        return run_job(
            self.launcher_for(how.target),
            job.model_dump_json(),
            silence_limit,
            on_event=lambda event: on_event("", event),
            on_start=how.on_start,
            stop=stop,
            bounds=how.bounds,
            tasks=how.tasks,
        )

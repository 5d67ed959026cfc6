"""Eight hosts of a box, and jobs on them by each launcher."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from nfs_tools import job

from assay.contract.messages import Event, Job
from assay.contract.parts import HostPart, split_parts
from assay.launch.binary import load_engine
from assay.launch.engine import Outcome
from assay.launch.install import launcher_for
from assay.launch.parallel.find_launcher import make_step_launcher
from assay.model.result.sample import Sample
from assay.plan.jobs import joint_job
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.site import box_hosts
from assay.run.fleet import Fleet, JobOptions
from assay.run.read_events import read_repeat

HOSTS = """
  node[1-8]:
    roles: [client]
    servers: [{kind: slurm}, {kind: openmpi}]
"""
NAMES = [f"node{number}" for number in range(1, 9)]
SECOND = 10**9
Word = Literal["ssh", "mpirun", "srun"]
LAUNCHERS: tuple[Word, ...] = ("ssh", "mpirun", "srun")


def fleet_of(box: RunningBox, launcher: Word, folder: Path, names: list[str] = NAMES) -> Fleet:
    """The hosts, with engines as a study with this launcher has them."""
    known = {host.name: host for host in box_hosts(box)}
    hosts, engine = tuple(known[name] for name in names), load_engine()
    launchers = tuple(launcher_for(host, engine) for host in hosts)
    steps = None if launcher == "ssh" else make_step_launcher(launcher, hosts, launchers, folder)
    return Fleet(hosts, launchers, steps=steps)


def nothing(_host: str, _event: Event) -> None:
    """Nobody listens."""


def execute(
    fleet: Fleet, one: Job, tasks: int = 1, hear: Callable[[str, Event], None] = nothing
) -> tuple[Outcome, tuple[Sample, ...], list[HostPart]]:
    """A job on all hosts, each with `tasks` engines that have `one.lanes` lanes each."""
    whole = joint_job(one.model_copy(update={"lanes": (one.lanes or 1) * tasks}), len(fleet.hosts))
    outcome = fleet.run(whole, 60, hear, lambda: 0, JobOptions(tasks=tasks))
    outcome, samples = read_repeat("c0001", 1, whole, outcome, True)
    return outcome, samples, split_parts(outcome.events)


def timed(runtime: float = 1.0, **fields: Any) -> Job:
    """Each operation takes 4 ms, whatever the machine does meanwhile."""
    target = {"kind": "null", "latency": {"distribution": "fixed", "ns": 4_000_000}}
    phases = [{"operation": name, "runtime_ns": int(runtime * SECOND)} for name in ("write", "read")]
    return job(target=target, phases=phases, **fields)

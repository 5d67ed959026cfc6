"""The machines that generate the load of a run, and what came of a job on several of them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.analyse.ranks import read_rank, samples_from_ranks
from assay.contract._generated import Job
from assay.contract.names import Event
from assay.contract.reader import read_events
from assay.launch.engine import Outcome
from assay.launch.environment.remote import capture_hosts
from assay.launch.group import GroupOutcome, Member, run_group
from assay.launch.launcher import Launcher
from assay.launch.shell import Shell, make_shell
from assay.model.host import Host
from assay.model.result import Sample
from assay.plan.jobs import rank_job

HOST_LINE = '{"event":"host",'
"""So begins the line before the events of a host, where there are several."""


@dataclass(frozen=True)
class Fleet:
    """Hosts and how engines come to be on them, in the same order.

    Attributes:
        others: Hosts of the testbed that generate no load, its servers among them.
        servers: `server NAME` -> what is known of each server that was started for the run.
    """

    hosts: tuple[Host, ...]
    launchers: tuple[Launcher, ...]
    others: tuple[Host, ...] = ()
    servers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def environment(self) -> dict[str, dict[str, str]]:
        """What the hosts are, asked of each, and what was started for the run."""
        asked = capture_hosts([make_shell(host) for host in (*self.hosts, *self.others)])
        return {**asked, **{name: dict(section) for name, section in self.servers.items()}}

    @property
    def shells(self) -> list[Shell]:
        """How commands get to the hosts."""
        return [make_shell(host) for host in self.hosts]

    def run(
        self,
        job: Job,
        silence_limit: float,
        on_event: Callable[[str, Event], None],
        stop: Callable[[], int],
    ) -> Outcome:
        """Execute a job on the first hosts, as many as it has ranks.

        Args:
            job: As `assay.plan.jobs.together` makes it.
            silence_limit: Seconds without an event after which an engine counts as hung.
            on_event: Called with the host's name and each event.
            stop: As of `run_job`.

        Raises:
            AssayError: An engine cannot be started.
        """
        members = [
            Member(host.name, launcher, rank_job(job, rank).model_dump_json())
            for rank, (host, launcher) in enumerate(zip(self.hosts, self.launchers, strict=True))
            if rank < (job.ranks or 1)
        ]
        done = run_group(members, silence_limit, on_event, stop=stop)
        events = "".join(_lines(done))
        return Outcome(done.status, done.reason, events, done.started_at, done.seconds, done.stop_requested)


def _lines(done: GroupOutcome) -> Iterator[str]:
    for part in done.parts:
        head = {"host": part.host, "status": part.status, "reason": part.reason}
        clock = {"offset_ns": part.offset_ns, "uncertainty_ns": part.uncertainty_ns}
        yield HOST_LINE + json.dumps({**head, **clock}, separators=(",", ":"))[1:] + "\n"
        yield part.events if part.events.endswith("\n") or not part.events else part.events + "\n"


def samples_of(case: str, repeat: int, events: str) -> tuple[Sample, ...]:
    """The samples of a repeat on several hosts, from all that their engines said.

    Args:
        case: Id of the case.
        repeat: From 1.
        events: As `Fleet.run` puts them together.
    """
    ranks = [
        read_rank(head["host"], head["offset_ns"], head["uncertainty_ns"], read_events(lines))
        for head, lines in _by_host(events.splitlines())
    ]
    return samples_from_ranks(case, repeat, ranks)


def _by_host(lines: Iterable[str]) -> Sequence[tuple[dict[str, Any], list[str]]]:
    found: list[tuple[dict[str, Any], list[str]]] = []
    for line in lines:
        if line.startswith(HOST_LINE):
            found.append((json.loads(line), []))
        elif found:
            found[-1][1].append(line)
    return found

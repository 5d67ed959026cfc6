"""Hosts that a scheduler has allocated to the job in which Assay runs: Slurm, PBS, Grid Engine, LSF and their kin."""

import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from assay.launch.parallel.command import ALLOCATION
from assay.model.base import EXIT_REFUSED, AssayError, PrintLine
from assay.model.site.host import MAX_HOSTS, Host, is_host_name
from assay.model.site.nodes import expand_nodes
from assay.model.units import UnitError, choices_hint, display_value
from assay.model.user_files import read_user_file
from assay.site.site import PARALLEL_HOSTS, REACH_SECONDS, Site, SiteState, refuse_too_few

MAX_BYTES = 1 << 20
"""Largest host file that is read."""


@dataclass(frozen=True)
class Scheduler:
    """A scheduler, and the environment variables in which it describes an allocation to its job.

    Attributes:
        name: Name of the scheduler.
        job_variable: Variable with the number of the job; it is set only inside a job.
        hosts_variable: Variable with the hosts.
        host_format: Format of that variable: `set` is a node set, `file` the name of a file with one host per line,
            `words`
            host names separated by blanks, `pairs` host names each followed by their number of slots.
        fact_variables: Fact to store with the result -> variable that holds it.
    """

    name: str
    job_variable: str
    hosts_variable: str
    host_format: str
    fact_variables: Mapping[str, str]


SCHEDULERS = (
    Scheduler(
        "Slurm",
        ALLOCATION,
        "SLURM_JOB_NODELIST",
        "set",
        {
            "cluster": "SLURM_CLUSTER_NAME",
            "partition": "SLURM_JOB_PARTITION",
            "account": "SLURM_JOB_ACCOUNT",
            "quality of service": "SLURM_JOB_QOS",
            "nodes": "SLURM_JOB_NODELIST",
            "CPUs of each node": "SLURM_JOB_CPUS_PER_NODE",
        },
    ),
    Scheduler("PBS", "PBS_JOBID", "PBS_NODEFILE", "file", {"queue": "PBS_QUEUE"}),
    Scheduler(
        "Grid Engine",
        "JOB_ID",
        "PE_HOSTFILE",
        "file",
        {"queue": "QUEUE", "parallel environment": "PE", "slots": "NSLOTS"},
    ),
    Scheduler("LSF", "LSB_JOBID", "LSB_DJOB_HOSTFILE", "file", {"queue": "LSB_QUEUE"}),
    Scheduler("LSF", "LSB_JOBID", "LSB_MCPU_HOSTS", "pairs", {"queue": "LSB_QUEUE"}),
    Scheduler("LSF", "LSB_JOBID", "LSB_HOSTS", "words", {"queue": "LSB_QUEUE"}),
)
"""Sources: sbatch(1) (OUTPUT ENVIRONMENT VARIABLES), qsub(1B) of Torque and OpenPBS, submit(1) and sge_pe(5) of Grid
Engine, bsub(1) of LSF and OpenLava."""


def current_scheduler(environment: Mapping[str, str] = os.environ) -> Scheduler | None:
    """Return the scheduler in whose job this process runs; None outside a job."""
    return next(
        (one for one in SCHEDULERS if environment.get(one.job_variable) and environment.get(one.hosts_variable)), None
    )


class AllocationSite(Site):
    """Hosts of an allocation, which exists before this process starts and after it ends."""

    more_hosts_hint = "ask the scheduler for more nodes"

    def __init__(self, environment: Mapping[str, str] = os.environ, left_out: Collection[str] = ()) -> None:
        """Read nothing yet.

        Args:
            environment: Environment variables that describe the allocation.
            left_out: Hosts of the allocation that generate no load.
        """
        self._environment, self._left_out = environment, left_out

    def check(self, needed: int) -> None:
        """See `Site`. Outside a job the hosts are not known yet, so nothing is checked."""
        if current_scheduler(self._environment) is not None:
            refuse_too_few(needed, [host.name for host in self._hosts()], self.more_hosts_hint)

    def check_ready(self, needed: int) -> None:
        """See `Site`: same as `check`. Outside a job, a job is still to be submitted."""
        self.check(needed)

    def startup_seconds(self, needed: int) -> float:
        """See `Site`."""
        return REACH_SECONDS * (1 + needed / PARALLEL_HOSTS)

    def up(self, print_line: PrintLine) -> SiteState:
        """See `Site`; nothing has to be made."""
        hosts = self._hosts()
        scheduler = current_scheduler(self._environment)
        assert scheduler is not None
        facts = {"scheduler": scheduler.name, "job": self._environment[scheduler.job_variable]}
        facts |= {
            fact: value for fact, name in scheduler.fact_variables.items() if (value := self._environment.get(name))
        }
        print_line(f"{scheduler.name} job {facts['job']}: {len(hosts)} {'host' if len(hosts) == 1 else 'hosts'}")
        first, *others = self._slots(scheduler).items()
        if first[0] == hosts[0].name and first[1] == 1 and others and min(count for _, count in others) > 1:
            print_line(
                f"note: {first[0]} has one slot, the others more: if jobs only start there, write allocation!{first[0]}"
            )
        return SiteState(hosts, server_facts={"allocation": facts})

    def down(self, print_line: PrintLine) -> None:
        """Do nothing: `up` made nothing."""

    def _hosts(self) -> tuple[Host, ...]:
        scheduler = current_scheduler(self._environment)
        if scheduler is None:
            raise AssayError(
                "hosts: allocation, but this process does not run in a job of a scheduler",
                'use `assay run STUDY --slurm "-N 4 -t 1:00:00"`, or start it in a job of a scheduler',
                EXIT_REFUSED,
            )
        kind = "slurm" if scheduler.host_format == "set" else "ssh"
        slots = self._slots(scheduler)
        if unknown := [name for name in self._left_out if name not in slots]:
            hint = choices_hint(unknown[0], list(slots)[:20])
            raise AssayError(f"hosts: {unknown[0]} is not a host of the allocation", hint, EXIT_REFUSED)
        names = [name for name in slots if name not in self._left_out]
        wrong = next((name for name in names if not is_host_name(name)), None)
        if wrong is not None or not 0 < len(names) <= MAX_HOSTS:
            fault = f"has {len(names)} hosts" if wrong is None else f"{display_value(wrong)} is not a host name"
            raise AssayError(
                f"{scheduler.hosts_variable}: {fault}", f"1 to {MAX_HOSTS} hosts work together", EXIT_REFUSED
            )
        return tuple(Host.model_validate({"name": name, "kind": kind}) for name in names)

    def _slots(self, scheduler: Scheduler) -> dict[str, int]:
        """Return host -> number of its slots, 1 where the scheduler does not state it, in the scheduler's order."""
        written = self._environment[scheduler.hosts_variable]
        if scheduler.host_format == "set":
            try:
                return dict.fromkeys(expand_nodes(written, MAX_HOSTS), 1)
            except UnitError as error:
                raise error.at(scheduler.hosts_variable, EXIT_REFUSED) from None
        if scheduler.host_format == "words":
            return Counter(written.split())
        if scheduler.host_format == "pairs":
            names, counts = written.split()[::2], written.split()[1::2]
            return {name: int(count) if count.isdecimal() else 1 for name, count in zip(names, counts, strict=False)}
        hint = "the scheduler names its hosts there"
        text = read_user_file(written, f"{scheduler.hosts_variable}: {written}", hint, MAX_BYTES).decode(
            "utf-8", "replace"
        )
        found: Counter[str] = Counter()
        for name, *rest in filter(None, map(str.split, text.splitlines())):
            # LSF and Grid Engine write the number of slots behind each name.
            found[name] += int(rest[0]) if rest and rest[0].isdecimal() else 1
        return found

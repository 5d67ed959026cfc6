"""Measures the ceilings of a run, or of one target, with the engine."""

import os
import time
from collections.abc import Callable, Mapping, Sequence

from assay.analyse.ceilings import Pass, client_ceilings, measured_ceilings, merge_ceilings
from assay.analyse.exceeded import Key
from assay.contract._answers import BackendCapabilities
from assay.kinds.handler import handler_of
from assay.launch.engine import REPORT_MARGIN_SECONDS, run_job
from assay.launch.inspector import MachineInspector
from assay.launch.launcher import Launcher
from assay.launch.places import Owner
from assay.model.base import AssayError, PrintLine, warning
from assay.model.result.ceiling import HOST_WIDE, Ceiling, CeilingName, ExceedingRepeat, When
from assay.model.result.run import MEMORY_FILESYSTEMS, TargetPlace
from assay.model.result.sample import Sample
from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.plan import ceilings as plan
from assay.plan import device_ceilings as device
from assay.plan.ceiling_times import MAX_KINDS
from assay.plan.client_ceilings import client_jobs
from assay.plan.jobs import with_safeguards
from assay.run.places.cleaning import RunCleaner
from assay.run.places.targets import target_path
from assay.run.read_events import read_repeat

SILENCE_LIMIT_SECONDS = 60.0
"""Seconds without progress after which the storage counts as hung; the flush after a second of writing takes longest.
"""
PASSES_BEFORE = 2
"""Passes before the cases."""
MAX_AGAIN_SECONDS = 2.0
"""After this time, no further exceeded ceiling is measured again."""


_SEVERAL_DIRECTORIES = "the target has several directories, which may be on different devices"


def _why_no_device(place: TargetPlace | None) -> str:
    """Return why a place has no device that can be measured; empty if it has one."""
    if place is None or place.filesystem in MEMORY_FILESYSTEMS:
        return ""
    if place.memory_backed:
        return "the target is in memory"
    return f"the target is on {place.stacked_on}, which answers from the host's memory" if place.stacked_on else ""


class CeilingMeter:
    """Measures what this host and a study's targets can do at most."""

    def __init__(
        self,
        study: Study,
        launcher: Launcher,
        owner: Owner,
        destroy: bool,
        places: Mapping[str, BackendCapabilities],
        print_line: PrintLine,
        cases: Sequence[Case] = (),
        known: Sequence[TargetPlace] = (),
        stop: Callable[[], int] = lambda: 0,
        here: bool = True,
        silent: set[str] | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            study: Names the targets.
            launcher: Starts engines.
            owner: The run, which has claimed the directories.
            destroy: The user has confirmed that devices may be overwritten.
            places: Target -> what can be done there.
            print_line: Prints a line.
            cases: All cases that are compared with the ceilings.
            known: Where the targets are: no device can be measured through memory.
            stop: As for `run_job`; once it is set, the rest is left out.
            here: The directories are on this machine; on other hosts the devices below are not measured.
            silent: Paths of targets whose storage did not answer. Nothing is measured there, and further ones are
                added.
        """
        self.study = study
        self.launcher = launcher
        self.owner = owner
        self.destroy = destroy
        self.places = places
        self.say = print_line
        self.cases = {case.id: case for case in cases}
        self.stop = stop
        self.patience = min(SILENCE_LIMIT_SECONDS, (study.patience or 0) / 1e9 or SILENCE_LIMIT_SECONDS)
        self.silent = set() if silent is None else silent
        self.cpus = min(8, len(os.sched_getaffinity(0)))
        self.stored = [name for name in places if study.targets[name].through_kernel and here]
        where = {place.target: place for place in known}
        self._reasons = {
            name: _SEVERAL_DIRECTORIES if len(study.targets[name].paths) > 1 else _why_no_device(where.get(name))
            for name in self.stored
        }
        self._written: dict[str, int] = {}
        """Target -> bytes that were written there in the time of a pass."""

    @property
    def devices(self) -> list[str]:
        """The targets that are on a device which can be measured."""
        return [
            name
            for name in self.stored
            if not self._reasons[name] and not device.in_memory(self.places[name]) and not self._is_silent(name)
        ]

    def _is_silent(self, name: str) -> bool:
        return name != HOST_WIDE and target_path(self.study, name) in self.silent

    def measure(self) -> tuple[Ceiling, ...]:
        """Measure all ceilings that apply to the cases, before the first case."""
        ceilings = plan.stated_ceilings(self.study, self.places)
        jobs, left_out = plan.engine_jobs(self.study, self.cases.values())
        for job in [*(plan.copy_jobs(self.cpus) if self.stored else ()), *jobs]:
            ceilings += self._run(job, Pass(time.time(), "before"))
        if left_out:
            reason = f"{left_out} kinds of job were not measured: there are more than {MAX_KINDS}"
            ceilings.append(
                Ceiling(name="engine", target=HOST_WIDE, unit="operations/s", value=None, how="", reason=reason)
            )
        ceilings += self._clients()
        for name in self.stored:
            passes = PASSES_BEFORE if name in self.devices else 1
            for number in range(passes):
                ceilings = list(
                    merge_ceilings(ceilings, self.measure_target(name, "before", cached=number == passes - 1))
                )
        return tuple(ceilings)

    def _clients(self) -> list[Ceiling]:
        """Measure what this host can request of services that answer at once."""
        jobs, left_out = client_jobs(self.study, self.cases.values(), MAX_KINDS)
        ceilings: list[Ceiling] = []
        for job in jobs:
            samples, reason = self._samples(job)
            during = Pass(time.time(), "before")
            ceilings += client_ceilings(job.target, job.kind_by_lanes, samples, job.how, during, reason)
        if left_out:
            reason = f"{left_out} kinds of job were not measured: there are more than {MAX_KINDS}"
            unknown = Ceiling(name="client", target=HOST_WIDE, unit="operations/s", value=None, how="", reason=reason)
            ceilings.append(unknown)
        return ceilings

    def measure_target(self, name: str, when: When, cached: bool = False, devices: bool = True) -> list[Ceiling]:
        """Make one pass over a target.

        Args:
            name: The target.
            when: Position of the pass in the run.
            cached: Measure the page cache.
            devices: Measure the device below, if there is one.
        """
        during, place = Pass(time.time(), when), self.places[name]
        first = device.writing_job(self.study, name, place, self.destroy)
        if isinstance(first, Ceiling):
            return [first]
        self._clean_up(name)
        try:
            samples, reason = self._samples(first)
            ceilings: list[Ceiling] = []
            if self._reasons[name]:
                ceilings += device.unmeasured_ceilings(name, self._reasons[name], device.DEVICE_NAMES)
            else:
                ceilings += measured_ceilings(
                    name, first.phases, samples, first.how, during, "", reason, first.job.direct
                )
            written = sum(sample.write_bytes for sample in samples) // plan.LARGE_RECORD_BYTES * plan.LARGE_RECORD_BYTES
            if written < plan.LARGE_RECORD_BYTES:
                return ceilings or device.unmeasured_ceilings(name, reason)
            self._written[name] = written
            if devices and name in self.devices:
                for job in self._device_jobs(name, written):
                    ceilings = list(merge_ceilings(ceilings, self._run(job, during)))
            if cached:
                ceilings += self._run(device.page_cache_job(self.study, name, written, self.cpus, self.destroy), during)
            return ceilings
        finally:
            self._clean_up(name)

    def measure_again(self, exceeded: Mapping[Key, ExceedingRepeat]) -> list[Ceiling]:
        """Measure exceeded ceilings once more; those of targets with the access pattern of the result.

        Args:
            exceeded: Target, name and kind of each, and the result.
        """
        engine = {job.kind: job for job in plan.engine_jobs(self.study, self.cases.values())[0]}
        copies = {name: job for job in plan.copy_jobs(self.cpus) for name in job.phases.values()}
        ceilings: list[Ceiling] = []
        end = time.monotonic() + MAX_AGAIN_SECONDS
        # Ceilings of devices come first.
        for target, name, kind in sorted(exceeded, key=lambda key: (key[0] == HOST_WIDE, key[1] == "page cache read")):
            if time.monotonic() > end:
                break
            job = engine.get(kind) if name == "engine" else copies.get(name)
            during = Pass(time.time(), "again")
            if job is not None:
                ceilings += self._run(job, during)
            elif name == "page cache read":
                ceilings += [
                    item for item in self.measure_target(target, "again", True, devices=False) if item.name == name
                ]
            elif target in self.devices:
                ceilings += self._measure_like_result(target, name, exceeded[target, name, kind], during)
        return ceilings

    def _measure_like_result(
        self, target: str, name: CeilingName, result: ExceedingRepeat, during: Pass
    ) -> list[Ceiling]:
        most = self._written.get(target, device.MIN_BYTES)
        job = device.remeasure_job(self.study, self.cases[result.case], result.operation, name, most, self.destroy)
        if job is None:
            return []
        self._clean_up(target)
        try:
            return self._run(job, during)
        finally:
            self._clean_up(target)

    def _device_jobs(self, name: str, written: int) -> list[plan.CeilingJob]:
        cases = [case for case in self.cases.values() if case.target == name]
        ways = (device.large_request_kinds(cases), device.small_request_kinds(cases, self.cpus))
        return device.device_jobs(self.study, name, self.places[name], written, ways, self.cpus, self.destroy)

    def _run(self, job: plan.CeilingJob, during: Pass) -> list[Ceiling]:
        samples, reason = self._samples(job)
        return measured_ceilings(
            job.target, job.phases, samples, job.how, during, job.kind, reason, job.job.direct, job.job.lanes
        )

    def _samples(self, job: plan.CeilingJob) -> tuple[tuple[Sample, ...], str]:
        """Return the samples of a job, or why it measured nothing."""
        target = self.study.targets.get(job.target)
        if self.stop():
            return (), "stopped before it was measured"
        if self._is_silent(job.target):
            return (), "the storage did not answer"
        sent = with_safeguards(job.job, self.owner.identity, self.patience)
        if target is not None:
            try:
                now = handler_of(target).recheck_target(sent.target, MachineInspector(self.destroy, self.owner))
            except AssayError as error:
                return (), error.message
            sent = sent.model_copy(update={"target": now})
        outcome = run_job(self.launcher, sent.model_dump_json(), self.patience + REPORT_MARGIN_SECONDS, stop=self.stop)
        outcome, samples = read_repeat("ceiling", 1, sent, outcome, hosts=False)
        if outcome.status == "incomplete":
            self.silent.add(target_path(self.study, job.target))
        return samples, outcome.reason

    def _clean_up(self, name: str) -> None:
        target = self.study.targets[name]
        try:
            problems = handler_of(target).clean(device.DIRECTORY, RunCleaner(self.owner, (self.launcher,)))
        except AssayError as error:
            problems = [f"{target.path}/{device.DIRECTORY}: {error.message}"]
        for line in problems:
            self.say(warning(f"could not be removed: {line}"))

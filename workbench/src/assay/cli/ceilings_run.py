"""Measures the ceilings of a run, or of one target, with the engine."""

import os
from collections.abc import Callable, Mapping, Sequence

from assay.analyse.ceilings import measured_ceilings, without_device
from assay.cli.heard import read_repeat
from assay.cli.output import note
from assay.contract._answers import BackendCapabilities
from assay.launch.engine import SPEAK_SECONDS, run_job
from assay.launch.launcher import Launcher
from assay.launch.places import Owner, remove_case_directory
from assay.model.base import AssayError
from assay.model.case import Case
from assay.model.ceiling import HOST_WIDE, Ceiling
from assay.model.result import IN_MEMORY, Place, Sample
from assay.model.study import Study
from assay.model.target import FileTarget
from assay.plan import ceilings as plan
from assay.plan.jobs import guarded

SILENCE_LIMIT = 60.0
"""Seconds without progress after which the storage counts as hung; the flush after a second of writing is longest."""


def _no_device(place: Place | None) -> str:
    """Why there is no device at a place, or none that can be reached; empty if there is."""
    if place is None or place.filesystem in IN_MEMORY:
        return ""
    if place.memory_backed:
        return "the store is memory itself"
    return f"below lies {place.stacked_on}, which answers from the host's memory" if place.stacked_on else ""


class CeilingMeter:
    """Measures what this host and a study's targets can do at most."""

    def __init__(
        self,
        study: Study,
        launcher: Launcher,
        owner: Owner,
        destroy: bool,
        stop: Callable[[], int] = lambda: 0,
        here: bool = True,
    ) -> None:
        """Nothing is started yet.

        Args:
            study: Names the targets.
            launcher: Starts engines.
            owner: The run, which has claimed the directories.
            destroy: The user has confirmed that devices may be overwritten.
            stop: As for `run_job`; once it says so, the rest is left out.
            here: The directories are this machine's; of others what is below is not measured.
        """
        self.here = here
        self.study = study
        self.launcher = launcher
        self.owner = owner
        self.destroy = destroy
        self.stop = stop
        self.cpus = min(8, len(os.sched_getaffinity(0)))

    def measure(
        self, places: Mapping[str, BackendCapabilities], cases: Sequence[Case], known: Sequence[Place] = ()
    ) -> tuple[Ceiling, ...]:
        """All ceilings that the cases can be held against.

        Args:
            places: Target -> what can be done there.
            cases: All cases.
            known: Where the targets are: no device can be measured through memory.
        """
        found = plan.stated_ceilings(self.study, places)
        jobs, left_out = plan.engine_jobs(self.study, cases)
        stored = [name for name, place in places.items() if place.kind not in ("null", "nfs") and self.here]
        for job in [*(plan.copy_jobs(self.cpus) if stored else ()), *jobs]:
            found += self._run(job)
        if left_out:
            reason = f"{left_out} kinds of job more than the {plan.MOST_KINDS} that are measured"
            found.append(
                Ceiling(name="engine", target=HOST_WIDE, unit="operations/s", value=None, how="", reason=reason)
            )
        where = {place.target: place for place in known}
        for name in stored:
            reason = _no_device(where.get(name))
            ceilings = self._target(name, places[name])
            found += without_device(ceilings, reason) if reason else ceilings
        return tuple(found)

    def _target(self, name: str, place: BackendCapabilities) -> list[Ceiling]:
        self._clean_up(name)
        try:
            first = plan.writing_job(self.study, name, place, self.destroy)
            if isinstance(first, Ceiling):
                return [first]
            samples, reason = self._samples(first)
            found = measured_ceilings(name, first.phases, samples, first.how, reason=reason)
            written = sum(sample.write_bytes for sample in samples) // plan.LARGE * plan.LARGE
            if written >= plan.LARGE:
                for job in plan.reading_jobs(self.study, name, place, written, self.cpus, self.destroy):
                    found += self._run(job)
            elif not found:
                found.append(plan.unwritten(name, reason))
            return found
        finally:
            self._clean_up(name)

    def _run(self, job: plan.CeilingJob) -> list[Ceiling]:
        samples, reason = self._samples(job)
        return measured_ceilings(job.target, job.phases, samples, job.how, job.kind, reason)

    def _samples(self, job: plan.CeilingJob) -> tuple[tuple[Sample, ...], str]:
        if self.stop():
            return (), "stopped by the user"
        guard = guarded(job.job, self.owner.identity, SILENCE_LIMIT)
        outcome = run_job(self.launcher, guard.model_dump_json(), SILENCE_LIMIT + SPEAK_SECONDS, stop=self.stop)
        outcome, samples = read_repeat("ceiling", 1, guard, outcome, hosts=False)
        return samples, outcome.reason

    def _clean_up(self, name: str) -> None:
        target = self.study.targets[name]
        if isinstance(target, FileTarget):
            try:
                left = remove_case_directory(target.path, plan.DIRECTORY, self.owner)
            except AssayError as error:
                left = [f"{target.path}/{plan.DIRECTORY}: {error.message}"]
            for line in left:
                note(f"warning: could not be removed: {line}")

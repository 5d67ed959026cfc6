"""Predicts how long a run takes from its command to its report, as a range.

`assay.plan.estimate` covers the repeats alone. Added to them are starting the site, preparing targets, ceilings, the
pauses between repeats, and judging. Times of the last run of the same study on this machine take precedence over
assumptions.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from assay.model.base import AssayError
from assay.model.units import about_duration
from assay.plan.estimate import StudyEstimate, work_key
from assay.run.study_plan import Plan

if TYPE_CHECKING:
    from assay.store import RunStore

START_SECONDS = 1.0
"""Time before the first repeat, without the site, the links and the ceilings: inspecting and preparing targets."""
GAP_SECONDS = 0.12
"""Time between two repeats: storing, cleaning, the next job."""
END_SECONDS = 1.5
"""Time after the last repeat: judging, the series and the answer."""
FIRST_RUN_RANGE, LATER_RUN_RANGE = (0.6, 2.0), (0.75, 1.35)
"""Range of a run's length relative to the prediction: for the first run of a study, and for later runs."""
BUSY_SHARE = 0.3
"""Share of a run that other processes on the CPUs slow down; a guess. At the end of the range all of it is slowed."""
MIN_KNOWN_SHARE = 0.5
"""Share of the cases that an earlier run must have measured to count."""
MAX_TRIED_RUNS = 20
"""Most runs of a study that are tried, the newest first."""


@dataclass(frozen=True)
class PastRun:
    """How long an earlier run of the same study took on this machine, in seconds.

    Attributes:
        run: Name of its folder.
        repeats: Case -> mean time of a repeat; the case as in `key_of`.
        before: From the command to the first repeat.
        between: Median time from one repeat to the next.
        after: From the last repeat to the end.
        load: Processes that ran or waited on average for each CPU when it began; None if unknown.
    """

    run: str
    repeats: Mapping[tuple[object, ...], float]
    before: float
    between: float
    after: float
    load: float | None


@dataclass(frozen=True)
class RunTime:
    """How long a run takes, in seconds.

    Attributes:
        low: Lower end of the range.
        expected: Most likely.
        high: Upper end of the range.
        basis: What the prediction is based on, in words.
    """

    low: float
    expected: float
    high: float
    basis: str

    @property
    def words(self) -> str:
        """The prediction in one line."""
        span = f"{about_duration(self.low)} to {about_duration(self.high)}"
        return f"about {about_duration(self.expected)} ({span}) from start to end; {self.basis}"


def predict_run_time(plan: Plan, estimate: StudyEstimate, past: PastRun | None) -> RunTime:
    """Predict the time of a whole run on this machine under its present load.

    Args:
        plan: The study and its cases.
        estimate: Of the same cases, by assumed speeds.
        past: An earlier run of the study.
    """
    study, cases = plan.study, plan.cases
    known = {} if past is None else past.repeats
    seconds = [known.get(work_key(case), item.seconds) for case, item in zip(cases, estimate.cases, strict=True)]
    share = sum(work_key(case) in known for case in cases) / max(len(cases), 1)
    if past is None or share < MIN_KNOWN_SHARE:
        past = PastRun("", {}, _before(plan) + estimate.ceilings_before, GAP_SECONDS, END_SECONDS, 0.0)
        spread, basis = FIRST_RUN_RANGE, "by assumed speeds"
    else:
        spread, basis = LATER_RUN_RANGE, f"as run {past.run} took"
    round_s = sum(seconds) + past.between * len(cases)
    least, most = (round_s * count for count in (study.repeating.min, study.repeats))
    if study.repeating.time is not None:
        most = min(most, max(least, study.repeating.time / 1e9))
    schedule_s = 0.0 if study.schedule is None else study.schedule.over / 1e9
    outside = past.before + past.after + estimate.ceilings_later
    busy = load_per_cpu() if past.load is None else (1 + load_per_cpu()) / (1 + past.load) - 1
    basis += f", on a machine with {load_words()}"
    busy = max(0.0, busy)
    low, high = max(least, schedule_s) + outside, max(most, schedule_s) + outside
    about = (low + high) / 2 * (1 + busy * BUSY_SHARE)
    return RunTime(low * spread[0], about, high * spread[1] * (1 + busy), basis)


def _before(plan: Plan) -> float:
    """Return the seconds until the first repeat, without ceilings, if no run of the study is known."""
    study = plan.study
    servers = {name for target in plan.places for name in study.targets[target].server_names}
    if study.is_local and not servers and not any(target.started_server for target in study.targets.values()):
        return START_SECONDS
    from assay.site.choose import site_of

    clients = max((case.parameters.hosts for case in plan.cases), default=1)
    try:
        seconds = START_SECONDS + site_of(study, plan.folder).startup_seconds(clients)
    except AssayError:
        # The code that needs the site reports what is wrong with it.
        seconds = START_SECONDS
    if study.network == "measure" and servers:
        from assay.run.run_network import SHORT_OPTIONS
        from assay.wires.preflight import estimate_seconds

        seconds += estimate_seconds(clients, len(servers), SHORT_OPTIONS)
    return seconds


def load_per_cpu() -> float:
    """Return the processes that run or wait for each CPU, by the least load average, since a burst may soon end."""
    return min(os.getloadavg()) / (os.cpu_count() or 1)


def load_words() -> str:
    """Return the load of this machine in words; `assay.launch.other_load` says what to do about it."""
    cpus = os.cpu_count() or 1
    return f"load {min(os.getloadavg()):.1f} on {cpus} CPU{'s' * (cpus != 1)}"


def find_past_run(out: Path, study: str) -> PastRun | None:
    """Return the times of the newest complete run of a study on this machine; None if there is none that can be read.

    Args:
        out: Folder of the runs.
        study: Name of the study.
    """
    for folder in _folders_of(out, study):
        from assay.store import RunStore

        try:
            with RunStore.open(folder) as store:
                past = _past(store)
        except AssayError:
            continue
        if past is not None:
            return past
    return None


def _folders_of(out: Path, study: str) -> Iterator[Path]:
    """Yield folders of runs of a study by their names, the newest first."""
    try:
        names = sorted((entry.name for entry in os.scandir(out) if entry.name.endswith(f"-{study}")), reverse=True)
    except OSError:
        return
    yield from (out / name for name in names[:MAX_TRIED_RUNS])


def _past(store: "RunStore") -> PastRun | None:
    info = store.info()
    if not info.status.startswith("complete") or info.finished_at is None:
        return None
    if info.environment.get("host", {}).get("name") != os.uname().nodename:
        return None
    ended = [item for item in store.attempts() if item.seconds is not None]
    if not ended:
        return None
    keys = {case.id: work_key(case) for case in store.cases()}
    times: dict[tuple[object, ...], list[float]] = {}
    for item in ended:
        times.setdefault(keys[item.case], []).append(item.seconds or 0.0)
    ends = [item.started_at + (item.seconds or 0.0) for item in ended]
    pauses = [later.started_at - end for end, later in zip(ends, ended[1:], strict=False)]
    return PastRun(
        run=store.folder.name,
        repeats={key: sum(seconds) / len(seconds) for key, seconds in times.items()},
        before=max(0.0, ended[0].started_at - info.created_at),
        between=max(0.0, median(pauses)) if pauses else GAP_SECONDS,
        after=max(0.0, info.finished_at - ends[-1]),
        load=_load(info.environment),
    )


def _load(environment: Mapping[str, Mapping[str, str]]) -> float | None:
    """Return the load for each CPU when a run began; None if its environment does not have it."""
    for section in environment.values():
        try:
            return float(section["load_before"].split()[0]) / (os.cpu_count() or 1)
        except (KeyError, ValueError, IndexError):
            continue
    return None

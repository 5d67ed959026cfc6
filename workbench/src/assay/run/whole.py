"""How long a run takes from its command to its report, with the range in which that is expected.

The repeats alone are `assay.plan.estimate`. Around them come starting the site, preparing targets, ceilings, the pauses
between repeats, judging. What the last run of the same study took on this machine goes before what is assumed.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from assay.model.base import AssayError
from assay.model.units import about_duration
from assay.plan.estimate import StudyEstimate, key_of
from assay.run.planned import Plan

if TYPE_CHECKING:
    from assay.store import RunStore

START_SECONDS = 1.0
"""Before the first repeat, besides the site, the links and the ceilings: targets are looked at and prepared."""
GAP_SECONDS = 0.12
"""Between two repeats: the store, cleaning, the next job."""
END_SECONDS = 1.5
"""Judging, the series and the answer, after the last repeat."""
FIRST_RANGE, KNOWN_RANGE = (0.6, 2.0), (0.75, 1.35)
"""Parts of the expected time between which a run is expected: the first of a study; one after others of it."""
BUSY_SHARE = 0.3
"""Part of a run that is slowed by what else runs on the CPUs; a guess. The end of the range has all of it slowed."""
MOST_KNOWN = 0.5
"""Part of the cases that an earlier run must have measured to count."""
RECENT = 20
"""Runs of a study that are looked at, the newest first, before none counts as known."""


@dataclass(frozen=True)
class Past:
    """What an earlier run of the same study took on this machine, in seconds.

    Attributes:
        run: Name of its folder.
        repeats: Case -> mean time of a repeat; the case as `key_of` has it.
        before: From the command to the first repeat.
        between: From a repeat to the next, in the median.
        after: From the last repeat to the end.
        load: Processes that ran or waited on average for each CPU when it began; None if it is not known.
    """

    run: str
    repeats: Mapping[tuple[object, ...], float]
    before: float
    between: float
    after: float
    load: float | None


@dataclass(frozen=True)
class Whole:
    """How long a run takes, in seconds.

    Attributes:
        low: At least, as expected; about: most likely; high: at most, as expected.
        basis: What that rests on, in words.
    """

    low: float
    about: float
    high: float
    basis: str

    @property
    def words(self) -> str:
        """All of it in one line."""
        span = f"{about_duration(self.low)} to {about_duration(self.high)}"
        return f"about {about_duration(self.about)} ({span}) from start to end; {self.basis}"


def whole_time(plan: Plan, estimate: StudyEstimate, past: Past | None) -> Whole:
    """Expected time of a whole run on this machine, as busy as it is now.

    Args:
        plan: The study and its cases.
        estimate: Of the same cases, by assumed speeds.
        past: An earlier run of the study.
    """
    study, cases = plan.study, plan.cases
    known = {} if past is None else past.repeats
    seconds = [known.get(key_of(case), item.seconds) for case, item in zip(cases, estimate.cases, strict=True)]
    share = sum(key_of(case) in known for case in cases) / max(len(cases), 1)
    if past is None or share < MOST_KNOWN:
        past = Past("", {}, _before(plan) + estimate.ceilings_before, GAP_SECONDS, END_SECONDS, 0.0)
        spread, basis = FIRST_RANGE, "by assumed speeds"
    else:
        spread, basis = KNOWN_RANGE, f"as run {past.run} took"
    each = sum(seconds) + past.between * len(cases)
    least, most = (each * count for count in (study.repeating.least, study.repeats))
    if study.repeating.time is not None:
        most = min(most, max(least, study.repeating.time / 1e9))
    over = 0.0 if study.schedule is None else study.schedule.over / 1e9
    outside = past.before + past.after + estimate.ceilings_later
    busy = busy_share() if past.load is None else (1 + busy_share()) / (1 + past.load) - 1
    basis += f", on a machine with {load_words()}"
    busy = max(0.0, busy)
    low, high = max(least, over) + outside, max(most, over) + outside
    about = (low + high) / 2 * (1 + busy * BUSY_SHARE)
    return Whole(low * spread[0], about, high * spread[1] * (1 + busy), basis)


def _before(plan: Plan) -> float:
    """Seconds until the first repeat, without ceilings, where no run of the study is known."""
    study = plan.study
    servers = {name for target in plan.places for name in study.targets[target].host_names}
    if study.local and not servers and not any(target.started for target in study.targets.values()):
        return START_SECONDS
    from assay.site.choose import site_of

    clients = max((case.parameters.hosts for case in plan.cases), default=1)
    try:
        seconds = START_SECONDS + site_of(study, plan.folder).takes(clients)
    except AssayError:
        # What is wrong with the site is said by whoever needs it.
        seconds = START_SECONDS
    if study.network == "measure" and servers:
        from assay.run.wires import SHORT
        from assay.wires.preflight import estimate_seconds

        seconds += estimate_seconds(clients, len(servers), SHORT)
    return seconds


def busy_share() -> float:
    """Processes that run or wait on average for each CPU: the least load average, since a burst need not go on."""
    return min(os.getloadavg()) / (os.cpu_count() or 1)


def load_words() -> str:
    """How busy this machine is, in words; what to do about it is said by who looks around (`assay.launch.busy`)."""
    cpus = os.cpu_count() or 1
    return f"load {min(os.getloadavg()):.1f} on {cpus} CPU{'s' * (cpus != 1)}"


def past_of(out: Path, study: str) -> Past | None:
    """The newest whole run of a study on this machine; None if there is none that can be read.

    Args:
        out: Folder of the runs.
        study: Name of the study.
    """
    for folder in _named(out, study):
        from assay.store import RunStore

        try:
            with RunStore.open(folder) as store:
                found = _past(store)
        except AssayError:
            continue
        if found is not None:
            return found
    return None


def _named(out: Path, study: str) -> Iterator[Path]:
    """Folders of runs of a study by their names, the newest first."""
    try:
        names = sorted((entry.name for entry in os.scandir(out) if entry.name.endswith(f"-{study}")), reverse=True)
    except OSError:
        return
    yield from (out / name for name in names[:RECENT])


def _past(store: "RunStore") -> Past | None:
    info = store.info()
    if not info.status.startswith("complete") or info.finished_at is None:
        return None
    if info.environment.get("host", {}).get("name") != os.uname().nodename:
        return None
    ended = [item for item in store.attempts() if item.seconds is not None]
    if not ended:
        return None
    keys = {case.id: key_of(case) for case in store.cases()}
    times: dict[tuple[object, ...], list[float]] = {}
    for item in ended:
        times.setdefault(keys[item.case], []).append(item.seconds or 0.0)
    ends = [item.started_at + (item.seconds or 0.0) for item in ended]
    pauses = [later.started_at - end for end, later in zip(ends, ended[1:], strict=False)]
    return Past(
        run=store.folder.name,
        repeats={key: sum(found) / len(found) for key, found in times.items()},
        before=max(0.0, ended[0].started_at - info.created_at),
        between=max(0.0, median(pauses)) if pauses else GAP_SECONDS,
        after=max(0.0, info.finished_at - ends[-1]),
        load=_load(info.environment),
    )


def _load(environment: Mapping[str, Mapping[str, str]]) -> float | None:
    """Load for each CPU when a run began, if its environment says so."""
    for section in environment.values():
        try:
            return float(section["load_before"].split()[0]) / (os.cpu_count() or 1)
        except (KeyError, ValueError, IndexError):
            continue
    return None

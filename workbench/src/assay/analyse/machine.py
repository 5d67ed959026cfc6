"""Decides whether the machine, and not the storage, changed the results of a run.

Between repeats a control runs that uses no storage (`assay.plan.controls`). The machine affected the results if the
control itself was kept from the CPUs, or if a good part of the variance between repeats follows the control. The run
then has one finding about the machine; findings of rows that follow from it alone are set aside: the row stores them,
but they are no verdict on it.
"""

import math
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from assay.analyse.estimate import mean_deviation
from assay.model.partial import MissingValue
from assay.model.result.machine import WAIT_SHARE, ControlReading, Controls, ExplainedVariance, MachineFinding
from assay.model.result.sample import Sample
from assay.model.result.verdict import Finding
from assay.model.site.cpus import cpu_numbers
from assay.model.study.case import Case
from assay.model.units import about_number

if TYPE_CHECKING:
    from assay.analyse.statistics.explained import RepeatSeries

MIN_CONTROLS = 3
"""With fewer controls there is no statement about the machine."""
MIN_VARIATION = 0.02
"""Results that vary by less than this share need no explanation."""
MIN_EXPLAINED = 0.25
"""Least explained share of the variance that is reported."""
SIGNIFICANCE = 0.01
"""Greatest p-value of an explanation that is reported."""
TICK_NS = 10_000_000
"""Unit of proc_stat(5) for each CPU."""

NOT_RUN = ("starved_client", "stopped_engine", "late_engine")
"""Rules that find that the engine did not run, or ran late."""
CONSEQUENCES = ("no_steady_state", "skewed", "uneven_lanes")
"""Rules whose findings follow when lanes wait for CPUs."""
MIN_WAITED_SHARE = 0.05
"""Share of their time that lanes must have waited for a CPU for FOLLOWS to be set aside."""

REMEDY = "Stop what else runs on this machine, or measure on one that has nothing else to do."


class MachineSample(NamedTuple):
    """One repeat of one operation, as seen by the machine analysis.

    Attributes:
        row: Case id and phase of the result.
        at: Middle of the repeat, in seconds since 1970.
        rate: Bytes or operations per second, above 0.
        host_ns: Time of all CPUs of the host, by whatever used; 0 if the kernel does not report it.
        stolen_ns: Time that the hypervisor took from the host's CPUs; 0 if the kernel does not report it.
        cpus: CPUs that the engine may use.
        watched_ns: As `ControlReading.watched_ns`.
        away_ns: As `ControlReading.away_ns`.
        longest_ns: Longest stall.
        cpu_share: Share of the wanted CPU time that the lanes got; None if the kernel does not report it.
    """

    row: tuple[str, int]
    repeat: int
    at: float
    rate: float
    host_ns: int = 0
    stolen_ns: int = 0
    cpus: int = 0
    watched_ns: int = 0
    away_ns: int | None = None
    longest_ns: int = 0
    cpu_share: float | None = None


def summarise_controls(readings: Sequence[ControlReading], measured: Sequence[MachineSample]) -> Controls | None:
    """Summarise what the controls of a run and the repeats show about the machine.

    Args:
        readings: The controls, in time order.
        measured: Usable repeats, in any order.

    Returns:
        None with too few controls.
    """
    if len(readings) < MIN_CONTROLS:
        return None
    from assay.analyse.statistics.explained import explain, parts_of

    stolen, error = _stolen(measured)
    rows = _rows(measured)
    spreads = [mean_deviation([math.log(one.rate) for one in row])[1] for row in rows if len(row) > 1]
    waited = _share([(one.wait_ns, one.lane_ns) for one in readings])
    # On an otherwise idle machine lanes wait only for kernel threads of the storage itself.
    taken = (waited or 0.0) > WAIT_SHARE
    explained, reason = explain(readings, [_series(row, taken) for row in rows])
    moved = {part: [math.log(one.rates[part]) for one in readings] for part in parts_of(readings)}
    return Controls(
        readings=tuple(readings),
        control_deviation={part: mean_deviation(logs)[1] for part, logs in moved.items()},
        result_deviation=median(spreads) if spreads else None,
        wait_share=waited,
        stolen_share=stolen,
        stolen_error=error,
        away_share=_share([*((one.away_ns, one.watched_ns) for one in readings), *_watched(measured)]),
        longest_ns=max((one.longest_ns for one in measured), default=0),
        explained=explained,
        unexplained_reason=reason,
    )


def _rows(measured: Sequence[MachineSample]) -> list[list[MachineSample]]:
    ordered = sorted(measured, key=attrgetter("row", "repeat"))
    return [list(group) for _, group in groupby(ordered, key=attrgetter("row"))]


def _series(row: Sequence[MachineSample], taken: bool) -> "RepeatSeries":
    """Return the repeats of a result, with their share of the CPUs if something else had taken CPUs."""
    from assay.analyse.statistics.explained import RepeatSeries

    got = [math.log(one.cpu_share) for one in row if one.cpu_share] if taken else []
    return RepeatSeries(
        tuple(one.repeat for one in row),
        tuple(one.at for one in row),
        tuple(math.log(one.rate) for one in row),
        tuple(got) if len(got) == len(row) else (),
    )


def _share(parts: Sequence[tuple[int | None, int]]) -> float | None:
    """Return the sum of the known parts over the sum of their wholes; None if no part is known."""
    known = [(part, whole) for part, whole in parts if part is not None and whole > 0]
    return sum(part for part, _ in known) / sum(whole for _, whole in known) if known else None


def _watched(measured: Sequence[MachineSample]) -> list[tuple[int | None, int]]:
    return [(one.away_ns, one.watched_ns) for one in measured]


def _stolen(measured: Sequence[MachineSample]) -> tuple[float | None, float]:
    """Return the share of CPU time that the hypervisor took, and its error.

    The counts are exact to a tick of each CPU at either end of a phase. The errors of several phases are independent
    and add up as the root of the sum of squares.
    """
    known = [one for one in measured if one.host_ns > 0]
    whole = sum(one.host_ns for one in known)
    if not whole:
        return None, 0.0
    error = math.sqrt(math.fsum((TICK_NS * max(1, one.cpus)) ** 2 for one in known))
    return sum(one.stolen_ns for one in known) / whole, error / whole


def machine_finding(controls: Controls | None) -> MachineFinding | None:
    """Return the finding about the machine; None if it did not affect the results, or if that is unknown."""
    if controls is None:
        return None
    causes, explained = _taken(controls), _good_part(controls)
    if not causes and explained is None:
        return None
    text = [f"This machine affected the results. {variation_text(controls)}"]
    text += [f"{', and '.join(causes)}."] if causes else []
    if explained is not None:
        least = f", at least {_percent(explained.low)}" if explained.low >= MIN_VARIATION else ""
        share = _percent(explained.share)
        text.append(f"What the machine did explains {share} of a typical result's variance between repeats{least}.")
    elif controls.unexplained_reason:
        text.append(
            f"How much of the results' variance the machine explains is not known: {controls.unexplained_reason}."
        )
    else:
        text.append("The repeats do not show that the results vary with the machine.")
    return MachineFinding(
        text=" ".join(text),
        remedy=REMEDY,
        explained=explained.share if explained else None,
        explained_low=explained.low if explained else None,
    )


def busy_text(controls: Controls | None) -> str:
    """Return one sentence on how the machine affected the results; empty if it did not, or if that is unknown."""
    if controls is None:
        return ""
    waited, stolen, away = controls.wait_share or 0.0, controls.stolen_share or 0.0, controls.away_share or 0.0
    if waited > WAIT_SHARE:
        return f"The machine was busy: a thread that used no storage waited for a CPU {_percent(waited)} of the time."
    if stolen - controls.stolen_error > WAIT_SHARE:
        return f"The machine was busy: the hypervisor took {_percent(stolen)} of its CPU time."
    if away > WAIT_SHARE:
        return f"The machine was paused {_percent(away)} of the time."
    if (explained := _good_part(controls)) is None:
        return ""
    share = _percent(explained.share)
    return f"The machine's own speed varied, which explains {share} of how much a typical result varies."


def _taken(controls: Controls) -> list[str]:
    """Return how the machine kept CPU time from the engine, as phrases."""
    waited, stolen, away = controls.wait_share or 0.0, controls.stolen_share or 0.0, controls.away_share or 0.0
    phrases = []
    if waited > WAIT_SHARE:
        phrases.append(f"its threads, no more than there are CPUs, waited for one {_percent(waited)} of the time")
    if stolen - controls.stolen_error > WAIT_SHARE:
        within = _percent(controls.stolen_error)
        phrases.append(f"the hypervisor took {_percent(stolen)} of the CPU time (± {within} of the CPU time)")
    if away > WAIT_SHARE:
        phrases.append(f"the engine did not run {_percent(away)} of the time though no other process used its CPU")
    return [words[0].upper() + words[1:] if not place else words for place, words in enumerate(phrases)]


def _good_part(controls: Controls) -> ExplainedVariance | None:
    """Return the explanation by the control, if it is significant and large enough to report."""
    found = controls.explained
    matters = (controls.result_deviation or 0.0) >= MIN_VARIATION
    return found if found is not None and matters and found.p <= SIGNIFICANCE and found.share >= MIN_EXPLAINED else None


def machine_notes(finding: MachineFinding | None) -> tuple[str, ...]:
    """Return the finding as a note, with the number of results whose findings it replaces."""
    if finding is None:
        return ()
    count = "1 result had a finding that" if finding.rows == 1 else f"{finding.rows:,} results had findings that"
    aside = f" {count} the machine caused, not the storage." if finding.rows else ""
    return (f"{finding.text}{aside} {finding.remedy}",)


_PARTS = {"waits": "while it waits", "works": "while it copies memory"}
"""Part of the control -> what the control does in it."""


def variation_text(controls: Controls) -> str:
    """Return one sentence on how much control and results varied."""
    parts = " and ".join(
        f"{_percent(moved)} {_PARTS.get(part, part)}" for part, moved in sorted(controls.control_deviation.items())
    )
    words = f"A test without storage, run {len(controls.readings)} times between the repeats, varied by {parts}"
    if controls.result_deviation is None:
        return f"{words}."
    return f"{words}; a typical result varied by {_percent(controls.result_deviation)} (standard deviations)."


def set_aside(
    controls: Controls | None, case: Case, samples: Sequence[Sample], findings: Sequence[Finding]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Divide the findings of one result into those that stay and those that the machine caused.

    Lanes that did not run are the machine's fault if there was a CPU for each of them, and so are the consequences:
    they started late, did unequal work, or varied in time. A finding that a rate is imprecise stays, whatever the
    cause: the number must not look better than it is.

    Args:
        controls: Controls of a run whose results the machine affected; None otherwise.
        case: The case.
        samples: Usable samples of the result.
        findings: The worst first.

    Returns:
        The findings that stay, and those set aside.
    """
    if controls is None or not findings:
        return tuple(findings), ()
    rules = {finding.rule for finding in findings}
    try:
        machine_rules = rules.intersection(NOT_RUN) if all(_cpu_each(case, sample) for sample in samples) else set()
        if machine_rules or _waited_share(case, samples) > MIN_WAITED_SHARE:
            machine_rules.update(CONSEQUENCES)
    except MissingValue:
        return tuple(findings), ()
    if machine_rules & {"late_engine", "stopped_engine"}:
        machine_rules.add("unsustained")
    remaining = tuple(finding for finding in findings if finding.rule not in machine_rules)
    return remaining, tuple(finding for finding in findings if finding.rule in machine_rules)


def _cpu_each(case: Case, sample: Sample) -> bool:
    """Whether each lane could have a CPU of its own."""
    parameters = case.parameters
    pinned = len(cpu_numbers(parameters.cpus)) * parameters.hosts if parameters.cpus else sample.cpus
    return parameters.all_lanes <= min(pinned, sample.cpus)


def _waited_share(case: Case, samples: Sequence[Sample]) -> float:
    """Return the share of their time that lanes with a CPU each waited for it, in a median repeat."""
    lanes = case.parameters.all_lanes
    shares = [
        (sample.cpu_wait_ns or 0) / (sample.elapsed_ns * lanes)
        for sample in samples
        if sample.elapsed_ns > 0 and _cpu_each(case, sample)
    ]
    return median(shares) if shares else 0.0


def machine_sample(sample: Sample) -> MachineSample:
    """Return a sample, with a rate above 0, as the machine analysis sees it."""
    watch = sample.watch
    used, waited = sample.cpu_user_ns + sample.cpu_system_ns, sample.cpu_wait_ns
    host = (sample.host_busy_ns or 0) + (sample.host_idle_ns or 0) + (sample.host_stolen_ns or 0)
    return MachineSample(
        row=(sample.case, sample.phase),
        repeat=sample.repeat,
        at=sample.started_at + sample.elapsed_ns / 2e9,
        rate=sample.rate,
        host_ns=host,
        stolen_ns=sample.host_stolen_ns or 0,
        cpus=sample.cpus,
        watched_ns=watch.elapsed_ns if watch else 0,
        away_ns=watch.away_ns if watch else None,
        longest_ns=watch.longest_ns if watch else 0,
        cpu_share=used / (used + waited) if waited is not None and used > 0 else None,
    )


def _percent(share: float) -> str:
    """Return `12 %`, or `1.2 %`."""
    return f"{about_number(100 * share, 2)} %" if share < 0.0995 else f"{100 * share:.0f} %"

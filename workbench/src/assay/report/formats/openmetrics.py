"""Writes a run's results as metrics for Prometheus and compatible programs.

The format is OpenMetrics 1.0 (https://github.com/prometheus/OpenMetrics, specification/OpenMetrics.md), limited to what
the older Prometheus text format has in common with it: gauges without timestamps. So the file also suits
node_exporter's textfile collector, which refuses timestamps. The end of the run is a metric of its own.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from assay.model.escape import escape_line
from assay.model.result.result import Estimate, ResultRow, RunAnalysis
from assay.model.result.run import RunInfo

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_]")
_PER_NS = 1e-9
ESTIMATES = ("median", "low", "high")
"""Values of the label `estimate`."""

MetricSample = tuple[Mapping[str, str], float]
"""Labels and value."""


@dataclass(frozen=True)
class MetricFamily:
    """A metric with its samples.

    Attributes:
        name: Ends with the unit, as the format requires.
        unit: Empty if the metric has none.
        help: Description in words.
        samples: Values with their labels; no two have the same labels.
    """

    name: str
    unit: str
    help: str
    samples: tuple[MetricSample, ...]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the metric."""
        yield f"# TYPE {self.name} gauge"
        if self.unit:
            yield f"# UNIT {self.name} {self.unit}"
        yield f"# HELP {self.name} {escape_label(self.help)}"
        for labels, value in self.samples:
            inner = ",".join(f'{name}="{escape_label(text)}"' for name, text in labels.items())
            yield f"{self.name}{{{inner}}} {value!r}"


def openmetrics_text(analysis: RunAnalysis) -> str:
    """Return a run's results as OpenMetrics: a gauge for each quantity, with a line for each result that has it.

    A result without a value has no line. Units are bytes, seconds and operations.
    """
    families = (family for family in _families(analysis) if family.samples)
    return "\n".join([line for family in families for line in family.lines()] + ["# EOF", ""])


def escape_label(text: str) -> str:
    r"""Return the text of a label or help line: a single line, with `\` and `"` escaped."""
    return escape_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _families(analysis: RunAnalysis) -> Iterator[MetricFamily]:
    rows = analysis.rows
    yield _estimates(
        analysis, "throughput", "bytes_per_second", "Throughput over the repeats.", lambda row: row.throughput
    )
    yield _estimates(analysis, "rate", "operations_per_second", "Operations per second.", lambda row: row.iops)
    latencies = [
        ({**_labels(analysis, row), "quantity": name}, nanoseconds * _PER_NS)
        for row in rows
        for name, nanoseconds in row.latency.items()
    ]
    yield MetricFamily("assay_latency_seconds", "seconds", "Latency of all repeats pooled.", tuple(latencies))
    repeats = [(_labels(analysis, row), float(row.rate.n if row.rate else 0)) for row in rows]
    yield MetricFamily("assay_repeats", "", "Repeats that count.", tuple(repeats))
    verdicts = [({**_labels(analysis, row), "verdict": str(row.verdict)}, 1.0) for row in rows]
    yield MetricFamily("assay_verdict", "", "Verdict on a result.", tuple(verdicts))
    shares = [
        ({**_labels(analysis, row), "ceiling": row.limiting_ceiling.name}, float(row.limiting_ceiling.share))
        for row in rows
        if row.limiting_ceiling
    ]
    help_ = "Measured rate divided by its nearest ceiling."
    yield MetricFamily("assay_ceiling_share_ratio", "ratio", help_, tuple(shares))
    yield from _run_families(analysis)


def _run_families(analysis: RunAnalysis) -> Iterator[MetricFamily]:
    run = analysis.run
    labels = {"study": run.study, "run": run.id} | _origin(run)
    yield MetricFamily("assay_run_planned_repeats", "", "Repeats that were planned.", ((labels, float(run.planned)),))
    yield MetricFamily(
        "assay_run_finished_repeats", "", "Repeats that were executed.", ((labels, float(run.finished)),)
    )
    moments = (("start", run.created_at, "began"), ("end", run.finished_at, "ended"))
    for name, moment, word in moments:
        if moment is not None:
            text = f"When the run {word}, in seconds since 1970."
            yield MetricFamily(f"assay_run_{name}_timestamp_seconds", "seconds", text, ((labels, float(moment)),))


def _estimates(
    analysis: RunAnalysis, name: str, unit: str, help_: str, get: Callable[[ResultRow], Estimate | None]
) -> MetricFamily:
    samples: list[MetricSample] = []
    for row in analysis.rows:
        estimate = get(row)
        for part in ESTIMATES if estimate is not None else ():
            value = getattr(estimate, part)
            if value is not None:
                samples.append(({**_labels(analysis, row), "estimate": part}, float(value)))
    whole = f"{help_} Median, and the ends of its 95 % interval."
    return MetricFamily(f"assay_{name}_{unit}", unit, whole, tuple(samples))


def _origin(run: RunInfo) -> dict[str, str]:
    """Return the label that says where a run was imported from; none for a run that Assay measured."""
    return {"imported": run.import_words} if run.imports else {}


def _labels(analysis: RunAnalysis, row: ResultRow) -> dict[str, str]:
    """Return the labels that identify a result; those of axes begin with `axis_`, so that they equal no other label."""
    case = row.case
    labels = {
        "study": analysis.run.study,
        "run": analysis.run.id,
        "case": case.id,
        "target": case.target,
        "workload": case.workload,
        "operation": row.operation,
    } | _origin(analysis.run)
    axes = {f"axis_{_NOT_IN_NAMES.sub('_', name)}": _axis(value) for name, value in case.axes.items()}
    return {**labels, **axes}


def _axis(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)

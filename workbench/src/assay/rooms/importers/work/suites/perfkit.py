"""PerfKitBenchmarker's samples, one JSON object a line (publisher.py, NewlineDelimitedJSONPublisher).

Which metrics have a counterpart is in `perfkit_metrics.py`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.databases.transactions import is_amount
from assay.rooms.importers.work.json_text import Number, decode_json
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
)
from assay.rooms.importers.work.suites.perfkit_metrics import MetricGroup, figure_unit, group_of, measured_of

NAME = "PerfKitBenchmarker"
HINT = "give perfkitbenchmarker_results.json as PerfKitBenchmarker wrote it"
MAX_SAMPLES = 200_000
MAX_LABELS = 200
MAX_VARYING = 3
"""Most labels that tell results of one name apart."""
_SAMPLE = re.compile(r'\{(?=.*"metric": ")(?=.*"value": )(?=.*"unit": )(?=.*"run_uri": ")(?=.*"test": ").*\}')
_NAN = re.compile(r'("value": )(?:NaN|-?Infinity)')
_LABEL = re.compile(r"\|([^|:]{1,100}):([^|]{0,400})\|(?:,|$)")
_SHOWN = (
    *("rw", "blocksize", "bs", "iodepth", "numjobs", "size", "cloud", "zone", "machine_type", "data_disk_type"),
    *("storage_class", "object_size_B", "num_streams", "sending_thread_count", "runtime_in_seconds", "protocol"),
    *("workload_name", "threads", "ycsb_version", "ip_type", "num_vus", "hammerdb_num_virtual_users"),
)
_SECRET = re.compile(r"pass|secret|token|key|credential", re.IGNORECASE)


class _Sample(NamedTuple):
    """One sample: its line, run, test, metric, value, unit, labels, and when it was taken."""

    line: int
    run: str
    test: str
    metric: str
    value: str
    unit: str
    labels: Mapping[str, str]
    timestamp: str


class _Members:
    """The samples of one result."""

    def __init__(self, group: MetricGroup, first: _Sample) -> None:
        self.group, self.samples = group, [first]
        self.metrics = {first.metric}
        self.labels = dict(first.labels)

    def add(self, sample: _Sample) -> None:
        """Add a sample; the labels of a result are those that all its samples have."""
        self.samples.append(sample)
        self.metrics.add(sample.metric)
        self.labels = {name: text for name, text in self.labels.items() if sample.labels.get(name) == text}


def recognise(text: str) -> bool:
    """Whether a text has samples of PerfKitBenchmarker."""
    if '"run_uri"' not in text or '"metric"' not in text:
        return False
    return any(line.startswith("{") and _SAMPLE.fullmatch(line.strip()[:100_000]) for line in text.split("\n"))


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:
    """Return the results of all samples in a text.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Order of offsets of fio, if the labels do not say it.

    Raises:
        OutputError: It is not what PerfKitBenchmarker writes.
    """
    samples = list(_samples(text))
    if not samples:
        raise OutputError(1, "no sample of PerfKitBenchmarker", HINT)
    results = tuple(_results(samples, stated))
    known = {"tool": NAME, "form": "JSON lines", "line": samples[0].line}
    times = [float(one.timestamp) for one in samples if is_amount(one.timestamp)]
    when = min(times) if times and min(times) < 2**33 else None
    return [ToolOutput(file=file.model_copy(update={**known, "measured_at": when}), results=results)]


def _samples(text: str) -> Iterator[_Sample]:
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.startswith("{") or not _SAMPLE.fullmatch(line.strip()):
            if line.startswith('{"') and '"metric": "' in line:
                raise OutputError(number, "a sample that is cut off, or lacks test, run, value or unit", HINT)
            continue
        count += 1
        if count > MAX_SAMPLES:
            raise OutputError(number, f"more than {MAX_SAMPLES:,} samples", "give the runs one by one")
        try:
            value, end = decode_json(_NAN.sub(r"\1null", line), 0)
        except OutputError as error:
            raise OutputError(number, error.message, HINT) from None
        if line[end:].strip():
            raise OutputError(number, "more than one sample in a line", HINT)
        yield _sample(value, number)


def _sample(value: Mapping[str, object], line: int) -> _Sample:
    words = {name: value.get(name) for name in ("metric", "unit", "run_uri", "test")}
    if not all(isinstance(one, str) and not isinstance(one, Number) for one in words.values()):
        raise OutputError(line, "metric, unit, run and test of a sample are no texts", HINT)
    number = value.get("value")
    if number is not None and not isinstance(number, Number):
        raise OutputError(line, "the value of a sample is no number", HINT)
    stamp = value.get("timestamp")
    labels = value.get("labels", value.get("metadata", ""))
    pairs = _LABEL.findall(labels)[:MAX_LABELS] if isinstance(labels, str) else _pairs(labels)
    return _Sample(
        line, str(words["run_uri"]), str(words["test"]), str(words["metric"]), str(number or ""), str(words["unit"]),
        dict(pairs), str(stamp) if isinstance(stamp, Number) else "",
    )  # fmt: skip


def _pairs(labels: object) -> list[tuple[str, str]]:
    """Return labels that were not made one text (`--nocollapse_labels`)."""
    items = list(labels.items())[:MAX_LABELS] if isinstance(labels, dict) else []
    return [(name, str(value)) for name, value in items if isinstance(value, str | bool)]


def _results(samples: Sequence[_Sample], stated: ImportOptions) -> Iterator[ImportedResult]:
    every: list[_Members] = []
    open_: dict[tuple[str, str, str], _Members] = {}
    for sample in samples:
        group = group_of(sample.test, sample.metric)
        key = (sample.run, sample.test, group.name)
        members = open_.get(key)
        if members is None or (group.kind and sample.metric in members.metrics):
            open_[key] = _Members(group, sample)
            every.append(open_[key])
        else:
            members.add(sample)
    names: dict[tuple[str, str], list[_Members]] = defaultdict(list)
    for members in every:
        names[members.samples[0].test, members.group.name].append(members)
    varying = {key: _varying(of) for key, of in names.items()}
    for members in every:
        yield _result(members, varying[members.samples[0].test, members.group.name], stated)


def _varying(members: Sequence[_Members]) -> list[str]:
    """Return labels whose values tell results of one name apart."""
    common = set.intersection(*(set(one.labels) for one in members)) if members else set()
    differ = [name for name in sorted(common) if len({one.labels[name] for one in members}) > 1]
    return [name for name in differ if not _SECRET.search(name)][:MAX_VARYING]


def _result(members: _Members, varying: Sequence[str], stated: ImportOptions) -> ImportedResult:
    first, labels = members.samples[0], members.labels
    figures = tuple(
        Figure(escape_line(one.metric, 100), one.value, figure_unit(one.metric, one.unit))
        for one in members.samples
        if is_amount(one.value)
    )
    values = {one.metric: (one.value, one.unit) for one in members.samples if is_amount(one.value)}
    found = measured_of(members.group, values, labels, stated.order)
    name = escape_line(f"{first.test}: {members.group.name}" if members.group.name else first.test, 120)
    shown = " ".join(f"{label}={escape_line(labels[label], 40)}" for label in varying)
    cloud = " ".join(labels[one] for one in ("cloud", "machine_type") if labels.get(one, "None") != "None")
    return ImportedResult(
        name=name,
        line=first.line,
        target=escape_line(cloud, 80) or NAME,
        workload=f"{name} {shown}".strip(),
        operation=found.operation if found.measured else None,
        parameters=found.parameters if found.measured else {},
        options={one: escape_line(labels[one], 80) for one in _SHOWN if labels.get(one, "None") != "None"},
        figures=figures,
        latency_of=found.latency_of,
        measured=found.measured,
        left_out=found.left_out,
    )

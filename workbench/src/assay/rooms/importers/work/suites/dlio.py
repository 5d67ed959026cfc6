"""DLIO's `summary.json`, which MLPerf Storage 0.5 to 2.0 submits, and the `[METRIC]` lines of its log.

Names are those of dlio_benchmark/utils/statscounter.py, which divides bytes by 1024^2 for MB and by 1024^3 for GB.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from assay.model.escape import escape_line
from assay.model.result.imported import ImportedFile
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.databases.transactions import is_amount
from assay.rooms.importers.work.figure_units import convert, whole_number
from assay.rooms.importers.work.json_text import Number, decode_json
from assay.rooms.importers.work.results import (
    STATED_NOTHING,
    Figure,
    ImportedResult,
    ImportOptions,
    OutputError,
    ToolOutput,
    rate_alone,
)

NAME = "DLIO"
HINT = "give summary.json or the log as DLIO wrote it"
MAX_FIGURES = 5_000
_JSON = re.compile(r'^\{(?=\s*"[a-z_]{1,40}":)', re.MULTILINE)
_SIGNS = ('"num_accelerators"', '"metric"', "_per_second")
_NOT_FINITE = re.compile(r"(?<=[\s:\[])(?:NaN|-?Infinity)(?=[\s,\]}])")
_METRIC = re.compile(r"(?:.{0,200}\W)?\[METRIC\] (.{1,80}): (\S{1,40})(?: \(±?(\S{1,40})\))? *")
_COUNT = "Number of Simulated Accelerators"
_LOG_NAMES = {
    _COUNT: ("num_accelerators", ""),
    "Training Accelerator Utilization [AU] (%)": ("train_au_mean_percentage", "train_au_stdev_percentage"),
    "Training Throughput (samples/second)": (
        "train_throughput_mean_samples_per_second", "train_throughput_stdev_samples_per_second",
    ),
    "Training I/O Throughput (MB/second)": ("train_io_mean_MB_per_second", "train_io_stdev_MB_per_second"),
    "Checkpoint save duration (seconds)": (
        "save_checkpoint_duration_mean_seconds", "save_checkpoint_duration_stdev_seconds",
    ),
    "Checkpoint save I/O Throughput (GB/second)": (
        "save_checkpoint_io_mean_GB_per_second", "save_checkpoint_io_stdev_GB_per_second",
    ),
    "Checkpoint load duration (seconds)": (
        "load_checkpoint_duration_mean_seconds", "load_checkpoint_duration_stdev_seconds",
    ),
    "Checkpoint load I/O Throughput (GB/second)": (
        "load_checkpoint_io_mean_GB_per_second", "load_checkpoint_io_stdev_GB_per_second",
    ),
    "Eval Accelerator Utilization [AU] (%)": ("eval_au_mean_percentage", "eval_au_stdev_percentage"),
    "Eval Throughput (samples/second)": (
        "eval_throughput_mean_samples_per_second", "eval_throughput_stdev_samples_per_second",
    ),
    "Eval Throughput (MB/second)": ("eval_io_mean_MB_per_second", "eval_io_stdev_MB_per_second"),
}  # fmt: skip
"""Line of the log -> names in summary.json of its mean and its deviation. DLIO 3 calls the same units MiB and GiB."""
_COUNTS = ("num_accelerators", "num_hosts", "num_files_train", "num_files_eval", "num_samples_per_file", "epochs")
_SIZES = ("data_size_per_host_GB", "host_memory_GB", "potential_caching")
_UNITS = (
    ("MB_per_second", "MiB/s"),
    ("GB_per_second", "GB/s of 2^30"),
    ("samples_per_second", "1/s"),
    ("percentage", "%"),
    ("seconds", "s"),
    ("_GB", "GiB"),
)
"""End of a name -> unit."""


class _Phase(NamedTuple):
    """A part of a run: its name, the begin of its figures, what it does, and the figures of its rates."""

    name: str
    begin: str
    operation: str
    bytes_s: str
    iops: str


_PHASES = (
    _Phase("training", "train_", "read", "train_io_mean_MB_per_second", "train_throughput_mean_samples_per_second"),
    _Phase("evaluation", "eval_", "read", "eval_io_mean_MB_per_second", "eval_throughput_mean_samples_per_second"),
    _Phase("checkpoint save", "save_", "write", "save_checkpoint_io_mean_GB_per_second", ""),
    _Phase("checkpoint load", "load_", "read", "load_checkpoint_io_mean_GB_per_second", ""),
)


def recognise(text: str) -> bool:
    """Whether a text has a summary of DLIO, or the lines of its log."""
    if all(sign in text for sign in _SIGNS) and _JSON.search(text):
        return True
    return f"[METRIC] {_COUNT}: " in text


def read(text: str, file: ImportedFile, stated: ImportOptions = STATED_NOTHING) -> list[ToolOutput]:  # noqa: ARG001
    """Return every summary in a text, in order.

    Args:
        text: The content of the file.
        file: What is known of the file; the rest is filled in.
        stated: Not used: samples are read whole.

    Raises:
        OutputError: It is not what DLIO writes.
    """
    if all(sign in text for sign in _SIGNS) and _JSON.search(text):
        return _json_outputs(text, file)
    lines = [line.rstrip() for line in text.split("\n")]
    starts = [at for at, line in enumerate(lines) if (match := _METRIC.fullmatch(line)) and match[1] == _COUNT]
    if not starts:
        raise OutputError(1, "no metrics of DLIO", HINT)
    return [_log_output(lines[start:end], start + 1, file) for start, end in pairwise((*starts, len(lines)))]


def _json_outputs(text: str, file: ImportedFile) -> list[ToolOutput]:
    clean, position, line, counted, found = _NOT_FINITE.sub("null", text), 0, 1, 0, []
    while (match := _JSON.search(clean, position)) is not None:
        line, counted = line + clean.count("\n", counted, match.start()), match.start()
        document, position = decode_json(clean, match.start())
        if not isinstance(document, dict) or not isinstance(document.get("metric"), dict):
            raise OutputError(line, "a summary without `metric`", HINT)
        figures = [Figure(name, number, _unit(name)) for name, number in _numbers(document)]
        texts = {
            name: document["metric"].get(name) for name in ("train_au_meet_expectation", "eval_au_meet_expectation")
        }
        options = {name: escape_line(word, 20) for name, word in texts.items() if isinstance(word, str) and word}
        known = {"form": "JSON", "line": line, **_when(document.get("start")), **_host(document.get("hostname"))}
        found.append(_output(figures, options, file.model_copy(update=known)))
    return found


def _numbers(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a summary but those of its hosts' processors and memory maps."""
    values = {**{name: document.get(name) for name in (*_COUNTS, *_SIZES)}, **document["metric"]}
    for name, value in values.items():
        label = escape_line(str(name), 80)
        each = enumerate(value, start=1) if isinstance(value, list) else [(0, value)]
        for number, one in each:
            if isinstance(one, Number) and is_amount(one):
                yield (f"{label}.{number}" if number else label), str(one)


def _unit(name: str) -> str:
    base = name.partition(".")[0]
    return next((unit for end, unit in _UNITS if base.endswith(end)), "")


def _when(text: object) -> dict[str, object]:
    if not isinstance(text, str) or isinstance(text, Number):
        return {}
    shown = escape_line(text, 40)
    try:
        # It has no time zone, so that it is shown only.
        datetime.fromisoformat(text)
    except ValueError:
        return {}
    return {"date": shown}


def _host(text: object) -> dict[str, object]:
    return {"host": escape_line(text, 80)} if isinstance(text, str) and not isinstance(text, Number) else {}


def _log_output(lines: Sequence[str], first: int, file: ImportedFile) -> ToolOutput:
    figures: dict[str, Figure] = {}
    options = {}
    for number, line in enumerate(lines, start=first):
        match = _METRIC.fullmatch(line)
        if match is None:
            continue
        label = match[1].replace("iB/second)", "B/second)")
        if match[1].endswith("_au_meet_expectation"):
            options[match[1]] = escape_line(match[2], 20)
        for name, text in zip(_LOG_NAMES.get(label, ()), match.groups()[1:], strict=False):
            if not name or text is None or text == "nan":
                continue
            if not is_amount(text) or name in figures:
                raise OutputError(number, f"{match[1]} is no number, or printed twice", HINT)
            figures[name] = Figure(name, text, _unit(name))
    return _output(list(figures.values()), options, file.model_copy(update={"form": "log", "line": first}))


def _output(figures: Sequence[Figure], options: dict[str, str], file: ImportedFile) -> ToolOutput:
    if len(figures) > MAX_FIGURES:
        raise OutputError(file.line, f"more than {MAX_FIGURES:,} numbers in a summary", HINT)
    texts = {one.name: one for one in figures}
    begins = tuple(phase.begin for phase in _PHASES)
    common = [one for one in figures if not one.name.startswith(begins)]
    results: list[ImportedResult] = []
    for phase in _PHASES:
        own = [one for one in figures if one.name.startswith(phase.begin)]
        if own:
            shown = {name: word for name, word in options.items() if name.startswith(phase.begin)}
            results.append(_result(phase, [*own, *([] if results else common)], texts, shown, file))
    if not results:
        raise OutputError(file.line, "no rate in this summary of DLIO", HINT)
    return ToolOutput(file=file.model_copy(update={"tool": NAME}), results=tuple(results))


def _result(
    phase: _Phase, figures: Sequence[Figure], texts: Mapping[str, Figure], options: dict[str, str], file: ImportedFile
) -> ImportedResult:
    rate = texts.get(phase.bytes_s)
    bytes_s = convert(rate.text, rate.unit) if rate else Decimal(0)
    samples = texts.get(phase.iops)
    epochs = sum(one.name.startswith(f"{phase.begin}throughput_samples_per_second.") for one in figures)
    suffix = f" (mean of {epochs} epochs)" if epochs > 1 else ""
    return ImportedResult(
        name=phase.name,
        line=file.line,
        target=NAME,
        workload=phase.name + suffix,
        operation=phase.operation if bytes_s else None,
        parameters=_parameters(texts) if bytes_s else {},
        options=options,
        figures=tuple(figures),
        measured=rate_alone(bytes_s, (Decimal(samples.text) or None) if samples else None) if bytes_s else None,
        left_out="" if bytes_s else "no rate in bytes above 0 is printed",
    )


def _parameters(texts: Mapping[str, Figure]) -> dict[str, AxisValue]:
    """Return hosts and processes: DLIO has one process for each simulated accelerator."""
    count, hosts = (
        whole_number(texts[name].text, 10**6) if name in texts else None for name in ("num_accelerators", "num_hosts")
    )
    found: dict[str, AxisValue] = {"hosts": hosts} if hosts else {}
    if count:
        found |= {"streams": count} if not hosts or count % hosts else {"lanes": count // hosts}
    return found

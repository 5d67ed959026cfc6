"""warp's outputs: every figure comes back, a log gives the rates of all its requests, damage is refused.

Samples named `made-` were made from the format strings of warp's source; the others were printed by warp.
"""

import csv
import json
import random
import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path

import pytest

from assay.model.base import AssayError
from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.registry import IMPORTERS, read_outputs
from assay.rooms.importers.work.results import ImportedResult, OutputError
from assay.rooms.importers.work.runs import make_run
from assay.rooms.importers.work.warp import importer as warp
from assay.store import RunStore

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "imports" / "warp"
FILE = ImportedFile(tool="warp", version="", form="", file="x", line=1, sha256="0" * 64, size_bytes=1)
SAMPLES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".md")
TEXTS = [name for name in SAMPLES if name.endswith(".txt")]
LOGS = [name for name in SAMPLES if name.endswith(".csv")]
JSON = [name for name in SAMPLES if name.endswith(".json")]
NAMES = {"GET": "get", "PUT": "put", "STAT": "head", "DELETE": "delete", "LIST": "list"}


def text_of(name: str) -> str:
    return (FOLDER / name).read_text()


def results(text: str) -> list[ImportedResult]:
    return [result for output in warp.read(text, FILE) for result in output.results]


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        warp.read(text, FILE)
    assert error.value.hint and error.value.line >= 1
    return error.value


@pytest.mark.parametrize("name", TEXTS)
def test_every_rate_of_a_text_comes_back(name: str) -> None:
    printed = re.findall(r"([0-9]+\.[0-9]+) ?(?:(?:[KMG]i)?B/s|obj/s|ops/s)", text_of(name))
    found = [figure.text for result in results(text_of(name)) for figure in result.figures]
    rates = [one for result in results(text_of(name)) for one in result.figures if one.unit.endswith("/s")]
    assert sorted(one.text for one in rates) == sorted(printed)
    assert found and warp.recognise(text_of(name))


@pytest.mark.parametrize("name", TEXTS)
def test_every_average_of_a_text_is_a_rate(name: str) -> None:
    printed = re.findall(r"\* (?:Average|Throughput): +(?:([0-9.]+) MiB/s, )?([0-9.]+) obj/s", text_of(name))
    has_total = "Report: Total" in text_of(name)
    measured = [one.measured for one in results(text_of(name)) if one.measured and (has_total or one.name != "all")]
    assert [one.iops for one in measured] == [float(rate) for _, rate in printed]
    assert [one.throughput / 2**20 for one in measured] == pytest.approx([float(rate or 0) for rate, _ in printed])


def rows_of(name: str) -> list[dict[str, str]]:
    lines = [line for line in text_of(name).splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


@pytest.mark.parametrize("name", LOGS)
def test_a_log_is_counted_as_a_whole(name: str) -> None:
    kinds: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows_of(name):
        kinds[row["op"]].append(row)
    found = {result.name: result for result in results(text_of(name))}
    assert set(found) - {"all"} == set(kinds)
    for kind, rows in kinds.items():
        measured = found[kind].measured
        if measured is None:
            assert kind not in NAMES
            continue
        good = [row for row in rows if not row["error"]]
        start = min(datetime.fromisoformat(row["start"]) for row in rows)
        end = max(datetime.fromisoformat(row["end"]) for row in rows)
        seconds = (end - start).total_seconds()
        assert (measured.ops, measured.bytes) == (len(good), sum(int(row["bytes"]) for row in good))
        assert measured.iops == pytest.approx(len(good) / seconds, rel=1e-4)
        assert measured.throughput == pytest.approx(measured.bytes / seconds, rel=1e-4, abs=1)
        times = sorted(int(row["duration_ns"]) for row in good)
        assert (measured.latency["min"], measured.latency["max"]) == (times[0], times[-1])
        assert measured.latency["p50"] == pytest.approx(times[(len(times) - 1) // 2], rel=0.01)


def numbers(part: object) -> list[str]:
    """All numbers of rates and totals, not those of single seconds and histograms."""
    if not isinstance(part, dict):
        return [str(part)] if isinstance(part, str) and re.fullmatch(r"-?[0-9.]+(e[+-]?\d+)?", part) else []
    return [value for inner in part.values() for value in numbers(inner)]


@pytest.mark.parametrize("name", JSON)
def test_totals_of_json_come_back(name: str) -> None:
    document = json.loads(text_of(name), parse_int=str, parse_float=str)
    found = {result.name: result for result in results(text_of(name))}
    parts = document.get("by_op_type") or {part["type"]: part for part in document["operations"]}
    for kind, part in parts.items():
        figures = [figure.text for figure in found[kind].figures]
        throughput = {key: value for key, value in part["throughput"].items() if key != "segmented"}
        assert not set(numbers(throughput)) - set(figures)
        if "total_requests" in part and (measured := found[kind].measured):
            assert measured.ops == int(part["total_requests"]) - int(part["total_errors"])
            assert measured.bytes == int(part["total_bytes"])


def test_secrets_of_command_lines_are_not_kept() -> None:
    text = text_of(LOGS[0]) + "# /x/warp put --host=h --access-key=AKEY --secret-key=ASECRET --session-token=TSECRET\n"
    kept = " ".join(output.model_dump_json() for output in warp.read(text.replace("# ", "# /b/", 1), FILE))
    assert "AKEY" not in kept and "ASECRET" not in kept and "TSECRET" not in kept


def test_requests_that_failed_are_errors() -> None:
    rows = text_of(LOGS[0]).splitlines()
    names = rows[0].split("\t")
    cells = rows[1].split("\t")
    cells[names.index("error")] = "503 Slow Down"
    (result, *_) = results("\n".join([rows[0], "\t".join(cells), *rows[2:]]))
    assert result.measured is not None
    assert [(one.count, one.example) for one in result.measured.errors] == [(1, "503 Slow Down")]


def test_compressed_files_are_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd\x04\x00")
    with pytest.raises(AssayError) as error:
        read_outputs(str(tmp_path / "a.csv.zst"))
    assert "compressed with zstd" in error.value.message and "zstd -d" in error.value.hint


def test_what_is_no_log_is_refused() -> None:
    text = text_of(LOGS[0])
    assert "cells in a row" in refused(text.replace("\n0\t", "\n0\t\t", 1)).message
    assert "no requests" in refused(text.splitlines()[0] + "\n").message
    assert "not a time" in refused(re.sub(r"\t20[0-9]{2}-", "\t20x0-", text, count=1)).message
    assert (
        "bytes cannot be"
        in refused(re.sub(r"(\n[0-9]+\t[0-9]+\t[A-Z]+\t[^\t]*\t1\t)[0-9]+", r"\1-5", text, count=1)).message
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_only_warp_is_recognised(name: str) -> None:
    assert [one.name for one in IMPORTERS[:-1] if one.recognise(text_of(name))] == ["warp"]


@pytest.mark.parametrize("name", SAMPLES)
def test_lines_of_a_terminal_do_not_matter(name: str) -> None:
    text = text_of(name).replace("\n", "\r\n")
    assert [one.figures for one in results(text)] == [one.figures for one in results(text_of(name))]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    choice, text = random.Random(name), text_of(name)
    for _ in range(8):
        at, length = choice.randrange(len(text)), choice.choice((1, 2, 40, len(text)))
        put = choice.choice(("", '"', "{", "-", "9" * 30, "1e999", "\t", ":", "[", text[at : at + 30], "\x00"))
        try:
            warp.read(text[:at] + put + text[at + length :], FILE)
        except OutputError as error:
            assert error.line >= 1 and error.message and error.hint


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_becomes_a_run(name: str, tmp_path: Path) -> None:
    folder = make_run(read_outputs(str(FOLDER / name)), tmp_path, "", "assay import x")
    with RunStore.open(folder) as store:
        assert store.samples()
    assert all(figure.unit in ("", *UNITS) for result in results(text_of(name)) for figure in result.figures)

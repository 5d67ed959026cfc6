"""elbencho's outputs: every figure comes back, rates are those of the last thread, damage is refused."""

import json
import random
import re
from pathlib import Path

import pytest

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.elbencho import importer as elbencho
from assay.rooms.importers.work.figure_units import UNITS
from assay.rooms.importers.work.registry import IMPORTERS, read_outputs
from assay.rooms.importers.work.results import ImportedResult, ImportOptions, OutputError
from assay.rooms.importers.work.runs import make_run
from assay.store import RunStore

FOLDER = Path(__file__).resolve().parents[3] / "golden" / "imports" / "elbencho"
FILE = ImportedFile(tool="elbencho", version="", form="", file="x", line=1, sha256="0" * 64, size_bytes=1)
SAMPLES = sorted(path.name for path in FOLDER.iterdir())
TEXTS = [name for name in SAMPLES if name.endswith(".txt")]
TABLES = [name for name in SAMPLES if name.endswith(".csv")]
JSON = [name for name in SAMPLES if name.endswith(".json")]
SEQUENTIAL = ImportOptions("sequential")


def text_of(name: str) -> str:
    return (FOLDER / name).read_text()


def results(text: str) -> list[ImportedResult]:
    return [result for output in elbencho.read(text, FILE, SEQUENTIAL) for result in output.results]


def refused(text: str) -> OutputError:
    with pytest.raises(OutputError) as error:
        elbencho.read(text, FILE, SEQUENTIAL)
    assert error.value.hint and error.value.line >= 1
    return error.value


def printed_by_rows(text: str) -> list[str]:
    """All numbers of the rows of a table, times as seconds or milliseconds."""
    found = []
    for line in text.splitlines():
        if match := re.match(r"[A-Z0-9+-]* +(?:Elapsed \w+|[A-Z][^:]*?) *: +(\S+) +(\S+)$", line):
            found += list(match.groups())
        elif match := re.match(r" +[A-Z]\w+(?: \w\w)? lat\w*[^:]*: \[ (.*) \]$", line):
            found += re.findall(r"(?:min=|avg=|max=|%<=)([0-9.]+)", match[1]) if "hist" not in line else []
    return [as_number(word) for word in found]


def as_number(word: str) -> str:
    match = re.fullmatch(r"(?:(\d+)m)?([\d.]+)(ms|s)", word)
    if match is None:
        return word
    return f"{int(match[1]) * 60 + float(match[2]):.3f}" if match[1] else match[2]


@pytest.mark.parametrize("name", TEXTS)
def test_every_number_of_a_table_comes_back(name: str) -> None:
    found = [figure.text for result in results(text_of(name)) for figure in result.figures]
    assert sorted(found) == sorted(printed_by_rows(text_of(name)))
    assert found and elbencho.recognise(text_of(name))


@pytest.mark.parametrize("name", TABLES)
def test_every_number_of_a_csv_comes_back(name: str) -> None:
    head, *rows = (line.split(",") for line in text_of(name).splitlines())
    first, last = head.index("time ms [first]"), head.index("version") if "version" in head else len(head)
    printed = [cell for row in rows for cell in row[first:last] if cell]
    assert sorted(figure.text for result in results(text_of(name)) for figure in result.figures) == sorted(printed)
    assert elbencho.recognise(text_of(name))


def leaves(part: object) -> list[str]:
    """All values of a part of a document but those of histograms."""
    if not isinstance(part, dict):
        return [str(part)]
    return [value for name, inner in part.items() if name != "histogram" for value in leaves(inner)]


@pytest.mark.parametrize("name", JSON)
def test_every_number_of_json_comes_back(name: str) -> None:
    documents = [json.loads(line) for line in text_of(name).splitlines()]
    printed = [value for one in documents for part in ("first_done", "last_done") for value in leaves(one[part])]
    assert sorted(figure.text for result in results(text_of(name)) for figure in result.figures) == sorted(printed)
    assert elbencho.recognise(text_of(name))


@pytest.mark.parametrize("name", JSON)
def test_rates_and_counts_are_those_of_the_last_thread(name: str) -> None:
    for line, result in zip(text_of(name).splitlines(), results(text_of(name)), strict=True):
        document = json.loads(line)
        last, config = document["last_done"], document["config"]
        if result.measured is None:
            assert result.left_out
            continue
        more = last.get("rwmix_read", {})
        rate = sum(int(part.get("bytes/s", 0)) for part in (last, more))
        assert result.measured.throughput == pytest.approx(rate, rel=1e-3)
        assert result.measured.bytes == sum(int(part.get("bytes", 0)) for part in (last, more))
        assert result.measured.elapsed_ns == int(last["elapsed_time_ms"]) * 10**6 or not int(last["elapsed_time_ms"])
        assert result.parameters["lanes"] == int(config["threads"])


def test_the_same_run_is_the_same_in_each_form() -> None:
    """The console's table, the CSV and the JSON of one run, each as precise as it is printed."""
    forms = [results(text_of(f"3.1-9-tree.{ending}")) for ending in ("json", "csv", "txt")]
    assert len({tuple(result.operation for result in form) for form in forms}) == 1
    for exact, *others in zip(*forms, strict=True):
        for other in others:
            if exact.measured and other.measured and exact.measured.throughput > 50 << 20:
                assert other.measured.throughput == pytest.approx(exact.measured.throughput, rel=0.03)
                assert other.parameters["record_size"] == exact.parameters["record_size"]


def test_a_table_alone_needs_the_order() -> None:
    text = re.sub(r"^COMMAND LINE: .*$", "", text_of("3.1-9-tree.txt"), flags=re.M)
    found = [one for output in elbencho.read(text, FILE) for one in output.results if one.name in ("WRITE", "READ")]
    assert found and all("state it with `assay import --order ORDER`" in one.left_out for one in found)
    assert all(one.operation for one in results(text) if one.name in ("WRITE", "READ"))


def test_tables_of_a_sweep_without_commands_are_no_repeats() -> None:
    text = re.sub(r"^COMMAND LINE: .*$", "", text_of("3.1-9-tree.txt"), flags=re.M)
    larger = re.sub(r"(Total MiB +:.* )([0-9]+)$", lambda match: f"{match[1]}{int(match[2]) * 2}", text, flags=re.M)
    assert larger != text
    once, same, sweep = results(text), results(text + text), results(text + larger)
    assert {one.workload for one in once} == {one.workload for one in same}
    assert len({one.workload for one in sweep if one.name == "WRITE"}) == 2


def test_secrets_of_command_lines_are_not_kept() -> None:
    text = text_of("3.1-9-tree.txt").replace('"--lat"', '"--lat" "--s3key" "AKEY" "--s3secret=ASECRET"', 1)
    assert "AKEY" in text
    kept = " ".join(output.model_dump_json() for output in elbencho.read(text, FILE, SEQUENTIAL))
    assert "AKEY" not in kept and "ASECRET" not in kept


def test_what_is_no_output_is_refused() -> None:
    text = text_of("3.1-9-tree.txt")
    rows = text.splitlines()
    at = next(number for number, line in enumerate(rows) if line.startswith("WRITE"))
    assert "end too early" in refused("\n".join(rows[: at + 2])).message
    assert "Elapsed time cannot be" in refused(text.replace(rows[at], rows[at][:-12] + "        many")).message
    table = text_of("3.1-9-tree.csv")
    assert "cells in a row" in refused(table.replace("\n", ",1\n").replace(",1\n", "\n", 1)).message
    assert "has no phase" in refused(table.replace(",WRITE,", ",WROTE,")).message
    assert "not JSON" in refused(text_of("3.1-9-tree.json")[:700]).message
    assert "cannot be" in refused(text_of("3.1-9-tree.json").replace('"bytes":"', '"bytes":"-')).message


@pytest.mark.parametrize("name", SAMPLES)
def test_only_elbencho_is_recognised(name: str) -> None:
    assert [one.name for one in IMPORTERS[:-1] if one.recognise(text_of(name))] == ["elbencho"]


@pytest.mark.parametrize("name", SAMPLES)
def test_lines_of_a_terminal_do_not_matter(name: str) -> None:
    text = "$ cat x\r\n" + text_of(name).replace("\n", "\r\n") + "\r\nuser@host:~$ \r\n"
    if name.endswith(".csv"):
        text = text_of(name).replace("\n", "\r\n")
    assert [one.figures for one in results(text)] == [one.figures for one in results(text_of(name))]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_damaged_output_is_read_or_refused(name: str) -> None:
    choice, text = random.Random(name), text_of(name)
    for _ in range(10):
        at, length = choice.randrange(len(text)), choice.choice((1, 2, 40, len(text)))
        put = choice.choice(("", '"', "{", "-", "9" * 30, "1e999", ",", ":", "[", text[at : at + 30], "\x00"))
        try:
            elbencho.read(text[:at] + put + text[at + length :], FILE, SEQUENTIAL)
        except OutputError as error:
            assert error.line >= 1 and error.message and error.hint


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_becomes_a_run(name: str, tmp_path: Path) -> None:
    folder = make_run(read_outputs(str(FOLDER / name), SEQUENTIAL), tmp_path, "", "assay import x")
    with RunStore.open(folder) as store:
        assert store.samples()
    assert all(figure.unit in ("", *UNITS) for result in results(text_of(name)) for figure in result.figures)

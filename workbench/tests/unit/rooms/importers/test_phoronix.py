"""Result files of the Phoronix Test Suite: systems are targets, runs are repeats, XML is read safely."""

import json
import re
from xml.etree import ElementTree

import pytest
from imported_samples import FILE, check_damage, check_units, recognising, sample_names, sample_text

from assay.rooms.importers.work.results import ImportedResult, OutputError
from assay.rooms.importers.work.suites import phoronix

SAMPLES = sample_names("phoronix")
BOMB = '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY c "&a;&a;&a;">]>'
FIO = "Type: Random Read - Engine: Sync - Direct: Yes - Block Size: 4KB"


def results_of(text: str) -> list[ImportedResult]:
    return [one for output in phoronix.read(text, FILE) for one in output.results]


def result(test: str, scale: str, value: str, raw: str, description: str = FIO, system: str = "A") -> str:
    return (
        f"<Result><Identifier>{test}</Identifier><Title>T</Title><Description>{description}</Description>"
        f"<Scale>{scale}</Scale><Proportion>HIB</Proportion><Data><Entry><Identifier>{system}</Identifier>"
        f"<Value>{value}</Value><RawString>{raw}</RawString></Entry></Data></Result>"
    )


def document(*results: str) -> str:
    head = "<Generated><TestClient>Phoronix Test Suite v10.8.4</TestClient></Generated>"
    return f'<?xml version="1.0"?>\n<PhoronixTestSuite>\n{head}{"".join(results)}\n</PhoronixTestSuite>\n'


@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_comes_back(name: str) -> None:
    text = sample_text("phoronix", name)
    results = results_of(text)
    found = sorted(float(one.text) for each in results for one in each.figures)
    if name.endswith(".json"):
        systems = [one for test in json.loads(text)["results"].values() for one in test["results"].values()]
        wanted = [number for one in systems for number in (one["value"], *one.get("raw_values", []))]
    else:
        entries = ElementTree.fromstring(text).iterfind("Result/Data/Entry")
        texts = [one.findtext(tag, "") for one in entries for tag in ("Value", "RawString")]
        wanted = [part for text in texts for part in text.split(":")]
    assert found == sorted(float(one) for one in wanted if one)
    assert recognising(text) == "Phoronix Test Suite"
    check_units(results)
    check_damage(phoronix.read, text, name, 24)


def test_rates_and_operations_of_one_test_are_one_result() -> None:
    text = document(
        result("pts/fio-2.1.0", "MB/s", "357", "350:364"), result("pts/fio-2.1.0", "IOPS", "91400", "89600:93200")
    )
    first, second = results_of(text)
    assert first.measured and second.measured and first.operation == "random_read"
    # The profile takes the number in front of MiB/s.
    assert first.measured.throughput == 350 * 2**20 and first.measured.iops == 89600
    assert second.measured.throughput == 364 * 2**20 and (first.target, first.workload) == ("A", f"T: {FIO}")
    assert first.parameters == {"hosts": 1, "record_size": 4096, "cache": "direct"}
    (slow,) = results_of(document(result("pts/fio-2.1.0", "MB/s", "1.5", "1.5")))
    assert slow.measured and slow.measured.throughput == 1500 * 1024


def test_systems_are_targets_and_other_tests_have_their_operations() -> None:
    size = "Record Size: 4Kb - File Size: 512MB - Disk Test: Write Performance"
    text = document(
        result("pts/iozone-1.9.6", "MB/s", "100", "100", size),
        result("pts/iozone-1.9.6", "MB/s", "200", "200", size, "B"),
        result("pts/postmark-1.1.2", "TPS", "5000", "5000:5000", "Disk Transaction Performance"),
        result("pts/sqlite-2.2.0", "Seconds", "12.5", "12.4:12.6", "Threads / Copies: 1"),
        result("pts/dbench-1.0.2", "MB/s", "640", "640", "1 Clients"),
    )
    one, two, *rest = results_of(text)
    assert (one.target, two.target) == ("A", "B") and one.operation == "write"
    assert one.parameters == {"record_size": 4096, "file_size": 512 << 20}
    assert two.measured and two.measured.throughput == 200 * 2**20
    assert [each.operation for each in rest] == ["transaction", "transaction", None, None, None]
    assert "no rate" in rest[2].left_out and "file server" in rest[4].left_out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (document().replace("<PhoronixTestSuite>", f"{BOMB}<PhoronixTestSuite><Result>", 1), "DOCTYPE"),
        (document(result("pts/fio-2.1.0", "MB/s", "&a;", "")), "not XML"),
        (document("<Result>" + "<a>" * 50 + "</a>" * 50 + "</Result>"), "nested too deeply"),
        (document(result("pts/fio-2.1.0", "MB/s", "1", "1"))[:-60], "not XML"),
        (document("<Result></Result>"), "no results"),
    ],
)  # fmt: skip
def test_what_is_not_its_xml_is_refused(text: str, message: str) -> None:
    with pytest.raises(OutputError) as error:
        phoronix.read(text, FILE)
    assert message in error.value.message and error.value.line >= 1 and error.value.hint


def test_the_export_as_json_is_read_like_the_xml() -> None:
    system = {"value": 357, "raw_values": [350, 364], "test_run_times": [5.4, 5.5]}
    test = {"identifier": "pts/fio-2.1.0", "title": "T", "description": FIO, "scale": "MB/s", "results": {"A": system}}
    text = json.dumps(
        {"title": "x", "systems": {"A": {}}, "results": {"1f": {**test, "proportion": "HIB"}}}, indent=4
    )  # fmt: skip
    xml = document(result("pts/fio-2.1.0", "MB/s", "357", "350:364"))
    assert [one.measured for one in results_of(text)] == [one.measured for one in results_of(xml)]
    assert recognising(text) == "Phoronix Test Suite" and results_of(text)[0].target == "A"
    check_damage(phoronix.read, text, "json", 40)


def test_names_are_safe_to_print() -> None:
    text = document(result("pts/fio-2.1.0", "MB/s", "1", "1", system="\u202e\nB" * 200))
    for one in results_of(text):
        assert one.target.isprintable() and len(one.target) <= 80
    assert re.fullmatch("10.8.4", phoronix.read(text, FILE)[0].file.version)

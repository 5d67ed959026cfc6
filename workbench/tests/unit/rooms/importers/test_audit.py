"""The audit: honest outputs have notes at most, and each rule finds what it is for and nothing beside it."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import groupby

import pytest
from fio_samples import SAMPLES as FIO_SAMPLES
from fio_samples import path_of as fio_path
from fio_samples import text_of
from imported_samples import sample_names, sample_text
from iozone_samples import FIGURES, FOLDER, SAMPLES, throughput_log
from network_samples import READERS as NETWORK_READERS
from network_samples import names
from network_samples import text_of as network_text
from tool_samples import paths_of

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.rules import RULES, audit
from assay.rooms.importers.work import fio, io500, ior, iozone
from assay.rooms.importers.work.databases import pgbench, ycsb
from assay.rooms.importers.work.disks import dd, diskspd
from assay.rooms.importers.work.fio_text import importer as fio_text_importer
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import ToolOutput
from assay.rooms.importers.work.tools import IMPORTERS

COLUMNS = ("children_kb_s", "min_kb_s", "max_kb_s", "avg_kb_s", "min_xfer_kb")
SIZES = (120 << 20, 1 << 10)
"""KB of a file and of a record."""
READERS = {"children": "800.00", "min": "80.00", "max": "120.00", "avg": "100.00", "min_xfer": "83886080.00"}
"""A test of eight readers: two thirds of the file at two thirds of the greatest rate, in KB and KB/sec."""
TOOLS = ("bonnie", "crystaldiskmark", "dbench", "dd", "diskspd", "hdparm", "ioping", "sysbench")
DD_STATISTICS = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 9.76172 s, 110 MB/s\n"
GOOD = {"children": "800000.00", "min": "80000.00", "max": "120000.00", "avg": "100000.00", "min_xfer": "83886080.00"}


def named(name: str) -> ImportedFile:
    return ImportedFile(tool="", version="", form="", file=name, line=1, sha256=name, size_bytes=1)


@cache
def honest() -> tuple[ToolOutput, ...]:
    paths = [fio_path(name) for name in FIO_SAMPLES] + [FOLDER / f"{name}.txt" for name in SAMPLES]
    paths += [FOLDER.parent / tool / name for tool in NETWORK_READERS for name in names(tool)]
    return tuple(output for path in paths for output in read_outputs(str(path)))


def log(
    label: str = "readers",
    command: str = "-i 0 -i 1",
    began: str = "Wed May 4 16:18:20 2016",
    name: str = "a.txt",
    sizes: tuple[int, int] = SIZES,
    **figures: str,
) -> ToolOutput:
    tests = [(label, GOOD | figures)]
    text = throughput_log(f"iozone -e -t 8 -+m hosts {command}", began, sizes, 8, tests)
    (output,) = iozone.read(text, named(name))
    return output


def rules_of(*outputs: ToolOutput, **facts: object) -> set[str]:
    """Ids of the rules with errors and warnings."""
    found = audit(outputs, MachineFacts.model_validate(facts))
    return {finding.rule for finding in found if finding.severity != "note"}


def test_honest_outputs_have_notes_at_most() -> None:
    found = audit(honest(), MachineFacts())
    assert [finding for finding in found if finding.severity != "note"] == []
    assert {finding.rule for finding in found} == {"writes-unflushed", "short-time", "few-repeats", "failed"} | {
        "asynchronous-without-direct",
        "datagrams-lost",
        "udp-as-sent",
        "sum-of-both-ways",
    }


@pytest.mark.parametrize("tool", TOOLS)
def test_honest_outputs_of_other_tools_have_notes_at_most(tool: str) -> None:
    outputs = [output for path in paths_of(tool) for output in read_outputs(str(path))]
    assert [finding for finding in audit(outputs, MachineFacts()) if finding.severity != "note"] == []


def test_phases_that_io500_marks_as_invalid_are_noted() -> None:
    text = (FOLDER.parent / "io500" / "result_summary.txt").read_text()
    (found,) = [one for one in audit(io500.read(text, named("a.txt")), MachineFacts()) if one.rule == "marked-invalid"]
    assert found.line == 2 and found.text.startswith("IO500 marks 4 of 12 results as invalid")
    valid = io500.read(text.replace(" [INVALID]", ""), named("a.txt"))
    assert "marked-invalid" not in {one.rule for one in audit(valid, MachineFacts())}


def dd_notes(command: str, **facts: object) -> set[str]:
    text = f"$ dd {command}\n1024+0 records in\n1024+0 records out\n{DD_STATISTICS}"
    found = audit(dd.read(text, named("dd.txt")), MachineFacts.model_validate(facts))
    return {finding.rule for finding in found} - {"few-repeats", "short-time"}


def test_zeros_and_missing_flushes_of_dd_are_noted() -> None:
    assert dd_notes("if=/dev/zero of=/mnt/x bs=1M count=1024") == {"zeros-written", "writes-unflushed"}
    assert dd_notes("if=/dev/zero of=/mnt/x bs=1M count=1024 conv=fdatasync") == {"zeros-written"}
    assert dd_notes("if=/dev/urandom of=/mnt/x bs=1M count=1024 oflag=direct") == set()
    assert dd_notes("if=/mnt/x of=/dev/null bs=1M") == set()
    assert dd_notes("if=/mnt/x of=/dev/null bs=1M", memory="8GiB") == {"data-within-memory"}
    assert dd_notes("if=/mnt/x of=/dev/null bs=1M iflag=direct", memory="8GiB") == set()


def test_rates_of_dd_and_diskspd_that_bytes_and_time_do_not_give_are_found() -> None:
    wrong = f"$ dd if=/mnt/x of=/dev/null bs=1M\n{DD_STATISTICS.replace('110 MB/s', '210 MB/s')}"
    assert rules_of(*dd.read(wrong, named("dd.txt"))) == {"rate-from-bytes"}
    text = (FOLDER.parent / "diskspd" / "2.0.21-mix.txt").read_text()
    two = (FOLDER.parent / "diskspd" / "linux-two.txt").read_text().replace("10660.00", "11660.00")
    assert rules_of(*diskspd.read(two, named("d.txt"))) == {"rate-from-bytes", "sum-of-threads", "operations-by-size"}
    slow = text.replace(
        "3-nines |      1.608 |      8.378 |      7.432", "3-nines |      1.608 |      8.378 |      2.432"
    )
    assert rules_of(*diskspd.read(slow, named("d.txt"))) == {"latency-order"}


def eight_clients() -> list[ToolOutput]:
    rows = list(csv.DictReader((FOLDER / "eight-clients.csv").read_text().splitlines()))
    outputs = []
    for (server, part), group in groupby(rows, lambda row: (row["server_type"], row["log"])):
        members = list(group)
        tests = [
            (row["label_as_printed"], dict(zip(FIGURES, (row[name] for name in COLUMNS), strict=True)))
            for row in members
        ]
        sizes = int(members[0]["file_size_kb"]), int(members[0]["record_kb"])
        text = throughput_log(members[0]["command_line"], members[0]["run_began"], sizes, 8, tests)
        outputs += iozone.read(text, named(f"{server}-{part}"))
    return outputs


@pytest.mark.parametrize("step", [1, -1])
def test_what_is_wrong_with_logs_of_eight_clients_is_found_and_nothing_else(step: int) -> None:
    """Worked out by hand from the figures of the white paper: two logs are 1.07 and 0.98 times another one."""
    found = audit(eight_clients()[::step], MachineFacts())
    by_log = {
        name: Counter(finding.rule for finding in found if finding.file == name and finding.severity != "note")
        for name in {finding.file for finding in found}
    }
    made_up = {"whole-records": 2, "stop-of-the-fastest": 2}
    assert {name: found for name, found in by_log.items() if found} == {
        "d2.2xlarge-read_log": {**made_up, "sum-of-processes": 2, "digits-alike": 1, "same-second": 1},
        "m4.xlarge-write_log": {"test-that-was-chosen": 2, "label-of-iozone": 2},
        "m4.xlarge-read_log": {**made_up, "constant-multiple": 2, "began-too-early": 2},
        "m4.2xlarge-read_log": {**made_up, "constant-multiple": 2, "began-too-early": 1, "label-of-iozone": 1},
    }
    factors = {finding.numbers["factor"][:5] for finding in found if finding.rule == "constant-multiple"}
    assert factors == {"1.070", "0.980"}


def test_logs_of_eight_clients_in_which_nothing_is_wrong_have_no_findings_by_themselves() -> None:
    wrong = {"d2.2xlarge-read_log", "m4.xlarge-write_log", "m4.xlarge-read_log", "m4.2xlarge-read_log"}
    assert {one.file.file for one in eight_clients() if audit([one], MachineFacts())} == wrong


DATABASES = ("ycsb", "pgbench", "hammerdb", "perfkit", "mlperf-storage", "phoronix")


def ycsb_with(old: str, new: str) -> ToolOutput:
    text = sample_text("ycsb", "0.17.0-mongodb.txt")
    assert old in text
    return ycsb.read(text.replace(old, new), named("x.txt"))[0]


def pgbench_with(old: str, new: str, name: str = "15-tpcb.txt") -> ToolOutput:
    text = sample_text("pgbench", name)
    assert old in text
    return pgbench.read(text.replace(old, new), named("x.txt"))[0]


@pytest.mark.parametrize("tool", DATABASES)
def test_honest_outputs_of_databases_have_notes_at_most(tool: str) -> None:
    for name in sample_names(tool):
        found = audit(read_outputs(str(FOLDER.parent / tool / name)), MachineFacts())
        assert [finding for finding in found if finding.severity != "note"] == [], name


def test_transactions_that_wait_for_their_time_are_not_in_flight() -> None:
    late = "latency average = 1.035", "latency average = 900.000"
    assert rules_of(pgbench_with(*late, "15-rate-limit.txt")) == set()


def changed(path: str, old: str, new: str) -> set[str]:
    """Ids of the rules that find a sample with one text changed; the sample as it is has notes at most."""
    text = (FOLDER.parent / path).read_text()
    (importer,) = [one for one in IMPORTERS[:-1] if one.recognise(text)]
    assert old in text
    assert rules_of(*importer.read(text, named(path))) == set()
    return rules_of(*importer.read(text.replace(old, new, 1), named(path)))


def row_twice() -> set[str]:
    rows = (FOLDER / "3.508-auto.txt").read_text().splitlines()
    at = next(line for line, text in enumerate(rows) if text.split()[:2] == ["128", "64"])
    return changed("iozone/3.508-auto.txt", rows[at + 1][24:], rows[at][24:])


def test_connecting_is_in_the_rate_that_goes_with_the_mean_of_old_pgbench() -> None:
    text = """transaction type: <builtin: TPC-B (sort of)>
scaling factor: 10
query mode: simple
number of clients: 10
number of threads: 1
duration: 60 s
number of transactions actually processed: 10942
latency average = 54.793 ms
tps = 182.504235 (including connections establishing)
tps = 198.113048 (excluding connections establishing)
"""
    for mean, rules in (("54.793", set()), ("64.793", {"transactions-in-flight"})):
        assert rules_of(*pgbench.read(text.replace("54.793", mean), named("old.txt"))) == rules


FIO_31 = """myjob: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4
fio-3.1
Starting 1 process
myjob: (groupid=0, jobs=1): err= 0: pid=21461: Fri Oct  6 05:21:27 2017
  write: IOPS=3068, BW=11.0MiB/s (12.6MB/s)(4096MiB/341704msec)
     lat (usec): min=371, max=45453, avg=1301.99, stdev=1983.73
  cpu          : usr=0.74%, sys=2.67%, ctx=1010654, majf=0, minf=12
  IO depths    : 1=0.1%, 2=0.1%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued rwt: total=0,1048576,0, short=0,0,0, dropped=0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=4

Run status group 0 (all jobs):
  WRITE: bw=11.0MiB/s (12.6MB/s), 11.0MiB/s-11.0MiB/s (12.6MB/s-12.6MB/s), io=4096MiB (4295MB), run=341704-341704msec
"""


def test_fio_prints_a_rate_whose_carry_is_lost_and_not_whether_io_is_direct() -> None:
    assert audit(fio_text_importer.read(FIO_31, named("a.txt")), MachineFacts()) == []


def test_fio_prints_bytes_whose_carry_is_lost() -> None:
    """5631 operations of 4 KiB are 21.996 MiB, which fio 3.1 prints as 21.0MiB."""
    text = FIO_31.replace("IOPS=3068", "IOPS=130").replace("total=0,1048576", "total=0,5631").replace("341704", "43280")
    text = text.replace("11.0MiB/s", "520KiB/s").replace("12.6MB/s", "533kB/s")
    text = text.replace("(4096MiB/", "(21.0MiB/").replace("io=4096MiB (4295MB)", "io=21.0MiB (23.1MB)")
    assert audit(fio_text_importer.read(text, named("a.txt")), MachineFacts()) == []


def test_repeats_are_missed_only_where_results_of_one_operation_are_compared() -> None:
    alone = audit([log()], MachineFacts())
    two = audit([log(), log(sizes=(SIZES[0], 2 * SIZES[1]), name="b.txt", **READERS)], MachineFacts())
    assert "few-repeats" not in {one.rule for one in alone}
    assert "few-repeats" in {one.rule for one in two}


FALSE: dict[str, Callable[[], set[str]]] = {
    "transactions-in-flight": lambda: rules_of(pgbench_with("latency average = 10.663", "latency average = 20.663")),
    "operations-of-a-run": lambda: rules_of(ycsb_with("[READ], Operations, 2498425", "[READ], Operations, 1498425")),
    "time-of-transactions": lambda: rules_of(pgbench_with("duration: 4 s", "duration: 9 s")),
    "named-percentiles": lambda: changed(
        "sockperf/3.7-ping-pong.txt", "percentile 75.000 =    4.428", "percentile 75.000 =    4.824"
    ),
    "operations-by-size": lambda: changed("crystaldiskmark/3.0.2-disk.txt", "0.487 MB/s", "0.847 MB/s"),
    "sum-of-threads": lambda: changed("diskspd/linux-mix.txt", "|        55337 |", "|        53537 |"),
    "total-of-operations": lambda: changed("warp/1.6.1-mixed.txt", "0.63 MiB/s, 40.50", "6.30 MiB/s, 40.50"),
    "mean-within-extremes": lambda: changed("mdtest/1.9.4-files.txt", "2375.803          0", "2735.803          0"),
    "score-of-phases": lambda: changed("io500/result_summary.txt", "       1.494209", "      14.942090"),
    "operations-alike": lambda: changed(
        "hdparm/9.65-both.txt", "462 MB in  3.01 seconds = 153.36", "992 MB in  2.01 seconds = 494.29"
    ),
    "rows-alike": row_twice,
    "whole-records": lambda: rules_of(log(min_xfer="83886081.00")),
    "sum-of-processes": lambda: rules_of(log(avg="100001.00")),
    "stop-of-the-fastest": lambda: rules_of(log(min_xfer="73400320.00")),
    "label-of-iozone": lambda: rules_of(log("initial readers")),
    "test-that-was-chosen": lambda: rules_of(log(command="-i 0")),
    "record-above-file": lambda: rules_of(log(sizes=(512, 1024), min_xfer="1024.00")),
    "same-figures": lambda: rules_of(log(), log(name="b.txt", began="Wed May 4 23:18:20 2016")),
    "same-file": lambda: rules_of(log(), log().model_copy(update={"results": log().results})),
    "same-second": lambda: rules_of(log(), log(name="b.txt", **{**READERS, "min_xfer": "83887104.00"})),
    "above-network": lambda: rules_of(log(), clients=2, link="1Gb/s"),
    "above-devices": lambda: rules_of(log(), device_read="800MB/s"),
    "data-within-memory": lambda: rules_of(log(), clients=8, memory="64GiB"),
    "rate-from-bytes": lambda: rules_of(fio_with({"runtime": 2000})),
    "rate-of-operations": lambda: rules_of(
        fio_with({"bw_bytes": 5_452_595_200, "bw": 5_324_800}, "3.33-jobs-grouped", "write")
    ),
    "share-of-reads": lambda: rules_of(fio_text("3.33-randrw-plus", '"rwmixread" : "70"', '"rwmixread" : "30"')),
    "mean-of-bins": lambda: rules_of(fio_with({"clat_ns/mean": 20_000.0}, "3.33-randread-plus")),
    "percentiles-of-bins": lambda: rules_of(fio_with({"clat_ns/percentile/99.900000": 100_000}, "3.33-randread-plus")),
    "one-rate-in-two-units": lambda: rules_of(fio_with({"bw": 999_999})),
    "jobs-of-a-group": lambda: rules_of(fio_text("3.33-jobs", '"numjobs" : "2"', '"numjobs" : "3"')),
    "missing-iteration": lambda: (
        rules_of(ior_text("4.0.0-repeats", lambda lines: drop_row(lines, "read", "1"))) - {"summary-of-rows"}
    ),
    "summary-of-rows": lambda: rules_of(ior_text("4.0.0-repeats", raise_mean)),
    "one-size-of-all": lambda: rules_of(ior_text("2.10.3-once", raise_write)),
    "directions-alike": lambda: rules_of(alike()),
    "excel-report": lambda: rules_of(iozone_text("3.489-microseconds", '"64"   3  33', '"64"   3  34')),
    "rounded-figures": lambda: rules_of(rounded()),
    "weekday": lambda: rules_of(log(began="Wed May 4 16:18:20 2026")),
    "percentiles-in-order": lambda: rules_of(fio_with({"clat_ns/percentile/30.000000": 10**9})),
    "bytes-of-operations": lambda: rules_of(fio_text("3.42-unified", '"bs" : "8k"', '"bs" : "4k"')),
    "amount-of-data": lambda: rules_of(fio_text("2.21-jobs-grouped", '"numjobs" : "3"', '"numjobs" : "4"')),
    "options-of-command": lambda: rules_of(log(command="-i 0 -i 1 -r 2M")),
    "unit-of-rates": lambda: rules_of(iozone_text("3.471-ops", "OPS Mode. Output is in operations per second.", "")),
    "rows-in-order": lambda: rules_of(iozone_text("3.414-auto", "128      64", "128       8")),
    "latency-order": lambda: rules_of(fio_with({"clat_ns/mean": 1.0})),
    "operations-in-flight": lambda: rules_of(
        fio_with(
            {f"{what}/{name}": value for what in ("clat_ns", "lat_ns") for name, value in (("mean", 9e8), ("max", 1e9))}
        )
    ),
    "rate-of-transfer": lambda: rules_of(network("iperf", "2.0.9-mbytes.txt", "728 MBytes/sec", "782 MBytes/sec")),
    "sum-of-streams": lambda: rules_of(network("iperf3", "3.12-parallel.txt", *TWICE)),
    "loss-from-packets": lambda: rules_of(network("ping", "iputils-20250605-lost.txt", "25% packet", "2.5% packet")),
    "received-above-sent": lambda: rules_of(network("iperf", "2.0.9-udp.txt", *MORE_RECEIVED)),
}
"""Rule -> what is found in an output that was made false for it."""
TWICE = (r"\[SUM\]( .*)1\.28 GBytes +5\.4(.)( .*)", r"[SUM]\g<1>2.56 GBytes  10.8\g<3>")
"""Sums of twice what the streams moved, at twice the rate."""
MORE_RECEIVED = (r"[0-9.]+ MBytes +[0-9.]+ Mbits/sec(.*%\))", r"15.0 MBytes  62.9 Mbits/sec\g<1>")


def fio_with(values: dict[str, float], name: str = "3.33-read", part: str = "read") -> ToolOutput:
    """A sample of fio with other values in the part of its reads, or of its writes."""
    document = json.loads(text_of(name))
    for path, value in values.items():
        *names, last = path.split("/")
        place = document["jobs"][0][part]
        for name in names:
            place = place[name]
        place[last] = value
    (output,) = fio.read(json.dumps(document, indent=1), named("x.json"))
    return output


def network(tool: str, name: str, old: str, new: str) -> ToolOutput:
    """A sample of a network tool in which a pattern is replaced."""
    text, count = re.subn(old, new, network_text(tool, name))
    assert count
    return NETWORK_READERS[tool].read(text, named("x.txt").model_copy(update={"tool": tool}))[0]


def fio_text(name: str, old: str, new: str) -> ToolOutput:
    text = text_of(name)
    assert old in text
    return fio.read(text.replace(old, new), named("x.json"))[0]


def iozone_text(name: str, old: str, new: str) -> ToolOutput:
    text = (FOLDER / f"{name}.txt").read_text()
    assert old in text
    return iozone.read(text.replace(old, new, 1), named("x.txt"))[0]


def ior_text(name: str, change: Callable[[list[str]], list[str]]) -> ToolOutput:
    lines = (FOLDER.parent / "ior" / f"{name}.txt").read_text().splitlines()
    text = "\n".join(change(lines)) + "\n"
    assert text.splitlines() != lines
    return ior.read(text, named("x.txt"))[0]


def drop_row(lines: list[str], operation: str, iteration: str) -> list[str]:
    return [line for line in lines if line.split()[:1] != [operation] or line.split()[-1] != iteration]


def raise_mean(lines: list[str]) -> list[str]:
    """A summary of writing whose mean is 1 MiB/s higher."""
    (row,) = (line for line in lines if line.startswith("write ") and len(line.split()) > 15)
    cells = row.split()
    return [line.replace(cells[3], f"{float(cells[3]) + 1:.2f}", 1) if line == row else line for line in lines]


def raise_write(lines: list[str]) -> list[str]:
    """A log of IOR 2.10 whose rate of writing is 200 MiB/s higher wherever it stands."""
    (row,) = (line for line in lines if line.startswith("write "))
    old = row.split()[1]
    return [line.replace(old, f"{float(old) + 200:.2f}") for line in lines]


def alike() -> ToolOutput:
    """A mix whose writes have the mean and the deviation of its reads."""
    document = json.loads(text_of("3.33-rw"))
    part = document["jobs"][0]
    part["write"]["clat_ns"] |= {name: part["read"]["clat_ns"][name] for name in ("mean", "stddev")}
    return fio.read(json.dumps(document, indent=1), named("x.json"))[0]


def rounded() -> ToolOutput:
    """A table whose rates are rounded to thousands, as wide as they were."""
    text = (FOLDER / "3.444-auto.txt").read_text()
    return iozone.read(re.sub(r"(?<= )([0-9]{4,})[0-9]{3}\b", r"\g<1>000", text), named("x.txt"))[0]


def text_log(old: str, new: str) -> set[str]:
    text = throughput_log("iozone -e -t 8 -r 1M -i 1", "Wed May 4 16:18:20 2016", SIZES, 8, [("readers", GOOD)])
    assert old in text
    return rules_of(*iozone.read(text.replace(old, new), named("a.txt")))


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ("-t 8", "-t 8 -i 0", set()),
        ("-e -t 8", "-et 8", set()),
        ("-t 8", "-t 4", {"options-of-command"}),
        ("-r 1M", "-r 1024", set()),
        ("-r 1M", "-r 512", {"options-of-command"}),
        ("-e -t 8", "-t 8", {"options-of-command"}),
        ("readers ", "rereaders ", {"label-of-iozone"}),
    ],
)
def test_what_iozone_says_of_its_options_is_held_against_its_command_line(old: str, new: str, rules: set[str]) -> None:
    assert text_log(old, new) == rules


@pytest.mark.parametrize(("seen", "rules"), [("799000.00", set()), ("850000.00", {"sum-of-processes"})])
def test_the_parent_sees_no_more_than_its_processes(seen: str, rules: set[str]) -> None:
    first = "\tMin throughput"
    line = f"\tParent sees throughput for  8 readers \t\t= {seen} KB/sec\n"
    assert text_log(first, line + first) == rules


@pytest.mark.parametrize("rule", FALSE)
def test_what_is_false_is_found_by_its_rule_alone(rule: str) -> None:
    assert FALSE[rule]() == {rule}


def test_what_is_true_is_not_found() -> None:
    assert rules_of(log(), clients=8, link="10Gb/s", memory="8GiB", device_read="1GB/s") == set()
    rates = {"children": "812345.60", "min": "85296.29", "max": "121851.84", "avg": "101543.20"}
    later = log(name="b.txt", began="Wed May 4 23:18:20 2016", min_xfer="88080384.00", **rates)
    assert rules_of(log(), later) == set()


@pytest.mark.parametrize(
    ("tool", "name", "old", "new", "rule"),
    [
        ("iperf3", "3.12-udp.json", r'("lost_percent":\s*)0\.633131970260223', r"\g<1>6.33", "loss-from-packets"),
        ("iperf3", "3.12-parallel.json", r'"bytes":\s*1145831424', '"bytes": 2145831424', "sum-of-streams"),
        ("iperf", "2.0.9-udp.txt", r"/ *[0-9]+ \([0-9.]+%\)", "/ 8506 (50%)", "loss-from-packets"),
        ("ping", "busybox-1.35.0.txt", "0.093/2.900", "0.093/22.900", "latency-order"),
        ("sockperf", "3.7-ping-pong.txt", "percentile 99.000 = .*", "percentile 99.000 =    1.000", "latency-order"),
        ("iperf", "2.0.9-parallel.csv", r"(-1,0.0-2.0,\d+),15593277919", r"\g<1>,35593277919", "rate-of-transfer"),
    ],
)
def test_what_is_false_of_networks(tool: str, name: str, old: str, new: str, rule: str) -> None:
    assert rules_of(network(tool, name, ".+?$", r"\g<0>")) == set()
    assert rule in rules_of(network(tool, name, old, new))


def test_both_ways_of_a_link_are_no_rate_of_it() -> None:
    whole = network("iperf", "2.1.8-dual-server.txt", "$", "")
    found = audit([whole], MachineFacts.model_validate({"link": "10Gb/s"}))
    assert "above-network" not in {finding.rule for finding in found}
    assert any(finding.rule == "sum-of-both-ways" and "11.6" in finding.text for finding in found)
    above = audit([network("iperf", "2.0.9-parallel.txt", "$", "")], MachineFacts.model_validate({"link": "5Gb/s"}))
    assert any(finding.rule == "above-network" and "both ways added" in finding.text for finding in above)
    local = network("iperf", "2.0.9-parallel.txt", r"10\.77\.0\.2", "127.0.0.1")
    assert "above-network" not in {one.rule for one in audit([local], MachineFacts.model_validate({"link": "5Gb/s"}))}


def test_rules_that_need_pairs_find_multiples_and_runs_that_overlap() -> None:
    half = {name: f"{float(text) / 2:.2f}" for name, text in GOOD.items()}
    early = log(name="b.txt", began="Wed May 4 16:28:20 2016", **half)
    assert rules_of(log(), early) == {"constant-multiple", "began-too-early", "stop-of-the-fastest"}


def test_the_upper_end_of_a_bin_of_elbencho_may_be_above_the_greatest_latency() -> None:
    path = "elbencho/3.1-9-file.txt"
    assert changed(path, "max=133ms", "max=132ms") == set()
    assert changed(path, "max=133ms", "max=113ms") == {"latency-order"}


def test_the_rates_of_the_sums_of_iperf3s_json_are_recomputed() -> None:
    assert changed("iperf3/3.12-parallel.json", "4579443452.16882", "4759443452.16882") == {"rate-of-transfer"}


def test_a_part_that_is_not_listed_is_no_contradiction() -> None:
    paths = [FOLDER.parent / name for name in ("diskspd/2.2.0-write.txt", "warp/made-1.3-mixed.txt")]
    assert rules_of(*(output for path in paths for output in read_outputs(str(path)))) == set()


def test_every_rule_has_a_false_case() -> None:
    in_pairs = {"constant-multiple", "began-too-early", "digits-alike"}
    assert {rule.id for rule in RULES if rule.severity != "note"} == {*FALSE, *in_pairs}
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_what_fio_does_not_print_is_no_note() -> None:
    """fio's text has no `direct`: only its JSON shows that it was not set."""
    found = {}
    for form in (fio.FORM, "text"):
        outputs = [
            output.model_copy(update={"file": output.file.model_copy(update={"form": form})})
            for output in honest()
            if output.file.tool == fio.NAME
        ]
        rules = {finding.rule for finding in audit(outputs, MachineFacts())}
        found[form] = "asynchronous-without-direct" in rules
    assert found == {fio.FORM: True, "text": False}

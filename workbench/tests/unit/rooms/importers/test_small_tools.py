"""dbench, hdparm, ioping and sysbench: every figure comes back, units, latencies, what is left out."""

import json
import re
from pathlib import Path

import pytest
from tool_samples import FILE, check_damage, in_a_terminal, only_reader, paths_of, results, sample, texts

from assay.rooms.importers.work.disks import dbench, hdparm, ioping, sysbench
from assay.rooms.importers.work.results import ImportOptions, OutputError

READERS = {"dbench": dbench.read, "hdparm": hdparm.read, "ioping": ioping.read, "sysbench": sysbench.read}
SAMPLES = [(tool, path) for tool in READERS for path in paths_of(tool)]
NUMBER = r"[0-9]+(?:\.[0-9]+)?"
OLD_FILEIO = """sysbench 0.4.12:  multi-threaded system evaluation benchmark

Running the test with following options:
Number of threads: 2

Extra file open flags: 16384
128 files, 16Mb each
2Gb total file size
Block size 16Kb
Number of random requests for random IO: 10000
Read/Write ratio for combined random IO test: 1.50
Using synchronous I/O mode
Doing random r/w test
Threads started!
Done.

Operations performed:  6000 Read, 4000 Write, 12800 Other = 22800 Total
Read 93.75Mb  Written 62.5Mb  Total transferred 156.25Mb  (5.5814Mb/sec)
  357.21 Requests/sec executed

Test execution summary:
    total time:                          27.9948s
    total number of events:              10000
    total time taken by event execution: 15.7613
    per-request statistics:
         min:                                  0.01ms
         avg:                                  1.58ms
         max:                                 70.53ms
         approx.  95 percentile:               7.01ms

Threads fairness:
    events (avg/stddev):           5000.0000/12.00
    execution time (avg/stddev):   7.8807/0.00
"""
"""The layout of 0.4 (sb_fileio.c, sysbench.c)."""
OLD_PING = """--- . (ext4 /dev/sda1 ) ioping statistics ---
10 requests completed in 9003.5 ms, 590 iops, 2.3 mb/s
min/avg/max/mdev = 0.2/1.7/6.1/2.5 ms
"""
"""The layout of 0.6 (ioping.c)."""


@pytest.mark.parametrize(("tool", "path"), SAMPLES, ids=lambda value: getattr(value, "name", value))
def test_only_its_reader_recognises_a_sample(tool: str, path: Path) -> None:
    assert only_reader(path).startswith(tool)


@pytest.mark.parametrize(("tool", "path"), SAMPLES, ids=lambda value: getattr(value, "name", value))
def test_damaged_outputs_are_read_or_refused(tool: str, path: Path) -> None:
    check_damage(READERS[tool], path, 8)


@pytest.mark.parametrize(("tool", "path"), SAMPLES, ids=lambda value: getattr(value, "name", value))
def test_lines_of_a_terminal_do_not_matter(tool: str, path: Path) -> None:
    text = path.read_text()
    if "-batch-" not in path.name:
        assert texts(results(READERS[tool], in_a_terminal(text))) == texts(results(READERS[tool], text))


@pytest.mark.parametrize("path", paths_of("hdparm"), ids=lambda path: path.name)
def test_every_timing_of_hdparm_comes_back(path: Path) -> None:
    text = path.read_text()
    printed = re.findall(rf"({NUMBER}) MB in +({NUMBER}) seconds = +({NUMBER}) MB/sec", text)
    found = results(hdparm.read, text)
    assert texts(found) == sorted(word for row in printed for word in row)
    for (size, seconds, rate), one in zip(printed, found, strict=True):
        assert one.measured and one.measured.throughput == float(rate) * 2**20
        assert (
            one.measured.bytes == int(size) << 20 and abs((one.measured.elapsed_ns or 0) / 1e9 - float(seconds)) < 0.006
        )


def test_hdparm_says_what_was_read() -> None:
    cached, disk = results(hdparm.read, sample("hdparm", "9.65-both-direct.txt"))
    assert (cached.operation, disk.operation, disk.target) == ("reread", "read", "/dev/loop0")
    assert cached.parameters["cache"] == disk.parameters["cache"] == "direct"
    assert "cache" not in results(hdparm.read, sample("hdparm", "9.65-t.txt"))[0].parameters
    assert len({str(one.parameters) for one in results(hdparm.read, sample("hdparm", "9.65-loop.txt"))}) == 1
    with pytest.raises(OutputError) as error:
        hdparm.read("\n Timing buffered disk reads: x MB in  1.00 seconds = 1 MB/sec\n", FILE)
    assert error.value.line == 2


def test_old_hdparm_prints_other_words() -> None:
    text = """/dev/hdc:
 Timing buffer-cache reads:   128 MB in  0.56 seconds =228.57 MB/sec
 Timing buffered disk reads:  64 MB in  4.33 seconds = 14.78 MB/sec
Hmm.. suspicious results: probably not enough free memory for a proper test.
"""
    cached, disk = results(hdparm.read, text)
    assert (cached.operation, disk.operation, cached.workload) == ("reread", "read", "cached reads")
    assert [figure.text for figure in cached.figures] == ["128", "0.56", "228.57"]
    assert "record_size" not in disk.parameters and disk.measured and disk.measured.iops is None


@pytest.mark.parametrize("path", paths_of("dbench"), ids=lambda path: path.name)
def test_every_figure_of_dbench_comes_back(path: Path) -> None:
    text = path.read_text()
    rows = re.findall(rf"^ [A-Z]\w+ +([0-9]+) +({NUMBER}) +({NUMBER})$", text, re.M)
    rate, latency = re.findall(rf"Throughput ({NUMBER}) MB/sec.* max_latency=({NUMBER}) ms", text)[0]
    (one,) = results(dbench.read, text)
    assert texts([one]) == sorted([rate, latency, *(word for row in rows for word in row)]) and len(rows) > 10
    assert one.operation == "file_mix" and one.measured and one.measured.throughput == pytest.approx(float(rate) * 1e6)
    assert one.measured.latency["max"] == pytest.approx(float(latency) * 1e6)


def test_dbench_says_how_it_ran() -> None:
    (sync,) = results(dbench.read, sample("dbench", "4.00-sync.txt"))
    assert sync.parameters["sync"] == "o_sync" and sync.parameters["lanes"] == 1
    (old,) = results(dbench.read, "Throughput 243.431 MB/sec 10 procs\n")
    assert old.measured and old.measured.throughput == pytest.approx(243.431e6) and old.parameters["lanes"] == 10


@pytest.mark.parametrize(
    "path",
    [one for one in paths_of("ioping") if "json" not in one.name and "batch" not in one.name],
    ids=lambda path: path.name,
)
def test_every_statistic_of_ioping_comes_back(path: Path) -> None:
    text = path.read_text()
    lines = [line for line in text.splitlines() if re.match(r"generated|min/avg|[0-9.]+ ?k? requests", line)]
    assert texts(results(ioping.read, text)) == sorted(one for line in lines for one in re.findall(NUMBER, line))


def test_ioping_raw_and_json() -> None:
    (raw,) = results(ioping.read, sample("ioping", "1.3-batch.txt"))
    assert [one.text for one in raw.figures] == sample("ioping", "1.3-batch.txt").splitlines()[1].split()
    assert raw.measured and raw.measured.ops == 4 and raw.measured.bytes == 4 * 4096
    (one,) = results(ioping.read, sample("ioping", "1.3-json.txt"))
    last = json.loads(sample("ioping", "1.3-json.txt"), parse_int=str, parse_float=str)[-1]
    assert texts([one]) == sorted([*last["stat"].values(), *last["load"].values()])
    assert one.operation == "random_read" and one.target == "/mnt/data"
    (period,) = results(ioping.read, sample("ioping", "1.3-json-period.txt"))
    assert period.operation == "random_read" and period.measured and period.measured.ops == 11801
    with pytest.raises(OutputError, match="no count"):
        ioping.read(sample("ioping", "1.3-json-period.txt").replace('"count"', '"counts"'), FILE)
    unknown = results(ioping.read, sample("ioping", "1.3-batch-period.txt"))
    assert len(unknown) == 3 and all("command line" in one.left_out for one in unknown)


@pytest.mark.parametrize(
    ("command", "options", "operation", "size"),
    [
        ("-c 10 .", {"-c": "10"}, "random_read", 4096),
        ("-DRc10 -s 16k -S1G .", {"-D": "yes", "-R": "yes", "-c": "10", "-s": "16k", "-S": "1G"}, "random_read", 16384),
        ("-count 5 -write -linear .", {"-c": "5", "-W": "yes", "-L": "yes"}, "write", 256 << 10),
        ("--size=8k -i 0.2 -I%T .", {"-s": "8k", "-i": "0.2", "-I": "%T"}, "random_read", 8192),
        ("-w", {"-w": ""}, "random_read", 4096),
    ],
)
def test_options_of_ioping_keep_their_values(command: str, options: dict[str, str], operation: str, size: int) -> None:
    (found,) = results(ioping.read, f"$ ioping {command}\n{OLD_PING}")
    assert found.options == options
    assert (found.operation, found.parameters["record_size"]) == (operation, size)


def test_ioping_order_direction_and_units() -> None:
    read, write, rapid, linear = results(ioping.read, sample("ioping", "1.0-all.txt"))
    assert [one.operation for one in (read, write, rapid, linear)] == [
        "random_read",
        "random_write",
        "random_read",
        "read",
    ]
    assert [one.workload for one in (read, rapid)] == ["random_read, with pauses", "random_read"]
    assert linear.parameters["record_size"] == 256 << 10 and write.parameters["sync"] == "none"
    assert read.measured and read.measured.latency == {"min": 209_400.0, "mean": 2_710_000.0, "max": 3_960_000.0}
    assert rapid.figures[0].unit == "k" and rapid.measured and rapid.measured.iops == 11_800
    (mix,) = results(ioping.read, sample("ioping", "1.3-readwrite.txt"))
    assert mix.operation == "random_mix" and mix.parameters["read_percent"] == 50
    (old,) = results(ioping.read, f"$ ioping -c 10 .\n{OLD_PING}")
    assert old.operation == "random_read" and old.figures[3].unit == "MiB/s"
    assert old.measured and old.measured.latency["mean"] == 1_700_000
    assert "command line" in results(ioping.read, OLD_PING)[0].left_out
    linear_text = sample("ioping", "1.0-all.txt").rpartition("$ ioping")[2].partition("\n")[2]
    assert "--order" in results(ioping.read, linear_text)[0].left_out
    assert results(ioping.read, linear_text, ImportOptions("sequential"))[0].operation == "read"


@pytest.mark.parametrize("path", paths_of("sysbench"), ids=lambda path: path.name)
def test_every_result_of_sysbench_comes_back(path: Path) -> None:
    text = path.read_text()
    parts = ("File operations:", "SQL statistics:", "CPU speed:", "Total operations:", "General statistics:")
    body = text[min(text.index(part) for part in parts if part in text) :]
    body = re.sub(r"[0-9]+(?:th|st) percentile|/s \(eps\)|MiB/s", "", body)
    found = results(sysbench.read, text)
    printed = re.findall(NUMBER, re.sub(r"([0-9.]+)(?:s|ms)\b", r"\1", body))
    assert texts(found) == sorted(printed)


def test_sysbench_files() -> None:
    modes = {
        "seqwr": "write",
        "seqrewr": "rewrite",
        "seqrd": "read",
        "rndrd": "random_read",
        "rndwr": "random_write",
        "rndrw": "random_mix",
    }
    for mode, operation in modes.items():
        (one,) = results(sysbench.read, sample("sysbench", f"1.0.20-fileio-{mode}.txt"))
        assert one.operation == operation and one.parameters["record_size"] == 16 << 10
        # Flushes after each 100 requests have no counterpart.
        assert "sync" not in one.parameters
    (direct,) = results(sysbench.read, sample("sysbench", "1.0.20-fileio-direct.txt"))
    assert (direct.parameters["cache"], direct.parameters["sync"], direct.parameters["lanes"]) == ("direct", "fsync", 4)
    measured = direct.measured
    assert measured and measured.iops == 16527.53 and measured.latency["p99"] == 4_030_000
    assert abs(measured.throughput / 2**20 - 64.56) < 0.01 and measured.elapsed_ns == 2_016_400_000
    (old,) = results(sysbench.read, OLD_FILEIO)
    assert old.operation == "random_mix" and old.measured and old.measured.iops == 357.21
    assert old.measured.throughput == pytest.approx(5.5814 * 2**20) and old.parameters["read_percent"] == 60
    assert (old.parameters["record_size"], old.parameters["file_size"]) == (16 << 10, 16 << 20)


def test_sysbench_transactions_and_the_rest() -> None:
    (one,) = results(sysbench.read, sample("sysbench", "1.1.0-oltp.txt"))
    assert one.operation == "transaction" and one.measured and one.measured.iops == 143.01
    assert (one.measured.ops, one.parameters["rate"], one.parameters["lanes"]) == (257521, 143.0, 16)
    for name, reason in (("cpu", "processors"), ("memory", "memory"), ("threads", "threads")):
        (other,) = results(sysbench.read, sample("sysbench", f"1.0.20-{name}.txt"))
        assert reason in other.left_out and other.figures
    with pytest.raises(OutputError, match="no results"):
        sysbench.read("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCreating files\n", FILE)

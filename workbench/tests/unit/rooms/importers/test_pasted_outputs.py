"""Outputs that people paste into pages and mails, which take away blanks and add marks of their own."""

import quopri
import re
from pathlib import Path

import pytest
from paths import GOLDEN

from assay.model.base import AssayError
from assay.rooms.importers.work.registry import read_outputs
from assay.rooms.importers.work.results import ImportedResult

SAMPLES = GOLDEN / "imports"
FIO = (SAMPLES / "fio" / "3.33-jobs.txt").read_text()
IOZONE = (SAMPLES / "iozone" / "3.414-auto.txt").read_text()
HDPARM = """/dev/sda:
 Timing cached reads:   26224 MB in  1.98 seconds = 13227.32 MB/sec
"""
DISKSPD = (SAMPLES / "diskspd" / "2.0.21-mix.txt").read_text()


def results_of(path: Path, text: str) -> list[ImportedResult]:
    path.write_text(text)
    return [result for output in read_outputs(str(path)) for result in output.results]


def rates_of(path: Path, text: str) -> list[tuple[str, float]]:
    return [(one.name, one.measured.throughput) for one in results_of(path, text) if one.measured]


def test_breaks_of_a_page_do_not_matter(tmp_path: Path) -> None:
    page = "<pre><code>{}</code></pre>"
    lines = IOZONE.replace("\n", "<br>\n")
    assert rates_of(tmp_path / "a", page.format(lines)) == rates_of(tmp_path / "b", IOZONE)
    joined = IOZONE.replace("\n", "<br/>")
    assert rates_of(tmp_path / "c", page.format(joined)) == rates_of(tmp_path / "b", IOZONE)


def test_a_mail_may_be_quoted_printable(tmp_path: Path) -> None:
    head = "Subject: disk\nContent-Transfer-Encoding: quoted-printable\n\n"
    mail = head + quopri.encodestring(f"Grüße,\n\n{FIO}".encode()).decode()
    assert "jobs=3D" in mail and "=\n" in mail
    assert rates_of(tmp_path / "mail", mail) == rates_of(tmp_path / "text", FIO)


def test_blanks_before_lines_of_fio_may_be_lost(tmp_path: Path) -> None:
    bare = re.sub(r"(?m)^[ ]+", "", FIO)
    assert bare != FIO and rates_of(tmp_path / "bare", bare) == rates_of(tmp_path / "whole", FIO)


def test_of_a_page_no_tool_is_lost_that_only_its_indented_part_has(tmp_path: Path) -> None:
    indented = "".join(f"    {line}" for line in DISKSPD.splitlines(keepends=True))
    found = results_of(tmp_path / "page", f"Two tools:\n\n{HDPARM}\nand\n\n{indented}")
    assert len(found) == 1 + len(results_of(tmp_path / "diskspd", DISKSPD))
    # What is damaged is named, and not left out for the sake of the other tool.
    with pytest.raises(AssayError, match="total of read"):
        results_of(tmp_path / "page", f"Two tools:\n\n{HDPARM}\nand\n\n{indented.replace('Write IO', 'Writes')}")


def test_zeros_of_unified_reporting_are_no_rate(tmp_path: Path) -> None:
    text = """m: (groupid=0, jobs=1): err= 0: pid=1: Mon Nov 30 12:15:16 2026
  read: IOPS=100, BW=400KiB/s (410kB/s)(400KiB/1000msec)
  write: IOPS=50, BW=200KiB/s (205kB/s)(200KiB/1000msec); 0 zone resets
  mixed: IOPS=0, BW=0 (0)(0B/1000msec)
    clat (usec): min=13, max=17340, avg=108.14, stdev=520.26
  cpu          : usr=0.45%, sys=12.06%, ctx=18537, majf=0, minf=25
  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%
     issued rwts: total=100,50,0,0 short=0,0,0,0 dropped=0,0,0,0
"""
    head = "m: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1\n"
    (one,) = results_of(tmp_path / "both", f"{head}{text}")
    assert one.operation == "random_mix" and one.measured and one.measured.ops == 150


def test_summaries_of_io500_without_their_titles_are_several(tmp_path: Path) -> None:
    summary = """[RESULT]       ior-easy-write        {0}.937651 GiB/s : time 31.616 seconds
[RESULT]                 find     3123.352505 kIOPS : time 1.231 seconds
[SCORE ] Bandwidth {0}.775064 GiB/s : IOPS 164.145975 kiops : TOTAL 11.279349
"""
    both = results_of(tmp_path / "page", f"2 tasks\n{summary.format(1)}\n8 tasks\n{summary.format(2)}")
    assert [round(one.measured.throughput / 2**30, 6) for one in both if one.measured] == [1.937651, 2.937651]


def test_runs_of_iozone_of_which_only_commands_and_results_were_kept_are_told_apart(tmp_path: Path) -> None:
    head, row = next(
        (f"{before}\n{line}", after)
        for before, line, after in zip(*(IOZONE.splitlines()[at:] for at in range(3)), strict=False)
        if " reclen " in line
    )
    children = """        Children see throughput for  2 initial writers  =    1502.15 kB/sec
        Parent sees throughput for  2 initial writers   =    1502.13 kB/sec
        Min throughput per process                      =     751.07 kB/sec
        Max throughput per process                      =     751.08 kB/sec
        Avg throughput per process                      =     751.07 kB/sec
        Min xfer                                        =     512.00 kB
"""
    found = results_of(
        tmp_path / "page", f"$ iozone -e -a\n{head}\n{row}\n\nThen:\n\n$ iozone -s 1m -r 4k -t 2 -i 0\n\n{children}"
    )
    table, (writers,) = found[:-1], found[-1:]
    assert {one.workload for one in table} == {"automatic mode"} and table[0].parameters["sync"] == "fsync"
    assert writers.workload == "throughput mode" and writers.measured
    assert (writers.parameters["record_size"], writers.parameters["file_size"]) == (4096, 1 << 20)


def test_the_last_rows_of_iperf3_are_a_result(tmp_path: Path) -> None:
    rows = """[SUM]   0.00-10.00  sec  11.6 GBytes  9.94 Gbits/sec  1421   sender
[SUM]   0.00-10.00  sec  11.6 GBytes  9.93 Gbits/sec         receiver
"""
    (one,) = results_of(tmp_path / "typed", f"$ iperf3 -c 10.0.0.1 -t 10 -P 4 -R | tail -4\n{rows}")
    assert (one.target, one.workload, one.parameters) == ("10.0.0.1", "tcp receive", {"streams": 4})
    assert one.measured and one.measured.throughput == 9.93e9 / 8
    (alone,) = results_of(tmp_path / "alone", rows)
    assert (alone.target, alone.workload, alone.parameters) == ("iperf3", "tcp", {})


def test_a_test_of_sockperf_that_was_cut_off_gives_the_next_one_nothing(tmp_path: Path) -> None:
    figures = """sockperf: [Total Run] RunTime=5.000 sec; Warm up time=400 msec; SentMessages=500; ReceivedMessages=500
sockperf: [Valid Duration] RunTime=4.000 sec; SentMessages=400; ReceivedMessages=400
sockperf: ====> avg-rtt=116.460 (std-dev=178.973)
"""
    warm = "sockperf: Warmup stage (sending a few dummy messages)...\n"
    cut = f"sockperf: == version #3.10 ==\n[ 0] IP = 10.0.0.1 PORT = 11111 # TCP\n{warm}"
    found = results_of(tmp_path / "page", f"{cut}\n{warm}{figures}")
    assert [(one.target, bool(one.measured)) for one in found] == [("10.0.0.1", False), ("sockperf", True)]
    excerpt = "sockperf: Summary: Round trip is 84.117 usec\nsockperf: Total 237914 observations\n"
    assert [one.left_out for one in results_of(tmp_path / "excerpt", excerpt * 2)] == [
        "how long it took is missing, so that its rate is not known"
    ] * 2


def test_blanks_of_a_summary_of_mdtest_may_be_lost(tmp_path: Path) -> None:
    text = (SAMPLES / "mdtest" / "3.3.0-both.txt").read_text()
    bare = re.sub(r"(?m)^ +|(?<= ) +", "", text).replace("---- -------", "—-- -------")
    assert bare != text and rates_of(tmp_path / "bare", bare) == rates_of(tmp_path / "whole", text)


def test_a_table_of_ior_has_what_the_command_above_it_says(tmp_path: Path) -> None:
    table = """Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     714.78     714.81     0.891822    16384      1024.00    0.001451   14.33      0.280439   14.33      0
Max Write: 714.78 MiB/sec (749.50 MB/sec)
"""
    commands = ("mpirun -np 40 ior -t 1m -b 16m -s 16", "$ srun -n 160 ior -t 1m -b 16m -s 16 -F -e -z | tee log")
    page = "\n".join(f"{command}\n\n{table}" for command in commands)
    one, two = results_of(tmp_path / "page", page)
    assert (one.operation, one.parameters["streams"], one.parameters["layout"]) == ("write", 40, "shared")
    assert (two.operation, two.parameters["streams"], two.parameters["sync"]) == ("random_write", 160, "fsync")
    assert one.measured and one.measured.throughput == pytest.approx(714.78 * 2**20)
    # Without it, neither order nor layout is known.
    (alone,) = results_of(tmp_path / "alone", table)
    assert alone.left_out and not alone.measured


def test_elbencho_may_run_in_a_container(tmp_path: Path) -> None:
    text = """# docker run -t --rm --device /dev/sda breuner/elbencho:v1.8-1 -r -b 4K --direct --rand --size 1g /dev/sda
OPERATION RESULT TYPE        FIRST DONE  LAST DONE
========= ================   ==========  =========
READ      Elapsed ms       :       6001       6001
          IOPS             :       8219       8219
          Throughput MiB/s :         32         32
          Total MiB        :        192        192
---
"""
    (one,) = results_of(tmp_path / "page", text)
    assert (one.operation, one.parameters["record_size"], one.parameters["cache"]) == ("random_read", 4096, "direct")

"""Assay and fio on the same work: commands, statistics, verdicts, page; and one short real pair."""

from __future__ import annotations

import json
import math
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from agreement import compare, page, show, trace, words
from agreement.compare import Verdict
from agreement.series import CALLS, order, run_workload
from agreement.workloads import WORKLOADS, by_assay, by_fio, counted, read_counts
from model import BenchError, Done, Setting
from results import Results, RowResult
from setting import one_file
from test_peers import done, event_lines, setting

BY_KEY = {work.key: work for work in WORKLOADS}
RUN = Path(__file__).resolve().parent.parent / "agreement" / "run.py"


def rounds_of(source: random.Random, count: int, factor: float, noise: float, drift: float = 0.0) -> RowResult:
    """Rounds in which Assay measures `factor` times what fio does; both vary by `noise`, the disk drifts each run."""
    result, at = RowResult(), 0
    for number in range(count):
        for key in order(number, []):
            rate = 1000 * math.exp(source.gauss(0, noise) + drift * at) * (factor if "assay" in key else 1)
            latency = 1e6 / rate
            sample = {"ops_per_s": rate, "mb_per_s": rate / 250, "p50_us": latency * 0.9, "p99_us": latency * 2}
            sample |= {"mean_us": latency - 10, "outside_us": 10.0, "op_us": latency, "p50_all_us": latency * 0.9 + 10}
            sample |= {"clat_p50_us": latency * 0.8, "cpu_us": 5.0}
            result.rounds.setdefault(key, []).append(sample)
            at += 1
    return result


def canned() -> Results:
    """All workloads, ten rounds each; Assay is 10 % faster at one of them and fio's variants differ."""
    results = Results({"kernel": "6"}, {"fio": "3.33"}, 10, 3.0, 10.0)
    for number, work in enumerate(WORKLOADS):
        result = rounds_of(random.Random(number), 10, 1.1 if work.key == "read-32" else 1.0, 0.01)
        for variant in work.variants:
            result.rounds[variant.key] = [
                sample | {"ops_per_s": sample["ops_per_s"] * 1.2} for sample in result.rounds["fio"]
            ]
        for key, per_call in (("fio", 7.0), ("assay", 10.0), *((v.key, v.batch) for v in work.variants)):
            result.rounds[CALLS.format(key)] = [{"calls_per_op": 1 / per_call, "ops_per_call": per_call}]
            result.commands[key] = [[f"/usr/bin/{key}", "--x"]]
        results.rows[work.key] = result
    return results


def test_both_tools_are_told_the_same():
    """Size, record, depth, direct, seed and time."""
    here = setting()
    here.seed = 7
    for work in WORKLOADS:
        (one,), (other,) = by_assay(work).steps(here), by_fio(work).steps(here)
        job, words_ = one.job, dict(word.removeprefix("--").partition("=")[::2] for word in other.argv)
        assert job["record_size_bytes"] == int(words_["bs"].removesuffix("k")) << 10
        assert job["file_size_bytes"] == int(words_["size"].removesuffix("m")) << 20
        assert (job["queue_depth"], job["seed"]) == (int(words_["iodepth"]), int(words_["randseed"]))
        assert job["phases"][0]["runtime_ns"] == int(words_["runtime"].removesuffix("ms")) * 1_000_000
        assert job["direct"] and words_["direct"] == "1"
        assert job["method"] == words_["ioengine"] == "io_uring"
        assert ("write" in job["phases"][0]["operation"]) == ("end_fsync" in words_)
        assert words_.get("iodepth_batch_complete_max") == (str(work.depth) if work.depth > 1 else None)
        assert words_["filename"] == f"{job['target']['root']}/{job['target']['directory']}/f0"


def test_a_variant_hands_over_another_number():
    """One at a time is fio's default, without any option."""
    work = BY_KEY["read-32"]
    one, all_ = (next(by_fio(work, batch=v.batch, key=v.key).steps(setting())).argv for v in work.variants)
    assert not [word for word in one if "batch" in word]
    assert [word for word in all_ if "batch" in word and word.endswith("=32")] == [
        "--iodepth_batch_submit=32",
        "--iodepth_batch_complete_max=32",
    ]


def test_fio_is_read_by_lat_and_not_by_clat():
    """What is outside the latency is depth / rate less the mean."""
    percentile = {"50.000000": 450_000, "99.000000": 700_000}
    part = {"total_ios": 32_000, "runtime": 500, "iops": 64_000.0, "io_bytes": 4096 * 32_000}
    part |= {"lat_ns": {"mean": 470_000.0, "percentile": percentile}}
    part |= {"clat_ns": {"percentile": {"50.000000": 400_000, "99.000000": 600_000}}}
    job = {"error": 0, "usr_cpu": 20.0, "sys_cpu": 60.0, "job_runtime": 500, "read": part}
    (step,) = by_fio(BY_KEY["read-32"]).steps(setting())
    sample = step.parse(done(json.dumps({"jobs": [job]})))
    assert (sample["p50_us"], sample["p99_us"], sample["clat_p50_us"]) == (450, 700, 400)
    assert (sample["op_us"], sample["outside_us"], sample["p50_all_us"]) == (500, 30, 480)


def test_assay_has_one_latency():
    """Its p50 stands for fio's from issue too."""
    latency = {"mean_ns": 480_000.0, "p50_ns": 460_000, "p99_ns": 900_000}
    (step,) = by_assay(BY_KEY["read-1"]).steps(setting())
    sample = step.parse(done(event_lines("ok", latency)))
    assert (sample["p50_us"], sample["clat_p50_us"], sample["p99_us"]) == (460, 460, 900)
    assert (sample["op_us"], sample["outside_us"]) == (500, pytest.approx(20))


def test_each_tool_runs_twice_in_a_round_around_its_middle():
    """The one inside the other, by turns; variants in the middle."""
    assert order(0, ["x"]) == ["fio", "assay", "x", "assay again", "fio again"]
    assert order(1, []) == ["assay", "fio", "fio again", "assay again"]


def test_the_interval_is_that_of_order_statistics():
    """Of ten the second and the ninth, of six all, of five none."""
    assert compare.interval([float(n) for n in range(10, 0, -1)]) == (2, 9)
    assert compare.interval([float(n) for n in range(6)]) == (0, 5)
    assert compare.interval([1.0] * 5) is None


def test_the_interval_covers_the_median():
    """In at least 95 % of 2,000 series of ten and of eleven, whose distribution is skewed; seed 3."""
    source = random.Random(3)
    for count in (10, 11):
        bounds = [compare.interval([source.expovariate(math.log(2)) for _ in range(count)]) for _ in range(2000)]
        assert sum(low <= 1 <= high for low, high in bounds) >= 1900 - 30


def test_a_drift_is_no_difference():
    """Each run 2 % slower than the one before: the ratio stays 1, and a tool is apart from itself."""
    line = compare.compare(rounds_of(random.Random(1), 10, 1.0, 0.0, drift=-0.02).rounds, "ops_per_s")
    assert line.ratio.median == pytest.approx(1)
    assert (line.same_fio, line.same_assay) == (pytest.approx(math.expm1(0.04)), pytest.approx(math.expm1(0.04)))
    assert line.verdict is Verdict.AGREE


def test_equal_tools_seldom_differ_and_unequal_ones_do(monkeypatch):
    """Ten pairs, noise of 6 % a run, 150 series each, seed 5: what is called a difference, by the true difference."""
    source = random.Random(5)
    monkeypatch.setattr(compare, "DRAWS", 400)

    def share(factor: float, noise: float = 0.06) -> float:
        lines = [compare.compare(rounds_of(source, 10, factor, noise).rounds, "ops_per_s") for _ in range(150)]
        return sum(line.verdict is Verdict.DIFFER for line in lines) / len(lines)

    assert share(1.0) <= 0.06
    assert share(1.15) >= 0.95
    assert share(1.05, noise=0.005) >= 0.95


def test_verdicts():
    """3 % agrees; more agrees if chance goes as far, also downwards; without an interval nothing is said."""

    def judged(median: float, by_chance: float | None, reach: float = 0.01) -> Verdict:
        return compare.judge(compare.Ratio(median, (median - reach, median + reach)), by_chance)

    assert judged(1.029, 0.0) is Verdict.AGREE
    assert judged(1.031, 0.0) is Verdict.DIFFER
    assert judged(1.031, 0.0, reach=0.05) is Verdict.AGREE_BY_CHANCE, "its interval holds 1"
    assert judged(0.96, 0.05) is Verdict.AGREE_BY_CHANCE
    assert judged(0.94, 0.05) is Verdict.DIFFER
    assert judged(0.5, None) is Verdict.UNKNOWN
    assert compare.judge(compare.Ratio(0.5, None), 0.0) is Verdict.UNKNOWN


def test_a_round_with_a_failed_run_is_left_out():
    """Of the ratio and of the spreads."""
    result = rounds_of(random.Random(1), 7, 1.0, 0.01)
    result.rounds["assay again"][2] = None
    line = compare.compare(result.rounds, "p99_us")
    assert (line.pairs, line.fio.count, line.assay.count) == (6, 12, 12)
    assert compare.compare({}, "p99_us") is None


def test_what_is_said_of_a_difference_was_measured():
    """The variants of fio that change it, and how much is handed over in a call; where there are none, that too."""
    results = canned()
    said = " ".join(words.sentences(BY_KEY["read-32"], results.rows["read-32"]))
    assert "**IOPS** differs by 10" in said
    assert "× 1.2" in said and "hands over 32 at a time" in said
    assert "fio hands over 7.00 operations, Assay 10.0" in said
    unexplained = rounds_of(random.Random(2), 10, 1.2, 0.01)
    assert "nothing that is measured here explains it" in " ".join(words.sentences(BY_KEY["read-1"], unexplained))
    equal = " ".join(words.sentences(BY_KEY["read-1"], results.rows["read-1"]))
    assert "differs" not in equal and "apart by" in equal


def test_huge_pages_and_requests_explain_a_difference():
    """The same work in huge pages is equal, and elsewhere the disk gets two requests of fio for one of Assay."""
    result, twin = rounds_of(random.Random(5), 10, 1.1, 0.01), rounds_of(random.Random(6), 10, 1.0, 0.01)
    for key, samples in result.rounds.items():
        for sample in samples:
            sample["requests_per_op"] = 1.0 if "assay" in key else 2.0
    said = " ".join(words.sentences(BY_KEY["sequential-read"], result, twin))
    assert "**IOPS** differs by 10" in said and "in huge pages, Assay / fio is 1.0" in said
    assert "the disk got 2.00 requests of fio for an operation, 1.00 of Assay" in said
    unequal = " ".join(words.sentences(BY_KEY["sequential-read"], rounds_of(random.Random(5), 10, 1.1, 0.01), result))
    assert "nothing that is measured here explains it" in unequal


def test_time_outside_the_latency_explains_a_p50():
    """What fio leaves out, 130 of 1000 µs, makes its p50 the smaller; with it the two are equal."""
    result = rounds_of(random.Random(4), 10, 1.0, 0.002)
    for key in ("fio", "fio again"):
        for sample in result.rounds[key]:
            sample["p50_us"] = sample["p50_all_us"] - 120
    said = words.sentences(BY_KEY["read-1"], result)[-1]
    assert "**p50 latency** differs by 14" in said and "with the time that is in no latency it is 0." in said


def test_the_page_is_filled():
    """Every marker, each workload, each command, and how many lines agree."""
    text = page.fill(page.TEMPLATE.read_text(), canned())
    assert "{{" not in text
    for work in WORKLOADS:
        assert f"### {work.title}" in text
    # Bandwidth goes with IOPS, and so do both percentiles here.
    assert "24 lines: 20 agree; 4 **differ**." in text
    assert "| IOPS | 1" in text and "| kernel | 6 |" in text and "fio-batch-32 --x" in text
    with pytest.raises(BenchError, match="nonsense"):
        page.fill("{{nonsense}}\n", canned())


def test_no_page_of_too_few_pairs_or_workloads():
    """Both are named."""
    few = canned()
    few.wanted_rounds = 5
    with pytest.raises(BenchError, match="5 pairs"):
        page.write(few)
    few.rows.pop("read-1")
    with pytest.raises(BenchError, match="read-1"):
        page.write(few)


def test_calls_are_counted_by_perf(tmp_path):
    """All, and those that hand over; what perf says of both stands in its file."""
    here = setting()
    here.memory, here.tools["perf"] = tmp_path, Path("/bin/perf")
    event = "syscalls:sys_enter_io_uring_enter"
    (tmp_path / "calls").write_text(f"# started\n\n408,,{event},28094018,100.00,,\n250,,{event},28094018,100.00,,\n")
    assert read_counts(tmp_path / "calls") == (408, 250)
    (step,) = counted(by_assay(BY_KEY["read-1"])).steps(here)
    assert step.argv[0] == "/bin/perf" and step.argv[-1] == "run" and step.job["queue_depth"] == 1
    latency = {"mean_ns": 1.0, "p50_ns": 1, "p99_ns": 1}
    assert step.parse(Done(event_lines("ok", latency), "", 1, 1, 1, 0)) == {"calls_per_op": 0.408, "ops_per_call": 4}


def test_what_the_tracer_saw(tmp_path):
    """Counts and percentiles of its file, and what is said of a tool that does not fit."""
    file = tmp_path / "seen"
    took = json.dumps({str(key): 1 for key in range(100, 200)})
    file.write_text(f'{{"type": "map", "data": {{"@ops": 100}}}}\n{{"type": "map", "data": {{"@took": {took}}}}}\n')
    with file.open("a") as more:
        more.write('{"type": "map", "data": {"@bytes": 409600}}\n{"type": "attached_probes", "data": {"probes": 3}}\n')
    seen = trace.read_observed(file)
    assert seen == {"ops": 100, "bytes": 409600, "p50_us": 149.5 * 0.25, "p99_us": 198.5 * 0.25}
    assert trace.Line("w", "Assay", 1, seen | {"p50_us": 40.0}, seen).faults == []
    said = {"ops": 99, "bytes": 409600.0, "p50_us": 60.0, "p99_us": 40.0}
    assert trace.Line("w", "Assay", 1, said, seen).faults == [
        "ops differ",
        "p50_us is longer than the kernel's by more than 25 %",
        "p99_us is shorter than the kernel's",
    ]
    assert trace.Line("w", "fio", 32, seen | {"p50_us": 60.0}, seen).faults == []


def test_the_tracer_is_asked_for_the_right_calls():
    """By the kind of work and the way into the kernel; braces are bpftrace's own."""
    read, write = trace.program("sync", BY_KEY["read-1"]), trace.program("sync", BY_KEY["sequential-write"])
    assert "sys_exit_pread64" in read and "$bytes == 4096" in read and "{{" not in read
    assert "sys_enter_pwrite64" in write and "$bytes == 1048576" in write
    assert "io_uring_complete" in trace.program("io_uring", BY_KEY["read-32"])
    (step,) = trace.by_call(by_fio(BY_KEY["read-1"])).steps(setting())
    assert "--ioengine=psync" in step.argv and not any("registerfiles" in word for word in step.argv)
    (step,) = trace.by_call(by_assay(BY_KEY["read-1"])).steps(setting())
    assert step.job["method"] == "sync"


def test_the_command_refuses_in_one_line(tmp_path):
    """No traceback; and --list measures nothing."""
    listed = subprocess.run([sys.executable, RUN, "--list"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(BY_KEY)
    wrong = subprocess.run([sys.executable, RUN, "--only", "nothing"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stderr) == (2, "agreement: no workload has 'nothing'; --list names them\n")
    other = tmp_path / "other.json"
    other.write_text("{}")
    wrong = subprocess.run([sys.executable, RUN, "--from", other], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not on PATH")
def test_a_short_real_pair(tmp_path):
    """Both write over the same 64 MiB in place, and all that is compared comes out."""
    size = 64 << 20
    try:
        with one_file(0.1, tmp_path, size) as here:
            assert isinstance(here, Setting)
            result = run_workload(BY_KEY["sequential-write"], here, 1, size)
            assert here.file.stat().st_size == size
    except BenchError as error:
        if "another bench" in str(error):
            pytest.skip(str(error))
        raise
    assert not result.failures
    assert [line.measure for line in show.lines(result)] == list(show.MEASURES)
    for key in ("fio", "assay", "fio again", "assay again"):
        (sample,) = result.rounds[key]
        assert sample["mb_per_s"] == pytest.approx(sample["ops_per_s"] * 1.048576, rel=1e-3)
        assert 0 < sample["p50_us"] <= sample["p99_us"]
    assert not list(tmp_path.iterdir())

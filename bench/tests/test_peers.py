"""What the programs say, and what is read out of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from model import AbsentError, BenchError, Contender, Done, Sample, Setting
from peers import assay, elbencho, fio, ior, iozone

TOOLS = ("assay-engine", "assay-bare", "fio", "elbencho", "ior", "mdtest", "iozone")


def setting() -> Setting:
    """Nothing in it exists."""
    tools = {name: Path("/bin") / name for name in TOOLS}
    return Setting(Path("/d"), Path("/m"), None, "needs root", 0.5, tools, rate=1e6)


def done(output: str, cpu_s: float = 1.0) -> Done:
    """A command that has said this."""
    return Done(output, "", 1.0, cpu_s, 1 << 20, 0)


def last_parse(contender: Contender, *outputs: tuple[str, float]) -> Sample:
    """Plays a contender's steps with these outputs; the figures of the last."""
    steps = contender.steps(setting())
    sample: Sample | None = None
    for output, cpu_s in outputs:
        step = next(steps) if sample is None else steps.send(sample)
        sample = step.parse(done(output, cpu_s))
    return sample


READ = """OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
READ        Elapsed time     :       941ms       941ms
            IOPS             :      557091      557091
            Throughput MiB/s :        2176        2176
            Total MiB        :        2048        2048
            IO latency       : [ min=0us avg=2us max=147us ]
            IO lat % us      : [ 1%<=1.2 50%<=1.2 75%<=1.2 99%<=2.4 ]
---
"""


def test_elbencho_reads():
    """CPU time is that of the process, over the operations asked for."""
    sample = last_parse(elbencho.reads(), (READ, 0.75))
    assert sample == {"cpu_us": 1.5, "ops_per_s": 557091.0, "mean_us": 2.0, "p99_us": 2.4}


def test_elbencho_flush_counts_and_first_pass_does_not():
    """Each pass is SYNC, WRITE, SYNC."""
    sync, write = "SYNC Elapsed time : {0} {0}\n---\n", "WRITE Elapsed time : {0} {0}\n Total MiB : 100 100\n---\n"
    first = sync.format("9.000s") + write.format("9.000s") + sync.format("9.000s")
    second = sync.format("9.000s") + write.format("750ms") + sync.format("250ms")
    contender = elbencho.sequential("--write", lambda s: s.disk / "x", 100, "--sync", passes=2, skip=1)
    sample = last_parse(contender, (first + second, 0.2))
    assert sample["mb_per_s"] == pytest.approx(104.8576)
    assert sample["cpu_us"] == pytest.approx(1000)


def test_fio_takes_the_job_s_own_cpu_time():
    """Its start-up is not part of it."""
    latency = {"lat_ns": {"mean": 1500.0}, "clat_ns": {"percentile": {"99.000000": 2500}}}
    part = {"total_ios": 1000, "runtime": 500, "iops": 2000.0, "io_bytes": 4096000} | latency
    job = {"error": 0, "usr_cpu": 20.0, "sys_cpu": 60.0, "job_runtime": 500, "read": part}
    sample = fio.figures(done("note: something\n" + json.dumps({"jobs": [job]}), cpu_s=9.0))
    assert (sample["cpu_us"], sample["mean_us"], sample["p99_us"]) == (pytest.approx(400), 1.5, 2.5)
    assert sample["mb_per_s"] == pytest.approx(8.192)


def test_ior_start_up_is_taken_off():
    """The rate is that of all repetitions."""
    lines = "read  1 100000 0\nread 1 300000 0\n"
    sample = last_parse(ior.reads(), ("", 0.25), (f"Results:\n{lines}Summary\nread 5 5 5\n", 1.25))
    assert sample["ops_per_s"] == pytest.approx(150_000)
    assert sample["cpu_us"] == pytest.approx(1e6 / (2 << 18))


def test_iozone():
    """One number in its table is the rate."""
    assert (
        last_parse(iozone.reads(), ("         1048576       4      617354        0   \n", 0.5))["ops_per_s"] == 617354
    )


LATENCY = {"mean_ns": 700.0, "p50_ns": 600, "p99_ns": 900}


def event_lines(status: str, latency: dict[str, float] = LATENCY, **fields: object) -> str:
    """A job with one measured phase."""
    reads = {"operation": "read", "ops": 1000, "bytes": 4096000, "errors": 0, "latency": latency}
    end = {
        "event": "phase_end",
        "measured": True,
        "operation": "random_read",
        "operations": [reads],
        "last_finisher": {"start_ns": 0, "end_ns": 500_000_000},
        "resources": {"user_ns": 100_000, "system_ns": 300_000},
    } | fields
    return "\n".join(json.dumps(e) for e in (end, {"event": "bye", "status": status, "reason": "why"}))


def test_assay_whole_process_and_phase():
    """CPU time of the process for one, of the phase for the other."""
    whole = assay.whole_process(done(event_lines("ok"), cpu_s=0.001))
    assert (whole["cpu_us"], whole["phase_cpu_us"], whole["ops_per_s"]) == (1.0, pytest.approx(0.4), 2000.0)
    assert assay.one_phase(done(event_lines("ok")))["cpu_us"] == pytest.approx(0.4)


def test_assay_that_ends_badly_says_why():
    """In one line."""
    with pytest.raises(BenchError, match="why"):
        assay.one_phase(done(event_lines("failed")))


def test_open_loop_uses_the_rate_of_the_closed_one():
    """At the share asked for; an engine without start_delay is absent."""
    steps = assay.open_loop(0.9).steps(setting())
    closed = next(steps)
    step = steps.send(closed.parse(done(event_lines("ok"))))
    assert step.job["phases"][0]["rate_per_s"] == 1800
    delays = {"start_delay": {"p50_ns": 100, "p999_ns": 40_000}, "target_per_s": 2000}
    assert step.parse(done(event_lines("ok", **delays)))["delay_p999_us"] == 40
    with pytest.raises(AbsentError):
        step.parse(done(event_lines("ok")))

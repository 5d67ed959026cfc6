"""What warp and the engine say of requests, and what was seen of warp's CPU time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from model import AbsentError, BenchError, Done, Service, Setting
from peers import assay, warp
from peers.objects import Work

GOLDEN = Path(__file__).parent / "warp-put.json"
"""What warp 1.6.1 has printed: `put --json`, 4 KiB, 8 at a time."""
BEGIN, END = 1795550630.685973, 1795550633.686183
"""Its first request and the end of its last one, in seconds since 1970."""
WORK = Work("put", 4096, 8)


def warp_done(output: str, course: list[tuple[float, float]]) -> Done:
    """A warp that has said this and used this."""
    return Done(output, "", 6.4, 9.0, 1 << 20, 0, course)


def setting(service: Service | None) -> Setting:
    """Nothing in it exists."""
    tools = {name: Path("/bin") / name for name in ("assay-engine", "warp")}
    return Setting(Path("/d"), Path("/m"), None, "", 2.0, tools, service=service, service_absent="no service")


def service(forgotten: list[str]) -> Service:
    """It notes when it forgets."""
    return Service("127.0.0.1:7", "key", "secret", lambda: forgotten.append("all"))


def test_warp_counts_requests_between_the_first_and_the_last():
    """And its CPU time of the same stretch: not that of its preparation, nor of its report."""
    course = [(BEGIN - 1, 0.5), (BEGIN, 0.5), (END, 3.5), (END + 1, 7.0)]
    sample = warp.figures(warp_done(GOLDEN.read_text(), course), "put")
    assert sample["requests_per_s"] == pytest.approx(32412 / (END - BEGIN), rel=1e-5)
    assert sample["mb_per_s"] == pytest.approx(132.759552 / (END - BEGIN), rel=1e-5)
    assert sample["cpu_us"] == pytest.approx(3e6 / 32412, rel=1e-3)
    assert sample["cpu_s_per_gb"] == pytest.approx(3 / 0.132759552, rel=1e-3)
    assert sample["requests_per_core"] == pytest.approx(32412 / 3, rel=1e-3)


def test_warp_whose_requests_fail_says_why():
    """Also where errors are printed before the report."""
    said = json.loads(GOLDEN.read_text())
    said["by_op_type"]["PUT"] |= {"total_errors": 3, "first_errors": ["SlowDown"]}
    with pytest.raises(BenchError, match="3 errors: SlowDown"):
        warp.figures(warp_done(f"warp: <ERROR> SlowDown\n\n{json.dumps(said, indent=2)}\n", []), "put")


def test_commands_say_what_is_the_same():
    """Sizes, how many at a time and for how long; the service is emptied before."""
    forgotten: list[str] = []
    there = setting(service(forgotten))
    step = next(warp.runs(WORK).steps(there))
    assert {"--obj.size=4096B", "--concurrent=8", "--duration=2s", "--host=127.0.0.1:7"} <= set(step.argv)
    assert step.watched and "secret" not in " ".join(step.argv)
    job = next(assay.objects(WORK).steps(there)).job
    assert (job["file_size_bytes"], job["queue_depth"], job["phases"][-1]["runtime_ns"]) == (4096, 8, 2_000_000_000)
    assert forgotten == ["all", "all"]
    got = Work("get", 8 << 20, 32)
    assert "--objects=32" in next(warp.runs(got).steps(there)).argv
    assert next(assay.objects(got).steps(there)).job["objects"] == {"count": 32}


def test_assay_counts_the_phase_alone():
    """Failed requests fail the run."""
    puts = {"operation": "put", "ops": 1000, "bytes": 4_096_000, "errors": 0}
    end = {
        "event": "phase_end",
        "measured": True,
        "operation": "put",
        "operations": [puts],
        "errors": [],
        "last_finisher": {"start_ns": 0, "end_ns": 500_000_000},
        "resources": {"user_ns": 10_000_000, "system_ns": 30_000_000},
    }
    step = next(assay.objects(WORK).steps(setting(service([]))))

    def said() -> Done:
        lines = [json.dumps(event) for event in (end, {"event": "bye", "status": "ok"})]
        return Done("\n".join(lines), "", 1.0, 9.0, 1 << 20, 0)

    sample = step.parse(said())
    assert (sample["requests_per_s"], sample["cpu_us"]) == (2000.0, pytest.approx(40.0))
    puts["errors"], end["errors"] = 2, [{"name": "SlowDown"}]
    with pytest.raises(BenchError, match="2 errors: SlowDown"):
        step.parse(said())


def test_without_a_service_all_are_absent():
    """With the reason."""
    for contender in (warp.runs(WORK), assay.objects(WORK)):
        with pytest.raises(AbsentError, match="no service"):
            next(contender.steps(setting(None)))

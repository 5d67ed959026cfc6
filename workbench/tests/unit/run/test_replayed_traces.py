"""Traces that a run replays: where hosts have them, and that they stay the same."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.contract._answers import TraceContents
from assay.model.base import AssayError
from assay.model.site.host import Host
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.run import replayed_traces
from assay.run.replayed_traces import place_traces, with_trace

CONTENTS = TraceContents(
    sha256="a" * 64,
    recorded_ns=90_000_000_000,
    tasks=2,
    max_tasks=1,
    files=1,
    initial_bytes=5000,
    space_bytes=8000,
    operations={},
)
TEXT = "study: s\ntargets: {d: {kind: file, path: /var/tmp/x}}\ncommands: {c: {replay: /t.gz}}\n"


def placed(monkeypatch: pytest.MonkeyPatch, homes: list[str], earlier: str = "") -> Any:
    """The traces of a run on hosts with these homes; `earlier` is the hash of a job that it has done."""
    study = load_study(TEXT.encode()).study
    assert study is not None
    plan: Any = SimpleNamespace(study=study, cases=expand(study).cases)
    shells = [SimpleNamespace(host=Host(name=home, kind="ssh"), home=home) for home in homes]
    fleet: Any = SimpleNamespace(is_local=not homes, shells=shells)
    job = plan_job(study, plan.cases[0], 1).job.model_dump()
    job["target"]["sha256"] = earlier
    store: Any = SimpleNamespace(jobs=lambda _: [SimpleNamespace(job=job)] if earlier else [])
    monkeypatch.setattr(replayed_traces, "trace_contents", lambda *_: CONTENTS)
    monkeypatch.setattr(replayed_traces, "ensure_trace", lambda shell, *_: f"/{shell.home}/trace")
    engine: Any = SimpleNamespace(path=Path("engine"))
    return plan, place_traces(plan, engine, fleet, store, lambda _: None)


def test_a_job_gets_the_path_and_hash_of_its_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    for homes, path in (([], "/t.gz"), (["me", "me"], "/me/trace")):
        plan, traces = placed(monkeypatch, homes)
        target: Any = with_trace(plan_job(plan.study, plan.cases[0], 1).job, traces).target
        assert (target.trace, target.sha256) == (path, "a" * 64)


def test_hosts_have_it_at_one_path(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssayError, match="different paths: /me/trace on me, /you/trace on you"):
        placed(monkeypatch, ["me", "you"])


def test_a_run_goes_on_with_the_trace_that_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    assert placed(monkeypatch, [], "a" * 64)
    with pytest.raises(AssayError, match=r"its SHA-256 is a+; it was b+ when the run began"):
        placed(monkeypatch, [], "b" * 64)

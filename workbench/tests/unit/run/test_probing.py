"""Who is asked what can be done at a target: the first host, or each of them."""

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay.contract._answers import BackendCapabilities
from assay.kinds.handler import handler_of
from assay.launch.launcher import Launcher
from assay.model.base import AssayError, Code
from assay.model.study.study import Study
from assay.run.places import targets

TARGETS = {
    "bucket": {"kind": "s3", "endpoint": "http://s", "bucket": "abc"},
    "table": {"kind": "dynamodb", "endpoint": "http://s", "table": "abc"},
    "export": {"kind": "nfs", "servers": "s", "export": "/e"},
}


def study() -> Study:
    return Study.model_validate(
        {
            "study": "s",
            "question": "q?",
            "targets": TARGETS,
            "workloads": {"w": {"operations": ["put"], "objects": 1, "object_size": 100, "targets": ["bucket"]}},
        }
    )


def ask(monkeypatch: pytest.MonkeyPatch, name: str, refused: Sequence[str] = ()) -> list[str]:
    """Which hosts are asked of a target; some have no credentials."""
    asked = []

    def probe(launcher: Launcher, target: str, seconds: float | None = None) -> BackendCapabilities:
        assert json.loads(target)["kind"] == TARGETS[name]["kind"]
        host = cast(Any, launcher)
        asked.append(host)
        if host in refused:
            raise AssayError("find credentials: there are none", code=Code.NO_CREDENTIALS)
        return cast(Any, SimpleNamespace(kind=host))

    monkeypatch.setattr(targets, "probe_target", probe)
    hosts = cast(Any, {"one": "one", "two": "two", "three": "three"})
    probing = targets.EngineProber(cast(Any, None), hosts["one"], "run", 1.0, False, hosts)
    assert handler_of(study().targets[name]).probe(probing).kind == "one"
    return sorted(asked)


def test_each_host_is_asked_for_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(monkeypatch, "bucket") == ask(monkeypatch, "table") == ["one", "three", "two"]
    assert ask(monkeypatch, "export") == ["one"]


def test_a_host_without_credentials_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssayError, match="host two: find credentials: there are none") as raised:
        ask(monkeypatch, "bucket", refused=["two"])
    assert "on their own host" in raised.value.hint

"""What the tests of studies and plans share."""

import json
from typing import Any

from assay.contract._generated import BackendCapabilities
from assay.model.study.case import Case
from assay.model.study.study import Study
from assay.model.study.target import Target
from assay.plan.expand import expand
from assay.plan.load import LoadedStudy, load_study


def written(**changes: Any) -> dict[str, Any]:
    """A small right study as written, with changes; fields of the workload `w` are given as `w_field`."""
    workload = {"operations": ["write", "read"], "file_size": "1MiB", "record_size": "4KiB"}
    workload |= {key[2:]: value for key, value in changes.items() if key.startswith("w_")}
    data = {
        "study": "test",
        "question": "Does it work?",
        "targets": {"disk": {"kind": "file", "path": "/tmp/assay-test"}},
        "workloads": {"w": workload},
    }
    return data | {key: value for key, value in changes.items() if not key.startswith("w_")}


def load(data: dict[str, Any] | str, base: str = "/") -> LoadedStudy:
    """Load a study given as data or as text."""
    text = data if isinstance(data, str) else json.dumps(data, indent=1)
    return load_study(text.encode(), base)


def study(**changes: Any) -> Study:
    """The study of `written`; it must be right."""
    loaded = load(written(**changes))
    assert loaded.study is not None, loaded.problems
    return loaded.study


def object_study(**changes: Any) -> Study:
    """Likewise with a workload of objects, on a target that has them unless the changes say another one."""
    loaded = load(object_written(**changes))
    assert loaded.study is not None, loaded.problems
    return loaded.study


def object_written(**changes: Any) -> dict[str, Any]:
    """As `written`, with a workload of objects."""
    usual = {"targets": {"none": {"kind": "null"}}, "w_operations": ["put", "get"], "w_object_size": "64KiB"}
    data = written(**{**usual, **changes})
    for field in ("file_size", "record_size"):
        if f"w_{field}" not in changes:
            del data["workloads"]["w"][field]
    return data


def object_target(usual: dict[str, Any], **changes: Any) -> Target:
    """The one target of a right study of objects, with changes."""
    return object_study(targets={"cloud": {**usual, **changes}}).targets["cloud"]


def object_problems(usual: dict[str, Any], work: dict[str, Any], **changes: Any) -> list[str]:
    """Message and hint of each thing that is wrong with a study of objects; `work` changes more than the target."""
    data = object_written(targets={"cloud": {**usual, **changes}}, **work)
    return [f"{problem.message} | {problem.hint}" for problem in load(data).problems]


def object_problem(usual: dict[str, Any], **changes: Any) -> str:
    """Message and hint of the one thing that is wrong with a target."""
    (problem,) = object_problems(usual, {}, **changes)
    return problem


def backend(kind: str = "file", **changes: Any) -> BackendCapabilities:
    """A backend that can do everything, with changes."""
    able = {
        "kind": kind,
        "operations": ["write", "rewrite", "read", "reread", "random_read", "random_write", "random_mix"],
        "layouts": ["separate", "shared"],
        "methods": ["io_uring", "sync"],
        "direct": True,
        "direct_bypasses_cache": True,
        "direct_alignment_bytes": 512,
        "sync": ["none", "fsync", "fdatasync", "o_sync", "o_dsync"],
        "cache": ["keep", "evict", "drop"],
        "preallocate": True,
        "verify": True,
    }
    return BackendCapabilities.model_validate(able | changes)


def first_case(**changes: Any) -> tuple[Study, Case]:
    """A study and its first case; changes as in `written`."""
    found = study(**changes)
    expansion = expand(found)
    assert not expansion.faults
    return found, expansion.cases[0]

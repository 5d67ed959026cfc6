"""`assay study from fio`: job files and command lines become the studies that ask the same, or are refused."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from fio_examples import EXAMPLES, Example

from assay.model.base import AssayError
from assay.plan.expand import expand
from assay.plan.jobs import plan_job
from assay.plan.load import load_study
from assay.rooms.foreign.work.fio.study import fio_study

WORKED = {name: item for name, item in EXAMPLES.items() if not item.refused}
REFUSED = {name: item for name, item in EXAMPLES.items() if item.refused}


def converted(text: str, tmp_path: Path) -> str:
    """The study of a command line, or of a job file with this text."""
    if not text.startswith(("[", ";")):
        return fio_study(text, lambda path: Path(path).read_text())
    (tmp_path / "job.fio").write_text(text)
    return fio_study(str(tmp_path / "job.fio"), lambda path: Path(path).read_text())


@pytest.mark.parametrize("item", WORKED.values(), ids=WORKED)
def test_real_jobs_become_the_studies_that_ask_the_same(item: Example, tmp_path: Path) -> None:
    text = converted(item.text, tmp_path)
    study: dict[str, Any] = yaml.safe_load(text)
    found = list(study["workloads"].values())
    assert [{key: got.get(key) for key in want} for got, want in zip(found, item.workloads, strict=True)] == list(
        item.workloads
    )
    head = text[: text.index("\nstudy:")]
    assert [word for word in item.noted if word not in head] == []
    if item.target is not None:
        target = next(iter(study["targets"].values()))
        assert {key: target.get(key) for key in item.target} == item.target


@pytest.mark.parametrize("item", REFUSED.values(), ids=REFUSED)
def test_what_has_no_counterpart_is_refused_by_name(item: Example, tmp_path: Path) -> None:
    with pytest.raises(AssayError) as caught:
        converted(item.text, tmp_path)
    assert item.refused in str(caught.value)


@pytest.mark.parametrize("item", WORKED.values(), ids=WORKED)
def test_studies_can_be_planned(item: Example, tmp_path: Path) -> None:
    loaded = load_study(converted(item.text, tmp_path).encode(), "/tmp")
    assert loaded.study is not None, loaded.problems
    expansion = expand(loaded.study)
    assert not expansion.faults
    for case in expansion.cases:
        plan_job(loaded.study, case, 1)

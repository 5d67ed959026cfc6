"""What engines tell of what they make is in the journal of the run, and with its job it is what is removed later."""

import json
from pathlib import Path
from typing import Any, cast

import pytest
from plan_tools import load

from assay.contract._answers import PlaceAnswer, Remains
from assay.contract._generated import Job, LeftJob
from assay.contract.messages import Event
from assay.contract.reader import BrokenLine, read_line
from assay.journal.entry import JOB_EXTRAS
from assay.journal.file import FileJournal
from assay.kinds.handler import handler_of
from assay.launch.launcher import Launcher
from assay.launch.places import Owner
from assay.model.base import AssayError
from assay.model.study.study import Study
from assay.plan.expand import expand
from assay.plan.jobs import in_directory, joint_job, plan_job
from assay.run.places import cleaning
from assay.run.places.cleaning import LeftoverJournal, RunCleaner

STUDY = """
study: s
question: q
targets: {t: {kind: s3, bucket: my-bench, endpoint: "http://h:1"}}
workloads: {w: {operations: [put], object_size: 40MiB, part_size: 5MiB, objects: 3}}
"""
WHERE = ("http://h:1/my-bench/assay", "run-c0001-r1")


def told(event: str, **more: Any) -> Event:
    found = read_line(json.dumps({"event": event, **more}))
    assert not isinstance(found, BrokenLine), found
    return found


def study() -> Study:
    loaded = load(STUDY)
    assert loaded.study is not None, loaded.problems
    return loaded.study


def job() -> Job:
    case = expand(study()).cases[0]
    return joint_job(in_directory(plan_job(study(), case, 1).job, WHERE[1]), 2)


def test_what_is_told_is_there_for_whoever_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    diary = LeftoverJournal(FileJournal(path))
    for number in range(3):
        diary.on_event(*WHERE, told("upload", key=f"k{number}", id=f"i{number}", open=True))
    diary.on_event(*WHERE, told("upload", key="k1", id="i1", open=False))
    diary.on_event(*WHERE, told("beyond", lane=1, objects=2000))
    diary.on_event(*WHERE, told("log", level="info", message="nothing for a journal"))
    diary.on_event(WHERE[0], "run-c0002-r1", told("upload", key="other", id="other", open=True))
    for later in (diary, LeftoverJournal(FileJournal(path))):
        left = later.left_job(job(), *WHERE)
        assert {(one.key, one.id) for one in left.uploads} == {("k0", "i0"), ("k2", "i2")}
        assert [(one.lane, one.objects) for one in left.beyond] == [(1, 2000)]
        assert left.job == job()
    LeftoverJournal(FileJournal(path)).forget_job(*WHERE)
    journal = FileJournal(path)
    assert LeftoverJournal(journal).left_job(job(), *WHERE).uploads == []
    assert [(entry.kind, entry.name) for entry in journal.entries()] == [(JOB_EXTRAS, f"{WHERE[0]}/run-c0002-r1")]


def test_an_engine_gets_the_job_and_what_is_left_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def clean_target(_launcher: Launcher, text: str, **_more: object) -> PlaceAnswer:
        asked.append(text)
        return PlaceAnswer(
            look=None, mark=None, identity="", removed=[], foreign=False, absent=False, retained=False, error="",
            silent=False, left=[Remains(path="p", why="w")],
        )  # fmt: skip

    monkeypatch.setattr(cleaning, "clean_target", clean_target)
    keeper, owner = handler_of(study().targets["t"]), Owner("run", tmp_path)
    left = LeftoverJournal(FileJournal(tmp_path / "journal")).left_job(job(), *WHERE)
    launcher = cast(Launcher, object())
    assert keeper.clean(WHERE[1], RunCleaner(owner, (launcher,), left=left)) == ["p: w"]
    sent = LeftJob.model_validate_json(asked[0]).job
    assert (sent.ranks, sent.target.directory, sent.target.destroy) == (2, WHERE[1], True)  # type: ignore[union-attr]
    with pytest.raises(AssayError, match="the job that made it is unknown"):
        keeper.clean(WHERE[1], RunCleaner(owner, (launcher,)))

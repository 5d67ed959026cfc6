"""The check that nothing outside `kinds` asks of which kind a target is finds what it must, and only that."""

import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_kinds  # noqa: E402

WORDS = {"file", "device", "nfs", "null"}


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(target, FileTarget)",
        "isinstance(target, NullTarget | NfsTarget)",
        "isinstance(job.target, contract.NfsTarget)",
        "target.kind == 'nfs'",
        "'null' != place.kind",
        "backend.kind in ('null', 'other')",
        "kind not in known and kind == 'file'",
        "KINDS = ('file', 'device')",
        "SPEEDS = {'file': 1, 'nfs': 2}",
        "match target:\n    case model.NfsTarget():\n        pass",
        "match target.kind:\n    case 'nfs':\n        pass",
        "from assay.kinds.nfs.study import PORT",
        "from assay.kinds import nfs",
        "import assay.kinds.file.handler",
    ],
)
def test_a_question_of_kind_is_seen(text: str) -> None:
    assert len(list(check_kinds.found_in(text, WORDS))) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "target.keeps_data",
        "isinstance(target, Target)",
        "layer.kind == 'memory'",
        "look(path) == 'file'",
        "case = Study.model_validate({'kind': 'file', 'path': '/x'})",
        "ACCESS = ('file', 'block', 'object')",
        "NullTarget(kind='null')",
        "match look(path):\n    case 'file':\n        pass",
        "from assay.kinds.handler import handler_of",
    ],
)
def test_what_is_no_question_of_kind_passes(text: str) -> None:
    assert list(check_kinds.found_in(text, WORDS)) == []


def test_a_kind_may_name_itself_and_no_other_one(tmp_path: Path) -> None:
    for kind in ("file", "nfs"):
        folder = tmp_path / "kinds" / kind
        folder.mkdir(parents=True)
        (folder / "study.py").write_text("class Target: ...\n")
    (tmp_path / "kinds" / "nfs" / "job.py").write_text(
        "from assay.kinds.nfs.study import A\nfrom assay.kinds.file.study import B\nisinstance(x, NfsTarget)\n"
    )
    (tmp_path / "run.py").write_text("x = 1\nif target.kind == 'nfs': pass\n")
    assert check_kinds.problems(tmp_path) == [
        "kinds/nfs/job.py:2: from assay.kinds.file.study import B: asks for the kind",
        "run.py:2: target.kind == 'nfs': asks for the kind",
    ]

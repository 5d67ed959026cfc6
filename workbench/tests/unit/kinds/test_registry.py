"""Kinds of target are found by their folders, and one that leaves something open is not loaded."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay.kinds
from assay.model.study.kinds import KIND_MODULES, kinds

NEW = Path(__file__).parents[2] / "support" / "new_kind"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of kinds besides Assay's own, with one new kind in it."""
    shutil.copytree(NEW, tmp_path, dirs_exist_ok=True)
    assay.kinds.__path__.append(str(tmp_path))
    kinds.cache_clear()
    yield tmp_path / "ram"
    assay.kinds.__path__.remove(str(tmp_path))
    kinds.cache_clear()
    for name in [name for name in sys.modules if name.startswith("assay.kinds.ram")]:
        del sys.modules[name]


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_kinds_are_in_the_order_in_which_people_meet_them() -> None:
    assert list(kinds())[:9] == ["file", "device", "nfs", "smb", "s3", "dynamodb", "aoe", "mpiio", "null"]


def test_a_new_folder_is_a_new_kind(folder: Path) -> None:
    assert "ram" in kinds()


@pytest.mark.parametrize("part", [f"{part}.py" for part in KIND_MODULES])
def test_a_kind_without_a_file_is_refused(folder: Path, part: str) -> None:
    (folder / part).unlink()
    with pytest.raises(TypeError, match=f"assay.kinds.ram has no {part}"):
        kinds()


@pytest.mark.parametrize(
    ("trait", "line"),
    [
        ("keeps_data", "    keeps_data: ClassVar[bool] = True\n"),
        ("through_kernel", "    through_kernel: ClassVar[bool] = False\n"),
        ("times_out_when_lost", "    times_out_when_lost: ClassVar[bool] = False\n"),
        ("rank", "    rank: ClassVar[int] = 6\n"),
        (
            "description",
            '    description: Text = Field("", description="Description of the target, for the report.")\n',
        ),
    ],
)
def test_a_kind_that_forgets_a_fact_is_refused(folder: Path, trait: str, line: str) -> None:
    change(folder / "study.py", line, "")
    with pytest.raises((TypeError, AttributeError), match=trait):
        kinds()


@pytest.mark.parametrize("member", ["path", "services", "crosscheck"])
def test_a_kind_that_forgets_a_method_is_refused(folder: Path, member: str) -> None:
    change(folder / "study.py", f"    def {member}(", f"    def other_{member}(")
    with pytest.raises(TypeError, match=f"RamTarget does not define {member}"):
        kinds()


def test_a_kind_is_called_like_its_folder(folder: Path) -> None:
    change(folder / "study.py", 'Literal["ram"]', 'Literal["memory"]')
    with pytest.raises(TypeError, match="RamTarget is of kind memory"):
        kinds()


def test_a_keeper_that_leaves_something_open_cannot_be_used(folder: Path) -> None:
    from assay.kinds.handler import handler_of

    change(folder / "handler.py", "def clean(", "def other(")
    target = kinds()["ram"].model_validate({"kind": "ram", "block": "1MiB"})
    with pytest.raises(TypeError, match="clean"):
        handler_of(target)

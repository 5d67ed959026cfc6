"""The check of how many files a folder has finds what it must, and only that."""

import sys
from pathlib import Path

from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_folders  # noqa: E402


def test_only_files_of_source_count_each_in_its_own_folder(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py", "d.yaml", "inner/e.py", "inner/f.py"):
        file = tmp_path / "workbench" / "src" / "assay" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    assert check_folders.problems(tmp_path, most=2) == ["workbench/src/assay: 3 files, 2 at most: sort them"]
    assert check_folders.problems(tmp_path, most=3) == []


def test_two_test_files_of_one_name_are_a_problem(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / "workbench" / "tests" / folder).mkdir(parents=True)
        (tmp_path / "workbench" / "tests" / folder / "test_same.py").touch()
    assert check_folders.problems(tmp_path) == ["test_same.py: the name of 2 test files: rename all but one"]

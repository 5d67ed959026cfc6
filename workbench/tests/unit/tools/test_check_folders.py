"""The check of folders finds what it must, and only that."""

import sys
from pathlib import Path

from paths import REPOSITORY

TOOLS = REPOSITORY / "tools"
sys.path.insert(0, str(TOOLS))

import check_folders  # noqa: E402


def write(folder: Path, *names: str) -> None:
    """Empty files below a folder."""
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")


def test_subjects_count_each_in_its_own_folder(tmp_path: Path) -> None:
    # Two modules of one subject, data, what is called after the folder and sub-folders count for nothing.
    files = ("__init__.py", "a.py", "b.py", "c.py", "c_more.py", "d.yaml", "inner/e.py", "inner/f.py")
    write(tmp_path / "workbench" / "src" / "assay", *files)
    assert check_folders.problems(tmp_path, most=2) == ["workbench/src/assay: 3 subjects, 2 at most: sort them"]
    assert check_folders.problems(tmp_path, most=3) == []


def test_a_subject_of_many_modules_deserves_a_folder(tmp_path: Path) -> None:
    names = [f"a_{number}.py" for number in range(check_folders.MAX_MODULES + 1)]
    write(tmp_path / "workbench" / "src" / "assay", *names[:-1])
    assert check_folders.problems(tmp_path) == []
    write(tmp_path / "workbench" / "src" / "assay", names[-1])
    (problem,) = check_folders.problems(tmp_path)
    assert problem == "workbench/src/assay: 9 modules begin with a, 8 at most: give them a folder"


def test_a_folder_for_one_module_is_a_problem(tmp_path: Path) -> None:
    place = tmp_path / "workbench" / "src" / "assay"
    write(place, "a.py", "b.py", "one/__init__.py", "one/c.py", "data/__init__.py", "data/c.py", "data/d.yaml")
    assert check_folders.problems(tmp_path) == ["workbench/src/assay/one: a folder for c.py alone: move it up"]


def test_two_test_files_of_one_name_are_a_problem(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / "workbench" / "tests" / folder).mkdir(parents=True)
        (tmp_path / "workbench" / "tests" / folder / "test_same.py").touch()
    assert check_folders.problems(tmp_path) == ["test_same.py: the name of 2 test files: rename all but one"]

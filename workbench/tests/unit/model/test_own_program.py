"""This program is started anew without what lies in the working directory, and finds no program there."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

from assay.model.own_program import absolute_folders, own_command, without_working_directory

SOURCE = REPOSITORY / "workbench" / "src" / "assay"
SAFE = ("-I", "-P")


def test_isolated_where_its_packages_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":")
    monkeypatch.setattr("site.getusersitepackages", lambda: "/nowhere")
    assert own_command() == [sys.executable, "-I", "-m", "assay"]


@pytest.mark.parametrize("user", [False, True])
def test_packages_of_the_user_are_found_again(monkeypatch: pytest.MonkeyPatch, user: bool) -> None:
    monkeypatch.setenv("PYTHONPATH", "" if user else f"/x:{SOURCE.parent}:")
    monkeypatch.setattr("site.getusersitepackages", lambda: str(SOURCE.parent) if user else "/nowhere")
    assert own_command() == [sys.executable, "-P", "-m", "assay"]


def test_the_module_itself_imports_nothing_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise SystemExit(77)")
    for words in (own_command(), [sys.executable, "-m", "assay"]):
        done = subprocess.run([*words, "--version"], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("folders", "kept"), [("", ""), (":", ""), ("/a::/b:", "/a:/b"), (".:/a:bin:../b", "/a"), ("/a", "/a")]
)
def test_only_folders_that_are_the_same_from_everywhere_are_searched(folders: str, kept: str) -> None:
    assert absolute_folders(folders) == kept
    environment = {"PATH": folders, "HOME": "."}
    without_working_directory(environment)
    assert environment == {"PATH": kept, "HOME": "."}


def _pythons(path: Path) -> list[tuple[int, str]]:
    """Line and first option of each list of words in a module that starts a Python."""
    found = []
    text = path.read_text()
    if "sys.executable" not in text and not re.search("['\"]python3?['\"]", text):
        return found
    for node in ast.walk(ast.parse(text)):
        words = [ast.unparse(word) for word in node.elts] if isinstance(node, ast.List | ast.Tuple) else []
        if len(words) > 1 and words[0] in ("sys.executable", "'python3'", "'python'"):
            found.append((node.lineno, words[1].strip("'")))
    return found


def test_no_python_is_started_that_imports_from_the_working_directory() -> None:
    pythons = {path: _pythons(path) for path in SOURCE.rglob("*.py")}
    assert sum(map(len, pythons.values())) >= 4, "those of reading, of locks, of servers, of round trips"
    wrong = [
        f"{path}:{line}" for path, found in pythons.items() for line, option in found if option not in (*SAFE, "mode")
    ]
    described = [path for path in SOURCE.rglob("*.yaml") if "$python" in path.read_text()]
    for path in described:
        text = path.read_text().split()
        wrong += [
            str(path) for at, word in enumerate(text) if word.endswith("$python") and "-P" not in text[at : at + 3]
        ]
    assert wrong == [] and described


def test_a_path_of_the_working_directory_is_left_out_when_a_command_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.cli.main import main

    monkeypatch.setenv("PATH", f":.:{os.environ['PATH']}")
    main(["--version"])
    assert all(folder.startswith("/") for folder in os.environ["PATH"].split(":"))

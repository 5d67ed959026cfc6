"""Manual pages: one for each command, with all its options, and in roff that a formatter takes without a word."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

from assay.cli.main import COMMANDS

sys.path.insert(0, str(REPOSITORY / "tools"))

import manpages


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    found: dict[str, str] = manpages.pages()
    return found


def test_each_command_has_a_page_and_the_first_names_them_all(pages: dict[str, str]) -> None:
    assert list(pages) == ["assay.1", *(f"assay-{name}.1" for name in COMMANDS)]
    assert all(f".BR assay\\-{name} (1)" in pages["assay.1"] for name in COMMANDS)


def test_a_page_has_what_the_command_takes_and_its_commands(pages: dict[str, str]) -> None:
    assert all(f"\\-\\-{word}" in pages["assay-run.1"] for word in ("resume", "set", "only", "quiet", "out", "json"))
    assert ".SH ASSAY PRICES IMPORT\n" in pages["assay-prices.1"] and "\\-\\-output" in pages["assay-prices.1"]


def test_what_roff_would_obey_is_text() -> None:
    assert manpages._text(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert manpages._text("a\\b --c") == "a\\eb \\-\\-c"


@pytest.mark.skipif(not shutil.which("groff"), reason="there is no groff")
def test_a_formatter_takes_every_page_without_a_warning(pages: dict[str, str], tmp_path: Path) -> None:
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    words = ["groff", "-man", "-ww", "-Tutf8", *(str(tmp_path / name) for name in pages)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stderr == "" and "ASSAY-RUN(1)" in done.stdout

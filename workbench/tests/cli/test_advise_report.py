"""`assay advise --output` by the real command."""

import json
import shutil
from pathlib import Path

import pytest
from advise_tools import NEEDS
from run_tools import assay

from assay.rooms.advice.model.advice import Advice


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("01-home.yaml", "09-shared-objects.yaml", "book.yaml"):
        shutil.copy(NEEDS / name, tmp_path)
    return tmp_path


def test_it_writes_one_page_and_prints_the_answer_as_without(folder: Path) -> None:
    bare = assay(folder, "advise", "09-shared-objects.yaml")
    done = assay(folder, "advise", "09-shared-objects.yaml", "--output", "page.html")
    assert done.stdout == bare.stdout and done.stderr.replace("the page is page.html\n", "") == bare.stderr
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and text.endswith("</html>\n") and 'id="change"' in text
    # No half-written file is left beside it.
    assert sorted(path.name for path in folder.iterdir()) == [
        "01-home.yaml",
        "09-shared-objects.yaml",
        "book.yaml",
        "page.html",
    ]


def test_the_same_answer_replaces_the_page_with_the_same_one(folder: Path) -> None:
    assay(folder, "advise", "09-shared-objects.yaml", "--output", "page.html")
    before = (folder / "page.html").read_bytes()
    assay(folder, "advise", "09-shared-objects.yaml", "--output", "page.html")
    assert (folder / "page.html").read_bytes() == before


def test_json_carries_the_picture(folder: Path) -> None:
    done = assay(folder, "advise", "09-shared-objects.yaml", "--output", "page.html", "--json")
    advice = Advice.model_validate(json.loads(done.stdout))
    assert advice.sensitivity is not None and advice.sensitivity.capacity.curves and advice.sensitivity.tornado
    bare = json.loads(assay(folder, "advise", "09-shared-objects.yaml", "--json").stdout)
    assert bare["sensitivity"] is None


def test_a_place_that_cannot_be_written_is_one_line(folder: Path) -> None:
    done = assay(folder, "advise", "09-shared-objects.yaml", "--output", "no/such/page.html", expect=2)
    assert "error: cannot write no/such/page.html: there is no folder no/such\n" in done.stderr
    assert "hint: create it, or choose another path with --output" in done.stderr


def test_nothing_is_a_page_and_an_exit_code_too(folder: Path) -> None:
    text = (folder / "09-shared-objects.yaml").read_text() + "\nbudget: 1 USD/month\n"
    (folder / "dear.yaml").write_text(text)
    assay(folder, "advise", "dear.yaml", "--output", "page.html", expect=1)
    assert "Nothing meets this need" in (folder / "page.html").read_text(encoding="utf-8")

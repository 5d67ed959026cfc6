"""The page: markers, commands, and what must not be written."""

from __future__ import annotations

import page
import pytest
from model import BenchError
from results import Results
from test_figures import made_up


def filled(template: str) -> str:
    """The template with the results of one row."""
    row, result = made_up()
    result.commands = {
        "assay": [["/x/assay-engine", "run", '{"id": "x y"}']],
        "fio": [["/usr/bin/fio", "--name=a b"]],
    }
    return page.fill(template, [row], Results({"kernel": "6"}, {"fio": "3"}, 3, 0.5, 1.5, {"row": result}))


def test_markers_become_tables():
    """All of them, and nothing else changes."""
    text = filled("# Title\n\n{{machine}}\n\n{{goals}}\n\n{{rows}}\n\n{{commands}}\n\nend\n")
    assert "{{" not in text
    assert text.startswith("# Title\n") and text.endswith("\nend\n")
    assert "| kernel | 6 |" in text and "### A row" in text and "**A row**" in text
    assert """echo '{"id": "x y"}' > job.json; assay-engine run job.json""" in text
    assert "fio '--name=a b'" in text


def test_a_placed_row_is_not_repeated():
    """`{{rows}}` stands for the others."""
    assert filled("{{row row}}\n{{rows}}\n").count("### A row") == 1


def test_an_unknown_marker_is_refused():
    """With its name."""
    with pytest.raises(BenchError, match="nonsense"):
        filled("{{nonsense}}\n")


def test_the_template_can_be_filled():
    """The one that is committed has no marker but the known ones."""
    assert "{{" not in filled(page.TEMPLATE.read_text())


def test_no_page_without_all_rows():
    """What is missing is named."""
    row, _ = made_up()
    with pytest.raises(BenchError, match="row"):
        page.write([row], Results({}, {}, 3, 0.5))

"""The parts of papers: what stands in them of a run, and what an author's text becomes."""

import os
import re
from pathlib import Path

import pytest
from builders import make_analysis
from page_runs import store_page_run
from paths import GOLDEN
from priced import priced_run
from report_parts import text_of
from sample_run import sample_run

from assay.report.document import Bullets, CodeBlock, Heading, Mono, Paragraph, Strong, Table, plain_text
from assay.report.markdown import render_markdown
from assay.report.view import RunView
from assay.rooms.paper.work.build import paper_of_runs
from assay.rooms.paper.work.prose import WrongProseError, read_prose
from assay.run.analysis import load_analysis

PICTURE = re.compile(r"\(data:image/svg\+xml;base64,[^)]+\)")
SAMPLE = {"a": RunView(sample_run())}


def abstract(view: RunView) -> str:
    return text_of(paper_of_runs({"a": view}).document.sections[0])


def test_a_run_alone_becomes_a_whole_paper() -> None:
    paper = paper_of_runs(SAMPLE)
    document = paper.document
    assert document.title == "Local disk or memory-backed scratch, for which kind of work?"
    assert [section.id for section in document.sections] == ["abstract", "results", "method", "limits", "appendix"]
    rows = [len(block.rows) for section in document.sections for block in section.blocks if isinstance(block, Table)]
    assert rows and max(rows) <= 20
    assert text_of(document.sections[1]).endswith("assay report 20261118-124640-sample.")


@pytest.mark.parametrize("name", ["crossing", "need-missed", "stopped-and-cached"])
def test_papers_word_for_word(name: str, tmp_path: Path) -> None:
    """`ASSAY_GOLDEN=write` writes the files anew; pictures are left out."""
    analysis = load_analysis(str(store_page_run(tmp_path, name)), tmp_path)
    text = PICTURE.sub("(picture)", render_markdown(paper_of_runs({name: RunView(analysis)}).document))
    golden = GOLDEN / "papers" / f"{name}.md"
    if os.environ.get("ASSAY_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_the_abstract_states_what_is_decided() -> None:
    text = abstract(SAMPLE["a"])
    assert "memory is faster than disk for all 4 kinds of work: typically 7.3×, at least 4.2×" in text
    assert "185 of 194 results passed every check that could run" in text and "  " not in text
    assert "19,500" not in text, "the rate of the cache"


def test_the_abstract_says_that_nothing_is_decided() -> None:
    text = abstract(RunView(priced_run()))
    assert "The measurements do not decide which target is faster." in text and "is faster than" not in text
    assert "USD" in text


def test_costs_stand_only_in_papers_of_runs_with_prices() -> None:
    ids = [section.id for section in paper_of_runs({"a": RunView(priced_run())}).document.sections]
    assert ids.index("cost") == 2
    assert "cost" not in [section.id for section in paper_of_runs({"a": RunView(make_analysis())}).document.sections]


def test_limits_have_each_caveat_with_its_remedy() -> None:
    (limits,) = (section for section in paper_of_runs(SAMPLE).document.sections if section.id == "limits")
    text = text_of(limits)
    assert "2 of 91 comparisons could not be made: disk is cached." in text and "takes an hour" in text


def test_parts_of_several_runs_have_the_names_of_these_and_ids_of_their_own() -> None:
    document = paper_of_runs({"a": SAMPLE["a"], "b": RunView(make_analysis())}).document
    (limits,) = (section for section in document.sections if section.id == "limits")
    assert [block.text for block in limits.blocks if isinstance(block, Heading)] == ["a", "b"]
    ids = [block.id for section in document.sections for block in section.blocks if isinstance(block, Table | Heading)]
    assert len(ids) == len(set(ids))


def test_several_runs_have_one_abstract_and_their_results_in_the_same_tables() -> None:
    document = paper_of_runs(dict.fromkeys("ab", SAMPLE["a"])).document
    assert abstract(SAMPLE["a"]) != (text := text_of(document.sections[0]))
    assert text.startswith("2 runs of sample") and "a: memory is faster than disk" in text
    tables = [block for block in document.sections[1].blocks if isinstance(block, Table)]
    assert tables and all([column.title for column in table.columns][-2:] == ["a", "b"] for table in tables)


def test_many_runs_have_the_range_of_each_operation_and_what_is_said_alike_once() -> None:
    views = {f"r{number}": SAMPLE["a"] for number in range(8)}
    document = paper_of_runs(views).document
    (ranges,) = (block for block in document.sections[1].blocks if isinstance(block, Table))
    assert [row[0] for row in ranges.rows] == list(views) and "to" in str(ranges.rows[0][1])
    (limits,) = (section for section in document.sections if section.id == "limits")
    heads = [block.text for block in limits.blocks if isinstance(block, Heading)]
    assert heads == ["r0, r1, r2, r3, r4 and 3 more"]
    assert "Within the runs," in text_of(document.sections[0])


def test_prose_is_a_small_part_of_markdown() -> None:
    text = (
        "# One *x*\n\nA **b** and `c_d`,\nthen \\*e\\* <i>.\n## Two\n- first\n  goes on\n- {{ rate(disk, depth, "
        "random_read, queue_depth=1) }}\n\n```\n{{ kept }}\n```\nend"
    )
    blocks = read_prose(text, SAMPLE).blocks
    kinds = [Heading, Paragraph, Heading, Bullets, CodeBlock, Paragraph]
    assert [type(block) for block in blocks] == kinds
    head, paragraph, _, bullets, code, _ = blocks
    assert isinstance(head, Heading) and (head.level, head.text) == (2, "One *x*")
    assert isinstance(paragraph, Paragraph)
    assert plain_text(paragraph.text) == "A b and c_d, then *e* <i>."
    assert Strong("b") in paragraph.text and Mono("c_d") in paragraph.text
    assert isinstance(bullets, Bullets) and plain_text(bullets.items[0]) == "first goes on"
    assert plain_text(bullets.items[1]).endswith(" MB/s")
    assert isinstance(code, CodeBlock) and code.text == "{{ kept }}"


def test_faults_and_doubts_have_the_line_of_their_reference() -> None:
    doubtful = "one\n\ntwo\n{{ rate(disk,\n  cached, read) }} three {{ rate(disk, cached, read) }}"
    assert [remark.line for remark in read_prose(doubtful, SAMPLE).remarks] == [3, 4]
    for text, line in (("a\n\n{{ b", 2), ("a\n{{ rate(x) }}", 1), ("```\n{{ a }}\n```\n\n{{ a }}", 4)):
        with pytest.raises(WrongProseError) as error:
            read_prose(text, SAMPLE)
        assert error.value.line == line

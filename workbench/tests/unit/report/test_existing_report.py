"""Data sets that were there already, in the report."""

from typing import Any

from builders import make_case, make_run, make_sample

from assay.analyse.rows import analyse
from assay.judge.judge import judge
from assay.model.result.objects import ExistingObjects
from assay.model.result.result import RunAnalysis
from assay.model.result.sample import KindCounts
from assay.report.build import build_document
from assay.report.document import Table
from assay.report.html import render_html

KIB = 1 << 10


def found(repeat: int) -> ExistingObjects:
    return ExistingObjects(
        listed=5000, listed_bytes=4096 * KIB, objects=100, bytes=(70 + repeat) * KIB, smallest_bytes=0,
        median_bytes=KIB, largest_bytes=8 * KIB,
    )  # fmt: skip


def analysis(existing: bool) -> RunAnalysis:
    objects: dict[str, Any] = {"file_size": 0, "record_size": None, "objects": 100, "cache": "keep", "sync": "none"}
    case = make_case(operations=("get",), **objects, object_size=None if existing else 64 * KIB)
    samples = [
        make_sample(
            repeat=repeat,
            operation="get",
            read_bytes=16 << 20,
            write_bytes=0,
            kinds=(KindCounts(kind="get", ops=256, bytes=16 << 20),),
            existing=found(repeat) if existing else None,
        )
        for repeat in (1, 2, 3)
    ]
    return analyse(make_run(), (case,), (), samples, (), judge)


def test_the_objects_are_described_where_the_targets_are() -> None:
    document = build_document(analysis(True))
    (options,) = [section for section in document.sections if section.id == "environment"]
    (table,) = [block for block in options.blocks if isinstance(block, Table) and block.id == "existing-table"]
    (row,) = table.rows
    texts = [str(getattr(cell, "text", cell)) for cell in row]
    assert texts == ["disk", "grid", "5,000", "4 MiB", "100", "71 KiB to 73 KiB", "0 B", "1 KiB", "8 KiB"]


def test_nothing_is_said_of_data_that_nobody_has_made() -> None:
    existing, made = (render_html(build_document(analysis(one))) for one in (True, False))
    for words in ("a put ends when the service has answered", "incompressible"):
        assert words in made and words not in existing
    assert "Objects per lane, at most" in existing and "Objects per lane, at most" not in made
    assert "existing objects" in existing and "are not known and not checked" in existing
    assert "existing-table" not in made and "Objects that were there" not in made

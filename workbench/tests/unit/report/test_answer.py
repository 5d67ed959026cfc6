"""The short answer where there is nothing to compare."""

from builders import answered
from sample_run import sample_run

from assay.model.result.verdict import Finding, Verdict
from assay.report.build import build_document
from assay.report.document import KeyFigures, Paragraph
from assay.report.view import View, sound


def test_a_run_of_one_target_says_where_it_is_slowest_and_fastest() -> None:
    whole = sample_run()
    alone = answered(whole.model_copy(update={"rows": tuple(row for row in whole.rows if row.case.target == "disk")}))
    answer = next(part for part in build_document(alone).sections if part.id == "rests")
    (cards,) = (block.items for block in answer.blocks if isinstance(block, KeyFigures))
    reads = [row for row in alone.rows if row.operation == "read" and row.rate is not None and sound(row)]
    slowest, *_, fastest = sorted(reads, key=lambda row: row.rate.median if row.rate else 0)
    view = View(alone)
    words = f"slowest at {view.point_of(slowest)}, fastest at {view.point_of(fastest)}"
    assert words in next(card for card in cards if card.label == "Sequential read").details


def test_what_nobody_can_vouch_for_answers_and_is_called_so() -> None:
    whole = sample_run()
    finding = Finding(verdict=Verdict.UNVERIFIED, rule="r", text="", remedy="", numbers={})
    doubted = tuple(
        row.model_copy(update={"verdict": Verdict.UNVERIFIED, "findings": (finding,)})
        for row in whole.rows
        if row.case.target == "disk"
    )
    alone = answered(whole.model_copy(update={"rows": doubted}))
    answer = next(part for part in build_document(alone).sections if part.id == "rests")
    said = next(block.text for block in answer.blocks if isinstance(block, Paragraph))
    assert "at all points that are sound, lower bounds or unverified" in str(said)
    (cards,) = (block.items for block in answer.blocks if isinstance(block, KeyFigures))
    for card in cards:
        count = next(detail for detail in card.details if detail.endswith("unverified")).split()
        assert count[0] == count[2] != "0"

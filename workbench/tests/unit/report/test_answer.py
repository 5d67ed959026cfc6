"""The short answer where there is nothing to compare."""

from builders import answered
from report_parts import tables_of
from sample_run import sample_run

from assay.model.result.verdict import Finding, Verdict
from assay.report.build import build_document
from assay.report.view import RunView, is_sound


def test_a_run_of_one_target_says_where_it_is_slowest_and_fastest() -> None:
    whole = sample_run()
    alone = answered(whole.model_copy(update={"rows": tuple(row for row in whole.rows if row.case.target == "disk")}))
    table = tables_of(next(part for part in build_document(alone).sections if part.id == "evidence"))["alone-table"]
    reads = [
        row for row in alone.rows if row.operation in ("read", "reread") and row.rate is not None and is_sound(row)
    ]
    slowest, *_, fastest = sorted(reads, key=lambda row: row.rate.median if row.rate else 0)
    view = RunView(alone)
    line = next(row for row in table.rows if row[0] == "Sequential read")
    assert str(line[3]).endswith(f"({view.point_of(slowest)})") and str(line[4]).endswith(f"({view.point_of(fastest)})")


def test_what_nobody_can_vouch_for_answers_and_is_called_so() -> None:
    whole = sample_run()
    finding = Finding(verdict=Verdict.UNVERIFIED, rule="r", text="", remedy="", numbers={})
    doubted = tuple(
        row.model_copy(update={"verdict": Verdict.UNVERIFIED, "findings": (finding,)})
        for row in whole.rows
        if row.case.target == "disk"
    )
    alone = answered(whole.model_copy(update={"rows": doubted}))
    table = tables_of(next(part for part in build_document(alone).sections if part.id == "evidence"))["alone-table"]
    counted = sum(getattr(row[2], "value", 0) for row in table.rows)
    assert f"lower bounds), {counted:,} of them unverified." in table.caption

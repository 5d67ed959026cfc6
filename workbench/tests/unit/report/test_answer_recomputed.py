"""The answer's numbers come out of an export again, by a script of a few lines that knows nothing of Assay."""

import json
import runpy
import sys
from pathlib import Path

import pytest
from builders import answered
from paths import REPOSITORY
from sample_run import sample_run

from assay.model.result.result import RunAnalysis
from assay.model.result.verdict import Finding, Verdict
from assay.report.claims import find_claims
from assay.report.export_json import json_document

SCRIPT = REPOSITORY / "docs" / "reference" / "recompute.py"


def recomputed(run: RunAnalysis, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What the script leaves behind."""
    file = folder / "run.json"
    file.write_text(json.dumps(json_document(run)))
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(file)])
    return runpy.run_path(str(SCRIPT))


def held(run: RunAnalysis) -> RunAnalysis:
    """The client held the faster target, and one result is a cache's."""
    client = Finding(verdict=Verdict.CLIENT_BOUND, rule="r", text="", remedy="", numbers={})
    cached = client.model_copy(update={"verdict": Verdict.CACHED})
    rows = [
        row.model_copy(update={"verdict": finding.verdict, "findings": (finding,)})
        if row.case.target == "memory" and (finding := cached if place == 1 else client)
        else row
        for place, row in enumerate(run.rows)
    ]
    return answered(run.model_copy(update={"rows": tuple(rows)}))


@pytest.mark.parametrize("change", [answered, held])
def test_a_script_recomputes_the_answer(
    change: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = change(sample_run())  # type: ignore[operator]
    recomputed(run, tmp_path, monkeypatch)
    lines = capsys.readouterr().out.splitlines()
    found = find_claims(run.decisions)
    assert len([line for line in lines if "points count" in line]) == len(found)
    for claim in found:
        assert any(line.endswith(f"{claim.counted_points} of {len(claim.points)} points count") for line in lines)
        for target in (claim.base, claim.other):
            if claim.points_won_by(target):
                words = (
                    f"  {target} faster at {len(claim.points_won_by(target))}, at least {claim.min_ratio(target):.4g}x"
                )
                assert any(line.startswith(words) for line in lines), words


def test_the_script_notices_a_sentence_that_does_not_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = answered(sample_run())
    decision = run.decisions[0]
    bold = decision.points[0].model_copy(update={"at_least": 1e6})
    wrong = decision.model_copy(update={"points": (bold, *decision.points[1:])})
    with pytest.raises(AssertionError):
        recomputed(run.model_copy(update={"decisions": (wrong, *run.decisions[1:])}), tmp_path, monkeypatch)

"""`import assay`: what was measured, as data frames with types; and what goes wrong, as errors."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from in_process import run_here
from stored_runs import DAY, STARTED, noisy, store_run

import assay
from assay.api.frames import decisions_frame

SPEEDS = {(target, work): noisy(300e6) for target in ("disk", "ssd") for work in ("write", "read")}
NAMES = """
import sys, assay
before = sorted(name for name in sys.modules if name.startswith("assay."))
assert before == [], before
assert not {"typer", "pydantic", "numpy", "pandas"} & set(sys.modules)
assert set(assay.__all__) <= set(dir(assay)) | {"AssayError", "Run", "StudyError", "load", "run"}
import assay.run.session
assay.load
assert callable(assay.run) and assay.run.session.start
assert "pandas" not in sys.modules
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    store_run(tmp_path / "assay-runs", "a", SPEEDS, axes={"record_size": 65536})
    store_run(tmp_path / "assay-runs", "b", SPEEDS, study="other", created_at=STARTED + DAY)
    return tmp_path / "assay-runs"


def test_nothing_is_loaded_before_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", NAMES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_is_found_by_folder_id_study_and_last(root: Path) -> None:
    found = [assay.load(name, out=root).id for name in (root / "a", "a", "nightly", "last", "other")]
    assert found == ["a", "a", "a", "b", "b"]
    run = assay.load("a", out=root)
    assert (run.status, run.study, run.answers) == ("complete", "study: nightly\n", ())
    assert repr(run) == "<Run a: complete, 20 of 20 repeats>"


def test_the_folder_of_the_runs_is_that_of_the_command_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUNS", str(root))
    assert assay.load("last").folder == root / "b"


def test_results_are_those_of_the_export_with_types(root: Path) -> None:
    pd = pytest.importorskip("pandas")
    run_here(root.parent, "export", "a", "--format", "csv", "--output", "a.csv")
    with (root.parent / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = assay.load("a", out=root).results
    assert list(found.columns) == list(rows[0]) and len(found) == len(rows) == 4
    exact = [float(row["throughput_median_bytes_per_s"]) for row in rows]
    assert found["throughput_median_bytes_per_s"].tolist() == exact
    assert isinstance(found["target"].dtype, pd.CategoricalDtype)
    assert (str(found["n"].dtype), str(found["is_partly_checked"].dtype)) == ("Int64", "boolean")
    assert str(found["throughput_low_bytes_per_s"].dtype) == "float64" and found["binding_share"].isna().all()
    assert found["files"].isna().all() and str(found["files"].dtype) == "Int64"


def test_samples_and_decisions_have_a_row_for_each(root: Path) -> None:
    pytest.importorskip("pandas")
    run = assay.load("a", out=root)
    assert len(run.samples) == 40 and sorted(set(run.samples["repeat"])) == list(range(1, 11))
    decisions = run.decisions
    assert set(decisions["operation"]) == {"write", "read"} and decisions["record_size"].tolist() == [65536, 65536]
    assert str(decisions["record_size"].dtype) == "Int64"
    points = [point for decision in run.analysis.decisions for point in decision.points]
    assert decisions["outcome"].tolist() == [str(point.outcome) for point in points]
    assert decisions["faster"].isna().tolist() == [not point.winner for point in points]
    assert len(run.tasks) == 0 and "exit_code" in run.tasks.columns
    assert len(run.costs) == len(run.ceilings) == 0 and "how" in run.ceilings.columns


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([True, None, False], "boolean"),
        ([4096, None, 2**40], "Int64"),
        ([0.5, None, 2], "float64"),
        (["shared", None, "random"], "string"),
        (["auto", 8, None], "string"),
    ],
)
def test_swept_parameters_have_the_type_of_their_values(root: Path, values: list[Any], kind: str) -> None:
    pytest.importorskip("pandas")
    analysis = assay.load("a", out=root).analysis
    decision = analysis.decisions[0]
    axes: list[dict[str, Any]] = [{} if value is None else {"swept": value} for value in values]
    points = tuple(decision.points[0].model_copy(update={"axes": each}) for each in axes)
    found = decisions_frame(
        analysis.model_copy(update={"decisions": (decision.model_copy(update={"points": points}),)})
    )
    assert str(found["swept"].dtype) == kind
    assert found["swept"].isna().tolist() == [value is None for value in values]
    assert found["swept"].dropna().tolist() == [
        str(value) if kind == "string" else value for value in values if value is not None
    ]


def test_without_pandas_the_error_says_how_to_get_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(assay.AssayError, match="pandas") as caught:
        _ = assay.load("a", out=root).results
    assert caught.value.hint == "pip install 'assay[notebook]'"
    assert caught.value.__notes__ == [f"hint: {caught.value.hint}"]


def test_the_report_is_that_of_the_command(root: Path, tmp_path: Path) -> None:
    assert assay.load("a", out=root).report(tmp_path / "r.html") == tmp_path / "r.html"
    run_here(root.parent, "report", "a", "--output", "c.html")
    assert (tmp_path / "r.html").read_bytes() == (root.parent / "c.html").read_bytes()


def test_all_problems_of_a_study_are_told_with_their_lines() -> None:
    with pytest.raises(assay.StudyError) as caught:
        assay.run("study: x\ntargets: 3\nrepeats: many\n")
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3]
    lines = str(caught.value).splitlines()
    assert len(lines) == 6 and lines[2].startswith("study:2: error: targets: 3 is not a mapping")


@pytest.mark.parametrize("study", [{"a": object()}, "no-such-study.yaml", {"study": {1, 2}}])
def test_what_is_no_study_is_an_error(study: object, tmp_path: Path) -> None:
    with pytest.raises(assay.AssayError):
        assay.run(study, out=tmp_path)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())

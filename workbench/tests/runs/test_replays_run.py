"""Traces that a study replays, from the study file to the report."""

from pathlib import Path

import pytest
from run_tools import assay, needs_engine, only_run
from trace_tools import packed

from assay.analyse.programs.replays import replay_result
from assay.run.analysis import load_analysis
from assay.store import RunStore

pytestmark = needs_engine

RECORDS = [
    "F\t1\tf\t9000\tin",
    "F\t2\tf\t-\tout",
    "F\t3\tf\t-\tmissing",
    "T\t1\t-\t0",
    "O\t1000\t20000\t1\topen\t1\t-\t-\t0\tr",
    "O\t30000\t40000\t1\tread\t1\t0\t8192\t8192\t-",
    "O\t100000\t9000\t1\topen\t3\t-\t-\t-ENOENT\tr",
    "O\t120000\t9000\t1\topen\t2\t-\t-\t0\twc",
    "O\t20000000\t50000\t1\twrite\t2\t0\t5000\t5000\t-",
    "O\t20100000\t2000\t1\tclose\t2\t-\t-\t0\t-",
    "E\t1\t20200000",
]
HEADER = '{"assay_trace":1,"source":"strace","duration_ns":20200000}'
STUDY = """
study: replays
targets:
  disk: {{kind: file, path: {folder}/disk}}
  other: {{kind: file, path: {folder}/other}}
commands:
  job: {{replay: job.trace.gz, pace: [recorded, fast], lanes: 2, verify: true, cache: keep}}
  differs: {{replay: differs.trace.gz, targets: [disk], cache: keep}}
repeats: 2
ceilings: none
prices:
  book: aws-eu-west-1
  designs: {{disk: {{design: nfs-volumes, set: {{capacity: 1TB}}}}}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the study that is over."""
    folder = tmp_path_factory.mktemp("replays")
    (folder / "job.trace.gz").write_bytes(packed(*RECORDS, head=HEADER))
    # A file that is there now was not when this was recorded.
    changed = [line.replace("missing", "in/side").replace("ENOENT", "EACCES") for line in RECORDS]
    (folder / "differs.trace.gz").write_bytes(packed(*changed, head=HEADER))
    (folder / "study.yaml").write_text(STUDY.format(folder=folder))
    checked = assay(folder, "check", "study.yaml").stdout
    assert "job: 6 operations of 1 task, 8.19 kB read, 5 kB written" in checked and "begins with 8.19 kB" in checked
    assay(folder, "run", "study.yaml", expect=1)
    return folder


def test_copies_are_kept_with_their_operations(folder: Path) -> None:
    with RunStore.open(only_run(folder)) as store:
        cases = {case.id for case in store.cases() if case.workload == "job"}
        samples = [sample for sample in store.samples() if sample.case in cases]
    assert len(samples) == 2 * 2 * 2
    for sample in samples:
        assert [replay.lane for replay in sample.replays] == [0, 1]
        for replay in sample.replays:
            counts = {name: (kind.count, kind.failed, kind.bytes) for name, kind in replay.kinds.items()}
            assert counts == {"open": (3, 1, 0), "read": (1, 0, 8192), "write": (1, 0, 5000), "close": (1, 0, 0)}
            assert (replay.recorded_ns, replay.recorded_io_ns, replay.differences) == (20_102_000, 130_000, 0)


def test_targets_are_compared_by_time_or_by_operations(folder: Path) -> None:
    analysis = load_analysis(str(only_run(folder)), folder / "assay-runs")
    found = {row.case.parameters.pace: (row, replay_result(row)) for row in analysis.rows if row.case.target == "other"}
    for pace, (row, result) in found.items():
        assert result is not None and result.copies == 2 and row.iops is not None
        # At its recorded pace a copy waits; fast, only the operations are left.
        compared = result.io_s if pace == "recorded" else result.wall_s
        ratios = [
            2 / (rate * time)
            for rate, time in zip((row.iops.low, row.iops.high), (compared.high, compared.low), strict=True)
        ]
        assert all(ratio == pytest.approx(1, rel=1e-6) for ratio in ratios)
        assert (result.due_s is None) is (pace == "fast")
        if pace == "recorded":
            assert result.wall_s.median >= 20_100_000 / 1e9 > result.io_s.median


def test_a_difference_is_no_result_and_is_shown_with_its_line(folder: Path) -> None:
    shown = assay(folder, "show", only_run(folder)).stdout
    assert "Difference" in shown and "recorded was EACCES" in shown
    with RunStore.open(only_run(folder)) as store:
        case = next(case.id for case in store.cases() if case.workload == "differs")
        assert {job.status for job in store.jobs(case)} == {"errors"}


def test_nothing_is_left_at_the_targets(folder: Path) -> None:
    assert not (folder / "disk").exists() and not (folder / "other").exists()


def test_the_report_has_replays(folder: Path) -> None:
    assay(folder, "report", only_run(folder))
    page = (only_run(folder) / "report.html").read_text()
    assert "Time of a replay: job on disk" in page and "replayed-kinds-table" in page and "replay-costs" in page


@pytest.mark.parametrize(
    ("content", "more", "message"),
    [
        (b"no trace", "", "not whole gzip"),
        (packed("T\t1\t-\t0", "O\t5\t1\t1\tstat\t1\t-\t-\t0\t-"), "", "line 3: file 1 is in no line before this one"),
        (packed(head='{"assay_trace":2}'), "", "a trace of format 2; this engine reads format 1"),
        (packed("F\t1\to\t5\ta", "T\t1\t-\t0", "O\t5\t1\t1\tget\t1\t0\t5\t5\t-"), "", "object"),
        (
            packed("F\t1\tf\t90000000000000000\ta", "T\t1\t-\t0", "O\t5\t1\t1\tread\t1\t80000000000000000\t5\t5\t-"),
            "",
            "fit",
        ),
        (packed(*RECORDS), ", sha256: " + 64 * "0", "its SHA-256 is"),
        (None, "", "No such file"),
    ],
    ids=["text", "unknown file", "format 2", "object", "space", "hash", "missing"],
)
def test_what_run_refuses_check_refuses(tmp_path: Path, content: bytes | None, more: str, message: str) -> None:
    if content is not None:
        (tmp_path / "t.gz").write_bytes(content)
    text = f"study: s\ntargets: {{d: {{kind: file, path: {tmp_path}/d}}}}\n"
    text += f"commands:\n  c: {{replay: {{path: t.gz{more}}}, cache: keep}}\nceilings: none\n"
    (tmp_path / "s.yaml").write_text(text)
    for command, code in (("check", 2), ("run", 3)):
        output = assay(tmp_path, command, "s.yaml", expect=code)
        (line,) = [line for line in output.stderr.splitlines() if "error: " in line]
        assert message in line, line
    assert not (tmp_path / "d").exists()

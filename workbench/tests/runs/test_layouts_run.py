"""Layouts of IOR, wear-out and IO500 in whole runs with the real engine: every byte that is read is checked."""

from pathlib import Path

import yaml
from run_tools import assay, needs_engine

from assay.analyse.io500_score import io500_scores
from assay.run.analysis import load_analysis

pytestmark = needs_engine

ROOT = Path(__file__).resolve().parents[3]
COMMON = "lanes: 3, cache: keep, verify: true"
LAYOUTS = f"""
study: layouts
targets: {{place: {{kind: file, path: PLACE}}}}
workloads:
  segmented: {{operations: [write, read], layout: shared, segments: 4, block_size: 12KiB, record_size: 4KiB, {COMMON}}}
  strided: {{operations: [write, read], layout: shared, segments: 50, block_size: 47008B,
    record_size: 47008B, reorder: lane, {COMMON}}}
  separate: {{operations: [write, random_read], segments: 4, block_size: 12KiB, record_size: 4KiB,
    reorder: random, {COMMON}}}
  worn: {{operations: [write, read, random_read], layout: shared, segments: 100, block_size: 64KiB, record_size: 16KiB,
    time_limit: 20ms, wear_out: true, reorder: lane, reorder_by: 2, {COMMON}}}
  names: {{operations: [create, stat, open, unlink], files: 200, depth: 2, width: 3, inner: true, reorder: lane,
    time_limit: 5s, wear_out: true, lanes: 3}}
  shared-names: {{operations: [create, readdir, stat, unlink], layout: shared, files: 50, file_size: 3901B,
    reorder: random, lanes: 3}}
repeats: 1
ceilings: none
"""


def test_another_lane_reads_what_was_written_in_every_layout(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(LAYOUTS.replace("PLACE", str(tmp_path / "place")))
    assay(tmp_path, "run", study)
    rows = load_analysis("last", tmp_path / "assay-runs").rows
    assert len(rows) == 2 + 2 + 2 + 3 + 4 + 4
    for row in rows:
        (sample,) = row.samples
        assert (sample.status in ("done", "time_limit"), sample.errors, sample.ops > 0) == (True, (), True), (
            row.operation
        )
        if sample.read_bytes:
            assert sample.verified_bytes == sample.read_bytes
    by_name = {(row.case.workload, row.operation): row.samples[0] for row in rows}
    assert by_name["strided", "read"].bytes == by_name["strided", "write"].bytes == 3 * 50 * 47008
    worn = by_name["worn", "write"]
    whole = 100 * 3 * 64 * 1024
    # Nobody knows whether a machine writes or reads it all within the limit.
    assert worn.bytes == whole if worn.at_limit is None else worn.ops == 3 * worn.at_limit.max_ops
    assert by_name["worn", "read"].ops <= worn.ops
    # A random order needs all of the file, which is made before, outside the timing.
    over_all = by_name["worn", "random_read"]
    assert over_all.bytes == whole if over_all.at_limit is None else over_all.ops == 3 * over_all.at_limit.max_ops
    # 200 files of each lane, in 13 directories of its tree.
    assert [by_name["names", name].ops for name in ("create", "stat", "open", "unlink")] == [600] * 4
    assert [by_name["shared-names", name].ops for name in ("create", "stat", "unlink")] == [150] * 3


def test_io500_gives_a_score_and_says_which_rules_it_has_not_kept(tmp_path: Path) -> None:
    written = yaml.safe_load((ROOT / "studies/io500/study.yaml").read_text())
    written |= {"ceilings": "none"}
    written["targets"]["place"]["path"] = str(tmp_path / "place")
    study = tmp_path / "study.yaml"
    study.write_text(yaml.safe_dump(written, sort_keys=False))
    small = ("time_limit=50ms", "ior-easy.block_size=64MiB", "ior-hard.segments=200", "lanes=2")
    few = ("mdtest-easy.files=500", "mdtest-hard.files=500", "mdtest-hard-read.files=100")
    words = [word for value in (*small, *few) for word in ("--set", value)]
    assay(tmp_path, "run", study, *words)
    (score,) = io500_scores(load_analysis("last", tmp_path / "assay-runs").rows)
    assert all(phase.value and phase.value > 0 for phase in score.phases)
    assert score.total and score.bandwidth and score.iops
    assert sum("to the stonewall, not 300 s" in rule for rule in score.broken_rules) == 4
    told = assay(tmp_path, "export", "last", "--format", "io500", "--output", "-").stdout
    shown = assay(tmp_path, "show", "last").stdout
    for line in told.strip().splitlines():
        assert line in shown
    assert f"TOTAL {score.total:.6f} [INVALID]" in told
    assert told.count("[RESULT]") == 12

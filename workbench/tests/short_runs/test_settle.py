"""`assay run RUN --resume --settle` with the real engine: killed, interrupted, repeated."""

import signal
import subprocess
from pathlib import Path

from killing import GUARD, wait_for_line
from run_tools import ASSAY, assay, needs_engine, only_run

from assay.store import RunStore

pytestmark = needs_engine

STUDY = """
study: settle
question: Which is faster?
targets:
  steady: {kind: "null", latency: {distribution: fixed, time: 4ms}}
  wild: {kind: "null", latency: {distribution: exponential, mean: 4ms}}
workloads:
  one: {operations: [random_read], file_size: 20KiB, record_size: 4KiB, cache: keep}
repeats: 5
ceilings: none
seed: 7
"""


def test_settle_survives_both_kinds_of_death_and_judges_anew(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    assay(tmp_path, "run", file)
    run = only_run(tmp_path)
    file.write_text(STUDY.replace("repeats: 5", "repeats: 9"))
    for death in (signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen(
            [ASSAY, "run", run, "--resume", "--settle"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        wait_for_line(process, "[")
        process.send_signal(death)
        process.communicate(timeout=GUARD)
    with RunStore.open(run) as store:
        (settling,) = store.info().added_repeats
        assert not settling.done and store.info().status == "interrupted"
        planned = store.order()
    done = assay(tmp_path, "run", run, "--resume", "--settle")
    assert "repeats to do" in done.stderr
    with RunStore.open(run) as store:
        info = store.info()
        assert (info.status, info.planned, store.pending()) == ("complete", info.finished, [])
        assert store.order() == planned and info.study_text == STUDY
        counts = {case.id: len(store.jobs(case.id)) for case in store.cases()}
        assert counts == {case.id: settling.repeats.get(case.id, 5) for case in store.cases()}
        assert {result.case: result.n for result in store.results()} == counts
        assert store.entries() == []

"""A run that must have ended at a moment, by a clock of the test's own."""

from collections import Counter
from pathlib import Path

import pytest
from run_tools import needs_engine

from assay.cli.quiet import QuietListener
from assay.cli.studyfile import check_study
from assay.model.deadline import Deadline
from assay.run.session import OUT_OF_TIME, start
from assay.store import RunStore

pytestmark = needs_engine

STUDY = """
study: timed
targets: {t: {kind: "null", latency: {distribution: fixed, time: 1ms}}}
workloads:
  w: {operations: [read], file_size: 1MiB, record_size: [4KiB, 64KiB], runtime: 10ms}
repeats: 40
ceilings: none
order: sequential
"""


class Asked:
    """Each time that it is asked the time, a second has gone by."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def ended(folder: Path, seconds: float) -> RunStore:
    plan = check_study(Path("study.yaml"), STUDY.encode())
    return start(plan, folder, False, QuietListener(), deadline=Deadline(seconds, 0.0, Asked(), lambda: 1.0))


@pytest.mark.parametrize(("seconds", "some"), [(60.0, True), (0.0, False)])
def test_a_run_ends_when_its_time_is_over_and_is_whole(tmp_path: Path, seconds: float, some: bool) -> None:
    store = ended(tmp_path, seconds)
    info, done = store.info(), Counter(attempt.case for attempt in store.attempts() if attempt.status == "ok")
    assert (info.status, info.finished) == ("complete", info.planned) and info.finished == sum(done.values())
    assert set(store.settled().values()) == {OUT_OF_TIME} and not store.pending()
    assert sum(done.values()) < 80 and bool(done) is some
    # Repeats are dropped before kinds of work.
    assert not some or max(done.values()) - min(done.values()) <= 1
    store.close()

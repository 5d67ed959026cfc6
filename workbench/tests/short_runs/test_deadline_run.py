"""A run that must have ended at a moment, by a clock of the test's own."""

from collections import Counter
from pathlib import Path

import pytest
from run_tools import needs_engine

from assay.cli.quiet import QuietListener
from assay.cli.studyfile import check_study
from assay.launch.other_load import LoadCause
from assay.model.deadline import Deadline
from assay.run.measure import OUT_OF_TIME
from assay.run.session import start
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


SHORT = STUDY.replace("repeats: 40", "repeats: {within: 50%, max: 60, time: 1s}").replace("[4KiB, 64KiB]", "4KiB")


class Asked:
    """Each time that it is asked the time, a second has gone by."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Heard(QuietListener):
    """Keeps what is said before and after the repeats."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def print_line(self, text: str) -> None:
        self.said.append(text)


def ended(folder: Path, seconds: float, listener: QuietListener | None = None) -> RunStore:
    plan, deadline = check_study(Path("study.yaml"), STUDY.encode()), Deadline(seconds, 0.0, Asked(), lambda: 1.0)
    return start(plan, folder, False, listener or QuietListener(), deadline=deadline)


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


def test_what_else_the_machine_does_is_one_line_before_a_run_and_no_time_is_said_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, busy = Heard(), LoadCause("other processes keep sda busy 45 % of the time", "wait")
    monkeypatch.setattr("assay.run.prepare.sample_load", lambda _devices: [busy])
    ended(tmp_path, 0.0, heard).close()
    assert [line for line in heard.said if busy.text in line] == [
        f"this machine is not idle: {busy.text}. Results will vary: {busy.remedy}"
    ]
    # Whoever gives a deadline has said the time.
    assert not [line for line in heard.said if "about" in line]


def test_a_study_that_has_a_time_for_its_repeats_is_not_said_to_take_longer(tmp_path: Path) -> None:
    heard = Heard()
    start(check_study(Path("study.yaml"), SHORT.encode()), tmp_path, False, heard).close()
    (line,) = [line for line in heard.said if "repeats to do" in line]
    most = float(line.split("at most about ")[1].split(" s")[0])
    # Sixty of them are estimated at more than that; eight are made in any case.
    assert "60 of 60 repeats" in line and most < 5

"""Whatever engines say, it becomes a result: from lines to a report, without an exception and in bounded memory."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from paths import GOLDEN
from soak import times
from stream_tools import SPOILED, Base, bases, spoiled, through

STREAMS = times(250, 100_000)
REPORT_EACH = 50
"""So many streams for each one of which the whole report is made."""
GROWTH = 64 << 20
"""Bytes that the process may grow by after the first streams: each is a few ten kilobytes, some unpack to megabytes."""
RESIDENT = 200 << 20
WARM = 50
BAD = sorted((GOLDEN / "streams" / "bad").glob("*.ndjson"))
counted = {"streams": 0, "reports": 0, "crashed": 0, "errors": 0, "ok": 0, "resident": 0}


@pytest.mark.parametrize("base", bases(), ids=lambda base: base.name)
def test_what_is_true_is_believed(base: Base) -> None:
    outcome, samples = through(base, "\n".join([*base.lines, ""]), report=True)
    assert (outcome.status, outcome.reason) == ("ok", "") and samples


@settings(max_examples=STREAMS, suppress_health_check=list(HealthCheck))
@given(SPOILED)
def no_stream_costs_more_than_its_repeat(case: tuple[int, list[Any]]) -> None:
    place, changes = case
    base = bases()[place % len(bases())]
    counted["streams"] += 1
    report = counted["streams"] % REPORT_EACH == 0
    outcome, _ = through(base, spoiled(base, changes), report)
    counted["reports"] += report
    counted[outcome.status] += 1
    if counted["streams"] == WARM:
        counted["resident"] = greatest_resident()


def greatest_resident() -> int:
    """Bytes of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def test_no_stream_costs_more_than_its_repeat_and_memory_stays_small() -> None:
    no_stream_costs_more_than_its_repeat()
    print(json.dumps({**counted, "at most": greatest_resident()}))
    assert counted["streams"] >= min(STREAMS, 200)
    assert greatest_resident() - counted["resident"] < GROWTH


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_found_streams_stay_results(path: Path) -> None:
    """Each file begins with the name of its true stream and the reason that it is given."""
    head, _, text = path.read_text().partition("\n")
    wanted = json.loads(head)
    base = next(base for base in bases() if base.name == wanted["stream"])
    outcome, _ = through(base, text, report=True)
    assert (outcome.status, outcome.reason) == (wanted["status"], wanted["reason"])

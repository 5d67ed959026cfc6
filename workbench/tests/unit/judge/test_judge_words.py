"""What findings say, and what they advise."""

import pytest
from builders import MIB
from judge_tools import LOOP_PLACE, NFS_PLACE, about_names, evidence, fires
from paths import REPOSITORY

from assay.judge import rules
from assay.judge.answer import percent
from assay.model.result.sample import ErrorTally
from assay.model.result.verdict import Finding, Verdict

KEEP = {"cache": "keep"}


def test_of_many_failures_two_are_told_and_the_others_counted() -> None:
    found = fires(rules.incomplete, Verdict.INCOMPLETE, "", evidence(changes=[{"status": "crashed"}] * 2))
    assert found.text == "repeat 1 crashed; repeat 2 crashed"
    found = fires(rules.incomplete, Verdict.INCOMPLETE, "", evidence(changes=[{"status": "crashed"}] * 5))
    assert found.text == "repeat 1 crashed; repeat 2 crashed; 3 more with failures"


@pytest.mark.parametrize(
    ("kind", "name", "remedy"),
    [
        ("fault", "ENOSPC", "Free space"),
        ("fault", "EDQUOT", "Free space"),
        ("fault", "EIO", "dmesg"),
        ("fault", "ESTALE", "Fix what the error names"),
        ("corrupt", None, "Do not trust this storage"),
        ("short_read", None, "Fix what the error names"),
    ],
)
def test_what_failed_decides_what_to_do(kind: str, name: str | None, remedy: str) -> None:
    tally = ErrorTally(kind=kind, name=name, count=1, example="it")
    other = tally.model_copy(update={"kind": "fault"})
    found = fires(
        rules.incomplete, Verdict.INCOMPLETE, "1 x it", evidence(changes=[{"errors": (tally, other)}, {}, {}])
    )
    assert remedy in found.remedy


def test_what_is_known_is_told_in_the_unit_of_the_rate() -> None:
    fires(rules.unstable, Verdict.UNSTABLE, "3 repeats is 55.4 MB/s to 185 MB/s", evidence(speeds=(100e6, 130e6, 80e6)))
    found = fires(rules.unstable, Verdict.UNSTABLE, " operations/s to ", about_names(rates=(50e3, 30e3, 70e3)))
    assert found.numbers["repeats_needed"] > found.numbers["repeats"] == 3
    # An end at 27 % and at 24 %.
    assert rules.unstable(evidence(speeds=(91e6, 100e6, 110e6))) is not None
    assert rules.unstable(evidence(speeds=(92e6, 100e6, 109e6))) is None


def test_a_deliberate_cache_is_named_as_such() -> None:
    found = rules.cached_read(evidence(parameters=KEEP, device_read_bytes=0))
    assert isinstance(found, Finding) and "on purpose" in found.remedy


def test_the_worst_repeat_is_told_beside_all_of_them() -> None:
    each = [{"device_read_bytes": 12 * MIB}, {"device_read_bytes": 8 * MIB}]
    numbers = fires(rules.cached_read, Verdict.CACHED, "38 % of", evidence(parameters=KEEP, changes=each)).numbers
    assert (numbers["memory_share"], numbers["worst_memory_share"]) == (0.375, 0.5)
    numbers = fires(
        rules.direct_read, Verdict.CACHED, "25 %", evidence(changes=[{"device_read_bytes": 4 * MIB}, {}])
    ).numbers
    assert numbers == {"worst_device_share": 0.25}


def test_below_a_loop_device_the_cache_is_that_of_the_loop_device() -> None:
    for place, words in ((LOOP_PLACE, "losetup"), (NFS_PLACE, "Use cache: direct, drop or limit")):
        found = rules.cached_read(evidence(parameters={"cache": "evict"}, device_read_bytes=0, place=place))
        assert isinstance(found, Finding) and words in found.remedy


def test_the_guide_explains_every_verdict() -> None:
    guide = REPOSITORY / "docs" / "guides" / "read-a-result.md"
    text = guide.read_text()
    assert [str(verdict) for verdict in Verdict if f"`{verdict}`" not in text] == []


def test_shares_in_words() -> None:
    assert [percent(1.0), percent(0.5), percent(0.0123), percent(0.0996)] == ["100 %", "50 %", "1.2 %", "10 %"]


def test_repeats_without_a_result_are_executed_again() -> None:
    found = fires(rules.incomplete, Verdict.INCOMPLETE, "crashed", evidence(changes=[{"status": "crashed"}, {}]))
    assert "--resume" in found.remedy

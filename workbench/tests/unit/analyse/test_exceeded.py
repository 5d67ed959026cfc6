"""Ceilings over several passes, and what results of the run itself show to be possible."""

from typing import Any

from builders import MIB, make_case, make_ceiling, make_place, make_sample
from hypothesis import given
from hypothesis import strategies as st

from assay.analyse.ceilings import Ceilings, Pass, measured_ceilings, merge_ceilings, served_by_device
from assay.analyse.exceeded import RAISABLE, SampleRate, exceeding_results, raise_ceilings
from assay.model.result.ceiling import Ceiling, When
from assay.model.result.observations import BlockDeviceUse
from assay.model.result.result import Estimate
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample

RATES = st.floats(1e6, 1e10)


def one_pass(at: float, when: When, *rates: float, name: Any = "device read") -> list[Ceiling]:
    samples = [make_sample(throughput=rate, phase=phase, read_bytes=MIB) for phase, rate in enumerate(rates)]
    return measured_ceilings("disk", dict.fromkeys(range(len(rates)), name), samples, f"way {at}", Pass(at, when))


@given(st.lists(st.lists(RATES, min_size=1, max_size=4), min_size=1, max_size=6))
def test_the_best_of_all_passes_is_the_ceiling_and_each_pass_is_kept(tries: list[list[float]]) -> None:
    known: tuple[Ceiling, ...] = ()
    for at, rates in enumerate(tries):
        known = merge_ceilings(known, one_pass(float(at), "between" if at else "before", *rates))
    (found,) = known
    best = [max(rates) for rates in tries]
    assert found.value == max(best)
    assert [item.value for item in found.passes] == best
    assert [item.at for item in found.passes] == sorted(item.at for item in found.passes)
    assert found.how == next(item.how for item in found.passes if item.value == found.value)
    if len(tries) > 1:
        assert found.lowest == min(best)
    if len(tries) > 2:
        assert found.low is not None and found.high is not None and found.low <= found.high
    else:
        assert found.low is None


def test_several_ways_in_one_pass_are_one_pass_with_the_best() -> None:
    (found,) = merge_ceilings(one_pass(1.0, "before", 5e8), one_pass(1.0, "before", 7e8, 6e8))
    assert (found.value, [item.value for item in found.passes]) == (7e8, [7e8])


def test_a_pass_that_failed_changes_nothing_and_the_first_one_that_did_not_counts() -> None:
    good = one_pass(1.0, "before", 5e8)
    failed = measured_ceilings("disk", {0: "device read"}, (), "how", Pass(2.0, "between"), reason="no space")
    assert merge_ceilings(good, failed) == tuple(good)
    assert merge_ceilings(failed, good) == tuple(good)
    assert merge_ceilings(failed, failed)[0].reason == "no space"


def block(written: int) -> BlockDeviceUse:
    return BlockDeviceUse(read_bytes=0, write_bytes=written, reads=0, writes=1, read_ns=0, write_ns=1, busy_ns=1)


def test_what_counts_as_served_by_the_device() -> None:
    read = {"read_bytes": 100 * MIB}
    assert served_by_device(make_sample(**read, device_read_bytes=95 * MIB), direct=False, flushed=True)
    assert not served_by_device(make_sample(**read, device_read_bytes=60 * MIB), direct=True, flushed=True)
    assert served_by_device(make_sample(**read, device_read_bytes=None), direct=True, flushed=True)
    assert not served_by_device(make_sample(**read, device_read_bytes=None), direct=False, flushed=True)
    write = {"read_bytes": 0, "write_bytes": 100 * MIB}
    assert served_by_device(make_sample(**write, block=block(99 * MIB)), direct=False, flushed=True)
    assert not served_by_device(make_sample(**write, block=block(9 * MIB)), direct=False, flushed=True)
    assert served_by_device(make_sample(**write, block=None), direct=False, flushed=True)
    assert not served_by_device(make_sample(**write, block=None), direct=False, flushed=False)
    assert served_by_device(make_sample(**write), direct=True, flushed=False)


CASE = make_case(operations=("write", "rewrite", "read", "random_read"), cache="direct", record_size=MIB)


def seen(ceilings: list[Ceiling], samples: list[Sample], place: TargetPlace | None = None) -> tuple[Ceiling, ...]:
    rates = [SampleRate(n, CASE.id, item.operation, item.throughput, item.iops) for n, item in enumerate(samples)]
    places = [place or make_place()]
    found = exceeding_results(ceilings, places, lambda *_: rates, lambda _: CASE, lambda number: samples[number])
    return raise_ceilings(ceilings, found)


def sample(repeat: int, rate: float, operation: str = "read", **fields: Any) -> Sample:
    moved = {"read_bytes": MIB, "device_read_bytes": MIB} if "read" in operation else {"write_bytes": MIB}
    return make_sample(CASE.id, repeat, rate, operation=operation, **{"iops": rate / MIB, **moved, **fields})


@given(st.lists(RATES, min_size=1, max_size=20), RATES)
def test_no_median_of_what_the_device_served_is_above_its_ceiling(rates: list[float], measured: float) -> None:
    (found,) = seen([make_ceiling("device read", measured)], [sample(n, rate) for n, rate in enumerate(rates)])
    assert found.value == max(measured, *rates)
    if max(rates) > measured:
        assert found.exceeded is not None
        assert (found.exceeded.value, found.exceeded.measured) == (max(rates), measured)
        assert rates[found.exceeded.repeat] == max(rates)
    else:
        assert found.exceeded is None
    middle = sorted(rates)[len(rates) // 2]
    estimate = Estimate(median=middle, low=None, high=None, n=len(rates), spread=None)
    held = Ceilings([found]).bindings(CASE, "read", make_place(), estimate, estimate)
    assert [item.share <= 1 for item in held] == [True]


def test_what_a_cache_served_or_what_failed_raises_nothing() -> None:
    ceiling = make_ceiling("device read", 1e9)
    cached = sample(1, 5e9, device_read_bytes=0)
    failed = sample(2, 4e9, status="failed")
    (found,) = seen([ceiling], [cached, failed, sample(3, 2e9)])
    assert found.value == 2e9 and found.exceeded is not None and found.exceeded.repeat == 3
    assert seen([ceiling], [cached, failed]) == (ceiling,)


def test_new_files_and_old_ones_have_ceilings_of_their_own() -> None:
    new, old = make_ceiling("device write", 1e9), make_ceiling("device rewrite", 2e9)
    found = seen([new, old], [sample(1, 3e9, "rewrite"), sample(2, 0.9e9, "write")])
    assert [item.value for item in found] == [1e9, 3e9]


def test_what_is_stated_and_what_caches_and_engine_do_is_not_raised() -> None:
    known = [make_ceiling("cache copy", 1e3, target="")]
    known += [make_ceiling("stated read", 1e3), make_ceiling("link", 1e3)]
    assert seen(known, [sample(1, 5e9)]) == tuple(known)
    assert not {"engine", "cache copy"} & set(RAISABLE)


def test_data_that_a_file_system_compresses_is_not_held_against_the_device() -> None:
    case = make_case(operations=("write",), compressible=50)
    rate = Estimate(median=1e8, low=None, high=None, n=1, spread=None)
    known = Ceilings([make_ceiling("device write", 1e9)])
    assert known.bindings(case, "write", make_place(filesystem="btrfs"), rate, rate) == ()
    assert len(known.bindings(case, "write", make_place(), rate, rate)) == 1

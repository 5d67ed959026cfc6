"""Sizes of objects and shares of mixes: what may be written, and what it means."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.study.contents import Sizes, access, mix, object_size, parse_access, parse_mix, parse_sizes
from assay.model.study.names import MIXABLE
from assay.model.units import UnitError, format_size

SIZES = st.integers(1, 2**63 - 1)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("64KiB", 65536),
        (4096, 4096),
        ("4KiB..1MiB", "4KiB..1MiB"),
        ("4096 .. 1048576B", "4KiB..1MiB"),
        ("4KiB..4KiB", 4096),
        ({"4KiB": 70, "1MiB": 30}, "4KiB:70,1MiB:30"),
        ("4KiB:70, 1MiB:30", "4KiB:70,1MiB:30"),
        ({4096: 70, "1 MiB": 30}, "4KiB:70,1MiB:30"),
        ({"4KiB": 5}, 4096),
        (None, None),
    ],
)
def test_sizes_of_objects(written: Any, value: Any) -> None:
    if isinstance(written, str) and written.startswith("4096 "):
        written = written.replace("4096 ", "4096B ")
    assert object_size().value(written) == value


@pytest.mark.parametrize(
    "written",
    [
        *(0, "0B", "0B..4KiB", "1MiB..4KiB", "4KiB..", "..4KiB", "4KiB..1MiB..2MiB", "64", "4KB", "", True, 1.5, []),
        *({}, {"4KiB": 0}, {"4KiB": "70"}, {"4KiB": True}, {"4KiB": 1.5}, {"x": 1}, {"4KiB": 1, 4096: 2}, {"0B": 1}),
        *("4KiB:x", "4KiB:", ":1", "4KiB:1,4KiB:2", "4KiB:0"),
    ],
)
def test_doubtful_sizes_are_refused(written: Any) -> None:
    with pytest.raises(UnitError):
        object_size().value(written)


@given(st.dictionaries(SIZES, st.integers(1, 10**6), min_size=2, max_size=5))
def test_weighted_sizes_survive_their_notation(weights: dict[int, int]) -> None:
    value = object_size().value({format_size(size): weight for size, weight in weights.items()})
    assert isinstance(value, str) and object_size().value(value) == value
    assert parse_sizes(value) == Sizes(weights)
    assert min(weights) <= parse_sizes(value).mean <= parse_sizes(value).largest == max(weights)


@given(SIZES, SIZES)
def test_bounds_survive_their_notation(one: int, other: int) -> None:
    least, most = sorted((one, other))
    value = object_size().value(f"{format_size(least)}..{format_size(most)}")
    found = parse_sizes(value)  # type: ignore[arg-type]
    assert (found.fixed == least if least == most else found.bounds == (least, most)) and found.largest == most
    assert least <= found.mean * (1 + 1e-9) and found.mean <= most * (1 + 1e-9)


def test_each_power_of_two_counts_alike() -> None:
    assert parse_sizes("1KiB..4095B").mean == (1024 + 2047 + 2048 + 4095) / 4
    assert parse_sizes("4KiB:70,1MiB:30").mean == 0.7 * 4096 + 0.3 * 2**20


def test_a_mix_is_the_same_however_it_is_written() -> None:
    value = mix().value({"delete": 10, "head": 30, "put": 15, "get": 45})
    assert value == "get:45,put:15,head:30,delete:10" == mix().value("delete:10,get:45,put:15,head:30")
    assert parse_mix(value) == {"get": 45, "put": 15, "head": 30, "delete": 10}
    assert mix().value({"get": 100, "put": 0}) == "get:100"
    of_files = mix().value({"unlink": 10, "create": 10, "stat": 30, "write": 15, "read": 35})
    assert of_files == "read:35,write:15,create:10,stat:30,unlink:10"


@pytest.mark.parametrize(
    "written",
    [
        *({}, "", "get", 100, {"get": 99}, {"get": 101}, {"get": 50, "put": -50}, {"get": "100"}, {"get": 100.0}),
        *({"stat": 100}, {"list": 50, "get": 50}, {"head": 100}, {"get": 60, "put": 10, "delete": 30}, ["get"]),
        *({1: 100}, "get:50,get:50", "get:x", {"get": True, "put": 99}),
        # What is removed is made again, something must move, and files are no objects.
        *({"read": 80, "create": 15, "unlink": 5}, {"read": 80, "unlink": 20}, {"create": 50, "unlink": 50}),
        *({"read": 50, "get": 50}, {"read": 50, "delete": 50}),
    ],
)
def test_doubtful_mixes_are_refused(written: Any) -> None:
    with pytest.raises(UnitError):
        mix().value(written)


PERCENT = st.integers(0, 100) | st.sampled_from([10, 20, 25, 50, 100])


@given(st.sampled_from(list(MIXABLE.values())).flatmap(lambda kinds: st.dictionaries(st.sampled_from(kinds), PERCENT)))
def test_what_is_taken_makes_a_hundred_and_lasts(shares: dict[str, int]) -> None:
    try:
        value = mix().value(shares)
    except UnitError:
        return
    found = parse_mix(str(value))
    assert sum(found.values()) == 100 and found.get("delete", 0) <= found.get("put", 0)
    assert found.get("create", 0) == found.get("unlink", 0)
    assert mix().value(value) == value and mix().value(found) == value


@pytest.mark.parametrize(
    ("written", "value", "meaning"),
    [
        ("uniform", "uniform", ("uniform", ())),
        ("zipfian", "zipfian 0.99", ("zipfian", (0.99,))),
        ("zipfian  1.20", "zipfian 1.2", ("zipfian", (1.2,))),
        ("hotspot 80/20", "hotspot 80/20", ("hotspot", (80.0, 20.0))),
        ("hotspot 90/0.5", "hotspot 90/0.5", ("hotspot", (90.0, 0.5))),
    ],
)
def test_access_is_a_word_and_its_numbers(written: str, value: str, meaning: tuple[str, tuple[float, ...]]) -> None:
    assert access().value(written) == value == access().value(value)
    assert parse_access(value) == meaning


@pytest.mark.parametrize(
    "written",
    [
        *("", 5, None, "zipf", "zipfian x", "zipfian 0", "zipfian 11", "zipfian 1/2", "hotspot", "hotspot 80"),
        *("hotspot 0/20", "hotspot 80.5/20", "hotspot 80/0", "hotspot 100/20", "uniform 3", "hotspot 80/20/1"),
    ],
)
def test_doubtful_access_is_refused(written: Any) -> None:
    with pytest.raises(UnitError, match=r"access|range"):
        access().value(written)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import units

SIZES = st.one_of(
    st.integers(0, 2**63 - 1),
    st.builds(lambda n, f: n * f, st.integers(0, 4096), st.sampled_from([*units.SIZE_UNITS.values()])),
)


@given(SIZES)
def test_a_size_survives_being_written_and_read(size):
    assert units.parse_size(units.format_size(size)) == size


@given(st.integers(0, 365 * 86400 * 10**9))
def test_a_duration_survives(time):
    assert units.parse_duration(units.format_duration(time)) == time


@given(st.floats(0.001, 1e9))
def test_a_rate_survives(rate):
    assert units.parse_rate(units.format_rate(rate)) == rate


@pytest.mark.parametrize(
    ("written", "size"),
    [("64KiB", 65536), ("64 KiB", 65536), ("64kB", 64000), ("1MB", 10**6), ("1.5GiB", 3 * 2**29), ("0B", 0), (12, 12)],
)
def test_sizes_as_documented(written, size):
    assert units.parse_size(written) == size


@pytest.mark.parametrize(
    ("size", "written"),
    [(65536, "64KiB"), (1000, "1kB"), (2**20, "1MiB"), (10**9, "1GB"), (1025, "1025B"), (0, "0B"), (1536, "1536B")],
)
def test_the_spelling_of_a_size_is_the_shortest_exact_one(size, written):
    assert units.format_size(size) == written


@pytest.mark.parametrize(
    "written", ["64KB", "64kb", "64k", "64K", "64mib", "64Mb", "64 parsecs", "64", "KiB", "", "1e3B"]
)
def test_other_spellings_of_sizes_are_refused_with_a_hint(written):
    with pytest.raises(units.UnitError) as caught:
        units.parse_size(written)
    assert caught.value.hint


@pytest.mark.parametrize(("written", "meant"), [("64KB", "64KiB"), ("5g", "5GiB"), ("7mb", "7MB")])
def test_the_hint_offers_both_meanings(written, meant):
    with pytest.raises(units.UnitError) as caught:
        units.parse_size(written)
    assert meant in caught.value.hint


@pytest.mark.parametrize("written", [True, None, 1.5, [], {}, -1, "-1B", "0.3KiB", "9" * 5000 + "B"])
def test_what_is_no_size_is_refused(written):
    with pytest.raises(units.UnitError):
        units.parse_size(written)


@pytest.mark.parametrize(
    ("written", "time"),
    [("100ms", 10**8), ("5s", 5 * 10**9), ("2m", 120 * 10**9), ("1h", 3600 * 10**9), ("1.5us", 1500), ("7ns", 7)],
)
def test_durations_as_documented(written, time):
    assert units.parse_duration(written) == time


@pytest.mark.parametrize("written", [5, 1.5, "5", "5min", "5 S", "0.5ns", "-5s", True, None, "1h30m"])
def test_other_durations_are_refused(written):
    with pytest.raises(units.UnitError):
        units.parse_duration(written)


@pytest.mark.parametrize("written", [1000, "1000", "1000/m", "-5/s", "fast", None, True, "1e3/s"])
def test_other_rates_are_refused(written):
    with pytest.raises(units.UnitError):
        units.parse_rate(written)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (18600, "5 h 10 min"),
        (273600, "3 d 4 h"),
    ],
)
def test_durations_for_reading(seconds, words):
    assert units.about_duration(seconds) == words


@pytest.mark.parametrize(("size", "words"), [(0, "0 B"), (999, "999 B"), (1234567, "1.23 MB"), (999999999, "1 GB")])
def test_sizes_for_reading(size, words):
    assert units.about_size(size) == words

import re
from pathlib import Path

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
    [
        *(("100ms", 10**8), ("5s", 5 * 10**9), ("2m", 120 * 10**9), ("1h", 3600 * 10**9), ("1.5us", 1500), ("7ns", 7)),
        *(("5min", 300 * 10**9), ("3d", 3 * 86_400 * 10**9)),
    ],
)
def test_durations_as_documented(written, time):
    assert units.parse_duration(written) == time


@pytest.mark.parametrize("written", [5, 1.5, "5", "5mins", "5 S", "0.5ns", "-5s", True, None, "1h30m"])
def test_other_durations_are_refused(written):
    with pytest.raises(units.UnitError):
        units.parse_duration(written)


@pytest.mark.parametrize("written", [1000, "1000", "1000/m", "-5/s", "fast", None, True, "1e3/s"])
def test_other_rates_are_refused(written):
    with pytest.raises(units.UnitError):
        units.parse_rate(written)


@given(st.integers(1, 10**15))
def test_a_throughput_survives_to_the_byte(rate):
    assert units.parse_throughput(units.format_throughput(rate)) == rate


@pytest.mark.parametrize(
    ("written", "rate"),
    [
        ("500MB/s", 5e8),
        ("500 MB / s", 5e8),
        (" 1.5GiB/s", 1.5 * 2**30),
        ("1B/s", 1.0),
        ("10Gb/s", 1.25e9),
        ("2.5 Gb/s", 312.5e6),
        ("100Mb/s", 12.5e6),
        ("8kb/s", 1000.0),
        ("1Tb/s", 1.25e11),
    ],
)
def test_throughputs_as_documented(written, rate):
    assert units.parse_throughput(written) == rate
    assert re.search(units.THROUGHPUT_PATTERN, written.strip())


@pytest.mark.parametrize(
    "written",
    ["10gbps", "10Gbps", "500MB", "10GB/m", "10gb/s", "10Gib/s", "10b/s", "10/s", "/s", "MB/s", 5, 1e9, None, True, []],
)
def test_other_throughputs_are_refused_with_a_hint(written):
    with pytest.raises(units.UnitError) as caught:
        units.parse_throughput(written)
    assert "Gb" in caught.value.hint
    assert not isinstance(written, str) or not re.search(units.THROUGHPUT_PATTERN, written)


@pytest.mark.parametrize("written", ["-5MB/s", "-10Gb/s"])
def test_a_negative_throughput_is_called_so(written):
    with pytest.raises(units.UnitError, match=f"{written} is negative"):
        units.parse_throughput(written)


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


def test_a_hint_names_the_words_or_says_that_there_are_none():
    assert units.choices_hint("raed", ["read", "write"]) == "did you mean `read`?"
    assert units.choices_hint("x", ["read", "write"]) == "one of: read, write"
    assert units.choices_hint("x", []) == "there are none"
    assert units.choices_hint("x", {}, none="leave it out") == "leave it out"


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (0.0004, "0.0004"), (0.5, "0.5"), (9.996, "10"), (12.34, "12.3"), (99.96, "100"), (1234.5, "1,234")],
)
def test_few_a_second_are_not_none(number, words):
    assert units.about_rate(number, counted=True) == f"{words} ops/s"


@given(st.floats(1e-9, 1e15), st.integers(1, 6))
def test_a_number_for_reading_is_the_rounded_one_without_an_exponent(number, digits):
    words = units.about_number(number, digits)
    assert "e" not in words and float(words.replace(",", "")) == pytest.approx(float(f"{number:.{digits}g}"), rel=1e-12)


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (38.2, "38"), (100, "100"), (99.6, "100"), (2570, "2,600"), (0.000012, "0.000012"), (-3, "-3")],
)
def test_a_number_to_two_digits(number, words):
    assert units.about_number(number, 2) == words


def test_no_text_is_written_with_an_exponent():
    """Of few digits `g` makes 1e+02 of a hundred: `about_number` does not."""
    for file in Path(units.__file__).parent.parent.rglob("*.py"):
        lines = file.read_text(encoding="utf-8").splitlines()
        found = [line for line in lines if re.search(r":\.[123]g\}", line) and "<" not in line and "float(" not in line]
        assert not found or file.name == "estimate.py", (file, found)

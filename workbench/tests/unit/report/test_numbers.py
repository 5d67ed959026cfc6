"""Numbers as a report writes them, at the borders of their units."""

import math

import pytest

from assay.model.result.environment import EnvironmentDifference
from assay.report import numbers
from assay.report.environments import differences_table, readable_values


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (999_000, "999 µs"),
        (1_000_000, "1.00 ms"),
        (1_250_000, "1.25 ms"),
        (1_000_000_000, "1.00 s"),
        (3_600_000_000_000, "3,600 s"),
    ],
)
def test_latency_has_the_unit_that_fits(nanoseconds: float, text: str) -> None:
    assert numbers.latency(nanoseconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.00123456, "0.00123"),
        (0.012345, "0.0123"),
        (9.995, "9.99"),
        (9.996, "10.0"),
        (99.96, "100"),
        (999.9, "1,000"),
        (1234.5, "1,230"),
        (12345.6, "12,300"),
        (1e9, "1,000,000,000"),
        (math.inf, "–"),
    ],
)
def test_three_digits_are_significant(value: float, text: str) -> None:
    assert numbers.significant(value) == text


def test_rates_are_decimal() -> None:
    assert numbers.mb_per_s(1e6) == "1.00"
    assert numbers.mb_per_s(None) == numbers.NONE


@pytest.mark.parametrize(
    ("value", "text"),
    [(512, "512 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.50 KiB"), (4096, "4 KiB"), (64 << 20, "64 MiB")],
)
def test_sizes_are_binary(value: int, text: str) -> None:
    assert numbers.size(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.3, "300 ms"), (2.5, "2.5 s"), (125, "2 min 5 s"), (7260, "2 h 1 min")])
def test_seconds(value: float, text: str) -> None:
    assert numbers.seconds(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0994, "9.9 %"), (0.0995, "10 %"), (0.93, "93 %"), (1.3, "130 %"), (2, "2.0×"), (None, "–")]
)
def test_shares_of_a_ceiling(share: float | None, text: str) -> None:
    assert numbers.share(share) == text


@pytest.mark.parametrize(("p", "text"), [(0.0009, "<0.001"), (0.001, "0.001"), (0.05, "0.050"), (None, "–")])
def test_p_values(p: float | None, text: str) -> None:
    assert numbers.p_value(p) == text


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "0.0 %"),
        (1.123, "+12.3 %"),
        (0.5, "−50.0 %"),
        (0.01, "−99.0 %"),
        (1.994, "+99.4 %"),
        (1.9996, "2×"),
        (2.0, "2×"),
        (59.358, "59.4×"),
        (123456.0, "123,456×"),
    ],
)
def test_what_is_twice_as_much_or_more_is_told_as_so_many_times(ratio: float, words: str) -> None:
    assert numbers.difference_text(ratio) == words


def test_an_environment_has_amounts_of_bytes_in_fitting_units_and_settings_as_they_are() -> None:
    found = {
        "total": "24684084 KiB", "numa_node0": "1048576 KiB, CPUs 0-1", "memory": "8388608 bytes (/a)",
        "filesystem_bytes": "4096", "bytes": "unknown: x", "vm.dirty_bytes": "1048576", "huge_pages_2048KiB": "0",
    }  # fmt: skip
    assert list(readable_values(found).values()) == [
        "23.5 GiB", "1 GiB, CPUs 0-1", "8 MiB (/a)", "4 KiB", "unknown: x", "1048576", "0",
    ]  # fmt: skip


def test_differences_have_fitting_units_where_they_can_still_be_told_apart() -> None:
    pairs = [("24684092 KiB", "16777216 KiB"), ("24684092 KiB", "24684084 KiB"), ("", "1024 KiB")]
    found = [
        EnvironmentDifference(section="memory", name="total", before=before, after=after, matters=True)
        for before, after in pairs
    ]
    assert [row[3:] for row in differences_table(found).rows] == [
        ("23.5 GiB", "16 GiB"),
        ("24684092 KiB", "24684084 KiB"),
        ("not recorded", "1 MiB"),
    ]


def test_a_part_of_results_in_words() -> None:
    parts = [numbers.part_of_total(*each) for each in ((3, 5), (5, 5), (2, 2), (1, 1), (1, 2))]
    assert parts == ["3 of 5 results", "all 5 results", "both results", "the only result", "1 of 2 results"]
    assert numbers.part_of_total(1, 1, "comparison") == "the only comparison"

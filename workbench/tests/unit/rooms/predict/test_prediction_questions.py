"""How `assay predict` reads host counts, rates, sizes and limits."""

import pytest

from assay.model.base import AssayError
from assay.rooms.predict.work.questions import parse_capacity, parse_hosts, parse_limits, parse_total


def test_host_counts_are_read_once_each() -> None:
    assert parse_hosts("16, 24,16") == [16, 24]


@pytest.mark.parametrize(
    "text", ["", "0", "16,", "abc", "-1", "1.5", "10000000", "٣", ",".join(map(str, range(1, 60)))]
)
def test_what_is_no_host_count_is_refused(text: str) -> None:
    with pytest.raises(AssayError, match="--hosts"):
        parse_hosts(text)


def test_rates_are_bytes_bits_or_operations() -> None:
    assert parse_total("--rate", "2GB/s") == (2e9, False)
    assert parse_total("--rate", "20Gb/s") == (2.5e9, False)
    assert parse_total("--rate", "5000/s") == (5000.0, True)


@pytest.mark.parametrize("text", ["", "2GB", "0MB/s", "-1/s", "0/s", "fast"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(AssayError, match="--rate"):
        parse_total("--rate", text)


def test_sizes_are_bytes_or_numbers_of_files() -> None:
    assert parse_capacity("10TB") == (10**13, False)
    assert parse_capacity("1000000") == (1_000_000, True)
    for text in ("", "0", "x", "1e9999TB", "99999999999999999999TB"):
        with pytest.raises(AssayError, match="--capacity"):
            parse_capacity(text)


def test_a_limit_is_of_all_targets_or_of_one() -> None:
    all_of_them, one = parse_limits(["20Gb/s", "a=b=100/s"], ["a=b", "c"])
    assert (all_of_them.target, all_of_them.is_counted, all_of_them.limit.value) == (None, False, 2.5e9)
    assert (one.target, one.is_counted, one.limit.value) == ("a=b", True, 100)
    with pytest.raises(AssayError, match="no target"):
        parse_limits(["x=20Gb/s"], ["c"])

"""What tests of the Phoronix Test Suite measure, by their profiles (ob-cache/test-profiles of its sources).

Their scale MB/s differs: in profiles of fio it is what stands before MiB/s in fio's output, and in iozone's it is kB/s
(of 1024 bytes) / 1024.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from assay.model.study.axis import AxisValue
from assay.model.study.names import WORK
from assay.rooms.importers.work.databases.transactions import transactions
from assay.rooms.importers.work.figure_units import whole_number
from assay.rooms.importers.work.fio_options import size_of
from assay.rooms.importers.work.results import Measurement, rate_alone

UNITS = {
    "IOPS": "1/s", "TPS": "1/s", "Files/s": "1/s", "Seconds": "s", "ms": "ms", "Microseconds": "us", "Percent": "%",
    "Mbits/sec": "Mbit/s",
}  # fmt: skip
"""Scale -> unit. MB/s is none, since it depends on the test."""
_TEST = re.compile(r"(?:[\w.-]{1,40}/)?([a-z0-9-]{1,60}?)(?:-[0-9]+(?:\.[0-9]+)+)?")
_PART = re.compile(r"([^:]{1,40}): (.{1,80}?)(?: - |$)")
_SIZE = re.compile(r"([0-9]{1,6}) ?([KMG])[Bb]")
_FIO = {"Random Read": "random_read", "Random Write": "random_write", "Sequential Read": "read",
        "Sequential Write": "write"}  # fmt: skip
_IOZONE = {"Write Performance": "write", "Read Performance": "read"}
_COUNTED = {"pgbench": ("TPS", "transaction"), "postmark": ("TPS", "transaction"), "fs-mark": ("Files/s", "create")}
_NO_RATE = {
    "sqlite": "it is the time of a number of insertions, no rate",
    "sqlite-speedtest": "it is the time of a number of queries, no rate",
    "dbench": "it is the rate of a file server's mix of calls, which Assay does not have",
    "compilebench": "it is the rate of trees of small files, which Assay does not have",
    "blogbench": "it is a score",
}
_SMALLEST_MIB = Decimal("9.76")
"""fio writes KiB/s up to 9999 (lib/num2str.c), which the profile divides by 1000; from 9.77 on it writes MiB/s."""


class TestMeaning(NamedTuple):
    """What a test measures.

    Attributes:
        test: Name of the profile, without its version.
        operation: Its operation; None without a counterpart.
        parameters: What its description says.
        left_out: Why it has none.
    """

    test: str
    operation: str | None = None
    parameters: Mapping[str, AxisValue] = {}
    left_out: str = ""


def meaning_of(identifier: str, description: str) -> TestMeaning:
    """Return what a test measures.

    Args:
        identifier: Such as `pts/fio-2.1.0`.
        description: Its options in words: `Type: Random Read - Block Size: 4KB`.
    """
    match = _TEST.fullmatch(identifier)
    test = match[1] if match else ""
    words = dict(_PART.findall(description[:2000]))
    if test == "fio":
        return _fio(words)
    if test == "iozone":
        operation = _IOZONE.get(words.get("Disk Test", ""))
        sizes = {"record_size": words.get("Record Size", ""), "file_size": words.get("File Size", "")}
        known = {name: size for name, text in sizes.items() if (size := _size(text))}
        return TestMeaning(test, operation, known, "" if operation else "which of iozone's tests it was is not known")
    if test in _COUNTED:
        return TestMeaning(test, _COUNTED[test][1])
    return TestMeaning(test, None, {}, _NO_RATE.get(test, "Assay has no operation like this test"))


def _fio(words: Mapping[str, str]) -> TestMeaning:
    operation = _FIO.get(words.get("Type", ""))
    if operation is None:
        return TestMeaning("fio", None, {}, "which type of access it was is not known")
    found: dict[str, AxisValue] = {"hosts": 1}
    if size := _size(words.get("Block Size", "")):
        found["record_size"] = size
    if words.get("Direct") == "Yes":
        found["cache"] = "direct"
    if jobs := whole_number(words.get("Job Count"), 10**4):
        found["lanes"] = jobs
    return TestMeaning("fio", operation, found)


def _size(text: str) -> int | None:
    """Return a size in bytes: `4KB` is passed to fio and iozone as `4k`, which is 4096."""
    match = _SIZE.fullmatch(text)
    return size_of(f"{match[1]}{match[2]}") if match else None


def measured_of(meaning: TestMeaning, values: Mapping[str, str]) -> Measurement | None:
    """Return what a run of a test measured; None without a rate.

    Args:
        meaning: What it measures.
        values: Scale -> number as printed.
    """
    if meaning.operation is None:
        return None
    if meaning.test in _COUNTED:
        rate = Decimal(values.get(_COUNTED[meaning.test][0], "0"))
        return transactions(rate) if rate else None
    written = Decimal(values.get("MB/s", "0"))
    iops = Decimal(values.get("IOPS", "0"))
    is_kib = meaning.test == "fio" and written < _SMALLEST_MIB
    bytes_s = written * (1024 * 1000 if is_kib else 1024 * 1024)
    record = meaning.parameters.get("record_size")
    if not bytes_s and iops and isinstance(record, int):
        bytes_s = iops * record
    if not bytes_s or WORK[meaning.operation].group != "data":
        return None
    return rate_alone(bytes_s, iops or None)

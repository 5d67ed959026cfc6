"""The units in which tools print, and what they are in Assay's units."""

from decimal import Decimal
from typing import Literal, NamedTuple

Quantity = Literal["bytes", "bytes/s", "ns", "1/s", "%", "1"]


class FigureUnit(NamedTuple):
    """A unit as a tool prints it.

    Attributes:
        quantity: What it is a unit of, named by Assay's own unit.
        factor: Assay's units in one of it.
        source: Where that is written.
    """

    quantity: Quantity
    factor: Decimal
    source: str


_JSON = "fio, stat.c, add_ddir_status_json"
_IOZONE = "iozone.c"
_VDBENCH = "vdbench, Report.java"
_SI = "The International System of Units, 9th edition, tables 7 and 8"
_IEC = "IEC 80000-13, clause 4"
_NUM2STR = "fio, lib/num2str.c"
_OLD_NUM2STR = f"{_NUM2STR} before fio 2.17, which writes powers of 1024 without an i"
_BONNIE = "bonnie++(8): K is 1024, M 1048576 and G 1073741824 bytes"
_BUSYBOX = "BusyBox, coreutils/dd.c: make_human_readable_str, powers of 1024"
_POWERS = "KMGTPE"


def _fio_text_units() -> dict[str, FigureUnit]:
    """Return the units with prefixes of fio's text. `kB` and `MB` alone are 1024 in other outputs."""
    found = {}
    for power, letter in enumerate(_POWERS, start=1):
        decimal, binary = Decimal(1000) ** power, Decimal(1024) ** power
        small = letter.lower() if letter == "K" else letter
        mark = " (1000 B)" if letter == "K" else ""
        for per, quantity, bits in (("", "bytes", "bit"), ("/s", "bytes/s", "bit/s")):
            kind: Quantity = "bytes/s" if quantity == "bytes/s" else "bytes"
            found[f"{letter}iB{per}"] = FigureUnit(kind, binary, _NUM2STR)
            found[f"{small}B{per}{mark}"] = FigureUnit(kind, decimal, _NUM2STR)
            found[f"{letter}i{bits}"] = FigureUnit(kind, binary / 8, f"{_NUM2STR}, unit_base=1")
            found[f"{small}{bits}"] = FigureUnit(kind, decimal / 8, f"{_NUM2STR}, unit_base=1")
            found[f"{letter}B{per} (2^{10 * power} B)"] = FigureUnit(kind, binary, _OLD_NUM2STR)
            found[f"{letter}{bits} (2^{10 * power} bit)"] = FigureUnit(kind, binary / 8, _OLD_NUM2STR)
        found[f"{small}/s"] = FigureUnit("1/s", decimal, f"{_NUM2STR}: IOPS")
        for time, factor in (("ns", 1), ("us", 1000), ("ms", 10**6)):
            found[f"{small} {time}"] = FigureUnit("ns", decimal * factor, f"{_NUM2STR}: min and max of latencies")
    return found


_SOCKPERF = "sockperf, src/client.cpp, stream_statistics: messages x size / 1024 / 1024, and GBps = MBps / 1000"
_IPERF = "iperf 2, src/stdio.c, and iperf 3, src/units.c: bytes are powers of 1024, bits of 1000"


def _iperf_units() -> dict[str, FigureUnit]:
    """Return the units of iperf's texts, `MBytes` and `Mbits/sec`."""
    found = {}
    for power, letter in enumerate(("", *"KMGTP")):
        binary, decimal = Decimal(1024) ** power, Decimal(1000) ** power
        found[f"{letter}Bytes"] = FigureUnit("bytes", binary, _IPERF)
        found[f"{letter}Bytes/sec"] = FigureUnit("bytes/s", binary, _IPERF)
        found[f"{letter}bits/sec"] = FigureUnit("bytes/s", decimal / 8, _IPERF)
    return found


UNITS: dict[str, FigureUnit] = {
    **_fio_text_units(),
    **_iperf_units(),
    "B": FigureUnit("bytes", Decimal(1), _NUM2STR),
    "bit": FigureUnit("bytes", Decimal(1) / 8, f"{_NUM2STR}, unit_base=1"),
    "bit/s": FigureUnit("bytes/s", Decimal(1) / 8, f"{_NUM2STR}, unit_base=1"),
    "bytes": FigureUnit("bytes", Decimal(1), f"{_JSON}: io_bytes since fio 2.21, which prints io_kbytes, too"),
    "KiB": FigureUnit("bytes", Decimal(1024), f"{_JSON}: `io_bytes >> 10`, as io_bytes before fio 2.21"),
    "B/s": FigureUnit("bytes/s", Decimal(1), f"{_JSON}: bw_bytes, since fio 3.2"),
    "KiB/s": FigureUnit("bytes/s", Decimal(1024), f"{_JSON}: bw, bytes per second / 1024 in all versions"),
    "ns": FigureUnit("ns", Decimal(1), f"{_JSON}: clat_ns and the like, since fio 3.0"),
    "us": FigureUnit("ns", Decimal(1000), f"{_JSON}: clat and the like, before fio 3.0"),
    "ms": FigureUnit("ns", Decimal(10**6), f"{_JSON}: runtime"),
    "1/s": FigureUnit("1/s", Decimal(1), f"{_JSON}: iops"),
    "%": FigureUnit("%", Decimal(1), "fio, HOWTO, JSON output"),
    "kB/sec": FigureUnit("bytes/s", Decimal(1024), f"{_IOZONE}, rates are bytes per second shifted right by 10"),
    "KB/sec": FigureUnit("bytes/s", Decimal(1024), f"{_IOZONE}, the same as versions up to 3.420 print it"),
    "ops/sec": FigureUnit("1/s", Decimal(1), f"{_IOZONE}, OPS_flag: records per second"),
    "us/op": FigureUnit("ns", Decimal(1000), f"{_IOZONE}, MS_flag: microseconds per operation"),
    "kB": FigureUnit("bytes", Decimal(1024), f"{_IOZONE}: file size x 1024 / record size is the number of records"),
    "KB": FigureUnit("bytes", Decimal(1024), f"{_IOZONE}, the same as versions up to 3.420 print it"),
    "ops": FigureUnit("1", Decimal(1), f"{_IOZONE}, throughput_test with OPS_flag: records"),
    "s": FigureUnit("ns", Decimal(10**9), f"{_IOZONE}, throughput_test: wall and CPU time"),
    "MBps": FigureUnit("bytes/s", Decimal(2**20), _SOCKPERF),
    "Mbps": FigureUnit("bytes/s", Decimal(2**17), _SOCKPERF),
    "GBps": FigureUnit("bytes/s", Decimal(1000 * 2**20), _SOCKPERF),
    "Gbps": FigureUnit("bytes/s", Decimal(1000 * 2**17), _SOCKPERF),
    "GB/s of 2^30": FigureUnit("bytes/s", Decimal(2**30), "IO500 to 2019, io500_fixed.sh: IOR's MiB/s / 1024, as GB/s"),
    "1/min": FigureUnit("1/s", Decimal(1) / 60, "HammerDB, modules/tpcccommon-1.0.tm, testresult: NOPM and TPM"),
    "MB/sec (1024**2)": FigureUnit("bytes/s", Decimal(2**20), f"{_VDBENCH}, createHeaders, and Flat.java"),
    "MB/sec (1000**2)": FigureUnit("bytes/s", Decimal(10**6), f"{_VDBENCH}, setDecimal"),
    "min": FigureUnit("ns", Decimal(60 * 10**9), _SI),
    "h": FigureUnit("ns", Decimal(3600 * 10**9), _SI),
    "kB/s": FigureUnit("bytes/s", Decimal(10**3), _SI),
    "MB/s": FigureUnit("bytes/s", Decimal(10**6), _SI),
    "GB/s": FigureUnit("bytes/s", Decimal(10**9), _SI),
    "TB/s": FigureUnit("bytes/s", Decimal(10**12), _SI),
    "MiB/s": FigureUnit("bytes/s", Decimal(2**20), _IEC),
    "GiB/s": FigureUnit("bytes/s", Decimal(2**30), _IEC),
    "TiB/s": FigureUnit("bytes/s", Decimal(2**40), _IEC),
    "kbit/s": FigureUnit("bytes/s", Decimal(10**3) / 8, f"{_SI}; a byte has 8 bits"),
    "Mbit/s": FigureUnit("bytes/s", Decimal(10**6) / 8, f"{_SI}; a byte has 8 bits"),
    "Gbit/s": FigureUnit("bytes/s", Decimal(10**9) / 8, f"{_SI}; a byte has 8 bits"),
    "MB": FigureUnit("bytes", Decimal(10**6), _SI),
    "GB": FigureUnit("bytes", Decimal(10**9), _SI),
    "TB": FigureUnit("bytes", Decimal(10**12), _SI),
    "MiB": FigureUnit("bytes", Decimal(2**20), _IEC),
    "GiB": FigureUnit("bytes", Decimal(2**30), _IEC),
    "TiB": FigureUnit("bytes", Decimal(2**40), _IEC),
    "K/sec": FigureUnit("bytes/s", Decimal(2**10), _BONNIE),
    "M/sec": FigureUnit("bytes/s", Decimal(2**20), _BONNIE),
    "G/sec": FigureUnit("bytes/s", Decimal(2**30), _BONNIE),
    "MB (2^20 B)": FigureUnit("bytes", Decimal(2**20), "hdparm.c: TIMING_BUF_BYTES of 2 MB each are 2 x 1024 x 1024"),
    "k": FigureUnit("1", Decimal(1000), "ioping.c, int_suffix"),
    "M": FigureUnit("1", Decimal(10**6), "ioping.c, int_suffix"),
    "G": FigureUnit("1", Decimal(10**9), "ioping.c, int_suffix"),
    "GIOPS": FigureUnit("1/s", Decimal(10**9), "ioping.c, int_suffix"),
    "KB/s of 2^10": FigureUnit("bytes/s", Decimal(2**10), _BUSYBOX),
    "TB/s of 2^40": FigureUnit("bytes/s", Decimal(2**40), _BUSYBOX),
    "MB/s of 2^20": FigureUnit(
        "bytes/s", Decimal(2**20), "diskspd before 2.0.20 and for Linux (result_formatter.cc): bytes / 1024 / 1024"
    ),
    "kIOPS": FigureUnit("1/s", Decimal(10**3), f"{_SI}, k; fio prints IOPS so in its text"),
    "MIOPS": FigureUnit("1/s", Decimal(10**6), f"{_SI}, M; fio prints IOPS so in its text"),
}
"""Unit -> what it is; a figure without a unit is a count."""


def whole_number(text: object, most: int = 2**63 - 1) -> int | None:
    """Return a printed whole number from 0 to `most`; None if it is none."""
    # Digits of other scripts are digits, too, and `int` refuses long numbers.
    known = isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 20
    return int(text) if known and isinstance(text, str) and int(text) <= most else None


def convert(text: str, unit: str) -> Decimal:
    """Return a printed number in Assay's unit of its quantity, exactly.

    Args:
        text: The number as printed.
        unit: A key of `UNITS`.
    """
    return Decimal(text) * UNITS[unit].factor

"""Options of MinIO warp's benchmarks (version 1.6, cli/*.go), as urfave/cli reads them: one dash or two."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.model.base import AssayError
from assay.model.units import choices_hint

_FLAGS = """
    quiet q no-color json debug insecure autocompletion tls ktls encrypt sse-s3-encrypt resolve-host noprefix
    disable-multipart disable-sha256-payload md5 disable-http-keepalive http2 stress stdout obj.randsize autoterm
    noclear keep-data web analyze.v full cpu mem block mutex threads trace range list-existing list-flat post metadata
    compress help h
"""
_WITH_VALUE = """
    host access-key secret-key session-token rdma region sts-web-token signature bucket host-select concurrent sndbuf
    rcvbuf prefix storage-class influxdb rps-limit lookup checksum obj.generator obj.size benchdata serverprof duration
    autoterm.dur autoterm.pct syncstart warp-client add-metadata tag analyze.dur analyze.out analyze.op analyze.host
    analyze.skip analyze.limit analyze.offset serve pprofdir objects part.size range-size versions batch max-keys
    get-distrib stat-distrib put-distrib delete-distrib parts obj.name part.concurrent files copies objs.per
    _upload-id _part-start
"""
OPTIONS: dict[str, bool] = {
    **dict.fromkeys(_FLAGS.split(), False),
    **dict.fromkeys(_WITH_VALUE.split(), True),
}
"""Name of each option -> whether it takes a value."""
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?) ?([a-z]{0,3})")
_LETTERS = "kmgtpe"
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(h|ms|m|s|us|µs|ns)")
_SECONDS: dict[str, Decimal] = {
    "h": Decimal(3600),
    "m": Decimal(60),
    "s": Decimal(1),
    "ms": Decimal("1e-3"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "ns": Decimal("1e-9"),
}
_TRUE, _FALSE = ("true", "t", "1"), ("false", "f", "0")


class WarpLine(NamedTuple):
    """A command line of warp.

    Attributes:
        command: The benchmark, such as `mixed`.
        values: Name of each option -> its value; `true` of those that take none.
        written: Name -> the option as written.
    """

    command: str
    values: Mapping[str, str]
    written: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether an option is set."""
        return name in self.values


def warp_words(words: Sequence[str]) -> WarpLine:
    """Split the words behind `warp`.

    Raises:
        AssayError: There is no benchmark, or an option is unknown or lacks its value.
    """
    command, values, written = "", {}, {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            if command:
                raise AssayError(f"warp {command}: {word!r} is not an option", "write options as --NAME=VALUE")
            command = word
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if name not in OPTIONS:
            raise AssayError(f"warp has no option --{name}", choices_hint(name, sorted(OPTIONS)))
        if OPTIONS[name] and not equals:
            if not rest:
                raise AssayError(f"warp --{name} lacks its value", f"write --{name}=VALUE")
            value = rest.pop(0)
        if OPTIONS[name]:
            values[name], written[name] = value, f"--{name}={value}"
        elif _is_true(name, value if equals else "true"):
            values[name], written[name] = "true", f"--{name}"
    return WarpLine(command, values, written)


def _is_true(name: str, value: str) -> bool:
    if value.lower() not in (*_TRUE, *_FALSE):
        raise AssayError(f"warp --{name}: {value!r} is neither true nor false", f"write --{name}, or leave it out")
    return value.lower() in _TRUE


def warp_size(text: str, option: str) -> int:
    """Return a size in bytes as warp reads it (go-humanize, ParseBytes): MiB is 2^20, M and MB are 10^6.

    Raises:
        AssayError: It is none.
    """
    match = _SIZE.fullmatch(text.strip().lower())
    unit = (match[2] if match else "").removesuffix("b")
    base = 1024 if unit.endswith("i") else 1000
    letter = unit.removesuffix("i")
    if match is None or (letter and letter not in _LETTERS) or (unit and not letter) or len(letter) > 1:
        raise AssayError(f"warp --{option}: {text!r} is not a size", "write such as 10MiB")
    return int(Decimal(match[1]) * base ** (_LETTERS.index(letter) + 1 if letter else 0))


def warp_seconds(text: str, option: str) -> Decimal:
    """Return a duration in seconds as Go reads it: `1h30m`, `90s`.

    Raises:
        AssayError: It is none.
    """
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise AssayError(f"warp --{option}: {text!r} is not a duration", "write such as 90s or 5m")
    return sum((Decimal(number) * _SECONDS[unit] for number, unit in parts), Decimal(0))


def warp_number(text: str, option: str) -> Decimal:
    """Return a number of 0 or more.

    Raises:
        AssayError: It is none.
    """
    if not re.fullmatch(r"[0-9]{1,15}(?:\.[0-9]{1,9})?", text):
        raise AssayError(f"warp --{option}: {text!r} is not a number", "write digits only")
    return Decimal(text)

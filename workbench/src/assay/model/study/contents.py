"""Object sizes and mixes of requests: values that are more than a number or a word.

They are stored as text, unless they are a number, so that they can be axes, be compared in expressions and appear in
labels: sizes as `4KiB..1MiB` or `4KiB:70,1MiB:30`, a mix as `get:45,put:15,head:30,delete:10`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.model import units
from assay.model.study import axis
from assay.model.study.axis import ValueKind
from assay.model.study.names import MIXABLE
from assay.model.study.parameter import Parameter

DEFAULT_MIX = "get:45,put:15,head:30,delete:10"
"""The default mix of `warp mixed`."""
MAX_OBJECT_BYTES = 2**63 - 1
MAX_SIZES = 1000
MAX_WEIGHT = 1_000_000

_SIZES = "write a size such as 64KiB, sizes as 4KiB..1MiB, or sizes with their weights as {4KiB: 70, 1MiB: 30}"
_EVEN = "uniform "
"""Prefix of bounds between which every size is equally likely."""
_FILES = (
    "write sizes with their weights as {64KiB: 70, 1MiB: 30}, sizes as 4KiB..1MiB, or uniform 4KiB..1MiB; of one size "
    "only write file_size"
)
_ACCESS = (
    "write uniform, zipfian, zipfian 0.99, or hotspot 80/20 (80 percent of the requests to 20 percent of the objects)"
)
MIX_EXAMPLES = {
    "object_mix": "{get: 45, put: 15, head: 30, delete: 10}",
    "file_mix": "{read: 50, write: 20, stat: 10, create: 10, unlink: 10}",
}
_MIX = "write shares in percent such as " + " or ".join(MIX_EXAMPLES.values())
_WEIGHTED = r"[^:,{}\[\]]+ ?: ?[0-9]+"
_LISTED = rf"^{_WEIGHTED}( ?, ?{_WEIGHTED})*$"


class Sizes(NamedTuple):
    """A distribution of object sizes in bytes.

    Attributes:
        weights: Size -> its relative frequency; empty if `bounds` is set.
        bounds: Smallest and largest size, with each power of two in between equally likely; None if sizes are listed.
        is_uniform: With `bounds`: every size is equally likely, not every power of two.
    """

    weights: Mapping[int, int]
    bounds: tuple[int, int] | None = None
    is_uniform: bool = False

    @property
    def fixed(self) -> int | None:
        """The size, if there is only one."""
        return next(iter(self.weights)) if len(self.weights) == 1 else None

    @property
    def largest(self) -> int:
        """The largest possible size."""
        return self.bounds[1] if self.bounds else max(self.weights)

    @property
    def smallest(self) -> int:
        """The smallest possible size."""
        return self.bounds[0] if self.bounds else min(self.weights)

    def records(self, record: int) -> float:
        """Return the average number of records of this size in a file; the last one may be shorter."""
        if self.bounds is None:
            all_weights = sum(self.weights.values())
            return sum(-(-size // record) * weight for size, weight in self.weights.items()) / all_weights
        # In files longer than a record, the last record is half full on average.
        return max(1.0, self.mean / record + (0.5 if self.largest > record else 0.0))

    @property
    def mean(self) -> float:
        """The average size."""
        if self.bounds is None:
            return sum(size * weight for size, weight in self.weights.items()) / sum(self.weights.values())
        least, most = self.bounds
        if self.is_uniform:
            return (least + most) / 2
        powers = range(least.bit_length() - 1, most.bit_length())
        return sum(max(least, 1 << power) + min(most, (2 << power) - 1) for power in powers) / 2 / len(powers)


def parse_sizes(value: int | str) -> Sizes:
    """Parse a value of `object_size` or `file_sizes`."""
    if isinstance(value, int):
        return Sizes({value: 1})
    even = value.startswith(_EVEN)
    least, dots, most = value.removeprefix(_EVEN).partition("..")
    if dots:
        return Sizes({}, (units.parse_size(least), units.parse_size(most)), even)
    return Sizes({units.parse_size(size): weight for size, weight in _pairs(value).items()})


def parse_mix(value: str) -> dict[str, int]:
    """Parse a value of `mix`: kind of request -> percent."""
    return _pairs(value)


def object_size() -> ValueKind:
    """Return the kind of object sizes: one, a range, or several with weights."""
    weighted = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1, "maximum": MAX_WEIGHT}}
    size = {"type": "string", "pattern": units.SIZE_PATTERN}
    between = {"type": "string", "pattern": rf"{units.SIZE_PATTERN[:-1]} ?\.\. ?{units.SIZE_PATTERN[1:]}"}
    listed = {"type": "string", "pattern": _LISTED}
    schema = {
        "anyOf": [size, {"type": "integer", "minimum": 1}, between, listed, {**weighted, "minProperties": 1}],
        "description": "A size such as 64KiB, sizes as 4KiB..1MiB, or with weights as {4KiB: 70, 1MiB: 30}.",
    }
    return ValueKind(
        _read_sizes,
        lambda value: value if isinstance(value, str) else units.format_size(value),
        schema,
        1,
        MAX_OBJECT_BYTES,
        optional=True,
        label="a size, sizes as `4KiB..1MiB`, or sizes with weights as `{4KiB: 70, 1MiB: 30}`",
        unit="bytes",
        allows_mapping=True,
    )


def file_sizes() -> ValueKind:
    """Return the kind of sizes of the files of a set: a range, or several with weights."""
    known = object_size()
    between = {"type": "string", "pattern": rf"^uniform +{units.SIZE_PATTERN[1:-1]} ?\.\. ?{units.SIZE_PATTERN[1:]}"}
    schema = {
        "anyOf": [between, *known.schema["anyOf"][2:]],
        "description": "Sizes with weights as {64KiB: 70, 1MiB: 30}, 4KiB..1MiB, or uniform 4KiB..1MiB.",
    }
    what = "sizes with weights as `{64KiB: 70, 1MiB: 30}`, sizes as `4KiB..1MiB`, or `uniform 4KiB..1MiB`"
    return ValueKind(_read_file_sizes, known.show, schema, optional=True, label=what, allows_mapping=True)


def _read_file_sizes(written: object) -> int | str:
    if isinstance(written, str) and written.startswith(_EVEN):
        found = _read_sizes(written.removeprefix(_EVEN).strip())
        if isinstance(found, str) and ".." in found:
            return f"{_EVEN}{found}"
        raise units.UnitError(f"{units.display_value(written)} has no two bounds", _FILES)
    if not isinstance(written, str | dict) or (isinstance(written, str) and not {":", "."}.intersection(written)):
        raise units.UnitError(f"{units.display_value(written)} is one size, not several", _FILES)
    return _read_sizes(written)


def mix() -> ValueKind:
    """Return the kind of mixes: shares of kinds of requests in percent."""
    percent = {"type": "integer", "minimum": 0, "maximum": 100}
    schema = {
        "anyOf": [
            *(
                {"type": "object", "properties": dict.fromkeys(kinds, percent), "additionalProperties": False}
                for kinds in MIXABLE.values()
            ),
            {"type": "string", "pattern": _LISTED},
        ],
        "description": f"Shares in percent, 100 together, such as {' or '.join(MIX_EXAMPLES.values())}.",
    }
    what = f"shares in percent such as `{MIX_EXAMPLES['object_mix']}`"
    return ValueKind(_read_mix, str, schema, optional=True, label=what, allows_mapping=True)


def access() -> ValueKind:
    """Return the kind of access distributions: how often each object is used."""
    number = r"[0-9]+(\.[0-9]+)?"
    pattern = rf"^(uniform|zipfian( {number})?|hotspot [0-9]+/{number})$"
    schema = {"type": "string", "pattern": pattern, "description": "uniform, zipfian 0.99 or hotspot 80/20."}
    return ValueKind(_read_access, str, schema, label="uniform, zipfian, zipfian 0.99 or hotspot 80/20")


def parse_access(value: str) -> tuple[str, tuple[float, ...]]:
    """Parse a value of `access`: its word, and the exponent or the percents of requests and of objects."""
    word, _, rest = value.partition(" ")
    return word, tuple(float(number) for number in rest.split("/") if number)


def _read_access(written: object) -> str:
    if not isinstance(written, str) or not written.strip() or not written.isascii():
        raise units.UnitError(f"{units.display_value(written)} is no access", _ACCESS)
    try:
        word, numbers = parse_access(" ".join(written.split()))
    except ValueError:
        raise units.UnitError(f"{units.display_value(written)} is no access", _ACCESS) from None
    if word == "uniform" and not numbers:
        return word
    if word == "zipfian" and len(numbers) < 2:
        exponent = numbers[0] if numbers else 0.99
        if not 0.01 <= exponent <= 10:
            raise units.UnitError(f"{units.display_value(written)} is out of range", "use an exponent of 0.01 to 10")
        return f"zipfian {exponent:g}"
    if word == "hotspot" and len(numbers) == 2:
        requests, objects = numbers
        if requests != int(requests) or not 1 <= requests <= 99 or not 0.001 <= objects <= 99:
            hint = "use whole percents of requests from 1 to 99, and 0.001 to 99 percent of the objects"
            raise units.UnitError(f"{units.display_value(written)} is out of range", hint)
        return f"hotspot {requests:g}/{objects:g}"
    raise units.UnitError(f"{units.display_value(written)} is no access", _ACCESS)


def _pairs(text: str) -> dict[str, int]:
    """Parse `a:1,b:2`."""
    parts = (part.partition(":") for part in text.split(","))
    return {name.strip(): int(number) for name, _, number in parts}


def _listed(written: object, hint: str) -> Mapping[Any, Any] | None:
    """Return a mapping, also from its text form; None for anything else."""
    if not isinstance(written, str) or ":" not in written:
        return written if isinstance(written, dict) else None
    try:
        found = _pairs(written)
    except ValueError:
        raise units.UnitError(f"{units.display_value(written)} cannot be read", hint) from None
    if len(found) < written.count(",") + 1:
        raise units.UnitError(f"something comes twice in {units.display_value(written)}", "name each once")
    return found


def _read_sizes(written: object) -> int | str:
    listed = _listed(written, _SIZES)
    if listed is not None:
        return _weighted(listed)
    if not isinstance(written, str) or ".." not in written:
        return units.parse_size(written)
    least, most = (_one(part.strip()) for part in written.split("..", 1))
    if least > most:
        raise units.UnitError(f"{units.display_value(written)} ends before it starts", "write the smaller size first")
    return least if least == most else f"{units.format_size(least)}..{units.format_size(most)}"


def _weighted(listed: Mapping[Any, Any]) -> int | str:
    if not 1 <= len(listed) <= MAX_SIZES:
        raise units.UnitError(f"{len(listed)} sizes are listed", f"list 1 to {MAX_SIZES}")
    weights: dict[int, int] = {}
    for written, weight in listed.items():
        size = _one(written)
        if isinstance(weight, bool) or not isinstance(weight, int) or not 1 <= weight <= MAX_WEIGHT:
            hint = f"write a whole number from 1 to {MAX_WEIGHT}: how often it comes, relative to the others"
            raise units.UnitError(f"{units.display_value(weight)} is not a weight of {units.format_size(size)}", hint)
        if size in weights:
            raise units.UnitError(f"{units.format_size(size)} comes twice", "name each size once")
        weights[size] = weight
    if len(weights) == 1:
        return next(iter(weights))
    return ",".join(f"{units.format_size(size)}:{weight}" for size, weight in weights.items())


def _one(written: object) -> int:
    size = units.parse_size(written)
    if not 1 <= size <= MAX_OBJECT_BYTES:
        raise units.UnitError(f"{units.format_size(size)} is out of range", "it must be at least 1B")
    return size


def _read_mix(written: object) -> str:
    listed = _listed(written, _MIX)
    if not listed:
        what = f"{units.display_value(written)} is not a mix" if listed is None else "a mix needs shares"
        raise units.UnitError(what, _MIX)
    mix, kinds = _mix_of(listed)
    for name, percent in listed.items():
        if isinstance(percent, bool) or not isinstance(percent, int) or not 0 <= percent <= 100:
            message = f"{units.display_value(percent)} is not a share of {name}"
            raise units.UnitError(message, "write a whole number from 0 to 100, in percent")
    if (total := sum(listed.values())) != 100:
        raise units.UnitError(f"the shares make {total} percent together", "make them 100")
    shares = {name: listed[name] for name in kinds if listed.get(name)}
    if not shares.keys() & set(kinds[:2]):
        instead = "head" if mix == "object_mix" else "operations such as [create, stat, unlink]"
        message = f"the mix has neither {kinds[0]} nor {kinds[1]}, by which it is measured"
        raise units.UnitError(message, f"add one, or use {instead} alone")
    if shares.get("delete", 0) > shares.get("put", 0):
        hint = "make delete at most as large as put"
        raise units.UnitError("more would be deleted than put, until nothing is left", hint)
    if shares.get("create", 0) != shares.get("unlink", 0):
        message = "a file that is removed is made again, so create and unlink come equally often"
        raise units.UnitError(message, "give both the same share")
    return ",".join(f"{name}:{percent}" for name, percent in shares.items())


_OTHER_WORDS = {"delete": "unlink", "getattr": "stat", "remove": "unlink", "open": "read", "close": "read"}
"""Words of vdbench and others for operations of a file mix."""


def _mix_of(listed: Mapping[Any, Any]) -> tuple[str, tuple[str, ...]]:
    """Return the mix that has all these kinds of operations, and all kinds that it may have."""
    for mix, kinds in MIXABLE.items():
        if set(listed) <= set(kinds):
            return mix, kinds
    # The mix with the most matching words is the intended one.
    mix, kinds = max(MIXABLE.items(), key=lambda item: len(set(listed) & set(item[1])))
    name = next(name for name in listed if name not in kinds)
    hint = f"of {mix} it is {_OTHER_WORDS[name]}" if name in _OTHER_WORDS and mix == "file_mix" else ""
    message = f"{units.display_value(name)} cannot be a part of {mix}, which consists of {', '.join(kinds)}"
    raise units.UnitError(message, hint or f"write such as {MIX_EXAMPLES[mix]}")


TOTAL_SIZE = Parameter(
    kind=axis.size(1, 2**63 - 1, optional=True),
    about="Bytes of all lanes of all hosts together, instead of file_size: shared out evenly, in whole records."
    " More hosts or lanes then have less to do each (strong scaling).",
    heading="Bytes of all lanes together, if the study sets them",
    unknown_text="how much data there was in all",
    title="Data of all lanes",
    column="total_size_bytes",
    report_row="limit",
    only=("data",),
)
"""Definition of the parameter `total_size`."""

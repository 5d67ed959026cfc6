"""Sizing of designs to one capacity, so that their prices can be compared; and which designs cannot be compared."""

from collections.abc import Sequence
from typing import Any

from assay.model.base import AssayError
from assay.model.money.amount import MAX_BYTES
from assay.model.money.design import Design
from assay.model.money.use import DesignChoice
from assay.model.units import UnitError, about_size, format_size, parse_size
from assay.money.cost.designs import load_template
from assay.money.cost.metrics import PricedOption
from assay.money.cost.sizing import (
    SIZE_PARAMETERS,
    CapacityDemand,
    Sizing,
    normalized_value,
)

TB, GB = 10**12, 10**9
MAX_SIZE_DIFFERENCE = 0.05
"""Share by which the usable capacities of compared designs may differ."""


def parse_capacity(written: str) -> int:
    """Return the bytes of a capacity such as `40TB`.

    Raises:
        AssayError: The text is not a size, or the size is 0 or too large.
    """
    try:
        size = parse_size(written)
        if size > MAX_BYTES:
            raise AssayError(f"--capacity: {written} is too large", "write a size up to 1000000PB")
    except UnitError as error:
        raise error.at("--capacity") from None
    if size < 1:
        raise AssayError("--capacity: 0 bytes is not a capacity", "write a size such as 40TB")
    return int(size)


def size_designs(found: Sequence[tuple[DesignChoice, Design]], wanted: int) -> list[tuple[DesignChoice, Design]]:
    """Return each design in its smallest available size with at least `wanted` bytes for data.

    Raises:
        AssayError: A design has its own size, cannot be sized, or cannot be that large.
    """
    return [_sized(chosen, wanted) for chosen, _ in found]


def _sized(chosen: DesignChoice, wanted: int) -> tuple[DesignChoice, Design]:
    template = load_template(chosen.design)
    own = next((key for key in SIZE_PARAMETERS if key in chosen.set), None)
    if own is not None:
        message = f"design {chosen.label}: {own} is set, but --capacity sets it, too"
        raise AssayError(message, f"leave one of --capacity and {own} out")
    sizing = Sizing(template, CapacityDemand(wanted), chosen.set)
    if sizing.size_key is None and not sizing.count_keys:
        hint = "leave --capacity or this design out; `assay price --list` shows the parameters of each"
        raise AssayError(f"design {chosen.label}: it has no free parameter for its capacity", hint)
    values = {key: parameter.value for key, parameter in template.parameters.items()} | chosen.set
    fitting = _fitting(sizing, values)
    if fitting is None:
        raise AssayError(f"design {chosen.label} cannot hold {format_size(wanted)}", _most(sizing, values))
    merged = DesignChoice(design=chosen.design, set={**chosen.set, **fitting})
    return merged, template.build(merged.set)


def _fitting(sizing: Sizing, values: dict[str, Any]) -> dict[str, Any] | None:
    """Return the least value of the size parameter, or of the first count parameter, that is enough; else None."""
    if sizing.size_key is not None:
        found = sizing.size_for_capacity(values)
        return None if found is None else {sizing.size_key: found}
    for key in sizing.count_keys:
        fitting = sizing.counts(values, (key,)).get(key)
        if fitting:
            return {key: fitting[0]}
    return None


def _most(sizing: Sizing, values: dict[str, Any]) -> str:
    """Return a hint: the most that the design can hold, if a count parameter has a maximum."""
    for key in sizing.count_keys:
        most = sizing.template.parameters[key].max
        if most is not None:
            usable = sizing.template.limits({**values, key: most}).usable
            return f"with the maximum of {key}, {most}, it holds {about_size(usable)}: leave it out"
    return "leave it out, or take another type, instance or number"


def incomparable_reason(options: Sequence[PricedOption]) -> str | None:
    """Return a hint if usable capacities differ by more than `MAX_SIZE_DIFFERENCE`: their prices do not compare."""
    sizes = [option.limits.usable for option in options]
    least, most = min(sizes), max(sizes)
    if most - least <= MAX_SIZE_DIFFERENCE * most:
        return None
    cheapest = min(options, key=lambda option: option.per_tb_month)
    return (
        f"They hold {about_size(least)} to {about_size(most)}, so their prices cannot be compared; "
        f"size them with --capacity {_rounded(most)}. For each usable TB {cheapest.label} costs least"
    )


def _rounded(size: int) -> str:
    """Return a size rounded up to whole TB, or to whole GB if it is less than 1 TB."""
    unit, name = (TB, "TB") if size >= TB else (GB, "GB")
    return f"{-(-size // unit)}{name}"


def unpriced_parameters(option: PricedOption) -> dict[str, str]:
    """Return changed parameters -> why the price does not depend on them."""
    parameters = load_template(option.chosen.design).parameters if option.design.unpriced else {}
    return {
        key: why
        for key, why in option.design.unpriced.items()
        if key in option.chosen.set
        and normalized_value(option.chosen.set[key]) != normalized_value(parameters[key].value)
    }

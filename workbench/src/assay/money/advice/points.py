"""The combinations of a design's parameters that are tried, and the values of a candidate that make none."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from assay.model.base import AssayError
from assay.model.money.design import Design, FsxLustre
from assay.model.money.need import Candidate, Need
from assay.model.units import UnitError, format_size, parse_size, parse_throughput, shown
from assay.money.advice.bought import bought_names, sized_to, unsized
from assay.money.cost.bill import volume_count
from assay.money.cost.catalog import catalog
from assay.money.cost.designs import Template
from assay.money.cost.limits import design_limits

SIZED = ("capacity", "stored")
"""Parameters that say how much a design stores; what the need asks for is tried besides their choices."""
GB = 10**9
_VALUES = re.compile(r"( \([a-z_]+=[^()]*\))+$")


class BadValueError(AssayError):
    """A candidate's value with which no variant can be built.

    Attributes:
        candidate: Whose value it is.
        key: Its parameter.
        place: In the list of values; None: all of it, or there is no list.
    """

    def __init__(self, candidate: Candidate, key: str, place: int | None, message: str, hint: str) -> None:
        """Say what is wrong, and where."""
        super().__init__(message, hint)
        self.candidate, self.key, self.place = candidate, key, place


class Given:
    """Which of a candidate's values made a variant, and why the others did not."""

    def __init__(self, candidate: Candidate, axes: Mapping[str, Sequence[Any]]) -> None:
        self._candidate = candidate
        self._open = {key: {plain(value): place for place, value in enumerate(axes[key])} for key in candidate.set}
        self._errors: dict[tuple[str, object], AssayError] = {}

    def built(self, values: Mapping[str, Any]) -> None:
        """These made one."""
        for key in [key for key, left in self._open.items() if left]:
            self._open[key].pop(plain(values[key]), None)

    def failed(self, values: Mapping[str, Any], error: AssayError) -> None:
        """These did not."""
        for key, left in self._open.items():
            meant = plain(values[key])
            if meant in left:
                self._errors.setdefault((key, meant), error)

    def check(self) -> None:
        """Refuse what made none. Of several keys the one with a good value besides is at fault, else the first.

        Raises:
            BadValueError: There is such a value.
        """
        wrong = [(key, meant, place) for key, left in self._open.items() for meant, place in left.items()]
        wrong = [each for each in wrong if (each[0], each[1]) in self._errors]
        if not wrong:
            return
        blamed = [each for each in wrong if _blames(self._errors[each[0], each[1]], each[0], each[1])]
        key, meant, place = (blamed or wrong)[0]
        error = self._errors[key, meant]
        given = self._candidate.set[key]
        value = given[place] if isinstance(given, list | tuple) else given
        message = (
            f"{self._candidate.design}: no variant can be built with {key}: {shown(value)}: {_bare(error.message)}"
        )
        at = place if isinstance(given, list | tuple) else None
        raise BadValueError(self._candidate, key, at, message, error.hint or "remove the value, or mend it")


def _bare(message: str) -> str:
    """Without the values of all parameters, which stand behind it."""
    return _VALUES.sub("", message)


def _blames(error: AssayError, key: str, meant: object) -> bool:
    text = error.message.split(" (", 1)[0]
    return str(meant) in text or key in text


def plain(value: Any) -> object:
    """What a value means, however it is written: sizes and rates in bytes."""
    if isinstance(value, str):
        return _meaning(value)
    return value if isinstance(value, int | float | bool | None) else str(value)


@cache
def _meaning(text: str) -> object:
    for parse in (parse_size, parse_throughput):
        try:
            return parse(text)
        except UnitError:
            continue
    return text


def axes_of(template: Template, candidate: Candidate) -> dict[str, tuple[Any, ...]]:
    """The values of each parameter: the candidate's, else the design's choices, else its own one.

    Raises:
        AssayError: There is no such parameter.
        BadValueError: A value cannot be one.
    """
    for key, value in candidate.set.items():
        if key not in template.parameters:
            template.build({key: None})
        if isinstance(value, list | tuple) and not value:
            message = f"{candidate.design}: there is no value of {key} to try"
            raise BadValueError(candidate, key, None, message, "add a value, or remove the key")
        for place, each in enumerate(value if isinstance(value, list | tuple) else (value,)):
            if isinstance(each, dict | list):
                message = f"{candidate.design}: {key}: {shown(each)} is not a value"
                at = place if isinstance(value, list | tuple) else None
                raise BadValueError(candidate, key, at, message, "write one value, or a list of values")
    axes = {}
    for key, parameter in template.parameters.items():
        given = candidate.set.get(key, parameter.choices or (parameter.value,))
        axes[key] = tuple(given) if isinstance(given, list | tuple) else (given,)
    return axes


def points_of(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: Candidate, need: Need
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Each combination, and with each the size that the need asks for unless the candidate says the size.

    Where a rate is bought, with each combination of the others what the need asks for, too; those have True.
    """
    bought = bought_names(template, candidate.set)
    for values in _sized_points(template, axes, candidate, need):
        yield values, False
    if not bought:
        return
    others = {key: values[:1] if key in bought else values for key, values in axes.items()}
    for values in _sized_points(template, others, candidate, need):
        sized = sized_to(template, values, bought, need)
        if sized is not None:
            yield {**unsized(template, values, bought), **sized}, True


def _sized_points(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: Candidate, need: Need
) -> Iterator[dict[str, Any]]:
    size = next((key for key in SIZED if key in axes and key not in candidate.set), None)
    others = [key for key in axes if key != size]
    for point in product(*(axes[key] for key in others)):
        values = dict(zip(others, point, strict=True))
        if size is None:
            yield values
            continue
        fitting = _sized(template, values, size, need.capacity)
        choices = [*axes[size], *([fitting] if fitting is not None else [])]
        seen = set()
        for choice in choices:
            meant = plain(choice)
            if meant not in seen:
                seen.add(meant)
                yield {**values, size: choice}


def _sized(template: Template, values: Mapping[str, Any], key: str, wanted: int) -> str | None:
    """The least value of the parameter with which the design has `wanted` usable bytes, as it can be bought.

    Usable capacity is in proportion to the parameter, so that one known pair gives it.
    """
    for choice in (template.parameters[key].value, *template.parameters[key].choices):
        try:
            start = parse_size(choice)
            usable = design_limits(template.build({**values, key: choice})).usable
        except (AssayError, UnitError):
            continue
        if usable <= 0:
            return None
        least = -(-wanted * start // usable)
        try:
            return format_size(_sold(template.build({**values, key: format_size(least)}), least))
        except AssayError:
            return None
    return None


def _sold(design: Design, least: int) -> int:
    """The next size that can be bought: whole GB of each volume, or a step of the service."""
    service = design.service
    if isinstance(service, FsxLustre):
        kind = catalog().filesystem(service.type)
        # Other file systems have no steps.
        return int(kind.capacity_for(least)) if hasattr(kind, "capacity_for") else least
    counts = [volume_count(group.volumes) for group in design.servers if group.volumes is not None]
    step = GB * max(counts, default=0)
    return -(-least // step) * step if step else least

"""The combinations of a design's parameters that are tried, and the values of a candidate that make none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from assay.model.base import AssayError
from assay.model.money.need import Candidate, Need
from assay.model.units import UnitError, parse_size, parse_throughput, shown
from assay.money.advice.bought import bought_names, sized_to, unsized
from assay.money.advice.sizes import SIZED, counted_names, counts_for, fast_enough, grows, shares_for, sized
from assay.money.cost.designs import Template


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

    def __init__(
        self, candidate: Candidate, axes: Mapping[str, Sequence[Any]], builds: Callable[[Mapping[str, Any]], bool]
    ) -> None:
        """Nothing is built yet; `builds` says whether a variant can be built with some values."""
        self._candidate, self._builds = candidate, builds
        self._open = {key: {plain(value): place for place, value in enumerate(axes[key])} for key in candidate.set}
        self._errors: dict[tuple[str, object], tuple[Mapping[str, Any], AssayError]] = {}

    def built(self, values: Mapping[str, Any]) -> None:
        """These made one."""
        for key in [key for key, left in self._open.items() if left]:
            self._open[key].pop(plain(values[key]), None)

    def failed(self, values: Mapping[str, Any], error: AssayError) -> None:
        """These did not."""
        for key, left in self._open.items():
            meant = plain(values[key])
            if meant in left:
                self._errors.setdefault((key, meant), (values, error))

    def check(self) -> None:
        """Refuse what made none. Of several keys the one is at fault without which there is one, else the first.

        Raises:
            BadValueError: There is such a value.
        """
        wrong = [(key, meant, place) for key, left in self._open.items() for meant, place in left.items()]
        wrong = [each for each in wrong if (each[0], each[1]) in self._errors]
        if not wrong:
            return
        key, meant, place = next((each for each in wrong if self._to_blame(*each[:2])), wrong[0])
        _, error = self._errors[key, meant]
        given = self._candidate.set[key]
        value = given[place] if isinstance(given, list | tuple) else given
        message = f"{self._candidate.design}: no variant can be built with {key}: {shown(value)}: {error.what}"
        at = place if isinstance(given, list | tuple) else None
        raise BadValueError(self._candidate, key, at, message, error.hint or "remove the value, or mend it")

    def _to_blame(self, key: str, meant: object) -> bool:
        """Whether the design's own value in place of this one makes a variant."""
        values, _ = self._errors[key, meant]
        return self._builds({name: value for name, value in values.items() if name != key})


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
    """Each combination, and with each the size, counts and shares that follow from the need, unless the candidate says.

    Where a rate is bought, with each combination of the others what the need asks for, too; those have True.
    """
    axes = {**axes, **shares_for(template, candidate, need)}
    bought = bought_names(template, candidate.set)
    for values in _counted_points(template, axes, candidate, need):
        yield values, False
    if not bought:
        return
    others = {key: values[:1] if key in bought else values for key, values in axes.items()}
    for values in _counted_points(template, others, candidate, need):
        fitting = sized_to(template, values, bought, need)
        if fitting is not None:
            yield {**unsized(template, values, bought), **fitting}, True


def _counted_points(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: Candidate, need: Need
) -> Iterator[dict[str, Any]]:
    """Each combination, with the counts that follow from the need besides the choices of a count."""
    counts = counted_names(template, candidate.set)
    if not counts:
        yield from _sized_points(template, axes, candidate, need)
        return
    rest = {name: values for name, values in axes.items() if name not in counts}
    size = next((name for name in SIZED if name in axes and name not in candidate.set), None)
    for point in product(*(rest[name] for name in rest if name != size)):
        values = dict(zip((name for name in rest if name != size), point, strict=True))
        found = counts_for(template, values, counts, need)
        one = {name: (value,) for name, value in values.items()} | ({size: axes[size]} if size is not None else {})
        # What follows from the need comes first.
        counted = {name: tuple(dict.fromkeys((*found.get(name, ()), *axes[name]))) for name in counts}
        yield from _sized_points(template, {**one, **counted}, candidate, need)


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
        fitting = sized(template, values, size, need.capacity)
        choices = [*axes[size]] if fitting is None else [*_holding(axes[size], size, fitting), fitting]
        # Only what is provisioned can be larger than the data; nobody stores bytes to be faster.
        if size == "capacity" and fitting is not None and grows(template, {**values, size: fitting}, size, need):
            faster = fast_enough(template, {**values, size: fitting}, size, need)
            choices += [faster] if faster is not None else []
        seen = set()
        for choice in choices:
            meant = plain(choice)
            if meant not in seen:
                seen.add(meant)
                yield {**values, size: choice}


def _holding(choices: Sequence[Any], key: str, fitting: str) -> list[Any]:
    """Sizes besides the one that fits: what is provisioned may be larger; what is stored is what there is."""
    if key != "capacity":
        return []
    return [choice for choice in choices if not isinstance(choice, str) or parse_size(choice) >= parse_size(fitting)]

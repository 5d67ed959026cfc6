"""The combinations of a design's parameters to build, and the values of a candidate that make no variant."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from assay.model.base import AssayError
from assay.model.units import display_value, parse_size
from assay.money.cost.designs import Template
from assay.money.cost.sizing import SIZE_PARAMETERS, count_names, counts_for, normalized_value, size_for_capacity
from assay.rooms.advice.model.need import CandidateDesign, Need
from assay.rooms.advice.work.provisioned import provision_for, provisioned_names, without_provisioned
from assay.rooms.advice.work.sizes import rate_grows_with_size, shares_for, size_for_rate


class BadValueError(AssayError):
    """A candidate's value with which no variant can be built.

    Attributes:
        candidate: The candidate.
        key: Its parameter.
        index: Index in the list of values; None: the whole list, or there is no list.
    """

    def __init__(self, candidate: CandidateDesign, key: str, place: int | None, message: str, hint: str) -> None:
        """Store the message and where the value is."""
        super().__init__(message, hint)
        self.candidate, self.key, self.place = candidate, key, place


class ValueTracker:
    """Records which of a candidate's values make a variant, and why the others do not."""

    def __init__(
        self, candidate: CandidateDesign, axes: Mapping[str, Sequence[Any]], builds: Callable[[Mapping[str, Any]], bool]
    ) -> None:
        """Start with all values open; `builds` returns whether a variant can be built with some values."""
        self._candidate, self._builds = candidate, builds
        self._open = {
            key: {normalized_value(value): place for place, value in enumerate(axes[key])} for key in candidate.set
        }
        self._errors: dict[tuple[str, object], tuple[Mapping[str, Any], AssayError]] = {}

    def record_built(self, values: Mapping[str, Any]) -> None:
        """Record that a variant was built with these values."""
        for key in [key for key, places in self._open.items() if places]:
            self._open[key].pop(normalized_value(values[key]), None)

    def record_failed(self, values: Mapping[str, Any], error: AssayError) -> None:
        """Record that no variant could be built with these values."""
        for key, places in self._open.items():
            normal = normalized_value(values[key])
            if normal in places:
                self._errors.setdefault((key, normal), (values, error))

    def check(self) -> None:
        """Refuse values with which no variant was built; blame the one whose default makes a variant, else the first.

        Raises:
            BadValueError: There is such a value.
        """
        wrong = [(key, normal, place) for key, places in self._open.items() for normal, place in places.items()]
        wrong = [each for each in wrong if (each[0], each[1]) in self._errors]
        if not wrong:
            return
        key, normal, place = next((each for each in wrong if self._is_to_blame(*each[:2])), wrong[0])
        _, error = self._errors[key, normal]
        values = self._candidate.set[key]
        value = values[place] if isinstance(values, list | tuple) else values
        message = f"{self._candidate.design}: no variant can be built with {key}: {display_value(value)}: {error.what}"
        at = place if isinstance(values, list | tuple) else None
        raise BadValueError(self._candidate, key, at, message, error.hint or "remove or correct the value")

    def _is_to_blame(self, key: str, normal: object) -> bool:
        """Return whether the design's default in place of this value makes a variant."""
        values, _ = self._errors[key, normal]
        return self._builds({name: value for name, value in values.items() if name != key})


def axes_of(template: Template, candidate: CandidateDesign) -> dict[str, tuple[Any, ...]]:
    """Return the values of each parameter: the candidate's, else the design's choices, else its default.

    Raises:
        AssayError: There is no such parameter.
        BadValueError: A value has the wrong type.
    """
    for key, value in candidate.set.items():
        if key not in template.parameters:
            template.build({key: None})
        if isinstance(value, list | tuple) and not value:
            message = f"{candidate.design}: {key} has no values"
            raise BadValueError(candidate, key, None, message, "add a value, or remove the key")
        for place, each in enumerate(value if isinstance(value, list | tuple) else (value,)):
            if isinstance(each, dict | list):
                message = f"{candidate.design}: {key}: {display_value(each)} is not a value"
                at = place if isinstance(value, list | tuple) else None
                raise BadValueError(candidate, key, at, message, "write one value, or a list of values")
    axes = {}
    for key, parameter in template.parameters.items():
        values = candidate.set.get(key, parameter.choices or (parameter.value,))
        axes[key] = tuple(values) if isinstance(values, list | tuple) else (values,)
    return axes


def grid_points(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: CandidateDesign, need: Need
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield each combination, with sizes, counts and cold shares computed from the need unless the candidate has them.

    A design with provisioned rates has a second combination for each of the others, with the rates that the need
    requires. It is marked with True.
    """
    axes = {**axes, **shares_for(template, candidate, need)}
    provisioned = provisioned_names(template, candidate.set)
    for values in _counted_points(template, axes, candidate, need):
        yield values, False
    if not provisioned:
        return
    others = {key: values[:1] if key in provisioned else values for key, values in axes.items()}
    for values in _counted_points(template, others, candidate, need):
        fitting = provision_for(template, values, provisioned, need)
        if fitting is not None:
            yield {**without_provisioned(template, values, provisioned), **fitting}, True


def _counted_points(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: CandidateDesign, need: Need
) -> Iterator[dict[str, Any]]:
    """Yield each combination, with the counts computed from the need in addition to the choices of a count."""
    counts = count_names(template, candidate.set)
    if not counts:
        yield from _sized_points(template, axes, candidate, need)
        return
    rest = {name: values for name, values in axes.items() if name not in counts}
    size = next((name for name in SIZE_PARAMETERS if name in axes and name not in candidate.set), None)
    for point in product(*(rest[name] for name in rest if name != size)):
        values = dict(zip((name for name in rest if name != size), point, strict=True))
        needed = counts_for(template, values, counts, need)
        one = {name: (value,) for name, value in values.items()} | ({size: axes[size]} if size is not None else {})
        # Counts computed from the need come first.
        count_axes = {name: tuple(dict.fromkeys((*needed.get(name, ()), *axes[name]))) for name in counts}
        yield from _sized_points(template, {**one, **count_axes}, candidate, need)


def _sized_points(
    template: Template, axes: Mapping[str, Sequence[Any]], candidate: CandidateDesign, need: Need
) -> Iterator[dict[str, Any]]:
    size = next((key for key in SIZE_PARAMETERS if key in axes and key not in candidate.set), None)
    others = [key for key in axes if key != size]
    for point in product(*(axes[key] for key in others)):
        values = dict(zip(others, point, strict=True))
        if size is None:
            yield values
            continue
        fitting = size_for_capacity(template, values, size, need.capacity)
        choices = [*axes[size]] if fitting is None else [*_large_enough(axes[size], size, fitting), fitting]
        # Only provisioned capacity can exceed the data: it makes no sense to store more bytes to be faster.
        if (
            size == "capacity"
            and fitting is not None
            and rate_grows_with_size(template, {**values, size: fitting}, size, need)
        ):
            faster = size_for_rate(template, {**values, size: fitting}, size, need)
            choices += [faster] if faster is not None else []
        used = set()
        for choice in choices:
            normal = normalized_value(choice)
            if normal not in used:
                used.add(normal)
                yield {**values, size: choice}


def _large_enough(choices: Sequence[Any], key: str, fitting: str) -> list[Any]:
    """Return the chosen sizes that can hold the data: capacity may exceed what is needed, stored bytes may not."""
    if key != "capacity":
        return []
    return [choice for choice in choices if not isinstance(choice, str) or parse_size(choice) >= parse_size(fitting)]

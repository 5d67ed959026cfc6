"""The combinations of a design's parameters to build, and the values of a candidate that make no variant."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from assay.model.base import AssayError
from assay.model.units import display_value, format_size, parse_size
from assay.money.cost.designs import Template
from assay.money.cost.sizing import SIZE_PARAMETERS, CapacityDemand, Sizing, normalized_value
from assay.rooms.advice.model.need import CandidateDesign, Need
from assay.rooms.advice.work.provisioned import PROVISIONED, per_second, provisioned_rates
from assay.rooms.advice.work.traffic import active_share, bytes_to_hold

COLD_SHARE = "cold_share"
COLD_SHARE_PARAMETERS = ("infrequent", COLD_SHARE)
"""Parameters that set the share of data in a class for cold data; the value that the need allows is added."""

VOLUMES = "volumes"
"""Parameter of the number of volumes of an instance."""
ITEM = "item"
"""Parameter of the bytes of an item of a table: what the need calls a record."""


class BadValueError(AssayError):
    """A candidate's value with which no variant can be built.

    Attributes:
        candidate: The candidate.
        key: Its parameter.
        place: Index in the list of values; None: the whole list, or there is no list.
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


class NeedSizing(Sizing):
    """Sizes one design for a need: all combinations of its parameters' values that are built.

    Attributes:
        axes: Parameter -> the values of the candidate, else the design's choices, else its default.
        provisioned_keys: Parameters of provisioned rates that are computed from the need.
    """

    def __init__(self, template: Template, candidate: CandidateDesign, need: Need) -> None:
        """Find what is to be computed: what the candidate does not set.

        Raises:
            AssayError: The design has no such parameter.
            BadValueError: A value of the candidate has the wrong type.
        """
        held = bytes_to_hold(need, bool(template.source.data.get("hardware")))
        super().__init__(template, _demanded(need, held), candidate.set)
        self.need, self.axes = need, axes_of(template, candidate)
        if ITEM in template.parameters and ITEM not in candidate.set:
            self.axes[ITEM] = (format_size(need.profile.record),)
        self.provisioned_keys = tuple(
            key for key in PROVISIONED if key in template.parameters and key not in candidate.set
        )
        self._shares = shares_for(template, candidate, need)
        self._candidate = candidate
        self._is_attached = VOLUMES in template.parameters and template.is_attached
        self._fewest: dict[tuple[str, ...], int | None] = {}

    @property
    def labelled_keys(self) -> set[str]:
        """Parameters whose values distinguish the combinations."""
        shown = {key for key, values in self.axes.items() if len(values) > 1}
        sizes = {key for key in (*SIZE_PARAMETERS, *COLD_SHARE_PARAMETERS) if key in self.template.parameters}
        return (
            shown
            | sizes
            | {ITEM, *self.provisioned_keys, *self.count_keys, *self.partial_keys} & {*self.template.parameters}
        )

    def points(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """Yield each combination, with the sizes, counts and cold shares that the need requires.

        A design with provisioned rates has a second combination for each of the others, with the rates that the need
        requires. It is marked with True.
        """
        axes = {**self.axes, **self._shares}
        for values in self._with_counts(axes):
            if not self._is_striped_for_free_rates(values):
                yield values, False
        if not self.provisioned_keys:
            return
        for values in self._with_counts(axes | {key: axes[key][:1] for key in self.provisioned_keys}):
            bare = self._without_rates(values)
            with suppress(AssayError):
                rates = provisioned_rates(self.template.build(bare), self.provisioned_keys, self.need)
                if rates is not None and not self._is_striped_for_free_rates(values):
                    yield bare | rates, True

    def _without_rates(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values without the provisioned rates that are to be computed."""
        return {**values, **{key: None for key in self.provisioned_keys if self.template.parameters[key].value is None}}

    def _is_striped_for_free_rates(self, values: Mapping[str, Any]) -> bool:
        """Return whether fewer attached volumes do with provisioned rates: each more is one more that may fail."""
        count = values.get(VOLUMES)
        if not self._is_attached or VOLUMES in self._candidate.set or not isinstance(count, int) or count == 1:
            return False
        key = tuple(str(values.get(name)) for name in ("volume", "layout"))
        if key not in self._fewest:
            counts = sorted(each for each in self.axes[VOLUMES] if isinstance(each, int))
            self._fewest[key] = next((each for each in counts if self._has_rates({**values, VOLUMES: each})), None)
        fewest = self._fewest[key]
        return fewest is not None and count > fewest

    def _has_rates(self, values: Mapping[str, Any]) -> bool:
        """Return whether volumes with these values can have the rates that the need requires provisioned."""
        size = self.size_for_capacity(values) if self.size_key is not None else None
        sized = self._without_rates(values) | ({} if self.size_key is None else {self.size_key: size})
        with suppress(AssayError):
            return provisioned_rates(self.template.build(sized), self.provisioned_keys, self.need) is not None
        return False

    def _with_counts(self, axes: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield each combination, with the counts computed from the need in addition to the choices of a count.

        What need not be full has the fewest disks that suffice, so that several choices may become the same.
        """
        built: set[tuple[object, ...]] = set()
        others = {key: values for key, values in axes.items() if key not in (self.size_key, *self.count_keys)}
        for values in _combinations(others):
            needed = self.counts(values) if self.count_keys else {}
            # Counts computed from the need come first.
            counts = {key: tuple(dict.fromkeys((*needed.get(key, ()), *axes[key]))) for key in self.count_keys}
            for counted in _combinations(counts):
                point = self.fewest(values | counted)
                if self.partial_keys:
                    if tuple(point.values()) in built:
                        continue
                    built.add(tuple(point.values()))
                yield from self._with_sizes(point, axes)

    def _with_sizes(self, values: dict[str, Any], axes: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield one combination with each size: the design's that hold the data, and those that the need requires."""
        key = self.size_key
        if key is None:
            yield values
            return
        fitting = self.size_for_capacity(values)
        sizes = [*axes[key]] if fitting is None else [*_large_enough(axes[key], key, fitting), fitting]
        # Only provisioned capacity can exceed the data: it makes no sense to store more bytes to be faster.
        faster = self.faster_size({**values, key: fitting}) if key == "capacity" and fitting is not None else None
        sizes += [] if faster is None else [faster]
        unique: dict[object, Any] = {}
        for size in sizes:
            unique.setdefault(normalized_value(size), size)
        for size in unique.values():
            yield values | {key: size}


def _demanded(need: Need, capacity: int) -> CapacityDemand:
    """Return what a need demands of each layer: random bytes take operations, and operations take bytes."""
    (read, read_iops), (write, write_iops) = per_second(need, "read"), per_second(need, "write")
    return CapacityDemand(capacity, read or None, write or None, read_iops or None, write_iops or None)


def shares_for(template: Template, candidate: CandidateDesign, need: Need) -> dict[str, tuple[str, ...]]:
    """Return the values of shares in classes for cold data: 0 %, and the share that is not used in a month.

    A bucket with all data in its class for cold data is a bucket of that class, which is a design of its own.
    """
    names = [name for name in COLD_SHARE_PARAMETERS if name in template.parameters and name not in candidate.set]
    unused = int((1 - active_share(need)) * 100)
    return {
        name: ("0%",) if unused <= 0 or (unused == 100 and name == COLD_SHARE) else ("0%", f"{unused}%")
        for name in names
    }


def _combinations(axes: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(axes, point, strict=True)) for point in product(*axes.values()))


def _large_enough(choices: Sequence[Any], key: str, fitting: str) -> list[Any]:
    """Return the chosen sizes that can hold the data: capacity may exceed what is needed, stored bytes may not."""
    if key != "capacity":
        return []
    return [choice for choice in choices if not isinstance(choice, str) or parse_size(choice) >= parse_size(fitting)]

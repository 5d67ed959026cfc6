"""What an author may order of a table or chart: runs, conditions, the value, and over what it is summarised."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.units import display_value
from assay.report.paper_part import PartOptions


class ValueChoice(Frozen):
    """The quantity that is shown.

    Attributes:
        name: Name of the quantity, such as `rate` or `p99`.
        base: For `ratio_to`: the target that rates are divided by; else empty.
    """

    name: str
    base: str = ""


RATIO = "ratio_to"
"""Name of the quantity that needs a target."""


def _words(written: Any) -> Any:
    """Return one name or several as a tuple."""
    return (written,) if isinstance(written, str) else tuple(written) if isinstance(written, list) else written


def _value(written: Any) -> Any:
    if isinstance(written, ValueChoice):
        return written
    if isinstance(written, dict) and list(written) == [RATIO]:
        return ValueChoice(name=RATIO, base=str(written[RATIO]))
    if isinstance(written, str) and written != RATIO:
        return ValueChoice(name=written)
    raise fault(f"{display_value(written)} is no value", "write one such as rate, p99 or {ratio_to: TARGET}")


def _conditions(written: Any) -> Any:
    """Return property -> what it must be, each a tuple of texts."""
    if not isinstance(written, dict):
        raise fault(f"{display_value(written)} is no mapping", "write where: {operation: write, target: [a, b]}")
    return {str(key): _texts(str(key), value) for key, value in written.items()}


def _texts(key: str, written: Any) -> tuple[str, ...]:
    listed = list(written) if isinstance(written, list | tuple) else [written]
    if not listed:
        raise fault("there is no value", "write one or more values, or leave the property out", key)
    for value in listed:
        if isinstance(value, dict | list):
            raise fault(f"{display_value(value)} is no value", "write a value, a list of values, or `>64KiB`", key)
    return tuple("none" if value is None else str(value) for value in listed)


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
"""One name or a list of names."""
Conditions = Annotated[Mapping[str, tuple[str, ...]], BeforeValidator(_conditions)]
"""Name -> what it must be, each a tuple of texts."""


class SelectionOptions(PartOptions):
    """Options that tables and charts have in common.

    Attributes:
        run: The only run, in place of `runs`.
        where: Property -> its values, or comparisons such as `>256KiB`; only results with all of them are shown.
        value: The quantity.
        mean_over, max_over, min_over: Properties over which the mean, the greatest or the least value is taken; at most
            one of the three.
        common_values: Summarise only over values that all compared runs and targets have.
        unit: Unit of the values; empty: the usual one.
        split: A table or picture of its own for each value of these properties.
        caption: Text in place of the generated description; what was averaged is stated in any case.
    """

    run: str = ""
    runs: Words = ()
    where: Conditions = Field(default_factory=dict)
    value: Annotated[ValueChoice, BeforeValidator(_value)] = ValueChoice(name="rate")
    mean_over: Words = ()
    max_over: Words = ()
    min_over: Words = ()
    common_values: bool = False
    unit: str = ""
    split: Words = ()
    caption: Annotated[str, Field(max_length=2000)] = ""

    @model_validator(mode="after")
    def _has_one_of_each(self) -> "SelectionOptions":
        """Refuse a run beside runs, and two ways to summarise."""
        if self.run and self.runs:
            raise fault("`run` and `runs` both stand there", "leave one out")
        if len([over for over in (self.mean_over, self.max_over, self.min_over) if over]) > 1:
            raise fault("only one of mean_over, max_over and min_over can be used", "leave the others out")
        if self.common_values and not self.summary[0]:
            raise fault("`common_values` needs something to average", "add mean_over, or leave it out", "common_values")
        return self

    @property
    def run_names(self) -> tuple[str, ...]:
        """The named runs; empty: all of the document."""
        return (self.run,) if self.run else self.runs

    @property
    def summary(self) -> tuple[str, tuple[str, ...]]:
        """How results of a cell are summarised, `mean`, `max`, `min` or empty, and over which properties."""
        for name, over in (("mean", self.mean_over), ("max", self.max_over), ("min", self.min_over)):
            if over:
                return name, over
        return "", ()

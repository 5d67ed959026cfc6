"""What a definition of a workload's parameter says; the definitions are in `assay.model.study.parameters`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.study.axis import AxisValue, Kind

Shown = Literal["axis", "always", "names", "limit", "setting", "words"]
"""When a report's table of workloads has a row for a parameter that is no axis.

axis: never; always; names: with metadata operations; limit, setting: if it is not its default, limits before settings;
words: it is told there in words of its own.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameter:
    """What there is to say of one parameter.

    Attributes:
        kind: How its values are written, read and shown.
        about: What it is, for who writes a study.
        heading: What it is, over a column of results.
        column: Name of that column, with the unit; the parameter's own if empty.
        title: Its name in reports; the parameter's own if empty.
        untold: What nobody has told where this is not told, after "nobody told".
        shown: When a report's table of workloads has it.
        job: Where the value goes in the engine's job: a field, or after a dot a field of `tuning`, `tree`, `data` or
            `phase`. Empty where more than the value decides it: `assay.plan.jobs` says how.
        to_job: From the value to what the job has.
        needed: It must be written, whatever its default.
        of_names: The default of metadata operations, where it is another one; a tuple of that one value.
        only: Means something for operations on data, or on names, alone.
        needs: Other parameters, each with the values of which it needs one where this one is not its default.
    """

    kind: Kind
    about: str
    heading: str
    untold: str
    column: str = ""
    title: str = ""
    shown: Shown = "axis"
    job: str = ""
    to_job: Callable[[Any], Any] | None = None
    needed: bool = False
    of_names: tuple[AxisValue, ...] = ()
    only: Literal["", "data", "names"] = ""
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

"""The class of definitions of workload parameters; the definitions are in `assay.model.study.parameters`."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.study.axis import AxisValue, Kind
from assay.model.study.names import Group, group_of

Shown = Literal["axis", "always", "limit", "setting", "words"]
"""When a report's table of workloads has a row for a parameter that is no axis.

axis: never; always: with all operations that it applies to; limit, setting: if it is not its default, limits before
settings; words: it is described in a sentence instead."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Parameter:
    """The definition of one parameter.

    Attributes:
        kind: How its values are written, read and shown.
        about: Description for authors of studies.
        heading: Description as the heading of a column of results.
        column: Name of that column, with the unit; by default the parameter's name.
        title: Name in reports; by default the parameter's name.
        untold: What is unknown if the value is missing; follows "it is not known".
        shown: When a report's table of workloads has it.
        job: Path of the value in the engine's job: a field, or after a dot a field of `tuning`, `tree`, `data`,
            `phase`, `target` or `target.hints`. Empty if more than the value decides: see `assay.plan.jobs`.
        to_job: Converts the value for the job.
        needed: It must be written, even if it has a default.
        of_names: Default for metadata operations, if different; a tuple of that one value.
        of_objects: Default for operations on objects, if different; a tuple of that one value.
        only: Groups of operations that it applies to; empty: all.
        of_sets: Of the operations on data, it applies only to those on sets of files (`files` or `total_files` is set).
        used_by: Operations of these groups that it affects; empty: all.
        through_mpi: It applies only to targets that are accessed through MPI.
        beside: Another parameter; if that has no value, this one has no effect.
        needs: Other parameters with the values of which each needs one, if this parameter is not its default.
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
    of_objects: tuple[AxisValue, ...] = ()
    only: tuple[Group, ...] = ()
    of_sets: bool = False
    used_by: Collection[str] = ()
    through_mpi: bool = False
    beside: str = ""
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def is_for(self, group: Group) -> bool:
        """Whether it applies to operations of a group."""
        return not self.only or group in self.only

    def is_used(self, operations: Iterable[str]) -> bool:
        """Whether it affects one of these operations."""
        return any(self.is_for(group_of(name)) and (not self.used_by or name in self.used_by) for name in operations)

    def own_default(self, group: Group) -> tuple[AxisValue, ...]:
        """Return the group's default, if not that of data operations, as a tuple of one value; else empty."""
        return {"data": (), "names": self.of_names, "objects": self.of_objects}[group]

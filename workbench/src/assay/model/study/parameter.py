"""What a definition of a workload's parameter says; the definitions are in `assay.model.study.parameters`."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.study.axis import AxisValue, Kind
from assay.model.study.names import Group, group_of

Shown = Literal["axis", "always", "limit", "setting", "words"]
"""When a report's table of workloads has a row for a parameter that is no axis.

axis: never; always: with all operations that it is for; limit, setting: if it is not its default, limits before
settings; words: it is told there in words of its own.
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
        untold: What is not known where this is missing, after "it is not known".
        shown: When a report's table of workloads has it.
        job: Where the value goes in the engine's job: a field, or after a dot a field of `tuning`, `tree`, `data`,
            `phase`, `target` or `target.hints`. Empty where more than the value decides it: `assay.plan.jobs` says how.
        to_job: From the value to what the job has.
        needed: It must be written, whatever its default.
        of_names: The default of metadata operations, where it is another one; a tuple of that one value.
        of_objects: Likewise of operations on objects.
        only: What the operations work on for which it means something; empty: whatever they work on.
        of_sets: Of operations on data only those on sets of files have it: `files` or `total_files` says how many.
        used_by: Of these operations those that it makes a difference to; empty: all.
        through_mpi: Only targets that are reached through MPI have it.
        beside: Another parameter without a value of which it makes no difference.
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
    of_objects: tuple[AxisValue, ...] = ()
    only: tuple[Group, ...] = ()
    of_sets: bool = False
    used_by: Collection[str] = ()
    through_mpi: bool = False
    beside: str = ""
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def is_for(self, group: Group) -> bool:
        """Whether it means something for operations of a group."""
        return not self.only or group in self.only

    def is_used(self, operations: Iterable[str]) -> bool:
        """Whether it makes a difference to one of these operations."""
        return any(self.is_for(group_of(name)) and (not self.used_by or name in self.used_by) for name in operations)

    def own_default(self, group: Group) -> tuple[AxisValue, ...]:
        """The default of a group's operations where it is not that of data operations; a tuple of that one value."""
        return {"data": (), "names": self.of_names, "objects": self.of_objects}[group]

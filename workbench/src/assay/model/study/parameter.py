"""The class of definitions of workload parameters; the definitions are in `assay.model.study.parameters`."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from assay.model.study.axis import AxisValue, ValueKind
from assay.model.study.names import Group, group_of

ReportRow = Literal["axis", "always", "limit", "setting", "words"]
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
        unknown_text: What is unknown if the value is missing; follows "it is not known".
        report_row: When a report's table of workloads has it.
        job: Path of the value in the engine's job: a field, or after a dot a field of `tuning`, `tree`, `data`,
            `phase`, `target` or `target.hints`. Empty if more than the value decides: see `assay.plan.jobs`.
        to_job: Converts the value for the job.
        is_required: It must be written, even if it has a default.
        names_default: Default for metadata operations, if different; a tuple of that one value.
        objects_default: Default for operations on objects, if different; a tuple of that one value.
        programs_default: Default for commands, if different; a tuple of that one value.
        only: Groups of operations that it applies to; empty: all but programs.
        of_programs: It applies to programs, too, or to them only if `only` says so.
        sets_only: Of the operations on data, it applies only to those on sets of files (`files` or `total_files` is
            set).
        used_by: Operations of these groups that it affects; empty: all.
        through_mpi: It applies only to targets that are accessed through MPI.
        requires_value_of: Another parameter; if that has no value, this one has no effect.
        needs: Other parameters with the values of which each needs one, if this parameter is not its default.
    """

    kind: ValueKind
    about: str
    heading: str
    unknown_text: str
    column: str = ""
    title: str = ""
    report_row: ReportRow = "axis"
    job: str = ""
    to_job: Callable[[Any], Any] | None = None
    is_required: bool = False
    names_default: tuple[AxisValue, ...] = ()
    objects_default: tuple[AxisValue, ...] = ()
    programs_default: tuple[AxisValue, ...] = ()
    only: tuple[Group, ...] = ()
    of_programs: bool = False
    sets_only: bool = False
    used_by: Collection[str] = ()
    through_mpi: bool = False
    requires_value_of: str = ""
    needs: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def applies_to(self, group: Group) -> bool:
        """Whether it applies to operations of a group."""
        if group == "programs":
            return self.of_programs
        return not self.only or group in self.only

    def affects(self, operations: Iterable[str]) -> bool:
        """Whether it affects one of these operations."""
        return any(
            self.applies_to(group_of(name)) and (not self.used_by or name in self.used_by) for name in operations
        )

    def own_default(self, group: Group) -> tuple[AxisValue, ...]:
        """Return the group's default, if not that of data operations, as a tuple of one value; else empty."""
        return {
            "names": self.names_default,
            "objects": self.objects_default,
            "programs": self.programs_default,
        }.get(group, ())

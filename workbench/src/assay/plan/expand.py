"""Expands a study into its cases."""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from assay.model.source import FieldFault
from assay.model.study.axis import AxisValue
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.commands import RECORDED
from assay.model.study.contents import parse_sizes
from assay.model.study.parameters import Parameters
from assay.model.study.study import MAX_CASES, MAX_JOBS, VALUE_KINDS, Study, Workload
from assay.plan.broken_rule import BrokenRule
from assay.plan.file_sets import scaled_file_counts, size_of_each_file
from assay.plan.layout.blocks import segment_bytes
from assay.plan.rules import broken_rules
from assay.plan.where import Condition, ExpressionError

Values = dict[str, AxisValue]


class Expansion(NamedTuple):
    """The cases of a study.

    Attributes:
        cases: In plan order: by workload, target, then the axes as written; the last axis varies fastest.
        excluded: Excluded combinations, each with the rule that excludes it.
        faults: Why cases cannot be run; with any fault no job is made.
    """

    cases: tuple[Case, ...]
    excluded: tuple[ExcludedPoint, ...]
    faults: tuple[FieldFault, ...]


def expand(study: Study) -> Expansion:
    """Return all cases of a study. One with more than `MAX_CASES` combinations is refused without expanding it."""
    counts = {name: count_cases(study, workload) for name, workload in study.workloads.items()}
    total = sum(counts.values())
    if total > MAX_CASES:
        return Expansion((), (), (_too_many(study, counts, total),))
    work = _Expander(study)
    for name, workload in study.workloads.items():
        work.add(name, workload)
    jobs = len(work.cases) * study.repeats
    if jobs > MAX_JOBS:
        message = f"{len(work.cases):,} cases x {study.repeats:,} repeats are {jobs:,}, more than {MAX_JOBS:,}"
        work.faults.append(FieldFault(path=("repeats",), message=message, hint="repeat less often, or shorten axes"))
    return Expansion(tuple(work.cases), tuple(work.excluded), tuple(work.faults))


def count_cases(study: Study, workload: Workload) -> int:
    """Return the number of combinations of targets and axes, before `where` and `exclude`, without expanding them."""
    dimensions = [workload.axis(group[0]).count() for group in _dimensions(workload)]
    return math.prod(dimensions) * len(_targets(study, workload))


def _targets(study: Study, workload: Workload) -> tuple[str, ...]:
    return workload.targets or tuple(study.targets)


def _dimensions(workload: Workload) -> list[tuple[str, ...]]:
    """Return the axes; zipped ones form a group at the position of its first member."""
    groups = {field: group for group in workload.zip for field in group}
    return list(dict.fromkeys(groups.get(field, (field,)) for field in workload.swept_fields))


def _too_many(study: Study, counts: dict[str, int], total: int) -> FieldFault:
    name = max(counts, key=lambda workload: counts[workload])
    workload = study.workloads[name]
    longest = max(workload.swept_fields, key=lambda field: workload.axis(field).count(), default=None)
    path = ("workloads", name, longest) if longest else ("workloads", name)
    message = f"the study has {total:,} combinations, more than {MAX_CASES:,}"
    hint = "shorten axes, use factor instead of step, or zip axes together"
    return FieldFault(path=path, message=message, hint=hint, names_field=False)


def _combinations(workload: Workload) -> Iterator[Values]:
    """Yield the combinations of the axes' values, in the order of the product."""
    dimensions = _dimensions(workload)
    columns = [list(zip(*(workload.axis(field).values() for field in group), strict=True)) for group in dimensions]
    names = [field for group in dimensions for field in group]
    order = workload.swept_fields
    for point in itertools.product(*columns):
        values = dict(zip(names, itertools.chain.from_iterable(point), strict=True))
        yield {field: values[field] for field in order}


class _Expander:
    """Collects cases, exclusions and faults over all workloads."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.cases: list[Case] = []
        self.excluded: list[ExcludedPoint] = []
        self.faults: list[FieldFault] = []

    def add(self, name: str, workload: Workload) -> None:
        """Expand one workload on all its targets."""
        before, faults_before = len(self.cases), len(self.faults)
        fixed: Values = {
            field: workload.axis(field).values()[0] for field in VALUE_KINDS if not workload.axis(field).swept
        }
        points = [(axes, self._parameters(workload, fixed, axes)) for axes in _combinations(workload)]
        broken = [broken_rules(parameters.__dict__, workload.operations) for _axes, parameters in points]
        rules = _Rules(self.study, name, workload)
        found: list[BrokenRule] = []
        try:
            for target in _targets(self.study, workload):
                for (axes, parameters), problems in zip(points, broken, strict=True):
                    exclusion = rules.leaves_out(target, axes, parameters)
                    if exclusion is not None:
                        self.excluded.append(exclusion)
                        continue
                    found.extend(problems)
                    self._add_case(target, name, workload, axes, parameters)
        except _ConditionError as error:
            self.faults.append(error.fault)
            return
        self.faults.extend(_faults_by_rule(name, found))
        if len(self.cases) == before and len(self.faults) == faults_before:
            message = "where and exclude leave no case"
            path = ("workloads", name, "where" if workload.where else "exclude")
            self.faults.append(FieldFault(path=path, message=message, hint="loosen them, or remove the workload"))

    def _parameters(self, workload: Workload, fixed: Values, axes: Values) -> Parameters:
        values = {**fixed, **axes}
        # With cache among the axes, a common memory_limit belongs to the `limit` cases only.
        if values["cache"] != "limit" and workload.axis("cache").swept and "memory_limit" not in axes:
            values["memory_limit"] = None
        if values["streams"] is not None:
            # Streams that cannot be divided evenly are refused by a rule later.
            values["lanes"] = max(
                1, int(values["streams"]) // (int(values["hosts"] or 1) * int(values["tasks_per_host"] or 1))
            )
        if workload.replay is not None:
            # Each lane replays one copy.
            values["tasks"] = int(values["hosts"] or 1) * int(values["lanes"] or 1)
            values["pace"] = values["pace"] or RECORDED
        elif workload.command is not None:
            values["pace"], values["verify"] = None, False
        if values["total_size"] is not None:
            values["file_size"] = size_of_each_file(values)
        if values["file_sizes"] is not None:
            values["file_size"] = parse_sizes(values["file_sizes"]).largest  # type: ignore[arg-type]
        if values["segments"] is not None:
            values["file_size"] = values["segments"] * segment_bytes(values)
        if values["files"] is not None or values["total_files"] is not None:
            values |= scaled_file_counts(values)
        return Parameters.model_construct(**values)  # type: ignore[arg-type]

    def _add_case(self, target: str, name: str, workload: Workload, axes: Values, parameters: Parameters) -> None:
        shown = " ".join(f"{field}={VALUE_KINDS[field].display(value)}" for field, value in axes.items())
        self.cases.append(
            Case.model_construct(
                id=f"c{len(self.cases) + 1:04d}",
                target=target,
                workload=name,
                operations=workload.operations,
                parameters=parameters,
                axes=axes,
                label=" / ".join(part for part in (target, name, shown) if part),
            )
        )


class _ConditionError(Exception):
    def __init__(self, fault: FieldFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class _Rules:
    """The conditions `where` and `exclude` of one workload."""

    def __init__(self, study: Study, name: str, workload: Workload) -> None:
        names = tuple(study.targets), tuple(study.workloads)
        self.name = name
        self.where = Condition(workload.where, *names) if workload.where is not None else None
        self.exclude = {rule: (Condition(item.when, *names), item.why) for rule, item in workload.exclude.items()}

    def leaves_out(self, target: str, axes: Values, parameters: Parameters) -> ExcludedPoint | None:
        """Return the exclusion that applies to a combination; None if it stays."""
        if self.where is None and not self.exclude:
            return None
        values = {**parameters.__dict__, "target": target, "workload": self.name}
        if self.where is not None and not self._holds(self.where, values, ("where",)):
            return self._excluded(target, axes, "where", f"not {self.where.text}")
        for rule, (condition, why) in self.exclude.items():
            if self._holds(condition, values, ("exclude", rule, "when")):
                return self._excluded(target, axes, rule, why)
        return None

    def _excluded(self, target: str, axes: Values, rule: str, reason: str) -> ExcludedPoint:
        return ExcludedPoint.model_construct(target=target, workload=self.name, axes=axes, rule=rule, reason=reason)

    def _holds(self, condition: Condition, values: Values, field: tuple[str, ...]) -> bool:
        try:
            return condition.holds(values)
        except ExpressionError as error:
            path = ("workloads", self.name, *field)
            raise _ConditionError(FieldFault(path=path, message=error.message, hint=error.hint)) from None


def _faults_by_rule(name: str, problems: list[BrokenRule]) -> Iterator[FieldFault]:
    """Yield one fault per rule, with the number of cases that break it."""
    by_rule: dict[str, list[BrokenRule]] = {}
    for broken in problems:
        by_rule.setdefault(broken.rule, []).append(broken)
    for group in by_rule.values():
        first = group[0]
        more = f" ({len(group)} cases)" if len(group) > 1 else ""
        message = f"{first.message}{more}"
        yield FieldFault(path=("workloads", name, first.field), message=message, hint=first.hint)

"""Changes to a study from the command line: other parameter values, other repeats, or only a part of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.model.base import AssayError
from assay.model.source import read_source
from assay.model.study.axis import ValueKind
from assay.model.study.commands import RUN, with_works, works_of
from assay.model.study.names import WORK
from assay.model.study.parameters import DEFINITIONS
from assay.model.study.peers import WORKLOADS
from assay.model.units import UnitError, choices_hint, display_value
from assay.plan.change_site import OtherSite

Data = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """The requested changes, as they were typed.

    Attributes:
        values: New values, such as `record_size=4KiB,1MiB` for each workload that uses the parameter, or
            `grid.record_size=4KiB` for one workload.
        repeats: Repeats of each case; None for those of the study.
        only: Workloads to keep; empty for all.
        targets: Targets to keep; empty for all.
        site: Another site for the study; None for its own.
    """

    values: tuple[str, ...] = ()
    repeats: int | None = None
    only: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    site: OtherSite | None = None

    @property
    def options_text(self) -> str:
        """The changes as command line options; empty if there are none."""
        parts = [f"--set {written}" for written in self.values]
        parts += [] if self.repeats is None else [f"--repeats {self.repeats}"]
        parts += [f"--only {name}" for name in self.only]
        parts += [f"--target {name}" for name in self.targets]
        return " ".join([*parts, *([] if self.site is None else [f"--on {self.site.written}"])])

    def apply(self, data: Data) -> Data:
        """Return the changed study.

        Args:
            data: Parsed study file without problems.

        Raises:
            AssayError: The study has no such name, or the changes leave nothing of it.
        """
        found = _with_workloads(data, self.only) if self.only else data
        found = _with_targets(found, self.targets) if self.targets else found
        found = found if self.site is None else self.site.apply(found)
        for written in self.values:
            found = _set(found, written)
        if self.repeats is not None:
            return {**found, "repeats": self.repeats}
        repeats = data.get("repeats")
        if len(set(self.targets)) == 1 and isinstance(repeats, dict) and "decide" in repeats:
            message = f"with --target {self.targets[0]} there is nothing to compare, so `repeats: decide` cannot apply"
            raise AssayError(message, "state the number of repeats: --repeats 5")
        return found


def _refuse_unknown(option: str, what: str, requested: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for name in requested:
        if name not in names:
            raise AssayError(
                f"{option} {name}: the study has no {what} {display_value(name)}", choices_hint(name, names)
            )


def _with_workloads(data: Data, names: Sequence[str]) -> Data:
    works = works_of(data)
    _refuse_unknown("--only", "workload", names, works)
    return with_works(data, {name: work for name, work in works.items() if name in names})


def _with_targets(data: Data, names: Sequence[str]) -> Data:
    """Return the study limited to some of its targets."""
    _refuse_unknown("--target", "target", names, data["targets"])
    workloads = {}
    for name, work in works_of(data).items():
        kept_targets = [target for target in work.get("targets") or _default_targets(data) if target in names]
        if kept_targets:
            workloads[name] = {**work, "targets": kept_targets}
    if not workloads:
        raise AssayError(f"no workload is left at --target {' --target '.join(names)}", _targets_of_workloads(data))
    kept_targets = [target for target in data["targets"] if target in names or _is_compared_with(target, data)]
    found = {**with_works(data, workloads), "targets": {name: data["targets"][name] for name in kept_targets}}
    return _without_prices(found, kept_targets)


def _default_targets(data: Data) -> list[str]:
    return list((data.get("defaults") or {}).get("targets") or data["targets"])


def _targets_of_workloads(data: Data) -> str:
    places = (
        f"{name} is at {', '.join(work.get('targets') or _default_targets(data))}"
        for name, work in works_of(data).items()
    )
    return "; ".join(places)


def _is_compared_with(target: str, data: Data) -> bool:
    """Return whether a `where` or `exclude` contains the name of a target, which must then stay in the study."""
    works = [*works_of(data).values(), data.get("defaults") or {}]
    words = [str(work.get(field, "")) for work in works for field in ("where", "exclude")]
    return any(target in text for text in words)


def _without_prices(data: Data, targets: Sequence[str]) -> Data:
    """Return the study without the designs of targets that are left out."""
    prices = data.get("prices")
    if not isinstance(prices, dict):
        return data
    designs = {name: design for name, design in prices["designs"].items() if name in targets}
    if designs:
        return {**data, "prices": {**prices, "designs": designs}}
    return {key: value for key, value in data.items() if key != "prices"}


def _set(data: Data, written: str) -> Data:
    """Return the study with other values of one parameter."""
    name, equals, text = written.partition("=")
    if not name or not equals or not text:
        raise AssayError(f"--set {written}: not of the form NAME=VALUE", "write it such as --set record_size=4KiB,1MiB")
    name, only = _one_workload(data, name)
    if name not in DEFINITIONS:
        peer = WORKLOADS.get(name)
        hint = peer.hint(name) if peer else choices_hint(name, DEFINITIONS)
        raise AssayError(f"--set {written}: workloads have no parameter {display_value(name)}", hint)
    value = _value(written, text, DEFINITIONS[name].kind)
    workloads, used = {}, False
    for key, work in works_of(data).items():
        operations = work.get("operations") or (data.get("defaults") or {}).get("operations") or ()
        operations = (RUN,) if key in data.get("commands", {}) else operations
        is_used = only in ("", key) and DEFINITIONS[name].affects(operations)
        workloads[key] = {**work, name: value} if is_used else work
        used = used or is_used
    if not used:
        for_what = ", ".join(operation for operation in WORK if DEFINITIONS[name].affects([operation]))
        raise AssayError(f"--set {written}: no workload of the study uses {name}", f"it is for {for_what}")
    return with_works(data, workloads)


def _one_workload(data: Data, name: str) -> tuple[str, str]:
    """Split `WORKLOAD.NAME` into parameter and workload, which is empty for all workloads."""
    workload, dot, parameter = name.rpartition(".")
    return (parameter, workload) if dot and workload in works_of(data) else (name, "")


def _value(written: str, text: str, kind: ValueKind) -> Any:
    """Parse the text behind `=`: one value, several separated by commas, or YAML as in a study file."""
    listed = text.split(",") if text[0] not in "[{\"'" else [text]
    values = []
    for part in listed:
        source = read_source(f"value: {part}".encode())
        if source.data is None or source.problems:
            problem = source.problems[0]
            raise AssayError(f"--set {written}: {problem.message}", problem.hint)
        values.append(source.data["value"])
    if any(value is None or value == "" for value in values):
        raise AssayError(f"--set {written}: a value is empty", "write it such as --set record_size=4KiB,1MiB")
    if isinstance(values[0], dict | list):
        # A list or range in the syntax of study files is validated with the study.
        return values[0]
    try:
        for value in values:
            kind.value(value)
    except UnitError as error:
        raise error.at(f"--set {written}") from None
    return values[0] if len(values) == 1 else values

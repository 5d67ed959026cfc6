"""A study that is changed where it is asked for: other values of a parameter, other repeats, only a part of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.model.base import AssayError
from assay.model.source import read_source
from assay.model.study.axis import Kind
from assay.model.study.names import WORK
from assay.model.study.parameters import DEFINITIONS
from assay.model.study.peers import WORKLOADS
from assay.model.units import UnitError, one_of, shown

Data = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """What is asked for, as it was typed.

    Attributes:
        values: Such as `record_size=4KiB,1MiB`: of each workload for which the parameter means something, or
            `grid.record_size=4KiB`: of one workload.
        repeats: Of each case, instead of what the study says of repeats.
        only: Workloads that are kept; empty: all.
        targets: Targets that are kept; empty: all.
    """

    values: tuple[str, ...] = ()
    repeats: int | None = None
    only: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As on the command line; empty if nothing is changed."""
        parts = [f"--set {written}" for written in self.values]
        parts += [] if self.repeats is None else [f"--repeats {self.repeats}"]
        parts += [f"--only {name}" for name in self.only]
        return " ".join([*parts, *(f"--target {name}" for name in self.targets)])

    def applied(self, data: Data) -> Data:
        """The changed study.

        Args:
            data: A study file without problems, as it was read.

        Raises:
            AssayError: The study has nothing of that name, or nothing is left of it.
        """
        found = _only(data, self.only) if self.only else data
        found = _at(found, self.targets) if self.targets else found
        for written in self.values:
            found = _set(found, written)
        if self.repeats is not None:
            return {**found, "repeats": self.repeats}
        repeats = data.get("repeats")
        if len(set(self.targets)) == 1 and isinstance(repeats, dict) and "decide" in repeats:
            message = f"with --target {self.targets[0]} there is nothing that its repeats could decide"
            raise AssayError(message, "say how many there are to be: --repeats 5")
        return found


def _known(option: str, what: str, asked: Iterable[str], known: Iterable[str]) -> None:
    names = list(known)
    for name in asked:
        if name not in names:
            raise AssayError(f"{option} {name}: the study has no {what} {shown(name)}", one_of(name, names))


def _only(data: Data, names: Sequence[str]) -> Data:
    _known("--only", "workload", names, data["workloads"])
    return {**data, "workloads": {name: work for name, work in data["workloads"].items() if name in names}}


def _at(data: Data, names: Sequence[str]) -> Data:
    """A study whose work is done at some of its targets only."""
    _known("--target", "target", names, data["targets"])
    workloads = {}
    for name, work in data["workloads"].items():
        kept = [target for target in work.get("targets") or _default_targets(data) if target in names]
        if kept:
            workloads[name] = {**work, "targets": kept}
    if not workloads:
        raise AssayError(f"no workload is left at --target {' --target '.join(names)}", _where_they_are(data))
    kept = [target for target in data["targets"] if target in names or _spoken_of(target, data)]
    found = {**data, "targets": {name: data["targets"][name] for name in kept}, "workloads": workloads}
    return _without_prices(found, kept)


def _default_targets(data: Data) -> list[str]:
    return list((data.get("defaults") or {}).get("targets") or data["targets"])


def _where_they_are(data: Data) -> str:
    places = (
        f"{name} is at {', '.join(work.get('targets') or _default_targets(data))}"
        for name, work in data["workloads"].items()
    )
    return "; ".join(places)


def _spoken_of(target: str, data: Data) -> bool:
    """An expression compares with the name of a target, which must be there for it to mean something."""
    works = [*data["workloads"].values(), data.get("defaults") or {}]
    words = [str(work.get(field, "")) for work in works for field in ("where", "exclude")]
    return any(target in text for text in words)


def _without_prices(data: Data, targets: Sequence[str]) -> Data:
    """Without the designs of targets that are left out."""
    prices = data.get("prices")
    if not isinstance(prices, dict):
        return data
    designs = {name: design for name, design in prices["designs"].items() if name in targets}
    if designs:
        return {**data, "prices": {**prices, "designs": designs}}
    return {key: value for key, value in data.items() if key != "prices"}


def _set(data: Data, written: str) -> Data:
    """A study with other values of one parameter."""
    name, equals, text = written.partition("=")
    if not name or not equals or not text:
        raise AssayError(f"--set {written}: it is no NAME=VALUE", "write it such as --set record_size=4KiB,1MiB")
    name, only = _one_workload(data, name)
    if name not in DEFINITIONS:
        peer = WORKLOADS.get(name)
        hint = peer.hint(name) if peer else one_of(name, DEFINITIONS)
        raise AssayError(f"--set {written}: workloads have no parameter {shown(name)}", hint)
    value = _value(written, text, DEFINITIONS[name].kind)
    workloads, used = {}, False
    for key, work in data["workloads"].items():
        operations = work.get("operations") or (data.get("defaults") or {}).get("operations") or ()
        mine = only in ("", key) and DEFINITIONS[name].is_used(operations)
        workloads[key] = {**work, name: value} if mine else work
        used = used or mine
    if not used:
        for_what = ", ".join(operation for operation in WORK if DEFINITIONS[name].is_used([operation]))
        raise AssayError(f"--set {written}: no workload of the study uses {name}", f"it is for {for_what}")
    return {**data, "workloads": workloads}


def _one_workload(data: Data, name: str) -> tuple[str, str]:
    """A parameter, and the workload that it is to be changed in, of `WORKLOAD.NAME`; empty: in all."""
    workload, dot, parameter = name.rpartition(".")
    return (parameter, workload) if dot and workload in data["workloads"] else (name, "")


def _value(written: str, text: str, kind: Kind) -> Any:
    """What was typed after the sign: a value, several between commas, or what a study file would have."""
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
        # A list or a range, as a study file has it, is read with the study.
        return values[0]
    try:
        for value in values:
            kind.value(value)
    except UnitError as error:
        raise error.at(f"--set {written}") from None
    return values[0] if len(values) == 1 else values

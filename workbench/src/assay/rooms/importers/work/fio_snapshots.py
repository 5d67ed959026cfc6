"""Outputs of fio of which later ones count again what earlier ones count, as `--status-interval` prints them."""

from dataclasses import dataclass
from decimal import Decimal

from assay.model.result.imported import ImportedFile
from assay.rooms.importers.work.results import ImportedResult, ToolOutput, forget_result

_SAME_START_SECONDS = 1.0
"""fio prints times in whole seconds, before 3.0 in these only."""


def snapshot_words(count: int) -> str:
    """Return why a result is left out that a later output counts again.

    Args:
        count: How many such results there are of the job, of which one stands for all.
    """
    one = "a later output in this file has the same job with the same start (--status-interval)"
    return one if count == 1 else f"{one}; {count - 1:,} more like it are not listed"


@dataclass
class _Read:
    """A result.

    Attributes:
        result: The result.
        begins: When it began and when fio began, in seconds since 1970; None if that is not known. fio prints a job
            again that has ended, so that only the second follows from the time of the output then.
        output: Number of its output.
        first: The first result of the same job, which this one counts again; None without one.
        later: How many later ones count it again.
    """

    result: ImportedResult
    begins: tuple[float | None, float | None]
    output: int
    first: "_Read | None" = None
    later: int = 0

    def counts(self, earlier: "_Read") -> bool:
        """Whether it counts all that an earlier result counts: it is of the same run of fio, and has no less."""
        one, other = self.result.measured, earlier.result.measured
        if other is not None and (one is None or (one.ops or 0) < (other.ops or 0)):
            return False
        pairs = zip(self.begins, earlier.begins, strict=True)
        return any(
            None not in (here, there) and abs((here or 0) - (there or 0)) <= _SAME_START_SECONDS
            for here, there in pairs
        )


class LastOutputs:
    """Outputs of a file. Of results that later ones count again only the first of each job is kept, as left out."""

    def __init__(self) -> None:
        self._files: dict[int, ImportedFile] = {}
        self._results: dict[int, list[_Read]] = {}
        self._last: dict[tuple[str, str], list[_Read]] = {}
        self._count = 0

    def add(self, output: ToolOutput) -> None:
        """Add the next output."""
        self._count += 1
        results = [_Read(one, _begins(one, output.file), self._count) for one in output.results]
        self._files[self._count], self._results[self._count] = output.file, results
        groups: dict[tuple[str, str], list[_Read]] = {}
        for one in results:
            groups.setdefault((one.result.target, one.result.workload), []).append(one)
        for key, members in groups.items():
            for earlier in self._last.get(key, []):
                if (later := next((one for one in members if one.counts(earlier)), None)) is not None:
                    self._count_again(earlier, later)
        self._last |= groups

    def _count_again(self, earlier: _Read, later: _Read) -> None:
        later.first = first = earlier.first or earlier
        first.later += 1
        if first is earlier:
            return
        forget_result()
        self._results[earlier.output].remove(earlier)
        if not self._results[earlier.output]:
            del self._results[earlier.output], self._files[earlier.output]

    def outputs(self) -> list[ToolOutput]:
        """Return the outputs in order, without those of which nothing is kept."""
        return [
            ToolOutput(file=file, results=tuple(map(_final, self._results[number])))
            for number, file in self._files.items()
        ]


def _final(one: _Read) -> ImportedResult:
    if not one.later:
        return one.result
    update = {"measured": None, "operation": None, "left_out": snapshot_words(one.later)}
    return one.result.model_copy(update=update)


def _begins(result: ImportedResult, file: ImportedFile) -> tuple[float | None, float | None]:
    """Return when a result began, and when fio began, by when it was printed."""
    printed, measured = file.measured_at, result.measured
    if printed is None:
        return None, None
    elapsed = next((Decimal(one.text) for one in result.figures if one.name == "elapsed"), None)
    return (
        None if measured is None or measured.elapsed_ns is None else printed - measured.elapsed_ns / 1e9,
        None if elapsed is None else printed - float(elapsed),
    )

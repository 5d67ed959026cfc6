"""Converts the rows of a run's database into values."""

from dataclasses import dataclass
from typing import Any

from assay.model.escape import escape_line
from assay.model.result.brief_result import BriefResult
from assay.model.result.run import RunHead
from assay.model.result.sample import ErrorTally, Sample
from assay.model.result.verdict import RANK
from assay.model.study.case import Case
from assay.model.study.names import WORK
from assay.model.units import display_value
from assay.store.damage import error_text
from assay.store.values import MAX_AMOUNT, amount_of, count_of, moment_of, text_of


class RunMeta(RunHead):
    """What is known of a run before it starts.

    Attributes:
        base: Directory that the study's relative target paths start from.
        folder: Folder of the study, which relative paths of inputs start from; empty: `base`.
    """

    base: str = "/"
    folder: str = ""


@dataclass(frozen=True)
class Attempt:
    """One start of the engine for one repeat.

    Attributes:
        status: `started` while it runs, and for good if the workbench died; `lost` if a host of it was lost; else as in
            JobRecord.
        seconds: Its length; None until it has ended.
    """

    id: int
    case: str
    repeat: int
    started_at: float
    seconds: float | None
    status: str
    reason: str


def attempt_of(
    number: int, case: object, repeat: int, started_at: object, seconds: object, status: object, reason: object
) -> Attempt:
    """Convert a stored start of the engine.

    Raises:
        ValueError: A column has an invalid value.
    """
    length = None if seconds is None else amount_of(seconds)
    return Attempt(number, text_of(case), repeat, moment_of(started_at), length, text_of(status), text_of(reason))


def case_of(name: str, document: str) -> Case:
    """Convert a stored case.

    Raises:
        ValueError: It is not a case, has another id than `name`, or lacks operations or has unknown ones.
    """
    case = Case.model_validate_json(document)
    if case.id != name:
        raise ValueError(f"case {display_value(name)} is called {display_value(case.id)} in its document")
    if not case.operations:
        raise ValueError(f"case {display_value(case.id)} has no operations")
    if unknown := next((name for name in case.operations if name not in WORK), None):
        raise ValueError(f"case {display_value(case.id)} has an unknown operation {display_value(unknown)}")
    return case


def verdict_of(word: object) -> str:
    """Return a stored verdict after a check.

    Raises:
        ValueError: It is not a verdict.
    """
    if not isinstance(word, str) or word not in RANK:
        raise ValueError(f"its results have an unknown verdict {display_value(word)}")
    return word


def result_of(*row: Any) -> BriefResult:
    """Convert a stored result, whose columns are in the order of the fields of `BriefResult`.

    Raises:
        ValueError: A column has an invalid value.
    """
    texts, amounts = row[:4] + row[9:12], (*row[4:8], row[12])
    for text in texts:
        text_of(text)
    for amount in amounts:
        _ = amount if amount is None else amount_of(amount)
    count_of(row[8])
    result = BriefResult(*row)
    for word in (result.verdict, *filter(None, result.further_verdicts.split(", "))):
        verdict_of(word)
    return result


def journal_key(kind: object, name: object) -> tuple[str, str]:
    """Return kind and name of an entry in the journal after a check.

    Raises:
        ValueError: One of them is invalid.
    """
    if not isinstance(kind, str) or not isinstance(name, str) or not name or "\0" in name:
        raise ValueError("its journal has an invalid kind or name")
    return kind, name


def sample_of(case: str, repeat: int, phase: int, operation: str, document: str) -> Sample:
    """Convert a stored sample.

    One that cannot be read becomes a crashed sample with the reason, so that all others can still be read.
    """
    try:
        sample = Sample.from_json(document)
        moment_of(sample.get_value("started_at", 0.0))
        for name, value in vars(sample).items():
            if type(value) in (int, float) and not -MAX_AMOUNT <= value <= MAX_AMOUNT:
                raise ValueError(f"{name} is out of range")
        return sample
    except ValueError as error:
        problem = f"its stored data cannot be read: {escape_line(error_text(error))}"
        tally = ErrorTally(kind="unreadable", name=None, count=1, example=problem)
        fields: dict[str, Any] = {"status": "crashed", "started_at": 0.0, "errors": (tally,)}
        return Sample(case=case, repeat=repeat, phase=phase, operation=operation, **fields)

"""The rows of a run's database as values."""

from dataclasses import dataclass
from typing import Any

from assay.model.foreign import plain
from assay.model.result.brief import Result
from assay.model.result.run import RunHead
from assay.model.result.sample import ErrorTally, Sample
from assay.model.result.verdict import RANK
from assay.model.study.case import Case
from assay.model.study.names import WORK
from assay.model.units import shown
from assay.store.damage import words_of
from assay.store.values import MOST_AMOUNT, amount_of, count_of, moment_of, text_of


class RunMeta(RunHead):
    """What is known of a run before it starts.

    Attributes:
        base: Directory where the study's relative target paths start.
    """

    base: str = "/"


@dataclass(frozen=True)
class Attempt:
    """One start of the engine for one repeat.

    Attributes:
        status: `started` while it runs and for ever if the workbench died; else as in JobRecord.
        seconds: None as long as it has not ended.
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
    """A stored start of the engine.

    Raises:
        ValueError: One of its columns has what it cannot have.
    """
    took = None if seconds is None else amount_of(seconds)
    return Attempt(number, text_of(case), repeat, moment_of(started_at), took, text_of(status), text_of(reason))


def case_of(name: str, document: str) -> Case:
    """A stored case, by its id.

    Raises:
        ValueError: It is none, it is another, or its operations are none.
    """
    case = Case.model_validate_json(document)
    if case.id != name:
        raise ValueError(f"case {shown(name)} is called {shown(case.id)} in its document")
    if not case.operations:
        raise ValueError(f"case {shown(case.id)} has no operations")
    if unknown := next((name for name in case.operations if name not in WORK), None):
        raise ValueError(f"case {shown(case.id)} has an unknown operation {shown(unknown)}")
    return case


def verdict_of(word: object) -> str:
    """A stored verdict.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(word, str) or word not in RANK:
        raise ValueError(f"its results have an unknown verdict {shown(word)}")
    return word


def result_of(*row: Any) -> Result:
    """A stored result; the columns as the fields of `Result`.

    Raises:
        ValueError: One of its verdicts is none.
    """
    texts, amounts = row[:4] + row[9:12], (*row[4:8], row[12])
    for text in texts:
        text_of(text)
    for amount in amounts:
        _ = amount if amount is None else amount_of(amount)
    count_of(row[8])
    result = Result(*row)
    for word in (result.verdict, *filter(None, result.also.split(", "))):
        verdict_of(word)
    return result


def thing_of(kind: object, name: object) -> tuple[str, str]:
    """Kind and name of a thing in the journal.

    Raises:
        ValueError: They can be none.
    """
    if not isinstance(kind, str) or not isinstance(name, str) or not name or "\0" in name:
        raise ValueError("a name in its journal can be none")
    return kind, name


def sample_of(case: str, repeat: int, phase: int, operation: str, document: str) -> Sample:
    """A stored sample; one that cannot be understood has crashed, and says why, so that all others can be read."""
    try:
        sample = Sample.read(document)
        moment_of(sample.started_at)
        for name, value in vars(sample).items():
            if type(value) in (int, float) and not -MOST_AMOUNT <= value <= MOST_AMOUNT:
                raise ValueError(f"{name} is no number that can be computed with")
        return sample
    except ValueError as error:
        why = f"what is stored of it cannot be read: {plain(words_of(error))}"
        tally = ErrorTally(kind="unreadable", name=None, count=1, example=why)
        fields: dict[str, Any] = {"status": "crashed", "started_at": 0.0, "errors": (tally,)}
        return Sample(case=case, repeat=repeat, phase=phase, operation=operation, **fields)

"""What the tests of advice share."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from paths import GOLDEN

from assay.model.money.price import PriceBook
from assay.model.money.priced_designs import DesignEvidence, MeasuredValue
from assay.model.money.use import DesignChoice
from assay.model.yaml_files import read_model
from assay.money.books.books import load_book
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise
from assay.rooms.advice.work.published_evidence import published_evidence

NEEDS = GOLDEN / "needs"


def read_need(name: str, **changes: Any) -> Need:
    """A need of the folder, by the beginning of its name, with changes as if they were written there."""
    found = _written(name)
    written = {key: getattr(found, key) for key in found.model_fields_set}
    return Need.model_validate({**written, **changes})


@cache
def _written(name: str) -> Need:
    (path,) = NEEDS.glob(f"{name}*.yaml")
    return read_model(Need, path.read_bytes(), path.name, "guide", "need")


def book_of(need: Need) -> PriceBook:
    """The book that it names."""
    assert need.book is not None
    return load_book(need.book, NEEDS)


Made = tuple[Advice, Sequence[PriceBook], Sequence[DesignEvidence]]
_MADE: dict[tuple[object, ...], Made] = {}


def advised(need: Need, books: Sequence[PriceBook], evidence: Sequence[DesignEvidence]) -> Advice:
    """Advice, made once for all tests that ask for the same of the same books."""
    # Books and evidence are kept with the answer, so that nothing else gets their identities.
    key = (need.model_dump_json(), need.model_dump_json(exclude_unset=True), *map(id, books), None, *map(id, evidence))
    if key not in _MADE:
        _MADE[key] = advise(need, books, evidence, NEEDS), books, evidence
    return _MADE[key][0]


def advice_on(name: str, evidence: tuple[DesignEvidence, ...] | None = None, **changes: Any) -> Advice:
    """Advice on a need of the folder; evidence is what is published unless it is given."""
    need = read_need(name, **changes)
    return advised(need, (book_of(need),), published_evidence() if evidence is None else evidence)


def best(advice: Advice) -> AdviceOption:
    """The recommended option."""
    return next(item for item in (*advice.options, *advice.unproven) if item.label == advice.recommended[0])


def reason(advice: Advice, rule: str, speaks: str = "for") -> str:
    """The only reason by that rule, in words with its source."""
    (found,) = [item for item in advice.reasons if (item.rule, item.stance) == (rule, speaks)]
    assert found.source and any(sign.isdigit() for sign in found.text + found.source)
    return f"{found.text} | {found.source}"


def measured(design: str, metric: str, low: float, value: float, high: float, **changes: Any) -> DesignEvidence:
    """Evidence of a design; `set` and other fields of evidence may be given."""
    fields: dict[str, Any] = {"pattern": "sequential", "source": "a test", **changes}
    chosen = DesignChoice(design=design, set=fields.pop("set", {}))
    return DesignEvidence(
        chosen=chosen, metric=metric, measured=MeasuredValue(value=value, low=low, high=high), **fields
    )

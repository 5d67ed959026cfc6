"""What the tests of what would change an answer share: the answer given anew, by the whole of advice."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from advise_tools import NEEDS, advised, book_of, read_need

from assay.model.money.price import PriceBook, PriceRow, PriceTier
from assay.rooms.advice.model.advice import Advice, AdviceOption
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.model.sensitivity import CostCurves, Sensitivity
from assay.rooms.advice.work.grid import BadValueError
from assay.rooms.advice.work.outlook.picture import picture
from assay.rooms.advice.work.outlook.reassess import Reassessment
from assay.rooms.advice.work.published_evidence import published_evidence


@dataclass(frozen=True)
class Looked:
    """An answer with its picture, and the narrowed need that gives the same answer."""

    advice: Advice
    picture: Sensitivity
    again: Reassessment
    books: tuple[PriceBook, ...]

    @property
    def best(self) -> str:
        """The chosen design."""
        return self.picture.designs[0].design


KINDS: dict[str, tuple[Any, ...]] = {
    "01": (
        {"design": "orangefs-volumes", "set": {"instance": "c6in.2xlarge", "volume": "st1", "layout": "raid0"}},
        {"design": "beegfs-volumes", "set": {"instance": "c6in.2xlarge", "volume": "st1", "layout": "raid0"}},
        {"design": "fsx-lustre-persistent", "set": {"type": "fsx-lustre-persistent-ssd-125"}},
        {"design": "nfs-gp3", "set": {"instance": "c5n.9xlarge", "layout": "raid0"}},
        "efs-one-zone",
    ),
    "02": ({"design": "direct-volumes", "set": {"instance": "c6in.2xlarge", "volume": "gp3", "layout": "raid0"}},),
}
"""Of needs that thousands of variants would be tried for: what the picture is of. A simulation shows that it is."""
_LOOKED: dict[int, Looked] = {}


def looked_at(need: Need | str, books: Sequence[PriceBook] = (), **changes: Any) -> Looked:
    """Advice on a need, or on one of the folder by the beginning of its name, with its picture; made once for all."""
    if isinstance(need, str):
        need = read_need(need, **{"candidates": KINDS[need], **changes} if need in KINDS else changes)
    books = tuple(books) or (book_of(need),)
    advice = advised(need, books, published_evidence())
    if id(advice) not in _LOOKED:
        found = picture(advice, books, published_evidence(), NEEDS)
        assert found is not None
        _LOOKED[id(advice)] = Looked(advice, found, Reassessment(advice, books, published_evidence(), NEEDS), books)
    return _LOOKED[id(advice)]


def anew(
    looked: Looked, books: Sequence[PriceBook] = (), only: str = "", **changes: Any
) -> tuple[str | None, Decimal | None]:
    """The design and cost of a month that advice gives for the narrowed need with changes; None where nothing is met.

    Args:
        looked: The first answer.
        books: Prices instead of its own.
        only: This design alone.
        changes: Keys of the need.
    """
    need = looked.again.fixed_need
    if only:
        need = need.model_copy(update={"candidates": tuple(_candidates(looked, only))})
    need = need.model_copy(update=changes)
    try:
        advice = advised(need, tuple(books) or looked.books, published_evidence())
    except BadValueError as error:
        # At this size one of the kinds cannot be built.
        rest = tuple(each for each in need.candidates if each != error.candidate)
        return anew(looked, books, **{**changes, "candidates": rest}) if rest else (None, None)
    if advice.result not in ("recommended", "not separable"):
        return None, None
    option = next(item for item in advice.options if item.label == advice.recommended[0])
    return option.design, compared_month(option, need)


def compared_month(option: AdviceOption, need: Need) -> Decimal:
    """By what advice compares an option: its cost of a month, with the administration that is assumed."""
    price = option.price
    paid = price.present_value if price.present_value is not None else price.paid
    return paid / need.months + (price.administration if need.prefer == "cost" else 0)


def _candidates(looked: Looked, only: str) -> list[Any]:
    return [each.candidate for each in looked.again.designs if each.name == only]


def at_size(curves: CostCurves, size: float, need: Need) -> dict[str, Any]:
    """The keys of a need at a size of curves."""
    if curves.axis == "capacity":
        return {"capacity": round(size)}
    first = Decimal(repr(getattr(need, curves.axis)))
    return {
        key: float(Decimal(repr(size)) * (Decimal(repr(getattr(need, key))) / first))
        for key in (curves.axis, *curves.scaled_with)
    }


def scaled(book: PriceBook, step: Decimal, dimension: str, item: str) -> PriceBook:
    """The book with one price `step` times as high, in all its terms."""
    rows = [_scaled(row, step) if (row.dimension, row.item) == (dimension, item) else row for row in book.rows]
    return book.model_copy(update={"rows": tuple(rows)}).reindex()


def _scaled(row: PriceRow, step: Decimal) -> PriceRow:
    return row.model_copy(
        update={
            "price": None if row.price is None else row.price * step,
            "tiers": tuple(PriceTier(up_to=tier.up_to, price=tier.price * step) for tier in row.tiers),
            "upfront": row.upfront * step,
            "history": tuple(spot.model_copy(update={"price": spot.price * step}) for spot in row.history),
        }
    )


def near(first: Decimal | None, second: Decimal | None) -> bool:
    """The same but for the last digits of a quotient."""
    if first is None or second is None:
        return first is second
    return abs(first - second) <= Decimal("1e-9") * max(abs(first), abs(second), Decimal(1))

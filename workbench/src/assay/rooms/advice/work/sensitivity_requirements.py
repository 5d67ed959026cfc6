"""What the need does not state and what would change the choice: questions to the user."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice

from assay.model.money.design import DURABILITIES, Access, Design
from assay.rooms.advice.model.advice import DecisionChange
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.checks import Assessment
from assay.rooms.advice.work.features_offered import has_protocol, is_managed, offered

MAX_TIMES = 3
"""Choices that would cost more than so many times as much are not named: the need is another one then."""
PROTOCOLS_OF: Mapping[Access, str] = {"file": "nfs smb", "object": "s3"}
"""Access -> the protocols that are asked for, as a need has them."""
MAX_QUESTIONS = 3
"""Most requirements that the need does not state and that are named because they would change the choice."""


def questions(best: Assessment, others: Sequence[Assessment]) -> Iterator[DecisionChange]:
    """Yield what the need does not state and what would change the choice if it did, each with the choice then.

    Args:
        best: The chosen variant.
        others: All others that meet the need.
    """
    found = (_question(name, has, best, others) for name, has in _unstated(best.need))
    yield from islice((each for each in found if each is not None), MAX_QUESTIONS)


def _unstated(need: Need) -> Iterator[tuple[str, Callable[[Design], bool]]]:
    """Yield each requirement that the need does not state, as it is written, and which designs have it."""
    for protocol in PROTOCOLS_OF.get(need.access, "").split() if need.protocol is None else ():
        yield f"protocol: {protocol}", partial(has_protocol, protocol)
    if not need.managed and not need.admin_hours:
        yield "managed: true", is_managed
    if need.durability is None and need.data == "persistent":
        for name in ("zone", "region"):
            yield f"durability: {name}", partial(_survives, DURABILITIES.index(name))
    if not need.worm and need.profile.cold:
        yield "worm: true", lambda design: bool(offered(design).worm)


def _survives(place: int, design: Design) -> bool:
    return DURABILITIES.index(design.durability) >= place


def _question(
    written: str, has: Callable[[Design], bool], best: Assessment, others: Sequence[Assessment]
) -> DecisionChange | None:
    if has(best.variant.design):
        return None
    # What a design offers does not depend on its values.
    designs = {item.variant.template: item.variant.design for item in others}
    names = {name for name, design in designs.items() if has(design)}
    fitting = [item for item in others if item.variant.template in names]
    rival = min(fitting, key=lambda item: item.preference, default=None)
    if rival is None or rival.present_value > MAX_TIMES * best.present_value:
        return None
    text = f"with `{written}`, {rival.variant.label} would be the choice ({rival.month_text} a month)"
    return DecisionChange(kind="requirement", text=text, to=rival.variant.label, at=Decimal(1))

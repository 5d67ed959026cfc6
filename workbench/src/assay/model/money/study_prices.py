"""The prices that a study uses: a book, terms, a use, and the design that each target represents."""

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from assay.model.frozen import Frozen
from assay.model.money.amount import TERM_MONTHS, TERMS, Payment, Term
from assay.model.money.price import NETWORK_DIMENSIONS
from assay.model.money.use import DesignChoice, Use, Values
from assay.model.site.host import MAX_HOSTS
from assay.model.study.axis import fault
from assay.model.study.target import Text
from assay.model.units import choices_hint, display_value


def _term(written: object) -> Term:
    found = next((term for term in TERMS if term == written), None)
    if found is None:
        raise fault(f"{display_value(written)} is not a term", choices_hint(written, TERMS))
    return found


def _payment(written: object) -> Payment | None:
    words: tuple[Payment, ...] = get_args(Payment)
    found = next((payment for payment in words if payment == written), None)
    if found is None and written is not None:
        raise fault(f"{display_value(written)} is not a payment", choices_hint(written, words))
    return found


_TERM_SCHEMA = WithJsonSchema({"enum": list(TERMS)})
_PAYMENT_SCHEMA = WithJsonSchema({"enum": list(get_args(Payment))})
_USE_SCHEMA = WithJsonSchema(
    {"type": "object", "properties": {name: {} for name in Use.model_fields}, "additionalProperties": False}
)


class StudyDesign(Frozen):
    """The design that a target stands for."""

    design: Text = Field(min_length=1, description="Name of a shipped design, or a file; names start at the study.")
    set: Values = Field({}, description="Parameter of the design -> its value; the design's own for the rest.")

    @property
    def choice(self) -> DesignChoice:
        """The design and its parameters as the key of prices."""
        return DesignChoice(design=self.design, set=self.set)


class StudyPrices(Frozen):
    """What the targets would cost if they were the designs that are named here."""

    book: Text = Field(min_length=1, description="Name of a shipped price book, or a file; names start at the study.")
    term: Annotated[Term, BeforeValidator(_term), _TERM_SCHEMA] = Field(
        "on-demand", description="How instances are paid for: on-demand, reserved-1y, reserved-3y or spot."
    )
    payment: Annotated[Payment | None, BeforeValidator(_payment), _PAYMENT_SCHEMA] = Field(
        None, description="Of a reservation: no-upfront, partial-upfront or all-upfront. Left out: the book's first."
    )
    use: Annotated[Use, _USE_SCHEMA] = Field(
        Use(),
        description="How the designs are used: duty cycle, and what is paid by use, such as egress: 10TB a month.",
    )
    designs: dict[str, StudyDesign] = Field(
        description="Name of a target -> the design that it represents.", min_length=1
    )

    hosts: dict[str, Annotated[int, Field(ge=1, le=MAX_HOSTS)]] = Field(
        {},
        description="Rented hosts that generate the load, or belong to no design: instance type -> how many. They are "
        "paid for as long as the run lasts, and are part of no design.",
    )

    network: dict[str, Annotated[int, Field(ge=1, le=MAX_HOSTS)]] = Field(
        {},
        description="Rented parts of the network: nat-gateway, public-ipv4 -> how many. They are paid for as the hosts "
        "are; what goes through a gateway is not counted.",
    )

    def model_post_init(self, _context: Any, /) -> None:
        """Refuse a payment without a reservation, and unknown parts of a network."""
        for name in self.network:
            if name not in NETWORK_DIMENSIONS:
                raise fault(f"unknown {display_value(name)}", choices_hint(name, NETWORK_DIMENSIONS), "network", name)
        if self.payment is not None and self.term not in TERM_MONTHS:
            raise fault(f"{self.term} has no payment", "leave it out, or take term: reserved-1y", "payment")

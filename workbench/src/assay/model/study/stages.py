"""Conditions under which `assay run --stage` goes on to the next stage by itself."""

import re
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema

from assay.model.frozen import Frozen
from assay.model.study.axis import fault
from assay.model.units import display_value

_PERCENT = r"^[0-9]{1,3}(?:\.[0-9]{1,6})? ?%$"
_COST = r"^[0-9]+(?:\.[0-9]+)? ?[A-Z]{3}$"


def _share(written: object) -> object:
    if written is None:
        return written
    if not isinstance(written, str) or not re.fullmatch(_PERCENT, written):
        raise fault(f"{display_value(written)} is not a share", "write percent, such as 70%")
    found = float(written.rstrip("% ")) / 100
    if not 0 < found <= 1:
        raise fault(f"{display_value(written)} is out of range", "it must be above 0% and at most 100%")
    return found


def _cost(written: object) -> object:
    if written is not None and (not isinstance(written, str) or not re.fullmatch(_COST, written)):
        raise fault(
            f"{display_value(written)} is not an amount of money", "write an amount with its currency, such as 10USD"
        )
    return written


class StageRule(Frozen):
    """When a stage is accepted without confirmation."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    efficiency: Annotated[
        float | None, BeforeValidator(_share), WithJsonSchema({"type": "string", "pattern": _PERCENT})
    ] = Field(
        None,
        description="Least efficiency against the first stage, of every kind of work: the total as a share of what it"
        " would be if each host (or task, or lane) added as much as those of the first stage.",
    )
    cost: Annotated[str | None, BeforeValidator(_cost), WithJsonSchema({"type": "string", "pattern": _COST})] = Field(
        None,
        description="Limit for the estimated cost of the designs, of the next stage and all before it together.",
    )

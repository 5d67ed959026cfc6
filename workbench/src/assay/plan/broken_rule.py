"""The description of a broken rule."""

from typing import NamedTuple

from assay.model.base import Code


class BrokenRule(NamedTuple):
    """A rule that a combination of parameters breaks.

    Attributes:
        field: The field to change.
        rule: Short name of the rule; further combinations that break it are only counted.
        message: What is wrong, with the numbers of this combination.
        hint: How to fix it.
        code: Error code for callers that handle this error; None for others.
    """

    field: str
    rule: str
    message: str
    hint: str
    code: Code | None = None

"""A rule that a combination of parameters breaks."""

from typing import NamedTuple

from assay.model.base import Code


class Broken(NamedTuple):
    """A rule that a combination breaks.

    Attributes:
        field: The field to mend.
        rule: Short name; further combinations that break it are only counted.
        message: With the figures of this combination.
        hint: How to mend it.
        code: What kind of error it is, where a caller does something about it.
    """

    field: str
    rule: str
    message: str
    hint: str
    code: Code | None = None

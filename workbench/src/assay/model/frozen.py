"""Base class of all model classes."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields.

    Its validator is built when the first value is made: a command imports many more classes than it uses.

    What checks the fields is made when the first value is: a command loads many more classes than it uses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

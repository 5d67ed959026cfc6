"""What all model classes share."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: immutable, and closed against unknown fields.

    What checks the fields is made when the first value is: a command loads many more classes than it uses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

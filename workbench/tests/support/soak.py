"""How much is tried: a little in `make test`, much in `make soak`."""

import os
from typing import TypeVar

T = TypeVar("T")


def times(small: T, large: T) -> T:
    """`large` if the environment variable ASSAY_SOAK is set and is not 0, else `small`."""
    return small if os.environ.get("ASSAY_SOAK", "") in ("", "0") else large

"""Switch off Python's garbage collector where it would find nothing."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """Disable garbage collection while many long-lived objects without cycles are made; scanning them is slow."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

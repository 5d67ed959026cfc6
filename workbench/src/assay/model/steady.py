"""Time that nobody sets: waits, budgets and lengths must not depend on what becomes of the wall clock meanwhile."""

import time

_BEGUN = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def steady() -> float:
    """Seconds since 1970 by the wall clock as it stood when this process began; it goes on while the machine sleeps."""
    return _BEGUN + time.clock_gettime(time.CLOCK_BOOTTIME)

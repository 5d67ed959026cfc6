"""A clock that cannot be set: waits, budgets and lengths must not depend on changes of the wall clock."""

import time

_BOOTED_AT = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


def steady_time() -> float:
    """Return the wall clock's seconds since 1970, ignoring changes of the clock since this process started.

    It goes on while the machine sleeps.
    """
    return _BOOTED_AT + time.clock_gettime(time.CLOCK_BOOTTIME)

"""How the benchmark's programs begin and end."""

import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from model import BenchError


def start(name: str, main: Callable[[], int]) -> NoReturn:
    """Run `main`; what goes wrong is one line that begins with `name`, and exit code 2."""
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, _stop)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print(f"{name}: stopped", file=sys.stderr)
        sys.exit(130)
    except BenchError as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"{name}: {error.filename or 'system'}: {error.strerror}", file=sys.stderr)
        sys.exit(2)


def _stop(number: int, _: object) -> None:
    raise SystemExit(128 + number)

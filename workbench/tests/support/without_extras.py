"""The command line as it is in a base install: packages of extras cannot be found.

Run as a program: `python without_extras.py ARGUMENTS OF ASSAY`.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

HIDDEN = frozenset(
    (
        *("scipy", "pyarrow", "pandas", "python_calamine", "typst", "darshan"),
        *("moto", "flask", "flask_cors", "boto3", "botocore"),
    )
)
_find = PathFinder.find_spec


def _found(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
    return None if name.partition(".")[0] in HIDDEN else _find(name, path, target)


def hide() -> None:
    """Let this process find none of them from now on."""
    PathFinder.find_spec = staticmethod(_found)  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    hide()
    from assay.cli.main import main

    sys.exit(main(sys.argv[1:]))

"""How Assay starts itself again, and where it looks for programs: never in the working directory.

Studies are downloaded, and commands are typed next to them: the user did not choose a `pydantic.py` or an `ssh` that
lies there.
"""

import os
import site
import sys
from collections.abc import MutableMapping
from pathlib import Path

SEARCH_VARIABLES = ("PATH", "LD_LIBRARY_PATH")
"""Environment variables that list folders, in which an empty one means the working directory (execvp(3), ld.so(8))."""


def own_command() -> list[str]:
    """Return the command line that starts this Assay again, whatever the working directory contains.

    It uses Python's isolated mode (-I). If packages come from the user's site folder or PYTHONPATH, which that mode
    ignores, it only leaves out the working directory (-P).
    """
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry.startswith("/")]
    outside = tuple(f"{Path(entry)}{os.sep}" for entry in (*named, site.getusersitepackages()))
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    mode = "-P" if any(file.startswith(outside) for file in files) else "-I"
    return [sys.executable, mode, "-m", "assay"]


def without_working_directory(environment: MutableMapping[str, str]) -> None:
    """Change an environment so that programs and libraries are not looked for in the working directory."""
    for name in SEARCH_VARIABLES:
        if name in environment:
            environment[name] = absolute_folders(environment[name])


def absolute_folders(folders: str) -> str:
    """Return the absolute folders of a colon-separated list."""
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if folder.startswith("/"))

"""How this program is started anew, and what it finds by name: never anything that lies in the working directory.

Studies are downloaded, and commands are typed beside them: a `pydantic.py` or an `ssh` there is nobody's choice.
"""

import os
import site
import sys
from collections.abc import MutableMapping
from pathlib import Path

SEARCHED = ("PATH", "LD_LIBRARY_PATH")
"""Variables with folders, of which an empty one means the working directory (execvp(3), ld.so(8))."""


def own_words() -> list[str]:
    """Words that start this Assay anew, whatever the working directory holds.

    In Python's isolated mode, except where its packages come from the user's own folder or PYTHONPATH, of which that
    mode knows nothing: then only without the working directory.
    """
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry.startswith("/")]
    outside = tuple(f"{Path(entry)}{os.sep}" for entry in (*named, site.getusersitepackages()))
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    mode = "-P" if any(file.startswith(outside) for file in files) else "-I"
    return [sys.executable, mode, "-m", "assay"]


def without_working_directory(environment: MutableMapping[str, str]) -> None:
    """Take out of an environment what makes the working directory one that programs and libraries are looked for in."""
    for name in SEARCHED:
        if name in environment:
            environment[name] = absolute_only(environment[name])


def absolute_only(folders: str) -> str:
    """Of folders with colons between them those that are the same from everywhere."""
    return os.pathsep.join(folder for folder in folders.split(os.pathsep) if folder.startswith("/"))

"""Environment modules (Lmod, Environment Modules) that are loaded in the environment of Assay."""

import os
from collections.abc import Mapping

from assay.launch.environment.reading import Section


def describe_modules(environment: Mapping[str, str] = os.environ) -> Section:
    """Return the loaded modules in the order of loading, and the program; empty where modules are not in use.

    Sources: module(1) of Environment Modules (LOADEDMODULES, MODULES_CMD, MODULEPATH), and Lmod's user guide
    (LMOD_VERSION).

    Args:
        environment: Environment variables of the process.
    """
    signs = ("LOADEDMODULES", "MODULEPATH", "MODULESHOME", "LMOD_CMD")
    if not any(environment.get(name) for name in signs):
        return {}
    version = environment.get("LMOD_VERSION")
    program = f"Lmod {version}" if version else "Lmod" if environment.get("LMOD_CMD") else "Environment Modules"
    loaded = [name for name in environment.get("LOADEDMODULES", "").split(":") if name]
    return {
        "loaded": ", ".join(loaded) or "none",
        "program": program,
        "path": environment.get("MODULEPATH") or "none",
    }

"""What a wheel carries besides Python: the engine's programs, where `make dist` has built them."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("assay-engine", "assay-switch")
PLATFORMS = "manylinux_2_17_{0}.manylinux2014_{0}.musllinux_1_1_{0}"
"""Of static programs: no C library is needed, so these name the oldest that installers know."""


class EngineHook(BuildHookInterface[Any]):
    """Without the two variables a wheel is of Python alone, as `pip install --editable` wants it."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the programs of $ASSAY_WHEEL_PROGRAMS, which are for $ASSAY_WHEEL_MACHINE, into the package."""
        folder, machine = os.environ.get("ASSAY_WHEEL_PROGRAMS"), os.environ.get("ASSAY_WHEEL_MACHINE")
        if version == "editable" or not folder or not machine:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{PLATFORMS.format(machine)}"
        for name in PROGRAMS:
            build_data["force_include"][f"{folder}/{name}"] = f"assay/bin/{name}"

"""Wheels that carry the engine."""

import os
import subprocess
import sys
from pathlib import Path

from engines import ROOT, Machine

DIST = ROOT / "target" / "dist"


def build(machine: Machine, programs: Path) -> Path:
    """A wheel with the programs of an architecture; older ones of it are removed.

    Args:
        machine: The architecture.
        programs: The folder of the programs.
    """
    DIST.mkdir(parents=True, exist_ok=True)
    for old in DIST.glob(f"assay-*_{machine.name}.whl"):
        old.unlink()
    settings = {"ASSAY_WHEEL_PROGRAMS": str(programs), "ASSAY_WHEEL_MACHINE": machine.name}
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(DIST)]
    subprocess.run(words, cwd=ROOT / "workbench", env=os.environ | settings, check=True, stdout=subprocess.DEVNULL)
    return next(DIST.glob(f"assay-*_{machine.name}.whl"))

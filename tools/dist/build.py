#!/usr/bin/env python3
"""What `make dist` builds, in target/dist: wheels that carry the engine, Debian packages, and what an image is made of.

`build.py wheel` builds only the wheel of this machine's architecture, for tests. An architecture that cannot be built
for is named and left out; this machine's must be built.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apptainer
import deb
import wheel
from engines import MACHINES, ROOT, Machine, MissingError, build


def main() -> int:
    """Exit code 1 if what is for this machine cannot be built."""
    here = os.uname().machine
    only_wheel = sys.argv[1:] == ["wheel"]
    if here not in [machine.name for machine in MACHINES]:
        print(f"error: no wheel is made for {here}", file=sys.stderr)
        return 1
    for machine in MACHINES:
        if only_wheel and machine.name != here:
            continue
        try:
            programs = build(machine, fast=only_wheel)
        except MissingError as error:
            if machine.name == here:
                print(f"error: {error}", file=sys.stderr)
                return 1
            print(f"SKIPPED: nothing is built for {machine.name}: {error}")
            continue
        made = wheel.build(machine, programs)
        print(made.relative_to(ROOT))
        if not only_wheel:
            build_packages(machine, made)
    if not only_wheel:
        for file in (ROOT / "tools/dist/Containerfile", ROOT / "workbench/requirements.lock"):
            shutil.copy(file, wheel.DIST)
        text = (ROOT / "tools/dist/Containerfile").read_text()
        (wheel.DIST / "assay.def").write_text(apptainer.definition(text, str(wheel.DIST.relative_to(ROOT))))
        for name in ("Containerfile", "assay.def"):
            print((wheel.DIST / name).relative_to(ROOT))
    return 0


def build_packages(machine: Machine, made: Path) -> None:
    """Debian packages of an architecture, where there is dpkg-deb."""
    if shutil.which("dpkg-deb") is None:
        print(f"SKIPPED: no Debian package for {machine.name}: there is no dpkg-deb")
        return
    for release in deb.RELEASES:
        try:
            print(deb.build(machine, made, release).relative_to(ROOT))
        except subprocess.CalledProcessError as error:
            # A package that is needed has no wheel for the other architecture, and its C is not compiled here.
            if machine.name == os.uname().machine:
                raise
            print(f"SKIPPED: no Debian package of {release} for {machine.name}: {Path(error.cmd[0]).name} failed")


if __name__ == "__main__":
    sys.exit(main())

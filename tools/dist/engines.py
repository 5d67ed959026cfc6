"""Static programs of the engine, for this machine's architecture and by cross-compilation for the other.

Built for musl: its C library is linked in whole, resolver included, which glibc's cannot be. The crates need a C
compiler (ring has C and assembly) that makes code for the architecture; its own headers do.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target" / "dist-build"
"""Of its own: `make test` builds wheels while cargo compiles tests."""
PROGRAMS = {"assay-engine": "assay-cli", "assay-switch": "assay-switch"}
"""Program -> its crate."""


class MissingError(Exception):
    """What is needed for an architecture cannot be had."""


@dataclass(frozen=True)
class Machine:
    """An architecture.

    Attributes:
        name: As `uname -m` and wheels say it.
        debian: As Debian says it.
    """

    name: str
    debian: str

    @property
    def triple(self) -> str:
        """As Rust says it."""
        return f"{self.name}-unknown-linux-musl"

    @property
    def compiler(self) -> str:
        """The C compiler that makes code for it, and links."""
        return "cc" if self.name == os.uname().machine else f"{self.name}-linux-gnu-gcc"

    @property
    def folder(self) -> Path:
        """Where its programs are when they are built."""
        return BUILT / self.triple / "release"


MACHINES = (Machine("x86_64", "amd64"), Machine("aarch64", "arm64"))


def build(machine: Machine, fast: bool = False) -> Path:
    """Build the programs for an architecture; returns their folder.

    Args:
        machine: The architecture.
        fast: With few optimisations, for tests that do not look at speed.

    Raises:
        MissingError: Its Rust target or C compiler is not there and cannot be had.
        CalledProcessError: The build failed, and said why.
    """
    if shutil.which(machine.compiler) is None:
        raise MissingError(f"no {machine.compiler} (Debian: gcc-{machine.name.replace('_', '-')}-linux-gnu)")
    _ensure_target(machine.triple)
    low = machine.triple.replace("-", "_")
    settings = {
        "CARGO_TARGET_DIR": str(BUILT),
        f"CC_{low}": machine.compiler,
        f"CARGO_TARGET_{low.upper()}_LINKER": machine.compiler,
    }
    if fast:
        settings["CARGO_PROFILE_RELEASE_OPT_LEVEL"] = "1"
    crates = [word for crate in PROGRAMS.values() for word in ("--package", crate)]
    words = ["cargo", "build", "--release", "--locked", "--quiet", "--target", machine.triple, *crates]
    subprocess.run(words, cwd=ROOT, env=os.environ | settings, check=True)
    for name in PROGRAMS:
        check_static(machine.folder / name)
    return machine.folder


def check_static(program: Path) -> None:
    """See that a program needs no loader and no library.

    Raises:
        SystemExit: It does.
    """
    said = subprocess.run(
        ["readelf", "--wide", "--program-headers", "--dynamic", program], capture_output=True, text=True, check=True
    ).stdout
    needs = [line.strip() for line in said.splitlines() if "INTERP" in line or "(NEEDED)" in line]
    if needs:
        raise SystemExit(f"error: {program} is not static: {needs[0]}")


def _ensure_target(triple: str) -> None:
    """Have Rust's standard library for a triple, by rustup where there is one."""
    root = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    if (Path(root.strip()) / "lib" / "rustlib" / triple / "lib").is_dir():
        return
    if shutil.which("rustup") is None:
        raise MissingError(f"Rust has no target {triple}, and there is no rustup to add it")
    done = subprocess.run(["rustup", "target", "add", triple], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise MissingError(f"rustup target add {triple}: {done.stderr.strip().splitlines()[-1:]}")

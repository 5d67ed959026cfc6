#!/usr/bin/env python3
"""Build the servers that tests measure and that no package has, once, into target/servers.

Without Go, or without a network, it says so and ends well: the tests that need a server then say that they are skipped.
A server that is in PATH already is not built. Needs no root, and leaves nothing elsewhere but in Go's own cache.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "servers"
SOURCES = {"versitygw": "github.com/versity/versitygw/cmd/versitygw@v1.8.0"}
"""Apache-2.0. It is run by tests only, and is no part of what is shipped."""
PATIENCE = 1200.0
"""Seconds; it takes two minutes on two cores."""


def go() -> str | None:
    """Go's own program: in PATH, or where its installer puts it."""
    usual = Path("/usr/local/go/bin/go")
    return shutil.which("go") or (str(usual) if usual.is_file() else None)


def build(name: str) -> str:
    """Build a server; why that is not possible, or nothing."""
    if (PLACE / name).is_file() or shutil.which(name):
        return ""
    program = go()
    if not program:
        return "there is no go"
    print(f"building {name} (a few minutes, once)", file=sys.stderr)
    PLACE.mkdir(parents=True, exist_ok=True)
    # What the user has set for his own builds would make another program, or put it elsewhere.
    kept = {key: text for key, text in os.environ.items() if key not in ("GOFLAGS", "GOOS", "GOARCH", "GOWORK")}
    words = [program, "install", "-trimpath", "-ldflags=-s -w", SOURCES[name]]
    try:
        subprocess.run(
            words, env={**kept, "GOBIN": str(PLACE)}, cwd=PLACE, check=True, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        return (error.stderr.strip().splitlines() or [f"go ended with {error.returncode}"])[-1]
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


def main() -> int:
    """Always 0, but for a server that is not known."""
    names = sys.argv[1:] or list(SOURCES)
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        print(f"error: no such server: {', '.join(unknown)}; there are {', '.join(SOURCES)}", file=sys.stderr)
        return 2
    for name in names:
        why = build(name)
        if why:
            print(f"note: no {name}, since {why}: tests with it will be skipped", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

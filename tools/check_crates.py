#!/usr/bin/env python3
"""Fail where a Rust crate sees one it may not.

spec <- core <- {drive, posix, tcp <- remote} <- {conform, relay, replay} <- cli; backends see core, spec, posix, tcp
and remote, conform no backend.
"""

import json
import subprocess
import sys

BACKEND = "assay-backend-"
ALLOWED = {
    "assay-spec": set(),
    "assay-core": {"assay-spec"},
    "assay-drive": {"assay-spec", "assay-core"},
    "assay-conform": {"assay-spec", "assay-core", "assay-drive"},
    "assay-relay": {"assay-spec", "assay-core", "assay-drive"},
    "assay-replay": {"assay-spec", "assay-core", "assay-drive", "assay-posix"},
    "assay-cli": {
        *("assay-spec", "assay-core", "assay-drive", "assay-conform", "assay-relay", "assay-replay"),
        BACKEND,
    },
    "assay-switch": set(),
    "assay-faultfs": set(),
    "assay-fuzz": {
        *("assay-spec", "assay-core", "assay-drive"),
        *("assay-backend-nfs", "assay-backend-null", "assay-backend-smb"),
    },
    "assay-bare": {"assay-spec", "assay-drive"},
    "assay-service": {"assay-backend-http"},
    "assay-posix": {"assay-spec", "assay-core"},
    "assay-tcp": {"assay-core"},
    "assay-remote": {"assay-spec", "assay-core", "assay-tcp"},
    BACKEND: {"assay-spec", "assay-core", "assay-posix", "assay-tcp", "assay-remote"},
}


def known_as(name: str) -> str:
    """What a crate is in the table: backends are all alike."""
    return BACKEND if name.startswith(BACKEND) else name


def main() -> int:
    """Exit code 1 if a dependency points the wrong way."""
    words = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    packages = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["packages"]
    problems = []
    for package in packages:
        ours = {d["name"] for d in package["dependencies"] if d["kind"] != "dev" and d["name"].startswith("assay-")}
        allowed = ALLOWED.get(known_as(package["name"]))
        if allowed is None:
            problems.append(f"{package['name']}: not in the table of {__file__}")
            continue
        wrong = [name for name in sorted(ours) if not {name, known_as(name)} & allowed]
        problems += [f"{package['name']} may not depend on {name}" for name in wrong]
    print("\n".join(problems) or f"{len(packages)} crates depend on what they may")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fail where a Rust crate sees one it may not: spec <- core <- drive <- conform <- cli; backends see core and spec only."""

import json
import subprocess
import sys

BACKENDS = {"assay-backend-file", "assay-backend-nfs", "assay-backend-null"}
ALLOWED = {
    "assay-spec": set(),
    "assay-core": {"assay-spec"},
    "assay-drive": {"assay-spec", "assay-core"},
    "assay-conform": {"assay-spec", "assay-core", "assay-drive"},
    "assay-cli": {"assay-spec", "assay-core", "assay-drive", "assay-conform", *BACKENDS},
    "assay-switch": set(),
    "assay-faultfs": set(),
    "assay-fuzz": {"assay-spec", "assay-core", "assay-drive", "assay-backend-nfs", "assay-backend-null"},
    "assay-bare": {"assay-spec", "assay-drive"},
    **{backend: {"assay-spec", "assay-core"} for backend in BACKENDS},
}


def main() -> int:
    """Exit code 1 if a dependency points the wrong way."""
    words = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    packages = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["packages"]
    problems = []
    for package in packages:
        ours = {d["name"] for d in package["dependencies"] if d["kind"] != "dev" and d["name"].startswith("assay-")}
        if package["name"] not in ALLOWED:
            problems.append(f"{package['name']}: not in the table of {__file__}")
            continue
        problems += [f"{package['name']} may not depend on {wrong}" for wrong in ours - ALLOWED[package["name"]]]
    print("\n".join(problems) or f"{len(packages)} crates depend on what they may")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

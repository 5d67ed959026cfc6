#!/usr/bin/env python3
"""Write a bill of materials (CycloneDX 1.6, JSON): the crates in the engine and the packages that the workbench needs.

Crates come from `cargo metadata` with their checksums from Cargo.lock, packages from workbench/requirements.lock with
the hashes of all files of the release; licences are those of tools/licences.py. The same sources give the same bytes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import licences
from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "sbom" / "assay.cdx.json"
LOCK = ROOT / "workbench" / "requirements.lock"


def version() -> str:
    """Assay's own version."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def checksums() -> dict[tuple[str, str], str]:
    """SHA-256 of each crate's file by name and version."""
    packages = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {(p["name"], p["version"]): p["checksum"] for p in packages if "checksum" in p}


def pins() -> dict[tuple[str, str], list[str]]:
    """SHA-256 of all files of each pinned release by name and version."""
    found: dict[tuple[str, str], list[str]] = {}
    for block in re.split(r"\n(?=[a-z0-9])", LOCK.read_text()):
        pinned = re.match(r"([a-z0-9._-]+)==(\S+)", block)
        if pinned:
            found[pinned[1], pinned[2]] = re.findall(r"sha256:([0-9a-f]{64})", block)
    return found


def library(kind: str, name: str, number: str, licence: str) -> Component:
    """A crate or package."""
    purl = PackageURL(kind, None, name, number)
    known = [] if licence.startswith("unknown") else [LicenseFactory().make_from_string(licence.replace("/", " OR "))]
    return Component(
        type=ComponentType.LIBRARY, name=name, version=number, purl=purl, bom_ref=purl.to_string(), licenses=known
    )


def sha256(digests: list[str]) -> list[HashType]:
    """Digests as CycloneDX has them."""
    return [HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in digests]


def crates() -> Iterator[Component]:
    """What is linked into the engine."""
    sums = checksums()
    for name, number, licence in licences.rust():
        part = library("cargo", name, number, licence)
        part.hashes.update(sha256([sums[name, number]]))
        yield part


def packages() -> Iterator[Component]:
    """What the workbench needs when it runs."""
    known = {name: licence for name, _, licence in licences.python()}
    for (name, number), digests in pins().items():
        part = library("pypi", name, number, known.get(name, "unknown"))
        url = XsUri(f"https://pypi.org/simple/{name}/")
        reference = ExternalReference(type=ExternalReferenceType.DISTRIBUTION, url=url, hashes=sha256(digests))
        part.external_references.add(reference)
        yield part


def moment() -> datetime:
    """SOURCE_DATE_EPOCH, or when the sources were last committed (reproducible-builds.org)."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is None:
        words = ["git", "log", "-1", "--format=%ct"]
        epoch = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True).stdout.strip() or "0"
    return datetime.fromtimestamp(int(epoch), UTC)


def bill() -> str:
    """The document."""
    number = version()
    own = {
        "type": ComponentType.APPLICATION,
        "version": number,
        "licenses": [LicenseFactory().make_from_string("Apache-2.0")],
    }
    parts = {name: Component(name=name, bom_ref=f"{name}@{number}", **own) for name in ("assay", "assay-engine")}
    bom = Bom()
    bom.metadata.component, bom.metadata.timestamp = parts["assay"], moment()
    linked, needed = list(crates()), list(packages())
    for part in [parts["assay-engine"], *linked, *needed]:
        bom.components.add(part)
    bom.register_dependency(parts["assay-engine"], linked)
    bom.register_dependency(parts["assay"], [parts["assay-engine"], *needed])
    refs = sorted(str(part.bom_ref) for part in [*linked, *needed])
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, " ".join([number, *refs]))
    return json.dumps(json.loads(JsonV1Dot6(bom).output_as_string()), indent=1, sort_keys=True) + "\n"


def main() -> int:
    """Writes the file and says where."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=PLACE)
    out = parser.parse_args().out
    text = bill()
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text)
    print(f"{out}: {len(json.loads(text)['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What Assay is made of is pinned by hash, follows one policy, and stands in a bill of materials."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import quote

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from paths import REPOSITORY

ROOT = REPOSITORY
LOCKS = sorted((ROOT / "workbench").glob("requirements*.lock"))


def pins(lock: Path) -> dict[str, set[str]]:
    """Hashes by `name==version`."""
    blocks = re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"^#.*\n", "", lock.read_text(), flags=re.MULTILINE))
    return {block.split()[0]: set(re.findall(r"--hash=sha256:([0-9a-f]{64})", block)) for block in blocks}


def test_every_pin_has_hashes() -> None:
    assert len(LOCKS) == 3
    for lock in LOCKS:
        for pin, hashes in pins(lock).items():
            assert re.fullmatch(r"[a-z0-9._-]+(\[[a-z,-]+\])?==[^=\s]+", pin) and hashes, f"{lock.name}: {pin}"


def test_the_locks_agree() -> None:
    runtime, development, build = (
        pins(ROOT / "workbench" / f"requirements{kind}.lock") for kind in ("", "-dev", "-build")
    )
    assert runtime.items() <= development.items()
    for pin in build:
        name = pin.split("==")[0] + "=="
        others = [other for other in development if other.startswith(name)]
        assert not others or others == [pin], "one environment has one version"


def test_make_installs_nothing_without_its_hash() -> None:
    lines = [
        line for line in (ROOT / "Makefile").read_text().splitlines() if "PIP_INSTALL)" in line or "pip install" in line
    ]
    assert len(lines) >= 4
    for line in lines[1:]:
        local = "--no-deps --no-build-isolation --editable workbench" in line
        assert local or "--require-hashes --only-binary :all:" in line, line


def test_licences_are_decided_in_one_place() -> None:
    policy = tomllib.loads((ROOT / "deny.toml").read_text())
    assert "licenses" not in policy
    assert policy["sources"] == {
        "unknown-registry": "deny",
        "unknown-git": "deny",
        "allow-registry": ["https://github.com/rust-lang/crates.io-index"],
    }


@pytest.fixture(scope="module")
def cargo() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo, which knows the crates")


@pytest.fixture(scope="module")
def bill(cargo: None, tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("sbom") / "assay.cdx.json"
    subprocess.run([sys.executable, str(ROOT / "tools" / "sbom.py"), "--out", str(out)], check=True, cwd="/")
    return out.read_text()


def test_the_bill_of_materials_keeps_to_the_schema(bill: str) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(bill) is None
    # The validator is one that can say no.
    assert validator.validate_str(bill.replace('"CycloneDX"', '"Cyclone"')) is not None


def test_the_bill_of_materials_is_complete(bill: str) -> None:
    parts = {part["bom-ref"]: part for part in json.loads(bill)["components"]}
    for pin, hashes in pins(ROOT / "workbench" / "requirements.lock").items():
        part = parts["pkg:pypi/" + pin.replace("==", "@")]
        told = {one["content"] for reference in part["externalReferences"] for one in reference["hashes"]}
        assert told == hashes, pin
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    sums = {f"pkg:cargo/{p['name']}@{quote(p['version'])}": p["checksum"] for p in locked if "checksum" in p}
    crates = {ref: part for ref, part in parts.items() if ref.startswith("pkg:cargo/")}
    assert {"io-uring", "serde_json", "nfs3_types", "rustix"} <= {part["name"] for part in crates.values()}
    for ref, part in crates.items():
        assert part["hashes"] == [{"alg": "SHA-256", "content": sums[ref]}], ref
    assert all(part.get("licenses") for part in parts.values())
    graph = {node["ref"]: node.get("dependsOn", []) for node in json.loads(bill)["dependencies"]}
    assert set(graph["assay-engine@0.1.0"]) == set(crates)


def test_the_same_sources_make_the_same_bill(bill: str, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    subprocess.run([sys.executable, str(ROOT / "tools" / "sbom.py"), "--out", str(again)], check=True, cwd="/")
    assert again.read_text() == bill

"""The definition of an Apptainer image says what the Containerfile says."""

import importlib.util
import re

import pytest
from paths import REPOSITORY

SOURCE = REPOSITORY / "tools" / "dist" / "apptainer.py"
CONTAINERFILE = (REPOSITORY / "tools" / "dist" / "Containerfile").read_text()

_spec = importlib.util.spec_from_file_location("apptainer_definition", SOURCE)
assert _spec is not None and _spec.loader is not None
made = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(made)


def sections(text: str) -> dict[str, list[str]]:
    """Section -> its lines; the head without a name."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        if line.startswith("%"):
            name = line[1:]
            found[name] = []
        elif line.strip() and not line.startswith("#"):
            found[name].append(line.strip())
    return found


def test_base_files_commands_and_program_are_the_same() -> None:
    found = sections(made.definition(CONTAINERFILE, "target/dist"))
    base = re.search(r"^FROM docker\.io/library/(\S+)$", CONTAINERFILE, re.M)
    assert base is not None and found[""] == ["Bootstrap: docker", f"From: {base[1]}"]
    assert found["files"] == [
        "target/dist/assay-*.whl /tmp/assay/",
        "target/dist/requirements.lock /tmp/assay/",
    ]
    joined = re.sub(r"\\\n\s*", "", CONTAINERFILE)
    assert found["post"] == re.findall(r"^RUN (.*)$", joined, re.M)
    assert found["runscript"] == ['exec assay "$@"']


def test_what_it_does_not_know_is_no_silent_loss() -> None:
    with pytest.raises(ValueError, match="nothing is known of USER"):
        made.definition(f"{CONTAINERFILE}USER nobody\n", "x")

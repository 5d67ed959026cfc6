"""Kinds of servers: each is a file beside this one, and nothing else knows them.

In the texts and commands of such a file these words are filled in: `$host`, `$address`, `$configuration` (path of the
written configuration), `$log`, `$exports` (all exports), in an export `$number` and `$path`, and each word of `find`.
"""

import functools
import hashlib
from pathlib import Path
from string import Template

from pydantic import Field

from assay.model.base import EXIT_REFUSED, AssayError, Frozen
from assay.model.files import read_model
from assay.model.units import one_of

FOLDER = Path(__file__).parent
GUIDE = "docs/guides/testbed.md"

Words = tuple[str, ...]


class ServerKind(Frozen):
    """How to run a server."""

    kind: str = Field(description="Its name, which is also that of the file.")
    description: str = Field(description="What it is, one line.")
    packages: Words = Field(min_length=1, description="Debian packages; the version of the first is recorded.")
    programs: Words = Field(min_length=1, description="Programs that must be there.")
    version: Words = Field(description="Command that prints the version where there is no package of that name.")
    find: dict[str, Words] = Field({}, description="Word -> patterns of paths; the first that exists is its value.")
    private: Words = Field((), description="Directories of the machine of which each host has its own, empty.")
    folders: Words = Field((), description="Directories to make in the host before it starts.")
    configuration: str = Field(description="Text of its configuration.")
    export: str = Field(description="Part of the configuration for each export.")
    before: tuple[Words, ...] = Field((), description="Commands that are run once, before the first start.")
    start: tuple[Words, ...] = Field(min_length=1, description="Commands that start it in the background.")
    ready: Words = Field(min_length=1, description="TCP PORT, or PORT/PROGRAM/VERSION of ONC RPC, that must answer.")
    pidfile: str = Field(description="Where it writes its process id, in the host.")
    signal: str = Field("TERM", description="Signal that stops it.")


def kind_names() -> list[str]:
    """All kinds."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


@functools.cache
def load_kind(name: str) -> ServerKind:
    """The kind of this name.

    Raises:
        AssayError: There is none, or its file is wrong.
    """
    if name not in kind_names():
        raise AssayError(f"no kind of server is called `{name}`", one_of(name, kind_names()))
    path = FOLDER / f"{name}.yaml"
    kind = read_model(ServerKind, path.read_bytes(), str(path), GUIDE)
    if kind.kind != name:
        raise AssayError(f"{path}: it says `kind: {kind.kind}`", "name the file after the kind")
    return kind


def found_words(kind: ServerKind) -> dict[str, str]:
    """The words of `find` with what was found.

    Raises:
        AssayError: Nothing fits one of them.
    """
    words = {}
    for word, patterns in kind.find.items():
        matches = [match for pattern in patterns for match in sorted(map(str, Path("/").glob(pattern.lstrip("/"))))]
        if not matches:
            message = f"{kind.kind}: none of {', '.join(patterns)} is there"
            raise AssayError(message, f"apt-get install {' '.join(kind.packages)}", EXIT_REFUSED)
        words[word] = matches[0]
    return words


def fill(text: str, words: dict[str, str]) -> str:
    """The text with its `$words` filled in.

    Raises:
        AssayError: It has a word that is not known.
    """
    try:
        return Template(text).substitute(words)
    except (KeyError, ValueError) as error:
        hint = f"known are: {', '.join(sorted(words))}; a plain dollar sign is $$"
        raise AssayError(f"a description of a server has an unknown word: {error}", hint) from None


def render(kind: ServerKind, words: dict[str, str], exports: Words) -> str:
    """The configuration of a server with these exports."""
    parts = [
        fill(kind.export, {**words, "number": str(number), "path": path})
        for number, path in enumerate(exports, start=1)
    ]
    return fill(kind.configuration, {**words, "exports": "".join(parts)})


def digest(text: str) -> str:
    """SHA-256 of a text, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()

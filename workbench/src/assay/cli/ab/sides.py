"""The two sides of `assay ab`: targets of the study, places, or engines."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from assay.launch.binary import Engine, load_engine
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.units import choices_hint
from assay.model.user_files import path_kind
from assay.terminal.output import note

TEST_FOLDER = "assay-ab"
"""Name of the directory that is made in a directory under test, and removed at the end."""
DEFAULT_NAMES = ("A", "B")
"""Names of places and engines, which have none of their own."""
RULE = "a side is the name of a target of the study, or a path with a slash: a directory, a device or an engine"

Kind = Literal["target", "place", "engine"]


class Side(NamedTuple):
    """One of the two sides.

    Attributes:
        name: Name of its target in the run.
        path: Path of a place or an engine, with links resolved.
        words: Description for people.
        target: The target as a study file states it; of a place only.
        engine: The program; of an engine only.
        device_number: Device number of the file system or device that it is on; None if not known.
    """

    kind: Kind
    name: str
    path: Path
    words: str
    target: Mapping[str, Any] | None = None
    engine: Engine | None = None
    device_number: int | None = None


def find_sides(written: tuple[str, str], targets: Mapping[str, str] | None) -> tuple[Side, Side]:
    """Return the two sides that two words of the command line name.

    Args:
        written: The words; relative paths start at the current directory.
        targets: Name -> kind of the targets of the study; None if no study was named.

    Raises:
        AssayError: A word names no side, the sides are of different kinds, or they are the same.
    """
    base, other = (_side(word, name, targets) for word, name in zip(written, DEFAULT_NAMES, strict=True))
    if base.kind != other.kind:
        message = f"{written[0]} is {_kind_words(base)}, {written[1]} {_kind_words(other)}"
        raise AssayError(message, "compare two targets, two directories or devices, or two engines")
    if _same(base, other):
        raise AssayError(f"both sides are {written[0]}", "name two different sides")
    _note_alike(base, other)
    return base, other


def _kind_words(side: Side) -> str:
    return {"target": "a target of the study", "place": "a directory or device", "engine": "an engine"}[side.kind]


def _same(base: Side, other: Side) -> bool:
    return base.name == other.name if base.kind == "target" else base.path == other.path


def _note_alike(base: Side, other: Side) -> None:
    """Note what is allowed, but may be a mistake: the same engine program, or the same file system, on both sides."""
    if base.engine is not None and other.engine is not None and base.engine.sha256 == other.engine.sha256:
        note("note: both sides are the same program, byte for byte")
    if base.device_number is not None and base.device_number == other.device_number:
        note("note: both sides are on the same file system")


def _side(written: str, name: str, targets: Mapping[str, str] | None) -> Side:
    if "/" not in written:
        return _target(written, targets)
    path = Path.cwd() / written
    if not str(path).isprintable():
        raise AssayError(f"{escape_line(written)}: the path has unprintable characters", RULE)
    # `look` uses a separate process, which storage that hangs may block; a path that answered may be read here.
    what = path_kind(path)
    if not what:
        raise AssayError(f"{written}: no such file or directory, or no permission to read it", RULE)
    real = path.resolve()
    if what == "folder":
        return _directory(written, real, name)
    if what == "file":
        return _engine(written, real, name)
    found = real.stat()
    if not stat.S_ISBLK(found.st_mode):
        raise AssayError(f"{written}: is not a directory, device or engine", RULE)
    target = {"kind": "device", "path": str(real), "description": written}
    return Side("place", name, real, written, target, device_number=found.st_rdev)


def _target(written: str, targets: Mapping[str, str] | None) -> Side:
    if targets is None:
        message = f"{written!r} has no slash, so it names a target, but no study is named"
        raise AssayError(message, f"add --study STUDY, or write ./{written} for a path in this directory")
    if written not in targets:
        hint = f"{choices_hint(written, targets)}; write ./{written} for a path in this directory"
        raise AssayError(f"the study has no target {written!r}", hint)
    return Side("target", written, Path(), f"target {written}")


def _directory(written: str, path: Path, name: str) -> Side:
    if path_kind(path / "run.sqlite"):
        hint = "`assay compare RUN RUN` compares stored runs; `assay ab` measures two sides now"
        raise AssayError(f"{written}: is the folder of a run", hint)
    target = {"kind": "file", "path": str(path / TEST_FOLDER), "description": written}
    return Side("place", name, path, written, target, device_number=path.stat().st_dev)


def _engine(written: str, path: Path, name: str) -> Side:
    if not os.access(path, os.X_OK):
        raise AssayError(f"{written}: is not executable, so it is not an engine", RULE)
    try:
        engine = load_engine(path)
    except AssayError as error:
        raise AssayError(f"{written}: is not an engine: {error.message}", RULE, EXIT_REFUSED) from None
    words = f"engine {path}, version {engine.version}, sha256 {engine.sha256[:12]}"
    return Side("engine", name, path, words, engine=engine)

"""What this machine knows of its stacks: a journal for each, written before each call that makes or removes something.

The stack itself, with its tags, is the truth. The journal names it before it exists, so that a killed command is
finished or undone by the next one. It has no values of parameters, no credentials and no template.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from assay.journal.entry import STACK, Entry
from assay.journal.file import FileJournal, read_entries
from assay.model.base import EXIT_REFUSED, AssayError

FOLDER_VARIABLE = "ASSAY_STACKS"
"""Environment variable that names another folder."""
CREATING, CREATED, DELETING = "creating", "created", "deleting"


@dataclass(frozen=True)
class StackRecord:
    """A stack as this machine remembers it.

    Attributes:
        name: Its name.
        account: Account in which it is.
        region: Region in which it is.
        run: The tag `assay:run` of the attempt that made it.
        token: Token of the request that creates it: the same request never makes two stacks.
        digest: Digest of template and parameters, without secret ones.
        stack_id: Its ARN; empty until AWS has answered.
        phase: creating, created or deleting.
        expires: When it ends by itself, as its tag; empty: unknown.
        bucket: Bucket that has the template while it is being sent; empty: none.
        volumes: Volumes of its instances when its deletion began: they may have no tags, and outlive the instances.
    """

    name: str
    account: str
    region: str
    run: str
    token: str
    digest: str = ""
    stack_id: str = ""
    phase: str = CREATING
    expires: str = ""
    bucket: str = ""
    volumes: tuple[str, ...] = ()


def stacks_folder() -> Path:
    """Return the folder of the journals: `assay/stacks` in XDG_STATE_HOME, by default ~/.local/state."""
    if override := os.environ.get(FOLDER_VARIABLE):
        return Path(override).absolute()
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.local/state").expanduser()) / "assay" / "stacks"


class StackJournal:
    """The journal of one stack."""

    def __init__(self, account: str, region: str, name: str) -> None:
        """Open the journal of a stack, or begin one; nothing is written yet."""
        self._path = stacks_folder() / account / region / name
        self._key = (account, region, name)

    def read(self) -> StackRecord | None:
        """Return what is recorded of the stack; None if nothing is, or it is gone."""
        return next((record for _, record in _open_records(self._path)), None)

    def write(self, record: StackRecord) -> StackRecord:
        """Record a state of the stack, before the call that brings it about.

        Raises:
            AssayError: It cannot be written, so the call must not be made.
        """
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            hint = f"set {FOLDER_VARIABLE} to a folder: Assay records each stack before it makes it"
            raise AssayError(f"{self._path.parent}: {error.strerror}", hint, EXIT_REFUSED) from error
        journal = FileJournal(self._path)
        try:
            is_known = bool(journal.entries())
            number = journal.record(STACK, record.name, asdict(record))
            if is_known:
                journal.amend(number, asdict(record))
        finally:
            journal.close()
        return record

    def forget(self) -> None:
        """Remove the journal, once nothing of the stack is left."""
        self._path.unlink(missing_ok=True)
        for folder in (self._path.parent, self._path.parent.parent, self._path.parent.parent.parent):
            with suppress(OSError):
                folder.rmdir()


def all_records() -> Iterator[StackRecord]:
    """Yield the records of all stacks that this machine has made and not removed."""
    root = stacks_folder()
    for path in sorted(root.glob("*/*/*")) if root.is_dir() else []:
        yield from (record for _, record in _open_records(path))


def find_records(name: str, region: str = "") -> list[StackRecord]:
    """Return the records of stacks of a name, in any account; of one region if it is named."""
    return [each for each in all_records() if each.name == name and region in ("", each.region)]


def advance(journal: StackJournal, record: StackRecord, **changes: Any) -> StackRecord:
    """Write a record with changes, and return it."""
    return journal.write(replace(record, **changes))


def _open_records(path: Path) -> Iterator[tuple[Entry, StackRecord]]:
    for entry in read_entries(path):
        if entry.kind == STACK and entry.removed_at is None and (record := _record(entry.details)) is not None:
            yield entry, record


def _record(details: Mapping[str, Any]) -> StackRecord | None:
    """Return the record in an entry; None if one of its fields is missing or of another kind."""
    values = {each.name: details.get(each.name) for each in fields(StackRecord)}
    volumes = values.pop("volumes")
    if not all(isinstance(value, str) for value in values.values()) or not isinstance(volumes, list):
        return None
    return StackRecord(**values, volumes=tuple(map(str, volumes)))  # type: ignore[arg-type]

"""The place that is measured, as a target of a study."""

from pathlib import Path
from typing import Any, NamedTuple

from assay.kinds.uri import parse_uri
from assay.model.base import EXIT_USAGE, AssayError
from assay.model.escape import escape_line
from assay.model.study.kinds import kinds
from assay.plan.measure import place_names
from assay.rooms.fit.model.profile import Work


class FitPlace(NamedTuple):
    """A place.

    Attributes:
        written: The word that the user typed.
        name: Name of its target.
        target: The target's fields, as a study file states them.
        work: Whether it holds files (or is a device) or objects.
        has_files: It holds files by name; False for devices.
    """

    written: str
    name: str
    target: dict[str, Any]
    work: Work
    has_files: bool

    @property
    def holds_existing(self) -> bool:
        """Only objects that are there already are read; nothing is written."""
        return "existing" in self.target


def find_place(written: str, destroy: bool) -> FitPlace:
    """Return the place that a word of the command line names.

    Args:
        written: A directory, a device, or the address of an export, share, disk, bucket or table.
        destroy: The user has confirmed that devices may be overwritten, and buckets written to.

    Raises:
        AssayError: The word names none.
    """
    if not written.isprintable():
        raise AssayError(f"{escape_line(written)}: the path or address has unprintable characters", "", EXIT_USAGE)
    path = Path(written)
    absolute = str(path.absolute()) if path.is_dir() else written
    return place_of_target(written, place_names([absolute])[0], parse_uri(written, destroy))


def place_of_target(written: str, name: str, target: dict[str, Any]) -> FitPlace:
    """Return the place that a target describes; arguments as the attributes of `FitPlace`."""
    kind = kinds()[target["kind"]]
    return FitPlace(written, name, target, "files" if "data" in kind.groups else "objects", kind.has_files)


def refuse_existing(place: FitPlace) -> None:
    """Refuse a bucket in which nothing may be written.

    Raises:
        AssayError: The user has not confirmed that it may be written to.
    """
    if place.holds_existing:
        message = f"{place.written}: objects are put there, and removed at the end"
        raise AssayError(message, "confirm it with --destroy; other objects are left alone", EXIT_USAGE)

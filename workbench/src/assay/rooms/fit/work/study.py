"""The study that shows whether a place satisfies a profile: an ordinary one, which `assay run` can repeat."""

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.model.base import EXIT_USAGE, AssayError
from assay.model.escape import escape_line
from assay.model.units import about_size, format_size, parse_size
from assay.plan.text import study_text
from assay.rooms.fit.model.profile import Data, Profile, Requirement
from assay.rooms.fit.work.place import FitPlace

FREE_SHARE = 10
"""At most 1 / `FREE_SHARE` of the free space is used."""
INTERVAL = "50ms"
"""Length of the intervals in which the course of reads is recorded, where accelerators are emulated."""


class DataAmount(NamedTuple):
    """How much data is laid out.

    Attributes:
        fields: Fields of the workload that say so.
        words: How much it is, and how much the application has; empty if nothing was reduced.
    """

    fields: dict[str, Any]
    words: str


def requirements_of(profile: Profile, place: FitPlace) -> list[Requirement]:
    """Return the requirements that a profile has of such a place.

    Raises:
        AssayError: The application cannot use such a place.
    """
    work = profile.work(place.work)
    if work is None:
        needed = "files: a directory, an export or a share" if place.work == "objects" else "objects: a bucket"
        raise AssayError(f"{place.written}: {profile.profile} needs {needed}", "name another place", EXIT_USAGE)
    if not place.has_files and {"files", "total_files"} & set(work):
        raise AssayError(f"{place.written}: {profile.profile} needs files by name", "name a directory", EXIT_USAGE)
    return [need for need in profile.requires if need.operation in work["operations"]]


def choose_amount(profile: Profile, place: FitPlace, bytes_per_s: float | None, free_bytes: int | None) -> DataAmount:
    """Return how much data is laid out, so that this takes no longer than the profile allows.

    Args:
        profile: The profile.
        place: The place.
        bytes_per_s: Speed of a first write; None if it was not measured: the least amount is taken.
        free_bytes: Free space; None if unknown.
    """
    work, data = profile.work(place.work), profile.data
    if work is None or data is None:
        return DataAmount({}, "")
    if place.work == "objects":
        count = work.get("lanes", 1) * work.get("objects", 1)
        total = count * parse_size(work["object_size"])
        return DataAmount({}, _amount_words(data, total, f"{count} objects of {about_size(total / count)}"))
    total = _total(data, bytes_per_s, free_bytes)
    each, record = parse_size(work["file_size"]), parse_size(work["record_size"])
    if data.field == "total_files":
        count = max(work.get("lanes", 1), round(total / each))
        return DataAmount({"total_files": count}, _amount_words(data, count * each, f"{count:,} files"))
    lanes = work.get("lanes", 1)
    size = max(record, min(each if "files" in work else total, total // lanes) // record * record)
    words = f"{lanes} files of {about_size(size)}" if lanes > 1 else f"a file of {about_size(size)}"
    return DataAmount({"file_size": format_size(size)}, _amount_words(data, size * lanes, words))


def _total(data: Data, bytes_per_s: float | None, free_bytes: int | None) -> int:
    wanted = data.min_bytes if bytes_per_s is None else bytes_per_s * data.seconds / 1e9
    if free_bytes is not None:
        wanted = min(wanted, free_bytes / FREE_SHARE)
    return int(min(data.max_bytes, max(data.min_bytes, wanted)))


def _amount_words(data: Data, total: int, what: str) -> str:
    return f"{what} ({about_size(total)}) stand for {data.full}" if total < data.full_bytes else ""


def fit_study(
    profile: Profile, place: FitPlace, needs: list[Requirement], amount: DataAmount, cache: str = ""
) -> dict[str, Any]:
    """Return the study as the data of a study file.

    Args:
        profile: The profile.
        place: The place.
        needs: Requirements of such a place.
        amount: How much data is laid out.
        cache: Cache policy instead of the profile's; empty: the profile's.
    """
    work = {**(profile.work(place.work) or {}), **amount.fields}
    if cache:
        work["cache"] = cache
    if not place.has_files and place.work == "files":
        work["layout"] = "shared"
        work.pop("preallocate", None)
    course: dict[str, Any] = {"output": {"interval": INTERVAL}} if any(n.measure == "busy" for n in needs) else {}
    return {
        "study": f"fit-{profile.profile}",
        "question": profile.question,
        "targets": {place.name: dict(place.target)},
        "workloads": {profile.profile: work},
        "repeats": profile.repeats,
        "ceilings": "none",
        "network": "none",
        **course,
    }


def fallback_cache(work: Mapping[str, Any]) -> str:
    """Return how the page cache is kept out where a place has no O_DIRECT: files of a set cannot be evicted."""
    return "drop" if {"files", "total_files"} & set(work) else "evict"


def fit_text(study: Mapping[str, Any], words: list[str]) -> str:
    """Return the text of the study file; `words` are those of the command line."""
    head = (
        f"What `{escape_line(shlex.join(words))}` measures.",
        "",
        "  assay run FILE      measure it again",
        "",
        "The requirement and its source are in the profile: docs/guides/fit.md.",
    )
    return study_text(dict(study), head)

"""Targets typed as one word on the command line: which kind each is."""

from typing import Any

from assay.model.base import EXIT_USAGE, AssayError
from assay.model.study.kinds import kinds

PLACE_SYNTAX = (
    "a directory, a device, nfs://SERVER/EXPORT, smb://USER@SERVER/SHARE, aoe://INTERFACE/eSHELF.SLOT, "
    "s3://BUCKET/KEYS or dynamodb://TABLE"
)


def parse_uri(text: str, destroy: bool) -> dict[str, Any]:
    """Return the fields of a target as a study file has them.

    Args:
        text: The typed word.
        destroy: The user has confirmed that devices may be overwritten, and buckets and tables written to.

    Raises:
        AssayError: The word is not of any kind of target, or is incomplete.
    """
    if not text:
        raise AssayError("a target is empty", f"name {PLACE_SYNTAX}", EXIT_USAGE)
    for kind in kinds().values():
        found: dict[str, Any] | None = kind.kind_module("uri").parse_uri(text, destroy)
        if found is not None:
            return found
    what = "no such scheme" if "://" in text else "it is neither a directory nor a device"
    suggestion = _from_mount_syntax(text)
    raise AssayError(f"{text}: {what}", f"write {suggestion}" if suggestion else f"name {PLACE_SYNTAX}", EXIT_USAGE)


def _from_mount_syntax(text: str) -> str:
    """Return the URI for a place that was typed in the syntax of `mount`; empty if it was not."""
    server, _, export = text.partition(":/")
    if server and export and not export.startswith("/") and not set("/:@") & set(server):
        return f"nfs://{server}/{export}"
    windows = text.replace("\\", "/")
    host, _, share = windows.removeprefix("//").partition("/")
    return f"smb://USER@{host}/{share}" if windows.startswith("//") and host and share else ""

"""An NFS export, typed as one word: `nfs://SERVER[:PORT]/EXPORT` (RFC 2224)."""

from typing import Any

from assay.model.base import AssayError

SCHEME = "nfs://"


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind.

    Raises:
        AssayError: The server or the export is missing.
    """
    if not text.startswith(SCHEME):
        return None
    server, slash, export = text.removeprefix(SCHEME).partition("/")
    if not server or not slash or not export:
        raise AssayError(f"{text}: server or export is missing", "write nfs://SERVER/EXPORT, such as nfs://nas1/export")
    return {"kind": "nfs", "servers": server, "export": f"/{export}", "directory": "assay-measure"}

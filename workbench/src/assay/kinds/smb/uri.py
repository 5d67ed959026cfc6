"""An SMB share, typed as one word: `smb://[USER@]SERVER[:PORT]/SHARE`."""

from typing import Any

from assay.model.base import AssayError

SCHEME = "smb://"


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind.

    Raises:
        AssayError: The server or the share is missing, a path follows the share, or the user has a password.
    """
    if not text.startswith(SCHEME):
        return None
    where, _, share = text.removeprefix(SCHEME).partition("/")
    user, _, server = where.rpartition("@")
    share = share.rstrip("/")
    if not server or not share or "/" in share:
        raise AssayError(
            f"{SCHEME}: a server and a share are needed, and nothing after them",
            "write smb://USER@SERVER/SHARE, such as smb://alice@nas1/data",
        )
    if ":" in user:
        hint = "leave it out, and set PASSWD in the environment"
        raise AssayError("everybody on this machine can read a password in an address", hint)
    found = {"kind": "smb", "servers": server, "shares": share, "directory": "assay-measure"}
    return {**found, "user": user} if user else found

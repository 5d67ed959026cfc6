"""A disk behind ATA over Ethernet, typed as one word: `aoe://INTERFACE[,INTERFACE]/eSHELF.SLOT`."""

from typing import Any

from assay.model.base import AssayError

SCHEME = "aoe://"


def parse_uri(text: str, destroy: bool) -> dict[str, Any] | None:
    """Return the target's fields in a study; None if the word is not of this kind.

    Raises:
        AssayError: The interface or the address is missing, or the user has not confirmed overwriting the disk.
    """
    if not text.startswith(SCHEME):
        return None
    interfaces, _, address = text.removeprefix(SCHEME).partition("/")
    if not interfaces or not address:
        raise AssayError(f"{text}: interface or address is missing", "write aoe://eth1/e1.0: shelf 1, slot 0")
    if not destroy:
        raise AssayError(f"{text}: all data on the disk would be overwritten", "confirm it with --destroy")
    return {"kind": "aoe", "interfaces": interfaces.split(","), "address": address}

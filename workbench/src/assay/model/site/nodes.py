"""Sets of host names as clusters write them: `client[1-8]`, `node[01-16,20]`."""

import re

from assay.model.units import UnitError, shown

MOST_NODES = 1024
_HINT = "write a name such as client1, or a set such as client[1-8] or node[01-16,20]"
_WRITTEN = re.compile(r"[A-Za-z0-9._][A-Za-z0-9._\[\],!&^-]*")
"""With the operations on sets: `!` without, `&` in both, `^` in one of the two."""
_LONG_NUMBER = re.compile(r"[0-9]{6}")


def expand_nodes(written: str, most: int = MOST_NODES) -> tuple[str, ...]:
    """The names in a node set, in its order.

    Args:
        written: The set.
        most: Names that it may have.

    Raises:
        UnitError: It cannot be read, is empty, or has more than `most` names.
    """
    # Imported here because only boxes and host lists need it.
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    if not isinstance(written, str) or not _WRITTEN.fullmatch(written):
        raise UnitError(f"{shown(written)} is not a set of hosts", _HINT)
    if _LONG_NUMBER.search(written):
        raise UnitError(f"{shown(written)} has a number of more than 5 digits", _HINT)
    try:
        nodes = NodeSet(written, resolver=RESOLVER_NOGROUP)
    except NodeSetException:
        raise UnitError(f"{shown(written)} is not a set of hosts", _HINT) from None
    if not 0 < len(nodes) <= most:
        raise UnitError(f"{shown(written)} has {len(nodes)} hosts", f"name 1 to {most} hosts")
    return tuple(str(node) for node in nodes)

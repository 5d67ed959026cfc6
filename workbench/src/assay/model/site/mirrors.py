"""Which things may hold the copies of one another: each copy on another server."""

from collections.abc import Mapping, Sequence

from assay.model.base import AssayError


def mirrors(holders: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of disks, each pair on two servers.

    Args:
        holders: Disk -> the server that has it.

    Raises:
        AssayError: They cannot be paired so.
    """
    if why := uneven(list(holders.values()), 2):
        raise AssayError(f"disks cannot be mirrored across servers: {why[0]}", why[1])
    order = list(dict.fromkeys(holders.values()))
    # A server has no more than half of them, so that two disks half of all apart are never both of one.
    disks = sorted(holders, key=lambda disk: order.index(holders[disk]))
    half = len(disks) // 2
    return list(zip(disks[:half], disks[half:], strict=True))


def uneven(holders: Sequence[str], copies: int) -> tuple[str, str] | None:
    """Why things cannot be put into groups of so many, each of a group on another server; None if they can.

    Args:
        holders: The server of each thing.
        copies: Things of a group.

    Returns:
        What is in the way, and what to do.
    """
    many = len(holders)
    hint = f"give each of {copies} servers or more the same number, {copies}, {2 * copies}, {3 * copies} ... in all"
    if many == 0 or many % copies:
        return f"{many} are not a multiple of {copies}", hint
    most = max(holders, key=holders.count)
    if (count := holders.count(most)) * copies > many:
        return f"{most} has {count} of {many}, more than one in {copies}", hint
    return None

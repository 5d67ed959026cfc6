"""Placement of copies so that each copy is on a different server."""

from collections.abc import Mapping, Sequence

from assay.model.base import AssayError


def mirror_pairs(holders: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pair disks so that each pair is on two servers.

    Args:
        holders: Disk -> the server that has it.

    Raises:
        AssayError: They cannot be paired so.
    """
    if why := grouping_fault(list(holders.values()), 2):
        raise AssayError(f"disks cannot be mirrored across servers: {why[0]}", why[1])
    order = list(dict.fromkeys(holders.values()))
    # No server has more than half of the disks, so that two disks half the list apart are on different servers.
    disks = sorted(holders, key=lambda disk: order.index(holders[disk]))
    half = len(disks) // 2
    return list(zip(disks[:half], disks[half:], strict=True))


def grouping_fault(holders: Sequence[str], copies: int) -> tuple[str, str] | None:
    """Return why items cannot be grouped with each item of a group on a different server; None if they can.

    Args:
        holders: Server of each item.
        copies: Items of a group.

    Returns:
        The reason, and a hint.
    """
    many = len(holders)
    hint = f"give each of {copies} servers or more the same number, {copies}, {2 * copies}, {3 * copies} ... in all"
    if many == 0 or many % copies:
        return f"{many} are not a multiple of {copies}", hint
    most = max(holders, key=holders.count)
    if (count := holders.count(most)) * copies > many:
        return f"{most} has {count} of {many}, more than one in {copies}", hint
    return None

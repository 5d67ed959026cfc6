"""How busy links, CPUs and disks of hosts were during a phase."""

from assay.model.result.host_use import HostUse
from assay.report.charts.theme import share_axis, time_axis
from assay.report.draw.drawing import Drawing, Legend, LegendEntry, LineMark
from assay.report.draw.svg import colour_class


def host_usage_chart(uses: tuple[HostUse, ...]) -> Drawing | None:
    """Return the chart of one phase; None if it was too short.

    Lines are shares: of the time of CPUs and of the busiest disk, and of the speed of links if that is known.
    """
    lines: dict[str, list[tuple[float, float]]] = {}
    for use in uses:
        for name, place in _data(use):
            lines.setdefault(name, []).append(place)
    if not lines:
        return None
    shades = {name: colour_class(number) for number, name in enumerate(lines)}
    paths = tuple(
        LineMark(tuple(places), shades[name], name, number // 8) for number, (name, places) in enumerate(lines.items())
    )
    keys = tuple(LegendEntry(name, shades[name], None, number // 8) for number, name in enumerate(lines))
    x = time_axis((at for places in lines.values() for at, _ in places), "Time since the phase began (s)")
    return Drawing(x, share_axis(1.0, "Busy"), paths, (Legend("", keys),))


def _data(use: HostUse) -> list[tuple[str, tuple[float, float]]]:
    if len(use.course) < 3:
        return []
    speed = sum(link.speed or 0.0 for link in use.links) if all(link.speed for link in use.links) else 0.0
    found: list[tuple[str, tuple[float, float]]] = []
    for point in use.course:
        shares: dict[str, float | None] = {f"{use.host} link": None}
        if speed:
            shares[f"{use.host} link"] = max(point.received, point.sent) / speed
        if not use.shared:
            shares[f"{use.host} CPUs"] = point.cpu
            shares[f"{use.host} busiest disk"] = point.disk if use.disks else None
        found += [(name, (point.at, min(1.0, share))) for name, share in shares.items() if share is not None]
    return found

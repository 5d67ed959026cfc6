"""How busy links, CPUs and disks of hosts were while a phase went on."""

from assay.model.result.uses import HostUse
from assay.report.charts.theme import PALETTE, Spec, finish

_HEIGHT = 200


def uses_chart(uses: tuple[HostUse, ...]) -> Spec | None:
    """The specification of the chart of one phase; None if its course is too short.

    Lines are shares of what there is: of the time of CPUs and of the busiest disk, and of a link's speed where that is
    known.
    """
    data = [datum for use in uses for datum in _data(use)]
    names = list(dict.fromkeys(str(datum["s"]) for datum in data))
    if not data:
        return None
    shades = [PALETTE[place % len(PALETTE)] for place in range(len(names))]
    encoding: Spec = {
        "x": {"field": "x", "type": "quantitative", "title": "Time since the phase began (s)"},
        "y": {
            "field": "y",
            "type": "quantitative",
            "title": "Busy",
            "axis": {"format": "%"},
            "scale": {"domain": [0, 1]},
        },
        "color": {"field": "s", "type": "nominal", "title": None, "scale": {"domain": names, "range": shades}},
    }
    encoding["color"]["legend"] = {"columns": 4}
    line: Spec = {"type": "line", "strokeWidth": 1.5, "opacity": 0.85, "clip": True}
    layers: list[Spec] = [{"mark": line, "encoding": encoding}]
    return finish({"data": {"values": data}, "width": "container", "height": _HEIGHT, "layer": layers})


def _data(use: HostUse) -> list[Spec]:
    if len(use.course) < 3:
        return []
    speed = sum(link.speed or 0.0 for link in use.links) if all(link.speed for link in use.links) else 0.0
    found: list[Spec] = []
    for point in use.course:
        shares: dict[str, float | None] = {f"{use.host} link": None}
        if speed:
            shares[f"{use.host} link"] = max(point.received, point.sent) / speed
        if not use.shared:
            shares[f"{use.host} CPUs"] = point.cpu
            shares[f"{use.host} busiest disk"] = point.disk if use.disks else None
        found += [
            {"x": point.at, "y": min(1.0, share), "s": name} for name, share in shares.items() if share is not None
        ]
    return found

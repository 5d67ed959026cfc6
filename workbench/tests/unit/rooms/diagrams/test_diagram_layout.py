"""What holds of every diagram: nothing overlaps or leaves it, equal input gives equal bytes, type is large enough."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drawn import faults
from paths import REPOSITORY
from soak import times

from assay.model.base import AssayError
from assay.model.room import hook
from assay.money.cost.designs import design_names, load_template
from assay.report.diagrams.designs import design_chart
from assay.report.diagrams.network import MAX_BOXES, network_diagram
from assay.report.diagrams.pieces import PAGE_WIDTH
from assay.report.draw.diagram import Diagram, TextShape
from assay.report.draw.letters import shortened, text_width, wrapped
from assay.report.draw.standalone import picture_of
from assay.rooms.diagrams.work.boxes import box_network
from assay.rooms.diagrams.work.described import DescribedNetwork
from assay.rooms.diagrams.work.raid import RaidLayout, raid_diagram
from assay.rooms.diagrams.work.steps import Workflow, steps_diagram

BOXES = sorted(path.stem for path in (REPOSITORY / "workbench/src/assay/rooms/testbed/work/presets").glob("*.yaml"))
NAMES = ("n", "nfs-server-1", "x" * 200, "<b>&amp;", "計算機", "Größe", "сервер", "a b c d e f g h i j k l m n o p")


def random_network(seed: int) -> dict[str, Any]:
    """A description with sites, switches, links of all kinds, and names of all lengths."""
    chance = random.Random(seed)
    sites = [f"site {number}" for number in range(chance.choice((0, 0, 1, 2, 3)))]
    where = [*sites, *([] if chance.random() < 0.7 else [""])] if sites else [""]
    hosts: dict[str, Any] = {}
    for number in range(chance.randint(len(where), 14)):
        site = where[number] if number < len(where) else chance.choice(where)
        disks = [
            {"kind": chance.choice(NAMES), "count": chance.randint(1, 30), "size": "2TB"}
            for _ in range(chance.choice((0, 0, 1, 3)))
        ]
        host = {"site": site, "role": chance.choice(("client", "server", "")), "disks": disks}
        host |= {"count": chance.choice((None, 8, 1200)), "about": chance.sample(NAMES, chance.randint(0, 3))}
        hosts[f"{chance.choice(NAMES)} {number}"] = {key: value for key, value in host.items() if value}
    switches = {f"switch {n}": {"site": chance.choice(where)} for n in range(chance.randint(0, 3))}
    ends = [*hosts, *switches]
    links = [
        {"from": one, "to": other, "rate": chance.choice(("1 Gbit/s", "12.5 Gbit/s")), "delay": "43500us"}
        for one, other in (chance.sample(ends, 2) for _ in range(chance.randint(0, 12) if len(ends) > 1 else 0))
    ]
    links += [
        {"from": one, "to": other, "rate": "100 Mbit/s", "about": "leased line"}
        for one, other in (chance.sample(sites, 2) for _ in range(chance.choice((0, 1, 3)) if len(sites) > 1 else 0))
    ]
    linked = {end for link in links for end in (link["from"], link["to"])}
    links += [{"from": host, "to": next(iter(switches))} for host in hosts if switches and host not in linked]
    return {"sites": {site: {"about": "x"} for site in sites}, "hosts": hosts, "switches": switches, "links": links}


def is_readable(diagram: Diagram) -> bool:
    """Whether the smallest type has 6.5 points on a page, as `typst.py` scales it."""
    scale = min(0.78, 620 / diagram.height)
    sizes = [shape.size for shape in diagram.shapes if isinstance(shape, TextShape)]
    return min(sizes) * scale >= 6.5 and diagram.width * scale <= 482


@pytest.mark.parametrize("seed", range(times(24, 3000)))
def test_nothing_overlaps_in_random_networks(seed: int) -> None:
    network = DescribedNetwork.model_validate(random_network(seed)).network()
    try:
        diagram = network_diagram(network)
    except AssayError as error:
        assert "high as a page" in error.message
        return
    assert faults(diagram) == [] and is_readable(diagram)
    assert picture_of(network_diagram(network)) == picture_of(diagram)
    assert all(host.name in diagram.words for host in network.hosts)


def test_the_check_finds_what_is_wrong() -> None:
    diagram = network_diagram(DescribedNetwork.model_validate({"hosts": {"a": {}, "b": {}}}).network())
    text = next(shape for shape in diagram.shapes if isinstance(shape, TextShape))
    assert faults(replace(diagram, shapes=(*diagram.shapes, replace(text, x=text.x + 3))))
    assert faults(replace(diagram, width=diagram.width / 2))


def test_every_design_is_drawn() -> None:
    for name in design_names():
        chart = design_chart(load_template(name).build())
        assert isinstance(chart.drawing, Diagram) and faults(chart.drawing) == [] and is_readable(chart.drawing), name


@pytest.mark.parametrize("name", BOXES)
def test_every_box_is_drawn(name: str) -> None:
    diagram = network_diagram(box_network(hook("box_description")(name, Path())))
    assert faults(diagram) == [] and is_readable(diagram)


def test_raids_and_workflows_fit() -> None:
    for level in (0, 1, 5, 6, 10):
        for disks in (4, 9, 16):
            diagram = raid_diagram(RaidLayout(level=level, disks=disks))  # type: ignore[arg-type]
            assert faults(diagram) == [] and is_readable(diagram)
    for seed in range(30):
        chance = random.Random(seed)
        names = iter(f"{chance.choice(NAMES)} {number}" for number in range(99))
        stages = [[next(names) for _ in range(chance.choice((1, 1, 2, 3)))] for _ in range(chance.randint(2, 9))]
        diagram = steps_diagram(Workflow.model_validate({"stages": stages}))
        assert faults(diagram) == [] and diagram.width <= PAGE_WIDTH + 2


def test_blocks_of_a_raid_are_where_linux_puts_them() -> None:
    """As in md(4) and the tables of the kernel's raid5.c: left-symmetric, and two near copies."""
    five, six, ten = (RaidLayout(level=level, disks=4) for level in (5, 6, 10))  # type: ignore[arg-type]
    rows = [["".join(raid.cell(row, disk) for disk in range(4)) for row in range(2)] for raid in (five, six, ten)]
    assert rows == [["012P", "45P3"], ["Q01P", "23PQ"], ["0011", "2233"]]
    named = RaidLayout(level=1, disks=2, names=("e1.0", "e2.0"))
    assert "e1.0: 0, 1, 2; e2.0: 0, 1, 2;" in named.words and faults(raid_diagram(named)) == []


def test_forty_different_hosts_fit_and_more_are_refused() -> None:
    hosts = {f"host{n}": {"role": "server", "about": f"number {n}"} for n in range(MAX_BOXES)}
    assert is_readable(network_diagram(DescribedNetwork.model_validate({"hosts": hosts}).network()))
    more = hosts | {"one-more": {}}
    with pytest.raises(AssayError, match="41 boxes of hosts, and a page has room for 40"):
        network_diagram(DescribedNetwork.model_validate({"hosts": more}).network())


def test_texts_are_cut_to_their_room() -> None:
    for text in NAMES:
        for width in (20, 60, 130):
            assert text_width(shortened(text, width, 10), 10) <= width
            assert all(text_width(line, 10) <= width for line in wrapped(text, width, 10))
    assert wrapped("RAID 5 of four disks", 60, 10) == ["RAID 5 of", "four disks"]

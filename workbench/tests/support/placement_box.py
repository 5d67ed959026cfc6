"""A cluster in a box around whose folders others place mounts, links and swaps, while it comes up, dies and goes."""

import random
import time
from pathlib import Path

from placement_scenario import ANYWHERE, Command, Plan, Scenario, descendants, kill

BOX = """name: victim
hosts:
  client1: {disks: [{size: 16MiB, mount: /data}]}
"""
SWAPS = ("swap", "trade", "flicker")
MOMENTS = ("before", "up", "killed")
POINTS = ("box", "disks", "in the box", "in the disks", "boxes")


def plan_box(seed: int) -> Plan:
    """A scenario by its seed."""
    chance = random.Random(seed)
    planned = []
    for act in chance.sample(ANYWHERE, chance.choice((1, 2))):
        points = [point for point in POINTS if not (point.startswith("in ") and act.__name__ in SWAPS)]
        planned.append((act.__name__, chance.choice(MOMENTS), chance.choice(points)))
    return Plan(seed, planned, False, chance.choice(("", "workbench", "both")), False, False, True)


def box_point(scenario: Scenario, name: str) -> Path:
    """The path of a point of the box."""
    root, chance = scenario.world.base / "boxes", scenario.world.chance
    box, disks = root / "boxes" / "victim", root / "disks" / "victim"
    if name in ("in the box", "in the disks"):
        folder = box if name == "in the box" else disks
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        return folder / chance.choice([*names, "precious", "client1-0.img"])
    return {"box": box, "disks": disks, "boxes": root / "boxes"}[name]


def play_box(scenario: Scenario) -> None:
    """The whole of it; what is wrong is noted."""
    world, chance = scenario.world, scenario.world.chance
    for name in ("boxes/boxes", "boxes/disks"):
        (world.base / name).mkdir(parents=True)
    (world.base / "box.yaml").write_text(BOX)
    scenario.point = lambda name: box_point(scenario, name)  # type: ignore[method-assign]
    scenario.before = scenario.look()
    scenario.used = any(kind in SWAPS and point == "boxes" for kind, _, point in scenario.plan.acts)
    scenario.place("before")
    up = _testbed(scenario, "up", "box.yaml")
    if scenario.plan.kill:
        time.sleep(chance.random() * 2.5)
        victims = descendants() if scenario.plan.kill == "both" else [up.process.pid]
        for pid in victims:
            kill(pid)
    scenario.end(up, killed=bool(scenario.plan.kill))
    scenario.place("up")
    scenario.place("killed")
    scenario.end(_testbed(scenario, "down", "victim"))
    try:
        world.undo()
    except (OSError, ValueError, AssertionError) as error:
        scenario.problems.append(f"a placement cannot be undone: {error!r}")
        return
    scenario.compare("after the placements")
    down = _testbed(scenario, "down", "victim")
    code = scenario.end(down)
    scenario.compare("in the end")
    left = [str(path) for path in (world.base / "boxes").rglob("*") if path.name not in ("boxes", "disks")]
    if code == 0 and left:
        scenario.problems.append(f"left without a word: {', '.join(left[:5])}")


def _testbed(scenario: Scenario, *words: str) -> Command:
    return scenario.command("testbed", *words)

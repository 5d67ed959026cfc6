"""Plays one scenario of placements: `placement_program.py SEED FOLDER run|box [KIND...]`.

It is to run as root in a mount namespace of its own, from which nothing spreads. It prints what it does in words, then
what is wrong, and ends with 1 if anything is. What it leaves in the folder is for whoever started it to remove.
"""

import contextlib
import sys
from pathlib import Path

from placement_box import plan_box, play_box
from placement_scenario import build, caught, make_plan, play


def main() -> int:
    """Play it; returns the exit code."""
    seed, base, what, *kinds = int(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:]
    plan = plan_box(seed) if what == "box" else make_plan(seed, kinds)
    print(plan.words(), flush=True)
    with caught(), contextlib.ExitStack() as stack:
        scenario = build(plan, base, stack)
        try:
            (play_box if plan.box else play)(scenario)
        finally:
            with contextlib.suppress(OSError, ValueError, AssertionError):
                scenario.world.undo()
    print(f"placed: {' '.join(plan.acts[number][0] for number in sorted(scenario.done))}")
    print("\n".join(scenario.log))
    print("\n".join(f"WRONG: {problem}" for problem in scenario.problems), flush=True)
    return int(bool(scenario.problems))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What `make studies` does: run every shipped study from beginning to end, once each, at small sizes.

Each must end with exit code 0 and an answer with at least one sound result, and leave nothing behind. Beside it stands
how long the plan said it would take, and how long it took; a study that takes longer than the plan's range fails.
`--only WORD` runs the studies whose name has WORD. Ends with a count; exit code 1 if a study failed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASSAY = Path(sys.executable).parent / "assay"
RUNS = ROOT / "target" / "studies"
KEYS = {"AWS_ACCESS_KEY_ID": "assay", "AWS_SECRET_ACCESS_KEY": "assay-in-a-box"}
"""Those of the services that boxes start, as the heads of the studies say."""
SMALL = {
    "array-smb-nfs": ("--repeats", "3"),
    "backing-file-systems": ("--repeats", "2"),
    "dasd-nfs-aoe": ("--repeats", "2"),
    "gluster-scaling": ("--repeats", "2", "--set", "runtime=1s"),
    "io500": (
        "--set",
        "mdtest-easy.files=2000",
        "--set",
        "mdtest-hard.files=2000",
        "--set",
        "ior-easy.block_size=256MiB",
        "--set",
        "ior-hard.segments=1000",
        "--set",
        "lanes=1",
    ),
    "metadata": ("--repeats", "3"),
    "mpi-scaling": ("--repeats", "1", "--set", "hosts=1,4"),
    "mpiio-gluster": ("--repeats", "2"),
    "quickstart": ("--repeats", "3"),
    "s3-classes": ("--repeats", "3", "--only", "small", "--only", "medium"),
    "s3-sizes-threads": ("--repeats", "1", "--set", "lanes=1,4"),
}
"""Study -> what makes it small; the others are as short as they are, with three repeats."""
USUAL = ("--repeats", "3")
MAX_SECONDS = 900.0
"""Seconds after which a study is given up: far more than any takes."""
SOUND = frozenset({"ok", "unstable", "network-bound"})
"""Verdicts that a result may be used with; with the last it says how much the storage does at least."""


@dataclass
class Outcome:
    """How a study went.

    Attributes:
        planned: Seconds that its plan said: (at least, most likely, at most).
        seconds: What it took, all of the command.
        results: How many results it has; sound: of these, with a verdict that lets them be used.
        problems: What must not be, a line each.
    """

    name: str
    planned: tuple[float, float, float] = (0.0, 0.0, 0.0)
    seconds: float = 0.0
    results: int = 0
    sound: int = 0
    problems: list[str] = field(default_factory=list)


MARK = f"ASSAY_STUDIES={os.getpid()}"
"""In the environment of all that a study starts: what it leaves behind is known from the processes of others."""


def assay(*words: str) -> subprocess.CompletedProcess[str]:
    """The command, with the keys and programs that studies in boxes need."""
    path = f"{os.environ['PATH']}:{ROOT / 'target' / 'servers'}"
    name, _, value = MARK.partition("=")
    environment = {**os.environ, **KEYS, "PATH": path, name: value}
    return subprocess.run(
        [str(ASSAY), *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=MAX_SECONDS,
        check=False,
    )


def traces() -> set[str]:
    """What a run could leave on this machine: mounts, loop devices, network links, folders, processes."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    loops = [str(path) for path in Path("/sys/block").glob("loop*/loop/backing_file")]
    links = [f"link {path.name}" for path in Path("/sys/class/net").iterdir()]
    places = ("/tmp", "/var/tmp", "/dev/shm", "/run")
    folders = [str(path) for place in places for path in Path(place).glob("assay*")]
    return {*mounts, *loops, *links, *folders, *programs()}


def programs() -> set[str]:
    """Processes that a study has started and that are still there."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            started = MARK.encode() in (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if started:
            found.add(f"process {folder.name} {words[:100]}")
    return found


def run_study(name: str) -> Outcome:
    """Plan and run a study, and look at what came of it."""
    outcome = Outcome(name)
    study = str(ROOT / "studies" / name / "study.yaml")
    words = SMALL.get(name, USUAL)
    before = traces()
    plan = assay("plan", study, "--json", *words)
    if plan.returncode:
        outcome.problems.append(f"plan: exit {plan.returncode}: {plan.stderr.strip()[:300]}")
        return outcome
    whole = json.loads(plan.stdout)["whole_run"]
    outcome.planned = (whole["low"], whole["expected"], whole["high"])
    start = time.monotonic()
    try:
        run = assay("run", study, "--out", str(RUNS), "--quiet", *words)
    except subprocess.TimeoutExpired:
        outcome.problems.append(f"run: not over after {MAX_SECONDS:.0f} s")
        return outcome
    outcome.seconds = time.monotonic() - start
    if run.returncode:
        outcome.problems.append(f"run: exit {run.returncode}: {run.stderr.strip()[-300:]}")
    look_at(outcome)
    outcome.problems += [f"left behind: {trace}" for trace in sorted(traces() - before)]
    return outcome


def look_at(outcome: Outcome) -> None:
    """Read the newest run of the study."""
    shown = assay("show", outcome.name, "--out", str(RUNS), "--json")
    if shown.returncode:
        outcome.problems.append(f"show: exit {shown.returncode}: {shown.stderr.strip()[:300]}")
        return
    run = json.loads(shown.stdout)
    outcome.results = len(run["results"])
    outcome.sound = sum(row["verdict"] in SOUND for row in run["results"])
    if run["status"] != "complete":
        outcome.problems.append(f"the run is {run['status']}")
    if not outcome.sound:
        outcome.problems.append(f"no sound result among {sorted({row['verdict'] for row in run['results']})}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="studies whose name has this word")
    only = parser.parse_args().only
    names = sorted(path.parent.name for path in (ROOT / "studies").glob("*/study.yaml") if only in path.parent.name)
    outcomes = []
    for name in names:
        outcome = run_study(name)
        outcomes.append(outcome)
        low, about, high = outcome.planned
        if outcome.seconds > high:
            outcome.problems.append(f"took {outcome.seconds:.0f} s; its plan says at most {high:.0f} s")
        word = "failed" if outcome.problems else "ok"
        print(
            f"{name:22} {word:7} planned {about:4.0f} s ({low:.0f} to {high:.0f}), took {outcome.seconds:4.0f} s;"
            f" {outcome.sound} of {outcome.results} results sound",
            flush=True,
        )
        for problem in outcome.problems:
            print(f"    {problem}", flush=True)
    failed = sum(bool(outcome.problems) for outcome in outcomes)
    ratios = sorted(item.seconds / item.planned[1] for item in outcomes if item.seconds)
    middle = ratios[len(ratios) // 2] if ratios else 0.0
    print(f"{len(outcomes) - failed} of {len(outcomes)} studies ran; median of time taken to planned: {middle:.2f}")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())

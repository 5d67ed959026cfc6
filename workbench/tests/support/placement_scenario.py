"""One run of Assay around which others place mounts, links, files and swaps; nothing of theirs may change.

Outside, and therefore never to change, is everything but: the target's directory and `.NAME.assay-new` beside it while
they are what Assay has made, and the folders of runs. Inside the target two things may go: what a scenario puts into
the directory of a job under a name that jobs use and with the job's mark in it (here: names of links and hard links,
never what they lead to), and an empty directory under the name of a job.
"""

import contextlib
import ctypes
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import placement_acts as acts
from placement_acts import Act, World
from placement_world import MARKER, Manifest, differences, foreign_tree, manifest, marker_text
from run_tools import ASSAY

from assay.launch.places import Owner
from assay.store import RunStore, list_runs

STUDY = """study: tiny
question: Is anything lost?
{hosts}targets:
  place: {{kind: file, path: {target}}}
workloads:
  grid: {{operations: [write, read], file_size: 256KiB, record_size: 16KiB, cache: keep, runtime: 80ms{many}}}
  tree: {{operations: [create, stat, unlink], file_size: 1KiB, files: 150, depth: 2, width: 3, cache: keep{many}}}
repeats: 2
ceilings: none
"""
ANYWHERE: tuple[Act, ...] = (
    acts.bind, acts.bind_all, acts.bind_file, acts.memory, acts.disk,
    acts.link, acts.swap, acts.trade, acts.flicker, acts.stranger,
)  # fmt: skip
"""At the target, the directory of a job, the unfinished name and, unless they are swaps, in the directory of a job."""
ELSEWHERE: tuple[Act, ...] = (
    acts.hard_link, acts.other_mark, acts.gone, acts.runs_moved, acts.runs_linked, acts.run_linked, acts.journal,
)  # fmt: skip
KINDS = {act.__name__: act for act in (*ANYWHERE, *ELSEWHERE)}
SWAPS = {"swap", "trade", "flicker"}
MOMENTS = ("before", "claimed", "repeat", "killed", "resumed", "last")
POINTS = ("target", "job", "unfinished", "inside")
LEFT = ("could not be removed", "may still be there", "data in the earlier one is not removed")
"""How Assay says that something is left."""
SECONDS = 150.0
"""A command that takes longer hangs."""
WAIT = 30.0


USED = re.compile(r"changed: '\w+/\.': mtime")


@dataclass
class Plan:
    """What happens in a scenario."""

    seed: int
    acts: list[tuple[str, str, str]]
    """Kind, moment, point."""
    old: bool
    """An earlier run that died has left its data in the target."""
    kill: str
    """What is killed during the run: the workbench, its engines, both, or nothing."""
    rival: bool
    """Another run wants the same place meanwhile."""
    remote: bool
    """The run works on two other hosts that share the directory."""
    box: bool = False
    """It is no run, but a box that comes up and is taken down."""

    def words(self) -> str:
        """All of it on one line."""
        placed = "; ".join(f"{kind} at {point} {moment}" for kind, moment, point in self.acts)
        rest = [
            "a box" if self.box else "over ssh" if self.remote else "local",
            "remains of a dead run" * self.old,
            f"kill -9 of {self.kill}" if self.kill else "",
            "a rival" * self.rival,
        ]
        return f"seed {self.seed}: {placed} ({', '.join(part for part in rest if part)})"


def make_plan(seed: int, kinds: list[str]) -> Plan:
    """A scenario by its seed; with these kinds of placements if there are any."""
    chance = random.Random(seed)
    names = kinds or [sorted(KINDS)[seed % len(KINDS)], *chance.sample(sorted(KINDS), chance.choice((0, 0, 1, 2)))]
    planned = [(name, *_where(name, chance)) for name in dict.fromkeys(names)]
    dead = any(moment in ("killed", "resumed") for _, moment, _ in planned)
    kill = chance.choice(("workbench", "both")) if dead else chance.choice(("", "", "workbench", "engine", "both"))
    early = any(moment == "before" and point in ("job", "inside") for _, moment, point in planned)
    remote = chance.random() < 0.2
    old = (early or chance.random() < 0.2) and not remote
    # A rival that begins while the folder of runs leads elsewhere rightly makes its own folder there.
    rival = chance.random() < 0.15 and "runs_linked" not in names
    return Plan(seed, planned, old, kill, rival, remote)


def _where(name: str, chance: random.Random) -> tuple[str, str]:
    if name == "journal":
        return "killed", "runs"
    if name in ("runs_moved", "runs_linked", "run_linked"):
        return chance.choice(("claimed", "repeat", "killed", "resumed", "last")), "runs"
    if name == "other_mark":
        return chance.choice(("claimed", "repeat", "killed", "resumed", "last")), "mark"
    if name == "gone":
        return chance.choice(("claimed", "repeat", "killed", "resumed", "last")), "above"
    if name == "hard_link":
        return chance.choice(MOMENTS), "inside"
    points = [point for point in POINTS if not (point == "inside" and name in SWAPS)]
    return chance.choice(MOMENTS), chance.choice(points)


@dataclass
class Scenario:
    """One that is played."""

    plan: Plan
    world: World
    environment: dict[str, str]
    study: Path
    problems: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    before: dict[str, Manifest] = field(default_factory=dict)
    neighbours: set[str] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    used: bool = False
    """Assay is told to make its own folders in somebody else's directory, whose time that changes."""

    def look(self) -> dict[str, Manifest]:
        """Everything of others."""
        world = self.world
        mounted = [path.name for path in world.shelf.glob("mounted*")]
        target = (world.target.name, f".{world.target.name}.assay-new")
        runs = (
            [path.name for path in world.runs.iterdir() if path.name not in self.neighbours] if self.neighbours else []
        )
        return {
            "shelf": manifest(world.shelf, mounted, moments=False),
            "beside the target": manifest(world.target.parent, target, moments=False),
            "beside the runs": manifest(world.runs, runs, moments=False),
        }

    def compare(self, when: str) -> None:
        """Note what has changed."""
        for where, now in self.look().items():
            lines = [line for line in differences(self.before[where], now) if not self.used or not USED.fullmatch(line)]
            self.problems += [f"{when}: {where}: {line}" for line in lines[:10]]

    def place(self, moment: str) -> None:
        """Make the placements of a moment."""
        world = self.world
        for number, (kind, when, point) in enumerate(self.plan.acts):
            if when != moment or number in self.done:
                continue
            end = time.monotonic() + 1.0
            while True:
                try:
                    where = self.point(point)
                    acts.refuse_foreign(world, where)
                    KINDS[kind](world, where)
                    self.done.add(number)
                    self.log.append(f"* {kind} at {point} done")
                    break
                except OSError as error:
                    if time.monotonic() > end:
                        self.log.append(f"* {kind} at {point} cannot be done: {error}")
                        break
                    time.sleep(0.002)

    def point(self, name: str) -> Path:
        """The path of a point at this moment."""
        target = self.world.target
        if name == "job":
            return self.world.job()
        if name == "inside":
            return self.world.inside()
        special = {"unfinished": target.parent / f".{target.name}.assay-new", "mark": target / MARKER}
        return special.get(name, target)

    def start(self, *words: str) -> "Command":
        """Begin `assay run`."""
        return self.command("run", *words, "--out", str(self.world.runs))

    def command(self, *words: str) -> "Command":
        """Begin `assay`."""
        self.log.append(f"$ assay {' '.join(words)}")
        return Command([ASSAY, *words], self.world.base, self.environment)

    def end(self, command: "Command", killed: bool = False) -> int:
        """Wait for a command, and judge what it said."""
        code = command.wait()
        text = command.text()
        self.log += [text, f"-> {code}"]
        if code is None:
            self.problems.append("a command hangs")
        if "Traceback" in text or code == 70 or "has a bug" in text:
            self.problems.append("a traceback, or exit code 70")
        if not killed and code not in (0, 1, 2, 3, 130):
            self.problems.append(f"exit code {code}")
        if not self.plan.remote:
            self.check_said_left(text)
        return -1 if code is None else code

    def check_said_left(self, text: str) -> None:
        """What is said last to be left is there."""
        last = text[text.rfind("\n[") + 1 :]
        for found in re.finditer(r"^warning: could not be removed: (/.*?): ", last, re.MULTILINE):
            # Out of sight with its file system, or under a folder of runs that was moved.
            hidden = {"gone", "runs_moved"} & {self.plan.acts[number][0] for number in self.done}
            if "\\" not in found[1] and not os.path.lexists(found[1]) and not hidden:
                self.problems.append(f"is said to be left, and is not there: {found[1]}")


class Command:
    """A program whose lines are heard while it runs."""

    def __init__(self, words: list[str], folder: Path, environment: dict[str, str]) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)

    def text(self) -> str:
        """What it has said so far."""
        return "".join(self.lines)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    def wait(self) -> int | None:
        """Its exit code; None if it hangs, and then it is killed."""
        try:
            code: int | None = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = None
        # Connections of ssh that outlive it keep the pipe.
        self._reader.join(2)
        return code


def descendants() -> list[int]:
    """All processes below this one, those first that were started first."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = (path / "stat").read_text().rpartition(")")[2].split()
            if fields[0] not in "ZX":
                parents.setdefault(int(fields[1]), []).append(int(path.name))
    found, todo = [], [os.getpid()]
    while todo:
        below = sorted(parents.get(todo.pop(0), []))
        found += below
        todo += below
    return found


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _engines() -> list[int]:
    found = []
    for pid in descendants():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().strip() == "assay-engine":
                found.append(pid)
    return found


def kill_some(victim: str, command: Command) -> None:
    """Kill -9 of the workbench, its engines, or both."""
    if victim in ("workbench", "both"):
        command.process.kill()
    for pid in _engines() if victim in ("engine", "both") else []:
        kill(pid)


def _until(true: "Moment", command: Command) -> None:
    end = time.monotonic() + WAIT
    while not true() and not command.over and time.monotonic() < end:
        time.sleep(0.001)


class Moment:
    """When something is to be seen."""

    def __init__(self, scenario: Scenario, name: str, command: Command) -> None:
        """One of MOMENTS that lie within a command."""
        self.scenario, self.name, self.command = scenario, name, command

    def __call__(self) -> bool:
        """Whether it has come."""
        target = self.scenario.world.target
        if self.name == "claimed":
            return (target / MARKER).exists()
        if self.name == "last":
            return any(re.match(r"\[(\d+)/\1\]", line) for line in self.command.lines)
        with contextlib.suppress(OSError):
            # An earlier run's remains do not count.
            return any(acts.JOB.fullmatch(path.name) and path.name != "c0001-r9" for path in target.iterdir())
        return False


def play(scenario: Scenario) -> None:
    """The whole of it; what is wrong is noted."""
    plan, world = scenario.plan, scenario.world
    chance = world.chance
    scenario.before = scenario.look()
    scenario.place("before")
    command = scenario.start(str(scenario.study))
    rival: Command | None = None
    for moment in ("claimed", "repeat"):
        _until(Moment(scenario, moment, command), command)
        if moment == "repeat":
            time.sleep(chance.random() * 0.4)
        scenario.place(moment)
        if plan.rival and rival is None and chance.random() < 0.5:
            rival = scenario.start(str(scenario.study))
    if plan.kill:
        time.sleep(chance.random() * 0.5)
        scenario.log.append(f"* kill -9 of {plan.kill}")
        kill_some(plan.kill, command)
    else:
        _until(Moment(scenario, "last", command), command)
        scenario.place("last")
    scenario.end(command, killed=plan.kill in ("workbench", "both"))
    if rival is not None:
        scenario.end(rival)
    scenario.place("killed")
    if plan.kill or chance.random() < 0.3:
        _resume(scenario)
    _undo_and_compare(scenario)
    _finish(scenario)


def _resume(scenario: Scenario) -> None:
    chance = scenario.world.chance
    command = scenario.start("--resume")
    time.sleep(chance.random() * 2.5 if chance.random() < 0.7 else 0)
    scenario.place("resumed")
    _until(Moment(scenario, "last", command), command)
    scenario.place("last")
    scenario.end(command)


def _undo_and_compare(scenario: Scenario) -> None:
    # An engine whose workbench was killed may go on for a moment.
    end = time.monotonic() + WAIT
    while _engines() and time.monotonic() < end:
        time.sleep(0.02)
    try:
        scenario.world.undo()
    except (OSError, ValueError, AssertionError) as error:
        scenario.problems.append(f"a placement cannot be undone: {error!r}")
        return
    scenario.compare("after the placements")


def _finish(scenario: Scenario) -> None:
    """With all placements gone the run can be finished, and leaves nothing but what it says."""
    if scenario.problems:
        return
    world = scenario.world
    unfinished = [run for run in list_runs(world.runs) if run.status not in ("complete", "complete with errors")]
    if not unfinished and list_runs(world.runs):
        last = ""
    else:
        command = scenario.start(*([unfinished[-1].id, "--resume"] if unfinished else [str(scenario.study)]))
        code, last = scenario.end(command), command.text()
        if code not in (0, 1):
            scenario.problems.append(f"without placements the run cannot be finished: exit code {code}")
    scenario.compare("in the end")
    said = last + "".join(scenario.log)
    left = own_names(scenario)
    if left and not any(words in said for words in LEFT):
        scenario.problems.append(f"left without a word: {', '.join(left)}")


def own_names(scenario: Scenario) -> list[str]:
    """Marks of this scenario's runs that are still anywhere."""
    world = scenario.world
    found = []
    for run in list_runs(world.runs):
        owner = Owner(Path(run.folder).name, Path(run.folder))
        with RunStore.open(Path(run.folder)) as store:
            if store.entries():
                continue
        for above, _, files in os.walk(world.target):
            found += [f"{above}/{name}" for name in files if name == f".assay-job-{owner.identity}"]
        marker = world.target / MARKER
        if marker.is_file() and owner.identity in marker.read_text():
            found.append(str(marker))
    return found


def build(plan: Plan, base: Path, stack: contextlib.ExitStack) -> Scenario:
    """The world of a scenario, in an empty directory."""
    chance = random.Random(plan.seed + 1)
    world = World(base, base / "place" / "target", base / "runs", chance)
    for name in ("shelf", "place", "runs", "hold", "store"):
        (base / name).mkdir()
    if any(kind == "gone" for kind, _, _ in plan.acts):
        # Nothing can be moved into another mount, so that all else goes without.
        subprocess.run(["mount", "--bind", str(base / "store"), str(base / "place")], check=True)
    for name in ("a", "b", "c"):
        foreign_tree(chance, world.shelf / name, marked=name == "b")
    (world.shelf / "c" / "below").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(world.shelf / "c" / "below")], check=True)
    foreign_tree(chance, world.shelf / "c" / "below" / "t0")
    (world.shelf / "file").write_bytes(chance.randbytes(300_000))
    (world.shelf / "file").chmod(0o4711)
    for name in ("neighbour", "target2", ".other.assay-new"):
        foreign_tree(chance, world.target.parent / name, marked=chance.random() < 0.5)
    foreign_tree(chance, world.runs / "others")
    (world.runs / "notes.txt").write_text("mine")
    if plan.old:
        _old_run(world)
    elif chance.random() < 0.3:
        world.target.mkdir()
    environment = {**os.environ, "ASSAY_BOXES": str(base / "boxes")}
    hosts = many = ""
    if plan.remote:
        from placement_hosts import two_hosts

        # Other tests make and remove /run/sshd, without which an sshd accepts nobody.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        Path("/run/sshd").mkdir(mode=0o755)
        hosts, many = two_hosts(base, environment, stack), ", hosts: 2"
    study = base / "study.yaml"
    study.write_text(STUDY.format(target=world.target, hosts=hosts, many=many))
    return Scenario(plan, world, environment, study, neighbours={"others", "notes.txt"})


def _old_run(world: World) -> None:
    """What a run that is over has left: a marked directory with that of a job."""
    folder = world.runs / "20200101-000000-dead"
    folder.mkdir(parents=True)
    for lock in ("run.lock", "engine.lock"):
        (folder / lock).touch()
    identity = Owner(folder.name, folder).identity
    for name in ("c0001-r1", "c0001-r9", "c0002-r1"):
        job = world.target / name
        (job / "t0").mkdir(parents=True)
        (job / f".assay-job-{identity}").touch()
        (job / "f0").write_bytes(b"old")
        (job / "t0" / "f0.1").write_bytes(b"old")
    (world.target / MARKER).write_text(marker_text(folder.name, identity, str(folder)))


@contextlib.contextmanager
def caught() -> Iterator[None]:
    """Become the parent of all that is left of others' children, and end it at the end."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    seen: set[int] = set()
    try:
        yield
    finally:
        for _ in range(50):
            alive = descendants()
            seen.update(alive)
            for pid in alive:
                kill(pid)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not alive:
                break
            time.sleep(0.02)

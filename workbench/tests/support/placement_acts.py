"""What others may do to places at any moment: mounts, links, swaps, files; each is undone exactly."""

import contextlib
import ctypes
import errno
import os
import random
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from placement_world import MARKER, foreign_tree, marker_text

JOB = re.compile(r"(.+-)?c\d+-r\d+")
_C = ctypes.CDLL(None, use_errno=True)
_EXCHANGE, _AT_FDCWD = 2, -100
"""renameat2(2)."""


def exchange(first: Path, second: Path) -> None:
    """Swap two names in one step."""
    if _C.renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(first))


def command(*words: object) -> None:
    """A program that must succeed; OSError if it does not."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(errno.EINVAL, done.stderr.strip()[:200])


@dataclass
class World:
    """Where everything of a scenario is.

    Attributes:
        base: Holds all the rest.
        target: The directory of the study.
        runs: The folder of runs.
        chance: Decides.
        undos: What makes the placements undone, in the order in which they were made.
    """

    base: Path
    target: Path
    runs: Path
    chance: random.Random
    undos: list[Callable[[], None]] = field(default_factory=list)
    spares: int = 0

    @property
    def shelf(self) -> Path:
        """Directories and files of somebody else's, under their own paths."""
        return self.base / "shelf"

    @property
    def hold(self) -> Path:
        """A free name for what is moved out of the way."""
        self.spares += 1
        return self.base / "hold" / str(self.spares)

    def foreign(self) -> Path:
        """A directory of somebody else's."""
        return self.shelf / self.chance.choice(("a", "b"))

    def job(self) -> Path:
        """The directory of a job; one that is there if there is any."""
        names = []
        with contextlib.suppress(OSError):
            names = sorted(path.name for path in self.target.iterdir() if JOB.fullmatch(path.name))
        return self.target / (self.chance.choice(names) if names else "c0001-r1")

    def inside(self) -> Path:
        """Something in a job's directory, or a name that could be there."""
        job = self.job()
        names = []
        with contextlib.suppress(OSError):
            names = sorted(path.name for path in job.iterdir() if not path.name.startswith("."))
        return job / self.chance.choice([*names[:20], "d9.9", "precious"])

    def run(self) -> Path:
        """The folder of the newest run."""
        found = sorted(path.parent for path in self.runs.glob("*/run.sqlite") if not path.parent.is_symlink())
        if not found:
            raise FileNotFoundError(errno.ENOENT, "there is no run", str(self.runs))
        return found[-1]

    def undo(self) -> None:
        """Take all placements back, the last first."""
        while self.undos:
            self.undos.pop()()


Act = Callable[[World, Path], None]
"""Puts something at a path."""


def refuse_foreign(world: World, point: Path) -> None:
    """A scenario puts nothing into a directory of somebody else's itself, where that has taken the place of Assay's.

    Raises:
        OSError: The point lies in one.
    """
    for above in point.parents:
        if above == world.base or above == world.target.parent:
            return
        if above.is_symlink() or (above / "data.txt").exists() or above.is_mount():
            raise OSError(errno.EXDEV, "is in a directory of somebody else's", str(point))


def _aside(world: World, point: Path, folder: bool | None) -> None:
    """Make way at a point: a directory or file to mount on, or nothing at all if `folder` is None."""
    there = os.path.lexists(point)
    if there and folder is not None and point.is_dir() == folder and not point.is_symlink():
        return
    hold = world.hold
    if there:
        point.rename(hold)
        world.undos.append(lambda: _back(hold, point))
    if folder is None:
        return
    if folder:
        point.mkdir()
    else:
        point.touch(exist_ok=False)
    world.undos.append(lambda: _drop(point))


def _back(hold: Path, point: Path) -> None:
    """Give a thing its name back; whoever has the name now keeps it."""
    if os.path.lexists(point) or not point.parent.is_dir():
        return
    hold.rename(point)


def _drop(point: Path) -> None:
    """Remove a mount point that a scenario has made."""
    with contextlib.suppress(OSError):
        point.rmdir() if point.is_dir() and not point.is_symlink() else point.unlink()


def _unmount(point: Path) -> None:
    subprocess.run(["umount", "-l", str(point)], capture_output=True, check=False)


def _mounted(world: World, point: Path, *words: object, folder: bool = True) -> None:
    _aside(world, point, folder)
    command("mount", *words, point)
    world.undos.append(lambda: _unmount(point))


def bind(world: World, point: Path) -> None:
    """Somebody else's directory is bound here."""
    _mounted(world, point, "--bind", world.foreign())


def bind_all(world: World, point: Path) -> None:
    """The same with a file system that is mounted in it."""
    _mounted(world, point, "--rbind", world.shelf / "c")


def bind_file(world: World, point: Path) -> None:
    """Somebody else's file is bound here."""
    _mounted(world, point, "--bind", world.shelf / "file", folder=False)


def memory(world: World, point: Path) -> None:
    """A file system in memory with somebody else's files is mounted here."""
    _filled(world, point, "-t", "tmpfs", "-o", "size=4m", "tmpfs")


def disk(world: World, point: Path) -> None:
    """A small ext4 with somebody else's files is mounted here."""
    image = world.hold
    with image.open("wb") as file:
        file.truncate(4 << 20)
    command("mkfs.ext4", "-q", "-F", image)
    _filled(world, point, "-o", "loop", image)


def _filled(world: World, point: Path, *words: object) -> None:
    """Mount a file system of others, which is filled beforehand and shown at another place as well."""
    own = world.shelf / f"mounted{world.spares}"
    own.mkdir()
    command("mount", *words, own)
    foreign_tree(world.chance, own / "there", marked=world.chance.random() < 0.5)
    _mounted(world, point, "--bind", world.chance.choice((own, own / "there")))


def link(world: World, point: Path) -> None:
    """A symbolic link to somebody else's directory has the name."""
    goal = world.foreign()
    _aside(world, point, None)
    point.symlink_to(goal)
    world.undos.append(lambda: point.unlink() if point.is_symlink() else None)


def hard_link(world: World, point: Path) -> None:
    """Somebody else's file has this name as well."""
    _aside(world, point, None)
    file = world.shelf / "file"
    os.link(file, point)

    def undo() -> None:
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(point), os.lstat(file)):
                point.unlink()

    world.undos.append(undo)


def swap(world: World, point: Path) -> None:
    """Somebody else's directory is moved here."""
    goal = world.foreign()
    seen = goal.stat()
    _aside(world, point, None)
    goal.rename(point)
    world.undos.append(lambda: _found(point, goal, seen))


def trade(world: World, point: Path) -> None:
    """Somebody else's directory and what is here change names in one step."""
    goal = world.foreign()
    seen = goal.stat()
    made = not os.path.lexists(point)
    if made:
        point.mkdir()
    exchange(goal, point)

    def undo() -> None:
        ours = world.hold
        goal.rename(ours)
        _found(point, goal, seen)
        if made:
            _drop(ours)
        else:
            _back(ours, point)

    world.undos.append(undo)


def flicker(world: World, point: Path) -> None:
    """Somebody else's directory is here for many short moments."""
    goal = world.foreign()
    if not os.path.lexists(point):
        point.mkdir()
    for _ in range(world.chance.randrange(1, 200)):
        exchange(goal, point)
        exchange(goal, point)


def _found(point: Path, goal: Path, seen: os.stat_result) -> None:
    """Move the directory of somebody else's that was seen back from where it is now."""
    places = [path for path in (point, point.parent / f".{point.name}.assay-new") if os.path.lexists(path)]
    (goal_now,) = [path for path in places if os.path.samestat(path.lstat(), seen)]
    goal_now.rename(goal)


def stranger(world: World, point: Path) -> None:
    """A file and a directory of somebody else's are put beside what a job has made."""
    made = []
    for name in world.chance.sample(("precious", ".assay-job", "f0.bak", "c0077-r1.old", ".assay-jobs", "lost"), 2):
        path = point.parent / name
        path.write_bytes(b"precious")
        made.append(path)
    folder = point.parent / "data"
    foreign_tree(world.chance, folder)
    world.undos.append(lambda: [_kept(path) for path in made] and None)
    world.undos.append(lambda: _kept(folder / "data.txt") or shutil.rmtree(folder))


def _kept(path: Path) -> None:
    if not path.exists():
        raise AssertionError(f"{path}: a file of somebody else's is gone")
    path.unlink()


def other_mark(world: World, _point: Path) -> None:
    """The marker is another run's."""
    marker, before = world.target / MARKER, world.hold
    marker.rename(before)
    text = marker_text()
    marker.write_text(text)

    def undo() -> None:
        if marker.is_file() and marker.read_text() != text:
            raise AssertionError(f"{marker}: the marker of another run was written over")
        if world.target.is_dir():
            before.replace(marker)

    world.undos.append(undo)


def gone(world: World, _point: Path) -> None:
    """The file system of the target is taken away."""
    above = world.target.parent
    command("umount", "-l", above)
    world.undos.append(lambda: command("mount", "--bind", world.base / "store", above))


def runs_moved(world: World, _point: Path) -> None:
    """The folder of the runs is moved."""
    hold = world.hold
    world.runs.rename(hold)

    def undo() -> None:
        if world.runs.exists():
            shutil.rmtree(world.runs)
        hold.rename(world.runs)

    world.undos.append(undo)


def runs_linked(world: World, _point: Path) -> None:
    """The folder of the runs is a link to somebody else's directory."""
    # Who has a folder of runs that is a link from the beginning has wished for it.
    world.run()
    link(world, world.runs)


def run_linked(world: World, _point: Path) -> None:
    """The folder of the run is a link to somebody else's directory."""
    link(world, world.run())


def journal(world: World, _point: Path) -> None:
    """The journal of the run names directories of somebody else's."""
    run = world.run()
    copies = {path: path.read_bytes() for path in run.glob("run.sqlite*")}
    database = sqlite3.connect(run / "run.sqlite", timeout=10)
    with contextlib.closing(database), database:
        for kind in ("directory", "cgroup", "directory of hosts"):
            for name in ("a", "b/empty", "a/empty", "a/c0001-r1"):
                row = (kind, str(world.shelf / name), '{"made": true}')
                database.execute("INSERT INTO journal (kind, name, details, recorded_at) VALUES (?, ?, ?, 0)", row)

    def undo() -> None:
        for path in run.glob("run.sqlite*"):
            path.unlink()
        for path, content in copies.items():
            path.write_bytes(content)

    world.undos.append(undo)

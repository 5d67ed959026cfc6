"""elbencho: fixed work, sized by what the bare loop did, since its time limit counts whole seconds."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from model import Contender, Done, Sample, Setting, Step, Steps

QUIET = ["--nolive", "--csvfile", "/dev/null", "--jsonfile", "/dev/null", "--resfile", "/dev/null"]


def _seconds(text: str) -> float:
    """`941ms`, `2.000s` or `1m2.000s` in seconds."""
    minutes, seconds, millis = re.fullmatch(r"(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:(\d+)ms)?", text).groups()
    return int(minutes or 0) * 60 + float(seconds or 0) + int(millis or 0) / 1e3


def phases(output: str) -> list[tuple[str, dict[str, str]]]:
    """Each phase's name, and its lines; the figure wanted is the last of a line."""
    found: list[tuple[str, dict[str, str]]] = []
    for line in output.splitlines():
        head, colon, tail = line.partition(":")
        if not colon or line.startswith("---"):
            continue
        if not line.startswith(" "):
            phase, head = head.split(maxsplit=1)
            found.append((phase, {}))
        found[-1][1][head.strip()] = tail.strip()
    return found


def _last(part: dict[str, str], name: str) -> str:
    return part[name].split()[-1]


def figures(done: Done, ops: int) -> Sample:
    """Rates, latency and the CPU time of the whole process."""
    part = dict(phases(done.output))["READ"]
    sample = {
        "cpu_us": done.cpu_s * 1e6 / ops,
        "ops_per_s": float(_last(part, "IOPS")),
    }
    return sample | _latency(part)


def _latency(part: dict[str, str]) -> Sample:
    scale = {"us": 1.0, "ms": 1e3, "s": 1e6}
    sample: Sample = {}
    mean = re.search(r"avg=([\d.]+)(us|ms|s)", part.get("IO latency", ""))
    if mean and float(mean[1]) > 0:
        sample["mean_us"] = float(mean[1]) * scale[mean[2]]
    top = re.search(r"99%<=([\d.]+)", part.get("IO lat % us", ""))
    if top:
        sample["p99_us"] = float(top[1])
    return sample


def reads(
    *extra: str, threads: int = 1, key: str = "elbencho", label: str = "elbencho", against: str | None = None
) -> Contender:
    """Random 4 KiB reads of the common file."""

    def steps(setting: Setting) -> Steps:
        ops = setting.ops(threads)
        amount = ["--size", "1g", "--block", "4k", "--rand", "--randamount", str(ops // threads * threads * 4096)]
        words = ["--read", "--threads", str(threads), *amount, *extra, *QUIET, str(setting.file)]
        yield Step([setting.tool("elbencho"), *words], lambda done: figures(done, ops))

    return Contender(key, label, steps, against=against)


def sequential(
    action: str,
    path: Callable[[Setting], Path],
    records: int,
    *extra: str,
    passes: int = 0,
    skip: int = 0,
) -> Contender:
    """Records of 1 MiB in sequence, over the file `passes` times (0: as often as fit into a timed run).

    The first `skip` passes are not counted. What --sync takes after each pass is.
    """

    def parse(done: Done) -> Sample:
        # With --sync each pass is three phases, of which the first flushes what was there before.
        size = 3 if "--sync" in extra else 1
        found = phases(done.output)
        found = [found[at : at + size] for at in range(0, len(found), size)]
        counted = [part for group in found[skip:] for part in (group[1:] if size == 3 else group)]
        seconds = sum(_seconds(_last(part, "Elapsed time")) for _, part in counted)
        amount = sum(int(_last(part, "Total MiB")) for name, part in counted if name != "SYNC")
        cpu_us = done.cpu_s * 1e6 / (amount * len(found) / (len(found) - skip))
        return {"mb_per_s": amount * 2**20 / 1e6 / seconds, "cpu_us": cpu_us}

    def steps(setting: Setting) -> Steps:
        times = passes or max(1, round(setting.ops(1) / records))
        amount = ["--size", f"{records}m", "--block", "1m", "--iterations", str(times)]
        words = [action, "--threads", "1", *amount, *extra, *QUIET, str(path(setting))]
        yield Step([setting.tool("elbencho"), *words], parse)

    return Contender("elbencho", "elbencho", steps)


def names(root: Callable[[Setting], str], count: int) -> Contender:
    """Create, stat and delete empty files in one directory."""

    def parse(done: Done) -> Sample:
        found = dict(phases(done.output))
        pairs = (("create", "WRITE"), ("stat", "STAT"), ("unlink", "RMFILES"))
        return {f"{name}_per_s": float(_last(found[phase], "Files/s")) for name, phase in pairs}

    def steps(setting: Setting) -> Steps:
        files = ["--threads", "1", "--dirs", "0", "--files", str(count), "--size", "0"]
        words = ["--write", "--stat", "--delfiles", *files, *QUIET, root(setting)]
        yield Step([setting.tool("elbencho"), *words], parse)

    return Contender("elbencho", "elbencho", steps, seconds=1.0)

"""IOR and mdtest, without mpirun. Starting MPI takes CPU time: that of a run of two operations is taken off."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable

from model import Contender, Done, Sample, Setting, Step, Steps

START_UP = 0.9


def _rate(done: Done) -> float:
    """Operations per second of all repetitions."""
    results = done.output.partition("Results:")[2].partition("Summary")[0]
    rates = [float(rate) for rate in re.findall(r"^read +[\d.]+ +([\d.]+) ", results, re.MULTILINE)]
    return statistics.harmonic_mean(rates)


def _runs(words: Callable[[Setting], list[str]], gib: int, times: int) -> Contender:
    """Reads of each 4 KiB of `gib` GiB once, in random order; this `times` times."""

    def steps(setting: Setting) -> Steps:
        ops = gib * times << 18
        base = [setting.tool("ior"), *words(setting), "-r", "-E", "-k", "-z", "-t", "4k"]
        blank = yield Step([*base, "-b", "8k"], lambda done: {"blank_cpu_s": done.cpu_s})

        def parse(done: Done) -> Sample:
            cpu_us = max(0.0, done.cpu_s - blank["blank_cpu_s"]) * 1e6 / ops
            rate = _rate(done)
            return {"cpu_us": cpu_us, "cpu_ns": cpu_us * 1e3, "ops_per_s": rate, "mops_per_s": rate / 1e6}

        yield Step([*base, "-b", f"{gib}g", "-i", str(times)], parse)

    return Contender("ior", "IOR", steps, overhead=START_UP)


def reads() -> Contender:
    """Random reads of the common file."""
    return _runs(lambda setting: ["-a", "POSIX", "-o", str(setting.file)], 1, 2)


def dummy() -> Contender:
    """Random accesses that go nowhere."""
    return _runs(lambda _: ["-a", "DUMMY", "-o", "nothing"], 16, 1)


def names(root: Callable[[Setting], str], count: int) -> Contender:
    """mdtest: create, stat and remove `count` empty files in one directory."""

    def parse(done: Done) -> Sample:
        found = {}
        for name, word in (("create", "creation"), ("stat", "stat"), ("unlink", "removal")):
            line = re.search(rf"^ +File {word} +([\d.]+)", done.output, re.MULTILINE)
            found[f"{name}_per_s"] = float(line[1])
        return found

    def steps(setting: Setting) -> Steps:
        words = ["-F", "-C", "-T", "-r", "-n", str(count), "-d", root(setting)]
        yield Step([setting.tool("mdtest"), *words], parse)

    return Contender("mdtest", "mdtest", steps, seconds=1.2, overhead=0.5)

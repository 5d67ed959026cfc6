"""The bare loops, `bench/bare`: what the kernel allows."""

from __future__ import annotations

import json
from collections.abc import Callable

from model import Contender, Done, Sample, Setting, Step, Steps


def figures(done: Done) -> Sample:
    """What a bare loop says of itself."""
    line = json.loads(done.output)
    ops, seconds = line["ops"], line["seconds"]
    loop_us = (line["user_ns"] + line["system_ns"]) / 1e3 / ops
    return {
        "cpu_us": loop_us,
        "cpu_ns": loop_us * 1e3,
        "ops_per_s": ops / seconds,
        "mops_per_s": ops / seconds / 1e6,
        "mb_per_s": line["bytes"] / 1e6 / seconds,
        "gb_per_s": line["bytes"] / 1e9 / seconds,
    }


def loop(
    words: Callable[[Setting], list[str]],
    label: str = "bare loop",
    key: str = "bare",
    seconds: float | None = None,
    before: Callable[[Setting], None] | None = None,
) -> Contender:
    """A bare loop with these words."""

    def steps(setting: Setting) -> Steps:
        if before is not None:
            before(setting)
        yield Step([setting.tool("assay-bare"), *words(setting)], figures)

    return Contender(key, label, steps, seconds=seconds)


def names(root: Callable[[Setting], str], count: int) -> Contender:
    """Create, stat and unlink `count` names, each in a loop of its own."""

    def steps(setting: Setting) -> Steps:
        folder = root(setting)
        for action in ("create", "stat", "unlink"):
            words = [setting.tool("assay-bare"), action, folder, "--count", str(count)]
            yield Step(words, lambda done, action=action: {f"{action}_per_s": figures(done)["ops_per_s"]})

    return Contender("bare", "bare loop", steps, seconds=1.0)

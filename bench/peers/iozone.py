"""iozone: random reads of an existing file."""

from __future__ import annotations

import re

from model import Contender, Done, Sample, Setting, Step, Steps

OPS = 262_144


def reads() -> Contender:
    """Each 4 KiB of the common file once, in random order."""

    def parse(done: Done) -> Sample:
        line = re.search(r"^ +1048576 +4 +(\d+) ", done.output, re.MULTILINE)
        return {"cpu_us": done.cpu_s * 1e6 / OPS, "ops_per_s": float(line[1])}

    def steps(setting: Setting) -> Steps:
        words = ["-i", "2", "-s", "1g", "-r", "4k", "-w", "-O", "-+E", "-f", str(setting.file)]
        yield Step([setting.tool("iozone"), *words], parse)

    return Contender("iozone", "iozone", steps, seconds=0.5)

"""boto3 in a loop: what one would write who needs a number from a table service today."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from model import Contender, Done, Sample, Setting, Step, Steps

from peers import objects
from peers.objects import Work

PROGRAM = Path(__file__).parents[1] / "loops" / "items.py"


def figures(done: Done) -> Sample:
    """What it says of the time between its first request and its last."""
    said = json.loads(done.output)
    return objects.figures(said["requests"], said["bytes"], said["seconds"], said["cpu_s"])


def runs(work: Work) -> Contender:
    """Puts of items, or gets of items that it puts before."""

    def steps(setting: Setting) -> Steps:
        service = setting.served()
        words = [f"http://{service.address}", work.operation, str(work.size), str(work.concurrent)]
        keys = {"AWS_ACCESS_KEY_ID": service.access_key, "AWS_SECRET_ACCESS_KEY": service.secret_key}
        yield Step([sys.executable, str(PROGRAM), *words, f"{setting.seconds:g}"], figures, environment=keys)

    return Contender("boto3", "boto3 loop", steps, overhead=2.0)

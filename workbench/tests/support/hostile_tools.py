"""What tests with hostile engines share: the engine, short limits, and a run in this process."""

import stat
import sys
from pathlib import Path

import pytest

from assay.cli import execute
from assay.contract import bounds
from assay.launch import conversation, group

QUICK = conversation.Grace(stop=0.2, terminate=0.2, kill=5.0, leave=0.5)
SILENCE = 1.0
LONGEST = 3.0
LONG = 100.0
"""For engines that come to an end by themselves, also on a machine that is busy."""
HUNG = ("silence", "closes-output", "never-reads", "deaf", "slow-logs", "pongs", "intervals")
"""Ways in which an engine is silent."""


def make_hostile(folder: Path, how: str, real: str) -> Path:
    """A hostile engine as an executable file; `how` is a way of `hostile_engine.py`."""
    text = Path(__file__).with_name("hostile_engine.py").read_text()
    text = text.replace("#!/usr/bin/env python3", f"#!{sys.executable}", 1)
    text = text.replace('HOW = "silence"', f"HOW = {how!r}", 1).replace('REAL = "assay-engine"', f"REAL = {real!r}", 1)
    (folder / "hostile").mkdir()
    return make_script(folder / "hostile" / "assay-engine", text)


def make_script(path: Path, text: str) -> Path:
    """An executable file."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def shorten(monkeypatch: pytest.MonkeyPatch, engine: Path, how: str) -> None:
    """Have this engine used, and the limits of time that it runs into so short that a test does not take long."""
    monkeypatch.setenv("ASSAY_ENGINE", str(engine))
    monkeypatch.setattr(conversation, "Grace", lambda: QUICK)
    monkeypatch.setattr(execute, "silence_limit", lambda *_: SILENCE if how in HUNG else LONG)
    monkeypatch.setattr(bounds, "LEAST_SECONDS", LONGEST if how == "busy-intervals" else LONG)
    monkeypatch.setattr(bounds, "ESTIMATES", 1.0)
    monkeypatch.setattr(group, "LOST_SECONDS", LONG)

"""Replication as commands: what a study's entry becomes, with the program that both hosts run."""

import base64
import functools
import io
import json
import zipfile
from pathlib import Path
from typing import Any

from assay.model.study.replication import ReplicationCase, StudyReplication
from assay.model.study.replication_figures import SYNCS, figure_pattern, scenario_figures
from assay.model.units import format_duration
from assay.rooms.replication import driver

PROGRAM = "REPLICATION_PROGRAM"
"""Variable with the zip file of the driver, in base64: it reaches hosts that see no file of this machine."""
JOB = "REPLICATION_JOB"
_START = (
    f'import base64, os, sys; open("driver.zip", "wb").write(base64.b64decode(os.environ.pop("{PROGRAM}"))); '
    'sys.path.insert(0, "driver.zip"); from driver.main import main; main()'
)
_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of the files in the zip file, so that it has the same bytes each time."""
SEED = 1
SYNC_SECONDS = 4.0
"""Assumed time of a sync without data and of what is looked at around it: measured over a line of 87 ms."""
USUAL_LINK = 100_000_000
"""Assumed speed of a line in bits per second, if the study does not state it."""


def replication_commands(name: str, entry: StudyReplication) -> dict[str, dict[str, Any]]:
    """Return the commands of an entry, as a study would write them: one for each case.

    Args:
        name: Name of the entry.
        entry: The entry.
    """
    return {case.name: _command(entry, case) for case in entry.cases(name)}


def _command(entry: StudyReplication, case: ReplicationCase) -> dict[str, Any]:
    figures = scenario_figures(case.scenario)
    written: dict[str, Any] = {
        "run": ["python3", "-I", "-c", _START],
        # One task, on the source. The engine of the replica's host has none: it makes and removes the directory there.
        "tasks": 1,
        "hosts": 2,
        "where": "tasks == 1",
        "environment": {PROGRAM: _program(), JOB: json.dumps(_job(entry, case))},
        "figures": {figure: {"pattern": figure_pattern(figure), "unit": unit} for figure, unit in figures.items()},
        "task_limit": format_duration(entry.task_limit),
        "task_seconds": _seconds(entry, case),
    }
    return written if entry.targets is None else {**written, "targets": list(entry.targets)}


def _seconds(entry: StudyReplication, case: ReplicationCase) -> float:
    """Return the seconds that a repeat is assumed to take: data over the line, time of writing, and steps."""
    data = (entry.files + 2 * (entry.new + entry.updated)) * entry.file_size
    writing = entry.runtime / 1e9 if case.scenario in ("steady", "failover") else 0.0
    waiting = {"failover": entry.detect / 1e9, "cut": 2 * entry.timeout / 1e9}.get(case.scenario, 0.0)
    steps = SYNC_SECONDS * (len(SYNCS[case.scenario]) + 1)
    return 8 * data / (entry.link or USUAL_LINK) + writing + waiting + steps


def _job(entry: StudyReplication, case: ReplicationCase) -> dict[str, Any]:
    """Return the fields of the driver's `ReplicationJob`: times in seconds, the link in Mbit/s."""
    return {
        "scenario": case.scenario,
        "replicator": case.replicator.word,
        "run": case.replicator.run,
        "back": case.replicator.back,
        "replica": entry.replica,
        "every": None if case.every is None else case.every / 1e9,
        "snapshots": entry.snapshots,
        "read_only": entry.read_only,
        "streams": case.streams,
        "options": entry.options,
        "files": entry.files,
        "file_size": entry.file_size,
        "new": entry.new,
        "updated": entry.updated,
        "deleted": entry.deleted,
        "seed": SEED,
        "write_every": entry.write_every / 1e9,
        "runtime": entry.runtime / 1e9,
        "detect": entry.detect / 1e9,
        "timeout": entry.timeout / 1e9,
        "link": None if entry.link is None else entry.link / 1e6,
    }


@functools.cache
def _program() -> str:
    packed, folder = io.BytesIO(), Path(driver.__file__).parent
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob("*.py")):
            archive.writestr(zipfile.ZipInfo(f"driver/{path.name}", _DATE), path.read_text(), zipfile.ZIP_DEFLATED)
    return base64.b64encode(packed.getvalue()).decode()

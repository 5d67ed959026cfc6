"""What a run of the bench has found, and its file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from figures import Rounds
from model import BenchError

VERSION = 1


@dataclass
class RowResult:
    """One row: by contender its figures of each round, its commands, or why there are none."""

    rounds: Rounds = field(default_factory=dict)
    commands: dict[str, list[list[str]]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


@dataclass
class Results:
    """All rows, and the machine and versions they are true of."""

    machine: dict[str, str]
    versions: dict[str, str]
    wanted_rounds: int
    seconds: float
    minutes: float = 0.0
    rows: dict[str, RowResult] = field(default_factory=dict)
    version: int = VERSION

    def save(self, file: Path) -> None:
        """Write everything as JSON."""
        file.write_text(json.dumps(asdict(self), indent=1) + "\n")


def load(file: Path) -> Results:
    """Read what `save` has written.

    Raises:
        BenchError: It is not such a file.
    """
    try:
        raw = json.loads(file.read_text())
        if raw["version"] != VERSION:
            raise BenchError(f"{file}: version {raw['version']}, this bench reads {VERSION}")
        rows = {key: RowResult(**row) for key, row in raw.pop("rows").items()}
        return Results(**raw, rows=rows)
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"{file} is not a file of this bench's results") from error

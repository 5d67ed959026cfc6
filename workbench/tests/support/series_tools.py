"""The time series of a run, read as anybody would."""

import csv
import gzip
from pathlib import Path
from typing import Any


def read_series(run: Path) -> list[dict[str, Any]]:
    """A mapping per interval; what is empty is None."""
    with gzip.open(run / "intervals.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: _value(name, text) for name, text in row.items()} for row in rows]


def _value(name: str, text: str) -> str | int | None:
    if name in ("case", "operation"):
        return text
    return int(text) if text else None

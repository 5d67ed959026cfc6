"""What a scenario prints: one line for each number, with a name of `assay.model.study.replication_figures`."""

from __future__ import annotations


def line(name: str, value: float) -> str:
    """Return the line of a number."""
    return f"replication {name} = {value:.9g}" if abs(value) < 1e9 else f"replication {name} = {value:.3f}"

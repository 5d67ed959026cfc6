"""What is compared, as data. The order is that of the page."""

from __future__ import annotations

from model import Row

from rows import harness, items, lanes, metadata, objects, reads, sequential

ROWS: list[Row] = [*reads.ROWS, *harness.ROWS, *sequential.ROWS, *metadata.ROWS, *lanes.ROWS]
OBJECTS: list[Row] = [*items.ROWS, *objects.ROWS]
"""Apart, since they take longer than all others together."""

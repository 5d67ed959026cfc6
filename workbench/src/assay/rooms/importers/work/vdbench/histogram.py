"""Histograms of response times: histogram.html and those of single SDs, WDs, FSDs and FWDs (Histogram.java).

Bounds are milliseconds, counts have commas. There is no rate in them.
"""

import re
from collections.abc import Iterable

from assay.model.escape import escape_line
from assay.rooms.importers.work.results import Figure, OutputError
from assay.rooms.importers.work.vdbench.runs import HINT, MAX_NAME, VdbenchRun
from assay.rooms.importers.work.vdbench.tables import START, options_of

HEADER = re.compile(r"\s+min\(ms\) <\s+max\(ms\)\s+count\s+%+\s+cum%+\s.*")
_BUCKET = re.compile(r"\s+([0-9.]{1,16}) <\s+([0-9.]{1,16}|max)\s+([0-9.,\u00a0]{1,26})\s+([0-9.,]{1,9})\s+[0-9.,]{1,9}"
                     r"(?:\s.*)?")  # fmt: skip
_MAX_BUCKETS = 64 * 3
"""vdbench has 64 buckets at most (BucketRanges.java), of all operations, of reads and of writes."""


def read_histograms(lines: Iterable[str]) -> list[VdbenchRun]:
    """Return the runs in a file of histograms, each with its counts as figures.

    Raises:
        OutputError: A bucket is none.
    """
    runs: list[VdbenchRun] = []
    before, is_table = "", False
    for number, line in enumerate(lines, start=1):
        if match := START.search(line):
            runs.append(
                VdbenchRun(number, escape_line(match[1], MAX_NAME), options=options_of(match[2]), is_histogram=True)
            )
            before, is_table = "", False
        elif HEADER.match(line):
            is_table = True
            if not runs:
                runs.append(VdbenchRun(number, "", is_histogram=True))
        elif is_table and " < " in line:
            runs[-1].buckets += (_bucket(line, number, before),)
            if len(runs[-1].buckets) > _MAX_BUCKETS:
                raise OutputError(number, f"more than {_MAX_BUCKETS} buckets, which vdbench never has", HINT)
        elif line.strip():
            before = "read." if line.startswith("Reads:") else "write." if line.startswith("Writes:") else ""
            is_table = False
    return runs


def _bucket(line: str, number: int, before: str) -> Figure:
    match = _BUCKET.fullmatch(line.rstrip())
    count = re.sub(r"[.,\u00a0]", "", match[3]) if match else ""
    if match is None or not count.isdecimal() or len(count) > 18:
        raise OutputError(number, f"no bucket of a histogram: {escape_line(line.strip(), 60)}", HINT)
    return Figure(f"{before}histogram.{match[1]}-{match[2]} ms", count)

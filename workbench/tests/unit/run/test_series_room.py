"""What a repeat's intervals take while they become rows."""

import json
from collections.abc import Sequence

import pytest
from builders import hdr

from assay.analyse import histograms
from assay.analyse.histograms import Histogram
from assay.run.series import interval_rows

PARTS = 50


def test_parts_of_an_interval_are_added_up_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """A histogram of a few hundred letters may take half a megabyte: never all of them at once."""
    together = []
    merge = histograms.merge

    def merging(parts: Sequence[Histogram]) -> Histogram:
        together.append(len(parts))
        return merge(parts)

    monkeypatch.setattr(histograms, "merge", merging)
    texts = [hdr([1000 * (number + 1)] * 3) for number in range(PARTS)]
    done = {"operation": "write", "ops": 3, "bytes": 12288, "errors": 1}
    events: list[dict[str, object]] = [
        {
            "event": "interval",
            "phase": 0,
            "index": 0,
            "start_ns": 5,
            "end_ns": 9,
            "operations": [{**done, "latency": text}],
        }
        for text in texts
    ]
    (row,) = interval_rows("c0001", 1, [json.dumps(event) for event in events])
    assert (row["write_ops"], row["write_bytes"], row["errors"], row["read_ops"]) == (
        3 * PARTS,
        12288 * PARTS,
        PARTS,
        0,
    )
    whole = histograms.summary(merge([histograms.decode(text) for text in texts]))
    assert row["p50_ns"] == int(whole["p50"])
    assert together == [2] * (PARTS - 1)

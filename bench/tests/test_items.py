"""What the loop around boto3 says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from model import Done, Service, Setting
from peers import assay, boto3_items
from peers.objects import Work

WORK = Work("get", 1024, 8)


def setting() -> Setting:
    """Nothing in it exists."""
    service = Service("127.0.0.1:7", "key", "secret", lambda: None)
    return Setting(Path("/d"), Path("/m"), None, "", 2.0, {"assay-engine": Path("/bin/assay-engine")}, service=service)


def test_the_loop_says_what_its_requests_took():
    """Rates and costs follow from that."""
    said = json.dumps({"requests": 500, "bytes": 512_000, "seconds": 2.0, "cpu_s": 0.5})
    sample = boto3_items.figures(Done(said, "", 3.0, 1.0, 1 << 20, 0))
    assert (sample["requests_per_s"], sample["requests_per_core"]) == (250, 1000)
    assert sample["cpu_us"] == pytest.approx(1000)


def test_both_do_the_same_work_at_the_same_service():
    """As large, as many at a time, with the same credentials."""
    (loop,), (engine,) = (
        list(one.steps(setting())) for one in (boto3_items.runs(WORK), assay.items(WORK, against="boto3"))
    )
    assert loop.argv == [sys.executable, str(boto3_items.PROGRAM), "http://127.0.0.1:7", "get", "1024", "8", "2"]
    assert engine.job["target"]["endpoints"] == ["http://127.0.0.1:7"]
    assert (engine.job["file_size_bytes"], engine.job["queue_depth"]) == (1024, 8)
    assert engine.environment == loop.environment == {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}

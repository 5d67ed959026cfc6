"""What holds of every job of which one request was harmed, whatever the service."""

from s3_harm import DELAY, Row, late, late_body
from s3_tools import SECOND, Ended


def check_failed_once(row: Row, ended: Ended, struck: int) -> None:
    """One harmed request is at most one failed operation, told in one line."""
    assert struck == 1, f"harm was done {struck} times"
    failures = ended.failures()
    if row.fails:
        assert list(failures.values()) == [1] and set(failures) <= set(row.fails), (failures, ended.reason)
        assert (ended.code, ended.status) == (1, "errors") and ended.reason
    else:
        assert (failures, ended.code, ended.status) == ({}, 0, "ok"), ended.reason
    assert [end["status"] for end in ended.ends()] == ["done"] * len(row.phases())
    assert ended.requests() == ended.operations(), "one request for each operation"
    words = f"note: {ended.reason}\n" if row.fails else ""
    assert ended.stderr == words, "people are told the first of them in one line"


def check_times(row: Row, ended: Ended) -> None:
    """Latencies are those of what went well, with all of its time."""
    for one in ended.end(row.phase)["operations"]:
        latency, first = one.get("latency"), one.get("first_byte")
        assert (latency or {"count": 0})["count"] == one["ops"], "failed operations have no latency"
        if row.harm in (late, late_body):
            assert latency["max_ns"] >= DELAY * SECOND, "a slow success counts with all its time"
            assert (first["max_ns"] >= DELAY * SECOND) == (row.harm is late), "and tells the first byte from the rest"

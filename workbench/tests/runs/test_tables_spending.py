"""Limits of requests and capacity units: never one request more, a reason that names the limit, and a tidy end."""

from typing import Any

import pytest
from run_tools import needs_engine
from s3_tools import MARK, SECOND, Engine, Json
from table_harm import ACTIONS, leaves_undone, says_no
from table_tools import SORTED, TableAt, Watch, held_against, run_watched, step_by_step, watched

pytestmark = needs_engine
MANY: dict[str, Any] = {"lanes": 3, "queue_depth": 8, "objects": {"count": 40, "batch": 5}}
LIMITED, UNITS = "fault RequestLimit", "fault CapacityLimit"


@pytest.mark.parametrize("limit", [1, 7, 50])
def test_not_one_request_more(table: TableAt, limit: int) -> None:
    """Three lanes with eight requests in flight each want 120."""
    watch = Watch()
    ended = run_watched(table, watch, "put", "get", target={"max_requests": limit}, **MANY)
    assert len(watch.operations()) == limit, "what may be spent is spent, and nothing more"
    assert (ended.code, ended.status) == (1, "errors")
    assert set(ended.failures()) == {LIMITED}
    assert "max_requests is reached" in ended.reason
    assert len(ended.stderr.splitlines()) == 1 and ended.reason in ended.stderr
    assert ended.of("put")["ops"] == limit, "what was done before counts"
    assert ended.requests() == limit
    put, get = ended.ends()
    assert (put["status"], get["status"]) == ("failed", "skipped")
    assert table.keys() == {MARK}, "and is removed, however much that takes"


@pytest.mark.parametrize("limit", [24, 25])
def test_just_enough_is_enough(table: TableAt, limit: int) -> None:
    watch = Watch()
    ended = run_watched(table, watch, "put", "get", target={"max_requests": limit})
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert len(watch.operations()) == 24


def test_all_phases_count_together(table: TableAt) -> None:
    watch = Watch()
    ended = run_watched(table, watch, "prepare", "get", "update", "get", target={"max_requests": 30})
    assert set(ended.failures()) == {LIMITED}, "as many times as were about to be sent"
    assert [len(watch.of(phase)) for phase in range(4)] == [12, 12, 6, 0]
    assert [end["status"] for end in ended.ends()] == ["done", "done", "failed", "skipped"]
    assert table.keys() == {MARK}


def test_what_fails_is_a_request_as_well(one_table: TableAt) -> None:
    watch = Watch(says_no("400 Bad Request", "ThrottlingException"), 0, "PutItem", None)
    ended = run_watched(one_table, watch, "put", target={"max_requests": 5})
    assert ended.failures().pop(LIMITED) >= 1 and ended.failures()["fault ThrottlingException"] == 5
    assert watch.struck == 5


@pytest.mark.parametrize("operation", ["batch_put", "batch_get", "query", "scan"])
def test_an_operation_on_several_is_one_request(one_table: TableAt, operation: str) -> None:
    more: Json = {"objects": {"count": 20, "batch": 5}, "keep_files": True}
    one_table.well("put", target=SORTED, **more)
    loop = {"operation": operation, "runtime_ns": 3600 * SECOND}
    watch = Watch()
    limits = {**SORTED, "max_requests": 3}
    ended = run_watched(one_table, watch, loop, target=limits, reuse_files=True, **more)
    assert set(ended.failures()) <= {LIMITED} and len(watch.operations()) <= 3, ended.reason
    assert {asked.action for asked in watch.operations()} == {ACTIONS[operation]}
    held = sum(one["ops"] for one in ended.end(operation)["operations"])
    assert held == len(watch.operations())


@pytest.mark.parametrize(("size", "limit"), [(1024, 20), (2048, 20), (3000, 50), (1024, 1)])
def test_units_are_limited_but_for_what_is_in_flight(table: TableAt, size: int, limit: int) -> None:
    depth, each = 4, -(-size // 1024)
    watch = Watch()
    more: Json = {"file_size_bytes": size, "objects": {"count": 200}, "queue_depth": depth}
    ended = run_watched(table, watch, "put", target={"max_capacity_units": limit}, **more)
    spent = sum(sum(asked.units()) for asked in watch.operations())
    each = each if table.exact else 1
    assert limit <= spent < limit + depth * each, "what was in flight may come on top"
    assert set(ended.failures()) == {UNITS} and (ended.code, ended.status) == (1, "errors")
    assert "max_capacity_units is reached" in ended.reason
    held = ended.end("put")["service"]
    assert abs(held["write_units"] - spent) < 1e-6 and held["read_units"] == 0
    assert table.keys() == {MARK}


def test_reads_and_writes_are_limited_together(one_table: TableAt) -> None:
    if not one_table.exact:
        pytest.skip("moto does not count as the service does")
    watch = Watch()
    target = {"max_capacity_units": 15}
    ended = run_watched(one_table, watch, "put", "get", "get", target=target, queue_depth=1)
    # Twelve written for one each, six read for a half each.
    assert [len(watch.of(phase)) for phase in range(3)] == [12, 6, 0]
    assert set(ended.failures()) == {UNITS}
    assert ended.end("put")["service"]["write_units"] == 12


def test_a_limit_that_is_not_reached_is_not_felt(table: TableAt) -> None:
    watch = Watch()
    target = {"max_capacity_units": 10**6, "max_requests": 10**6}
    ended = run_watched(table, watch, "put", "get", "delete", target=target, **MANY)
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    held_against(ended, watch)


def test_batches_that_are_done_in_part_are_not_repeated_to_the_limit(one_table: TableAt) -> None:
    watch = Watch(leaves_undone(1), 0, "BatchWriteItem", None)
    target = {"max_requests": 4}
    ended = run_watched(one_table, watch, "batch_put", target=target, queue_depth=1, objects={"count": 40, "batch": 4})
    assert watch.struck == 4 and ended.failures() == {"fault UnprocessedItems": 4, LIMITED: 1}, ended.reason


def test_each_engine_has_the_limits_of_its_job(one_table: TableAt) -> None:
    watches, engines, limit = [Watch(), Watch()], [], 9
    with watched(one_table, watches[0]) as first, watched(one_table, watches[1]) as second:
        for rank, proxy in enumerate((first, second)):
            target = {"endpoints": [proxy.endpoint], "max_requests": limit}
            job = one_table.job("put", "get", target=target, ranks=2, rank=rank, wait_for_go=True)
            engines.append(Engine(job, one_table.folder))
        for engine, watch in zip(engines, watches, strict=True):
            ended = step_by_step(engine, watch)
            assert set(ended.failures()) == {LIMITED} and len(watch.operations()) == limit
    assert one_table.keys() <= {MARK}


@pytest.mark.parametrize("limit", ["max_requests", "max_capacity_units"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "many"])
def test_limits_that_are_none_are_refused(one_table: TableAt, limit: str, value: Any) -> None:
    ended = one_table.run("put", target={limit: value})
    assert (ended.code, ended.status, len(ended.stderr.splitlines())) == (2, "refused", 1)
    assert not one_table.is_there()

"""What becomes of faults between the engine and a table: one harmed request is one failed operation.

Nothing is sent twice, all else goes well, the fault has its name, and nothing of the job is left behind. A service that
answers something else than what is there is found out.
"""

import math
from pathlib import Path
from typing import Any

import pytest
from harm_checks import check_failed_once, check_times
from run_tools import needs_engine
from s3_harm import Row
from s3_tools import MARK, SLOW_MORE, SLOW_PUTS, Ended, Json, killed_and_back
from table_harm import (
    ABSURD,
    ACTIONS,
    BATCHES,
    ON_THE_WIRE,
    WRONG_ITEMS,
    leaves_undone,
    says_done,
    says_no,
    tells_units,
)
from table_servers import TABLE_FLAVOURS, table_server
from table_tools import SORTED, TableAt, Watch, run_watched

pytestmark = needs_engine


def harmed(at: TableAt, row: Row) -> tuple[Ended, Watch]:
    """The row's job, one request of whose last phase was harmed."""
    watch = Watch(row.harm, len(row.phases()) - 1, ACTIONS[row.phase], 0 if row.more else 2)
    if row.phase == "scan":
        watch.which = 0
    ended = run_watched(at, watch, *row.phases(), target=row.target, **row.more)
    return ended, watch


def check(row: Row, ended: Ended, watch: Watch) -> None:
    """What holds of every row."""
    check_failed_once(row, ended, watch.struck)
    assert ended.operations() == len(watch.operations()), "what the service got is what the engine counts"
    last = ended.of(row.phase)
    assert last["errors"] == (1 if row.fails else 0)
    if row.phase != "scan":
        planned = {"batch_put": 3, "batch_get": 3, "query": 3}.get(row.phase, 12)
        assert last["ops"] == planned - last["errors"], "all others succeed"


@pytest.mark.parametrize("row", ON_THE_WIRE, ids=lambda row: row.id)
def test_a_harmed_request_is_one_failed_operation(one_table: TableAt, row: Row) -> None:
    ended, watch = harmed(one_table, row)
    check(row, ended, watch)
    assert one_table.keys() == {MARK}
    check_times(row, ended)


@pytest.mark.parametrize("row", WRONG_ITEMS, ids=lambda row: row.id)
def test_a_wrong_answer_is_found_out(one_table: TableAt, row: Row) -> None:
    ended, watch = harmed(one_table, row)
    check(row, ended, watch)


@pytest.mark.parametrize("operation", ["batch_put", "batch_get"])
@pytest.mark.parametrize("count", [1, 3])
def test_what_a_batch_leaves_undone_is_counted_and_not_sent_again(
    one_table: TableAt, operation: str, count: int
) -> None:
    name = {"batch_put": "UnprocessedItems", "batch_get": "UnprocessedKeys"}[operation]
    row = Row(
        f"{operation}-undone",
        operation,
        leaves_undone(count),
        ("fault UnprocessedItems", f"fault {name}"),
        more=BATCHES,
    )
    ended, watch = harmed(one_table, row)
    check(row, ended, watch)
    told = ended.end(operation)["service"]
    assert told["unprocessed"] == count
    assert told["objects"] in (8, 12 - count), "of two batches all, of the third perhaps what was done"
    assert one_table.keys() == {MARK}, "what was stored is removed, whatever the service said"


@pytest.mark.parametrize("operation", ["put", "batch_get"])
@pytest.mark.parametrize("told", ABSURD.values(), ids=ABSURD)
def test_absurd_units_confuse_nobody(one_table: TableAt, operation: str, told: Any) -> None:
    watch = Watch(tells_units(told), 0 if operation == "put" else 1, ACTIONS[operation], None)
    words = [operation] if operation == "put" else ["prepare", operation]
    ended = run_watched(one_table, watch, *words, objects={"count": 12, "batch": 4})
    assert watch.struck == (12 if operation == "put" else 3)
    assert ended.status in ("ok", "errors") and set(ended.failures()) <= {"fault MalformedAnswer"}, ended.reason
    service: Json = ended.end(operation)["service"] or {"read_units": 0.0, "write_units": 0.0}
    for units in (service["read_units"], service["write_units"]):
        assert isinstance(units, int | float) and math.isfinite(units) and units >= 0, service
    assert one_table.keys() == {MARK}


def test_many_throttles_are_all_told(one_table: TableAt) -> None:
    """Under an error limit that is reached a lane gives up, and the data is removed all the same."""
    name = "ProvisionedThroughputExceededException"
    watch = Watch(says_no("400 Bad Request", name), 1, "GetItem", None)
    ended = run_watched(one_table, watch, "put", "get", "get")
    assert ended.failures() == {f"fault {name}": 12} and ended.of("put")["ops"] == 12
    assert watch.struck == 12 and one_table.keys() == {MARK}


def test_a_put_that_was_not_done_is_found_out(one_table: TableAt) -> None:
    watch = Watch(says_done, 0, "PutItem", 2)
    ended = run_watched(one_table, watch, "put", "get", "batch_get")
    assert watch.struck == 1
    assert ended.failures() == {"fault NoSuchItem": 2}, ended.reason


def test_a_table_that_is_removed_meanwhile_is_named(table: TableAt) -> None:
    def between(phase: int) -> None:
        if phase == 1:
            table.ddb.delete_table(TableName=table.table)

    watch = Watch()
    ended = run_watched(table, watch, "put", "get", "query", between=between)
    assert ended.failures() == {"fault ResourceNotFoundException": 24}, ended.reason
    assert (ended.code, ended.status) == (1, "errors")
    assert len(watch.of(1)) == len(watch.of(2)) == 12
    assert not table.is_there(), "it is not made again"


def test_a_service_that_is_killed_and_comes_back(tmp_path: Path) -> None:
    """What is asked meanwhile has failed, once each; then it goes on as if nothing had been."""
    if TABLE_FLAVOURS["dynamodb-local"].why_not():
        pytest.skip(f"{TABLE_FLAVOURS['dynamodb-local'].why_not()}; moto forgets all when it ends")
    (tmp_path / "data").mkdir()
    with table_server("dynamodb-local", tmp_path / "data") as server:
        at = TableAt(server, "assay-killed", tmp_path)
        killed_and_back(server, at.job(SLOW_PUTS, target=SORTED, **SLOW_MORE), tmp_path)
        assert {item["pk"]["S"] for item in at.everything()} == {MARK}

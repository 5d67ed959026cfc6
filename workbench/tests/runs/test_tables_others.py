"""What the engine does to tables: it takes away what it has made and nothing else, also after it was killed."""

import json
from typing import Any

import pytest
from run_tools import needs_engine
from s3_harm import other_body
from s3_proxy import Exchange
from s3_servers import ACCESS_KEY
from s3_tools import FOLDER, MARK, SECOND, Engine, Json, clean, cleaned, wait_until
from table_harm import says_no
from table_tools import PARTITION, SORT, SORTED, Item, TableAt, Watch, of_others, run_watched, watched

pytestmark = needs_engine
FOREIGN = of_others("mine", "assay", "assay/mine", "assay/c1-r10/00000000000000001", "assay/c1-r1x")
"""Items of somebody else; the last ones have keys that nearly are those of the job."""


def refused_in_one_line(at: TableAt, *words: str, target: Json | None = None) -> str:
    """Nothing was done, and one line says why."""
    ended = at.run(*words, target=target)
    assert (ended.code, ended.status) == (2, "refused") and ended.ends() == []
    assert len(ended.stderr.splitlines()) == 1 and at.table in ended.reason
    return ended.reason


def test_a_table_of_somebody_else_is_refused(table: TableAt) -> None:
    table.make(*FOREIGN)
    before = table.everything()
    for words in (["put"], ["prepare", "get"], ["put", "scan"], ["put", "delete"]):
        assert "was not made by Assay" in refused_in_one_line(table, *words)
    assert table.everything() == before
    for words in ([], ["--root"]):
        clean(table.target(), *words)
        assert table.everything() == before


def test_an_empty_table_of_somebody_else_is_refused_as_well(table: TableAt) -> None:
    table.make()
    refused_in_one_line(table, "put")
    clean(table.target(), "--root")
    assert table.is_there() and table.everything() == []


def test_where_the_user_allows_it_only_the_jobs_own_keys_are_touched(table: TableAt) -> None:
    table.make(*FOREIGN)
    before, target = table.everything(), {"destroy": True}
    words = ("put", "update", "batch_put", "get", "query", "scan")
    table.well(*words, target=target, keep_files=True, lanes=2)
    made = [item for item in table.everything() if item not in before]
    assert len(made) >= 24 and all(item[PARTITION]["S"].startswith(FOLDER) for item in made), "no mark is put into it"
    assert cleaned(table.target(**target)) and table.everything() == before
    table.well("put", "get", "delete", "batch_put", target=target)
    assert table.everything() == before
    assert cleaned(table.target(**target), "--root") == [] and table.everything() == before
    for item in before:
        table.remove(item)
    assert cleaned(table.target(**target), "--root") == [] and table.is_there(), "not even if it is empty"


def test_what_others_have_put_below_the_jobs_folder_stays(table: TableAt) -> None:
    """Of lanes and numbers that the job does not have."""
    target = {"run": "own"}
    names = (f"{7:07x}{0:010x}", f"{0:07x}{99_999:010x}", f"{0:07x}{12:010x}", "notes")
    foreign = of_others(*(FOLDER + name for name in names))
    table.well("put", keep_files=True, lanes=2, target=target)
    for item in foreign:
        table.put(item)
    before, left = table.everything(), {"job": table.job("put", lanes=2, target=target)}
    bare = clean(table.target(**target), left=table.target(**target))
    assert bare.returncode and "if the job is given" in bare.stderr and table.everything() == before
    done = clean(table.target(**target), left=left)
    assert done.returncode and "this job does not give" in done.stderr and len(done.stderr.splitlines()) == 1
    assert [item for item in table.everything() if "precious" in item] == sorted(
        foreign, key=lambda item: json.dumps(item[PARTITION])
    )
    assert table.keys() - {item[PARTITION]["S"] for item in foreign} <= {MARK, FOLDER}


def test_a_table_is_held_by_a_run_from_its_first_repeat_to_its_end(table: TableAt) -> None:
    """Whoever has made it does not remove it while another run is between two repeats."""
    one, other = {"run": "one", "directory": "one-c1-r1"}, {"run": "other", "directory": "other-c1-r1"}
    table.well("put", target=one)
    table.well("put", target=other)
    assert table.keys() == {MARK, "assay/other/"}
    assert cleaned(table.target(**one), "--root") == [] and table.is_there()
    table.well("put", target={**other, "directory": "other-c1-r2"})
    assert cleaned(table.target(**other), "--root") == [] and table.keys() == {MARK}
    assert cleaned(table.target(**one), "--root") and not table.is_there()


def test_items_of_others_with_sort_keys_stay(table: TableAt) -> None:
    foreign = of_others("mine", "assay/c1-r10/1", sort=SORT)
    table.make(*foreign, sort=SORT)
    target = {**SORTED, "destroy": True}
    table.well("batch_put", "query", target=target)
    assert table.everything() == sorted(foreign, key=lambda item: json.dumps(item[PARTITION]))
    assert cleaned(table.target(**target), "--root") == []


def test_what_another_job_has_left_is_not_overwritten(table: TableAt) -> None:
    table.well("put", keep_files=True)
    before = table.everything()
    reason = refused_in_one_line(table, "put")
    assert "assay-engine clean" in reason and FOLDER.rstrip("/") in reason
    assert table.everything() == before, "a refused job removes nothing"
    assert cleaned(table.target())
    table.well("put")


def test_jobs_in_one_table_do_not_see_each_other(table: TableAt) -> None:
    table.well("put", keep_files=True, target={"directory": "c1-r10"})
    before = table.everything()
    table.well("put", "get", "batch_get", "query", "scan", "delete", "put")
    assert table.everything() == before
    assert cleaned(table.target()) == [] and table.everything() == before


def test_the_table_goes_when_nothing_but_its_mark_is_in_it(table: TableAt) -> None:
    table.well("put")
    assert table.keys() == {MARK}, "the next repeat wants the table"
    (mine,) = of_others("mine")
    table.put(mine)
    assert cleaned(table.target(), "--root") == []
    assert mine in table.everything() and {MARK, "mine"} == table.keys()
    table.remove(mine)
    assert cleaned(table.target(), "--root") == [f"{table.server.endpoint}/{table.table}"]
    assert not table.is_there()
    assert cleaned(table.target(), "--root") == [] and cleaned(table.target()) == [], "a second time nothing is to do"
    assert not table.is_there()


def test_jobs_with_data_of_others_below_the_root_keep_the_table(table: TableAt) -> None:
    table.well("put", keep_files=True)
    assert cleaned(table.target(directory="c2-r1"), "--root") == [] and len(table.items()) == 12
    assert cleaned(table.target()) == [f"{table.server.endpoint}/{table.table}/{FOLDER.rstrip('/')}"]
    assert cleaned(table.target(), "--root") and not table.is_there()


def test_a_mark_of_another_form_is_no_mark_to_remove_by(table: TableAt) -> None:
    """Whoever has a sort key has made the mark with one; a table with items is never removed."""
    table.well("put", target=SORTED)
    (mark,) = table.everything()
    assert mark[PARTITION]["S"] == MARK and SORT in mark
    reason = refused_in_one_line(table, "put")
    assert SORT in reason
    assert clean(table.target(), "--root").returncode in (0, 2) and table.everything() == [mark]
    assert cleaned(table.target(**SORTED), "--root") and not table.is_there()


@pytest.mark.parametrize("operation", ["put", "batch_put", "update"])
def test_items_of_a_killed_engine_are_removed(table: TableAt, operation: str) -> None:
    loop = {"operation": operation, "runtime_ns": 3600 * SECOND}
    words: list[Any] = ["prepare", loop] if operation == "update" else [loop]
    more: Json = {"objects": {"count": 200, "batch": 10}, "interval_ns": SECOND // 20}
    engine = Engine(table.job(*words, **more), table.folder)
    for _ in range(3):
        engine.wait_for('"interval"')
    engine.kill()
    assert len(table.items()) > 0
    assert cleaned(table.target()) == [f"{table.server.endpoint}/{table.table}/{FOLDER.rstrip('/')}"]
    # What was on its way when the engine died may have been done only now.
    wait_until(lambda: cleaned(table.target()) == [] and table.keys() == {MARK}, "the last items to go")
    assert cleaned(table.target(), "--root") and not table.is_there()


def killed_at(at: TableAt, action: str, which: int, **more: Any) -> None:
    """An engine that is gone when the service gets its n-th request of a kind outside of phases."""
    engine: list[Engine] = []

    def kill(exchange: Exchange) -> None:
        exchange.answer()
        engine[0].process.kill()
        exchange.wait_until_closed()

    watch = Watch(kill, -1, action, which)
    with watched(at, watch) as proxy:
        engine.append(Engine(at.job("put", target={"endpoints": [proxy.endpoint], **more}), at.folder))
        engine[0].end_killed()
    assert watch.struck == 1


@pytest.mark.parametrize("action", ["CreateTable", "PutItem", "BatchWriteItem"])
def test_an_engine_that_is_killed_while_it_makes_or_removes(table: TableAt, action: str) -> None:
    """The table is there, perhaps without its mark: then it is somebody's, and says so; else it can be cleaned."""
    killed_at(table, action, 0)
    assert table.is_there()
    if table.keys() == set():
        assert "was not made by Assay" in refused_in_one_line(table, "put")
        clean(table.target(), "--root")
        assert table.is_there(), "nobody can know whose it is"
        return
    clean(table.target())
    assert table.keys() <= {MARK}
    assert cleaned(table.target(), "--root") and not table.is_there()


@pytest.mark.parametrize("how", ["stop", "end of input"])
def test_a_stopped_job_tidies_up(one_table: TableAt, how: str) -> None:
    loop = {"operation": "put", "runtime_ns": 3600 * SECOND}
    engine = Engine(one_table.job(loop, interval_ns=SECOND // 20), one_table.folder)
    engine.wait_for('"interval"')
    engine.stop(how)
    assert one_table.keys() == {MARK}


def removes(at: TableAt) -> set[str]:
    """What an engine asks for when it removes its items, as seen at the service."""
    watch = Watch()
    ended = run_watched(at, watch, "put")
    assert ended.code == 0
    last = max(number for number, asked in enumerate(watch.seen) if asked.step == 0)
    return {asked.action for asked in watch.seen[last + 1 :]} & {"BatchWriteItem", "DeleteItem"}


def test_a_clean_up_that_fails_is_said_and_can_be_done_again(one_table: TableAt) -> None:
    (action,) = removes(one_table)
    watch = Watch(says_no("400 Bad Request", "AccessDeniedException"), -1, action, None)
    ended = run_watched(one_table, watch, "put")
    assert watch.struck == 1, "who is not allowed to need not try again"
    assert (ended.code, ended.status) == (1, "errors")
    assert "could not be removed" in ended.reason and "AccessDeniedException" in ended.reason
    assert ended.of("put")["ops"] == 12 and ended.failures() == {}, "what was measured stands"
    assert len(one_table.items()) == 12
    assert cleaned(one_table.target()) and one_table.keys() == {MARK}


def test_removals_that_are_left_undone_are_done_or_said(one_table: TableAt) -> None:
    """A clean-up is no measurement: what the service leaves undone is asked for again, or the user is told."""
    (action,) = removes(one_table)
    if action != "BatchWriteItem":
        pytest.skip("items are removed one by one")

    def keeps_some(exchange: Exchange) -> None:
        ((name, asked),) = json.loads(exchange.body())["RequestItems"].items()
        kept, rest = asked[:3], asked[3:]
        body = json.loads(exchange.body())
        body["RequestItems"] = {name: rest}
        if not rest:
            return exchange.pass_on()
        sent = json.dumps(body).encode().ljust(exchange.request.length)
        exchange._body = sent[: exchange.request.length]
        other_body(lambda _: json.dumps({"UnprocessedItems": {name: kept}}).encode())(exchange)
        return None

    watch = Watch(keeps_some, -1, action, 0)
    ended = run_watched(one_table, watch, "put")
    assert watch.struck == 1
    if one_table.keys() != {MARK}:
        assert ended.code == 1 and "could not be removed" in ended.reason, ended.reason
    clean(one_table.target())
    assert one_table.keys() == {MARK}


def test_a_throttled_clean_up_goes_on(one_table: TableAt) -> None:
    """It is no measurement: with patience the items go, and no repeat fails for it."""
    (action,) = removes(one_table)
    watch = Watch(says_no("400 Bad Request", "ProvisionedThroughputExceededException"), -1, action, 0)
    ended = run_watched(one_table, watch, "put")
    assert watch.struck == 1
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert one_table.keys() == {MARK}


def test_many_items_are_found_and_removed(one_table: TableAt) -> None:
    """More than a page of a scan, and more than a batch, beside as much of somebody else."""
    more: Json = {"lanes": 2, "objects": {"count": 60, "batch": 20}, "file_size_bytes": 30_000}
    one_table.well("batch_put", keep_files=True, target={"directory": "c9-r9"}, **more)
    one_table.well("batch_put", keep_files=True, **more)
    assert len(one_table.items()) == 240
    assert cleaned(one_table.target())
    assert len(one_table.items()) == 120 and {item[PARTITION]["S"][:12] for item in one_table.items()} == {
        "assay/c9-r9/"
    }
    assert cleaned(one_table.target(directory="c9-r9")) and one_table.keys() == {MARK}


def test_engines_of_one_job_share_a_table(table: TableAt) -> None:
    """They find no table, and both want to make it. Each removes its own; the other's items stay until it is ready."""
    jobs = [table.job("put", "get", "query", lanes=2, ranks=2, rank=rank) for rank in range(2)]
    jobs[1]["keep_files"] = True
    engines = [Engine(job, table.folder) for job in jobs]
    for ended in [engine.end() for engine in engines]:
        assert (ended.code, ended.status) == (0, "ok"), ended.reason
        assert ended.end("get")["verified_bytes"] == ended.of("put")["bytes"]
    assert len(table.items()) == 24
    assert cleaned(table.target()) and table.keys() == {MARK}


def test_one_of_two_removes_only_its_own(one_table: TableAt) -> None:
    jobs = [one_table.job("put", lanes=1, ranks=2, rank=rank, keep_files=True) for rank in range(2)]
    for job in jobs:
        assert Engine(job, one_table.folder).end().code == 0
    every: list[Item] = one_table.items()
    assert len(every) == 24
    ended = Engine({**jobs[0], "reuse_files": True, "keep_files": False}, one_table.folder).end()
    assert ended.bye
    left = one_table.items()
    assert len(left) == 12 and all(item in every for item in left), ended.reason


def test_what_is_asked_for_names_no_secret_and_no_other_table(table: TableAt) -> None:
    watch = Watch()
    ended = run_watched(table, watch, "put", "get", "scan", target=SORTED)
    assert ended.code == 0, ended.reason
    assert {asked.body["TableName"] for asked in watch.seen if "TableName" in asked.body} == {table.table}
    assert ACCESS_KEY not in ended.stdout + ended.stderr

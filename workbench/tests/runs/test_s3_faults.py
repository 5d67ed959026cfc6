"""What becomes of faults on the wire between the engine and a service: one harmed request is one failed operation.

Nothing is sent twice, all else goes well, the fault has its name, and nothing of the job is left behind.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from harm_checks import check_failed_once, check_times
from run_tools import needs_engine
from s3_harm import TABLE, Row, chunked, goes_on_first, refuses, says_close, until_closed
from s3_proxy import Exchange, Harm, Proxy, Request, harmful, sends
from s3_servers import FLAVOURS, free_port, s3_server
from s3_tools import FOLDER, KIB, SLOW_MORE, SLOW_PUTS, At, Ended, job_at, killed_and_back, run_job

pytestmark = needs_engine
METHODS = {"put": "PUT", "copy": "PUT", "get": "GET", "head": "HEAD", "delete": "DELETE"}


def chooses(row: Row) -> Callable[[Request], bool]:
    """Which requests may be harmed: those of the row's phase, not those with which a job begins and ends."""
    method = row.method or METHODS[row.phase]

    def choose(request: Request) -> bool:
        path, _, query = request.path.replace("%2F", "/").partition("?")
        if request.method != method or row.query not in query:
            return False
        if row.query:
            return row.phase != "list" or f"prefix={FOLDER}o0." in query
        return f"/{FOLDER}" in path and ("x-amz-copy-source" in request.headers) == (row.phase == "copy")

    return choose


def job_requests(proxy: Proxy) -> int:
    """Requests for keys of the job, and for lists and removals of several that phases ask for."""
    return proxy.count(f"/{FOLDER}")


def check(row: Row, ended: Ended, proxy: Proxy) -> None:
    """What holds of every row."""
    check_failed_once(row, ended, proxy.struck)
    if not row.query:
        assert job_requests(proxy) == ended.operations(), "what the service got is what the engine counts"
        planned = row.more.get("objects", {"count": 12})["count"]
        last = ended.of(row.phase)
        assert last["ops"] == planned - (1 if row.fails else 0), "all others succeed"
        assert last["errors"] == (1 if row.fails else 0)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.id)
def test_a_harmed_request_is_one_failed_operation(fast: At, row: Row) -> None:
    if row.fails == ("fault ChecksumMismatch",) and not fast.server.flavour.tells_sums:
        pytest.skip(f"{fast.server.flavour.name} does not tell the sum of what it sends")
    which = 0 if row.query else 2
    with harmful(fast.server.port, row.harm, chooses(row), which) as proxy:
        job = job_at(proxy.endpoint, *row.phases(), target={"bucket": fast.bucket, **row.target}, **row.more)
        ended = run_job(job, fast.folder)
    check(row, ended, proxy)
    # What a service did not name when it was begun is not known to be the job's: it is named, and stays.
    unknown = [key for key in fast.uploads() if row.id == "upload-without-name" and key in ended.reason]
    assert fast.objects() == {} and fast.uploads() == unknown and len(unknown) == (row.id == "upload-without-name")
    fast.abort_uploads()
    check_times(row, ended)


def every(request: Request) -> bool:
    return True


@pytest.mark.parametrize("harm", [says_close, chunked, until_closed, goes_on_first], ids=lambda harm: harm.__name__)
def test_all_answers_may_have_an_unusual_form(fast: At, harm: Harm) -> None:
    with harmful(fast.server.port, harm, every, which=None) as proxy:
        job = job_at(proxy.endpoint, "put", "get", "head", "list", "delete", target={"bucket": fast.bucket})
        ended = run_job(job, fast.folder)
    if harm in (chunked, until_closed):
        # An answer to HEAD that has no length tells no size.
        assert set(ended.failures()) <= {"fault MalformedAnswer"} and ended.end("head")["errors"], ended.reason
    else:
        assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert ended.end("get")["verified_bytes"] == 12 * 64 * KIB
    assert ended.requests() == ended.operations()
    closes = harm in (says_close, until_closed)
    for end in ended.ends():
        (host,) = end["connections"]
        assert (host["max_requests"] == 1) == closes
        if closes:
            # Those that are open already, but idle, when a phase ends belong to the next.
            assert host["closed"] == host["requests"], host


def closes_afterwards(exchange: Exchange) -> None:
    """The answer says nothing of it: as a service does that is tired of an idle connection."""
    exchange.pass_on()
    exchange.close()


def test_connections_that_were_closed_while_idle_are_no_failure(fast: At) -> None:
    """At ten a second there is time enough between two requests for the news to arrive."""
    with harmful(fast.server.port, closes_afterwards, sends("GET", FOLDER), which=None) as proxy:
        paced = {"operation": "get", "rate_per_s": 10.0}
        job = job_at(proxy.endpoint, "prepare", paced, target={"bucket": fast.bucket}, queue_depth=1)
        ended = run_job(job, fast.folder)
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    (host,) = ended.end("get")["connections"]
    assert (host["requests"], host["refused"]) == (12, 0)
    assert host["closed"] in (11, 12) and host["opened"] == host["requests"] - 1, "the first is of the phase before"


def test_a_page_that_is_not_to_be_had_is_one_failure(fast: At) -> None:
    """Nobody has asked for the page after it, so that page cannot have failed; still less is it missing."""

    def second_page(request: Request) -> bool:
        return "continuation-token" in request.path

    with harmful(fast.server.port, refuses("503 Slow Down", "SlowDown"), second_page) as proxy:
        more = {"objects": {"count": 2001}, "file_size_bytes": 1, "target": {"bucket": fast.bucket}}
        ended = run_job(job_at(proxy.endpoint, "prepare", "list", **more), fast.folder)
    assert proxy.struck == 1
    assert ended.failures() == {"fault SlowDown": 1}
    assert ended.requests() == ended.operations()


def test_a_service_that_is_killed_and_comes_back(tmp_path: Path) -> None:
    """What is asked meanwhile has failed, once each; then it goes on as if nothing had been."""
    name = next((name for name in ("versitygw", "minio") if not FLAVOURS[name].why_not()), "")
    if not name:
        pytest.skip(f"{FLAVOURS['versitygw'].why_not()}; moto forgets all when it ends")
    with s3_server(name, tmp_path) as server:
        at = At(server, "assay-killed", tmp_path)
        killed_and_back(server, at.job(SLOW_PUTS, **SLOW_MORE), tmp_path)
        assert at.objects() == {}


def test_a_service_that_is_not_there_is_named(tmp_path: Path) -> None:
    ended = run_job(job_at(f"http://127.0.0.1:{free_port()}", "put"), tmp_path)
    assert (ended.code, ended.status) == (2, "refused")
    assert "Connection refused" in ended.reason and "127.0.0.1" in ended.reason
    assert len(ended.stderr.splitlines()) == 1 and ended.ends() == []

"""What the engine does to buckets: it takes away what it has made and nothing else, also after it was killed."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from run_tools import needs_engine
from s3_harm import passes
from s3_proxy import Exchange, Request, harmful
from s3_tools import FOLDER, KIB, MARK, MIB, SECOND, At, Engine, Json, clean, cleaned, done_well, job_at

pytestmark = needs_engine
MARK_TEXT = b"This bucket was made by Assay, which removes it when nothing else is in it.\n"
"""Without the name of a run: jobs by hand belong to none."""
FOREIGN = {
    "mine": b"precious",
    "assay__mine": b"below the root",
    "assay__c1-r10__o0.1": b"nearly",
    "assay__c1-r1x": b"0",
}
"""Objects of somebody else; the last ones have names that nearly are those of the job."""
PARTS: dict[str, Any] = {
    "objects": {"count": 1, "part_size_bytes": 5 * MIB},
    "file_size_bytes": 40 * MIB,
    "record_size_bytes": 64 * KIB,
    "queue_depth": 1,
}


def everything(at: At) -> dict[str, bytes]:
    """Key -> contents."""
    return {key: at.contents(key) for key in at.sizes()}


def test_a_bucket_of_somebody_else_is_refused(at: At) -> None:
    at.make(**FOREIGN)
    before = everything(at)
    for words in (["put"], ["prepare", "get"]):
        ended = at.run(*words)
        assert (ended.code, ended.status) == (2, "refused") and ended.ends() == []
        assert "was not made by Assay" in ended.reason and at.bucket in ended.reason
        assert len(ended.stderr.splitlines()) == 1
    assert everything(at) == before
    for words in ([], ["--root"]):
        clean(at.target(), *words)
        assert everything(at) == before


def test_where_the_user_allows_it_only_the_jobs_own_keys_are_touched(at: At) -> None:
    at.make(**FOREIGN)
    upload = at.s3.create_multipart_upload(Bucket=at.bucket, Key="mine-too")["UploadId"]
    before, target = everything(at), {"destroy": True}
    at.well("put", "copy", "get", "list", target=target, keep_files=True, lanes=2)
    made = set(at.sizes()) - set(before)
    assert len(made) == 48 and all(key.startswith(FOLDER) for key in made), "no mark is put into it either"
    assert cleaned(at.target(**target)) and everything(at) == before
    at.well("put", "copy", "multi_delete", target=target)
    assert everything(at) == before and at.uploads() == ["mine-too"]
    assert cleaned(at.target(**target), "--root") == [] and everything(at) == before
    at.s3.abort_multipart_upload(Bucket=at.bucket, Key="mine-too", UploadId=upload)
    for key in before:
        at.s3.delete_object(Bucket=at.bucket, Key=key)
    assert cleaned(at.target(**target), "--root") == [] and at.is_there(), "not even if it is empty"


def test_what_another_job_has_left_is_not_overwritten(at: At) -> None:
    at.well("put", keep_files=True)
    before = everything(at)
    ended = at.run("put")
    assert (ended.code, ended.status) == (2, "refused")
    assert "assay-engine clean" in ended.reason and f"{FOLDER.rstrip('/')}: " in ended.reason
    assert everything(at) == before, "a refused job removes nothing"


def test_jobs_in_one_bucket_do_not_see_each_other(at: At) -> None:
    at.well("put", keep_files=True, target={"directory": "c1-r10"})
    before = everything(at)
    at.well("put", "list", "delete", "put")
    assert everything(at) == before
    assert cleaned(at.target()) == [] and everything(at) == before


def test_the_bucket_goes_when_nothing_but_its_mark_is_in_it(at: At) -> None:
    at.well("put")
    assert at.is_there() and list(at.sizes()) == [MARK], "the next repeat wants it"
    at.s3.put_object(Bucket=at.bucket, Key="mine", Body=b"precious")
    assert cleaned(at.target(), "--root") == []
    assert at.contents("mine") == b"precious" and MARK in at.sizes()
    at.s3.delete_object(Bucket=at.bucket, Key="mine")
    assert cleaned(at.target(), "--root") == [f"{at.server.endpoint}/{at.bucket}"]
    assert not at.is_there()
    assert cleaned(at.target(), "--root") == [] and cleaned(at.target()) == [], "a second time there is nothing to do"
    assert not at.is_there()


def test_what_others_have_put_below_the_jobs_folder_stays(fast: At) -> None:
    """Of lanes, numbers, copies and prefixes that the job does not have, whether its engine removes or another one."""
    names = ("o7.0", "o0.99999", "o0.12", "c0.0", "o0.p1/3", "o00.1", "notes", "u0")
    foreign = {f"{FOLDER}{name}": b"theirs" for name in names}
    fast.well("put", keep_files=True, lanes=2, target={"run": "own"})
    for key, contents in foreign.items():
        fast.s3.put_object(Bucket=fast.bucket, Key=key, Body=contents)
    left = {"job": fast.job("put", lanes=2, target={"run": "own"})}
    bare = clean({**fast.target(run="own"), "existing": None}, left=fast.target(run="own"))
    assert bare.returncode and len(fast.objects()) == 24 + len(foreign), "a target alone does not say what was made"
    assert "if the job is given" in bare.stderr
    done = clean(fast.target(run="own"), left=left)
    assert done.returncode and "this job gives no such names" in done.stderr and len(done.stderr.splitlines()) == 1
    assert {key: fast.contents(key) for key in fast.objects()} == foreign
    again = clean(fast.target(run="own"), left={**left, "beyond": [{"lane": 0, "objects": 13}]})
    assert again.returncode and set(fast.objects()) == set(foreign) - {f"{FOLDER}o0.12"}, "as far as engines have told"


def test_a_bucket_that_another_run_has_made_is_used_and_left(fast: At) -> None:
    """Each run removes what it has made, and holds what it uses."""
    one, other = {"run": "one", "directory": "one-c1-r1"}, {"run": "other", "directory": "other-c1-r1"}
    fast.well("put", target=one)
    fast.well("put", target=other, keep_files=True)
    assert cleaned(fast.target(**one), "--root") == [] and len(fast.objects()) == 13, "the other is at work"
    assert cleaned(fast.target(**one)) == [] and len(fast.objects()) == 13
    assert cleaned(fast.target(**other)) and list(fast.objects()) == ["assay/other/u"]
    assert cleaned(fast.target(**one), "--root") == [] and fast.is_there(), "the other is between two repeats"
    fast.well("put", target={**other, "directory": "other-c1-r2"})
    assert cleaned(fast.target(**other), "--root") == [] and fast.is_there(), "it has not made it"
    assert fast.objects() == {}, "and has said that it has ended"
    assert cleaned(fast.target(**one), "--root") and not fast.is_there()


def test_a_prefix_may_have_slashes(fast: At) -> None:
    fast.make(mine=b"precious")
    target = {"root": "team/alice", "destroy": True}
    fast.well("put", "get", "list", target=target, keep_files=True)
    assert all(key == "mine" or key.startswith("team/alice/c1-r1/") for key in fast.sizes()) and len(fast.sizes()) == 13
    assert cleaned(fast.target(**target)) and list(fast.sizes()) == ["mine"]


def test_jobs_with_data_of_others_below_the_root_keep_the_bucket(at: At) -> None:
    at.well("put", keep_files=True)
    assert cleaned(at.target(directory="c2-r1"), "--root") == [] and len(at.objects()) == 12
    assert cleaned(at.target()) and cleaned(at.target(), "--root") and not at.is_there()


def killed_within_an_upload(at: At, folder: Path) -> list[Json]:
    """An engine that is gone when it has stored two parts of eight; what it has told of uploads."""
    engine: list[Engine] = []

    def kill(exchange: Exchange) -> None:
        engine[0].process.kill()
        exchange.wait_until_closed()

    def third_part(request: Request) -> bool:
        return "partNumber=3" in request.path

    with harmful(at.server.port, kill, third_part) as proxy:
        engine.append(Engine(job_at(proxy.endpoint, "put", target={"bucket": at.bucket}, **PARTS), folder))
        engine[0].end_killed()
        assert proxy.struck == 1
    events = [json.loads(line) for line in engine[0].lines]
    return [event for event in events if event["event"] == "upload"]


def test_uploads_of_a_killed_engine_are_aborted(at: At) -> None:
    begun = killed_within_an_upload(at, at.folder)
    assert at.uploads() == [f"{FOLDER}o0.0"] and at.objects() == {}
    foreign = at.s3.create_multipart_upload(Bucket=at.bucket, Key="assay/c1-r10/o0.0")["UploadId"]
    before, job = at.uploads(), job_at(at.server.endpoint, "put", target={"bucket": at.bucket}, **PARTS)
    done = clean(at.target(), left={"job": job})
    assert done.returncode == 0 and at.uploads() == before, "nothing tells that this job has begun it"
    (left,) = json.loads(done.stdout.splitlines()[-1])["left"]
    assert f"{FOLDER}o0.0" in left["why"] and "left alone" in left["why"]
    told = [upload for upload in begun if upload["open"]]
    uploads = [{"key": upload["key"], "id": upload["id"]} for upload in told]
    nearly = [{"key": key, "id": foreign} for key in ("assay/c1-r10/o0.0", f"{FOLDER}o0.1", f"{FOLDER}o0.0")]
    removed = cleaned(at.target(), left={"job": job, "uploads": nearly})
    assert removed == [] and at.uploads() == before, "what the list names for another key is another's"
    removed = cleaned(at.target(), left={"job": job, "uploads": uploads})
    assert removed == [f"{at.server.endpoint}/{at.bucket}/{FOLDER}"]
    assert at.uploads() == ["assay/c1-r10/o0.0"]
    at.s3.abort_multipart_upload(Bucket=at.bucket, Key="assay/c1-r10/o0.0", UploadId=foreign)
    assert cleaned(at.target(), "--root") and not at.is_there()


def test_objects_of_a_killed_engine_are_removed(fast: At) -> None:
    more = {"objects": {"count": 10**6}, "file_size_bytes": 100, "interval_ns": SECOND // 10}
    engine = Engine(fast.job("put", **more), fast.folder)
    for _ in range(3):
        engine.wait_for('"interval"')
    engine.kill()
    assert len(fast.objects()) > 0
    job = fast.job("put", **more)
    assert cleaned(fast.target(), left={"job": job}) and fast.objects() == {}


@pytest.mark.parametrize("how", ["stop", "end of input"])
def test_a_stopped_job_tidies_up(fast: At, how: str) -> None:
    more = {**PARTS, "objects": {"count": 200, "part_size_bytes": 5 * MIB}, "interval_ns": SECOND // 10}
    engine = Engine(fast.job("put", **more), fast.folder)
    engine.wait_for('"interval"')
    engine.stop(how)
    assert fast.objects() == {} and fast.uploads() == []


@pytest.mark.parametrize("balance", ["round_robin", "least_loaded"])
def test_requests_are_spread_over_several_doors(fast: At, balance: str) -> None:
    doors = [f"http://{host}:{fast.server.port}" for host in ("127.0.0.1", "localhost")]
    target: Json = {"bucket": fast.bucket, "balance": balance}
    job = job_at(doors, "put", "get", "head", target=target, lanes=2, objects={"count": 100})
    ended = done_well(job, fast.folder)
    opened: dict[str, int] = dict.fromkeys(doors, 0)
    for end in ended.ends():
        hosts = {host["host"]: host for host in end["connections"]}
        assert set(hosts) == set(doors)
        assert sum(host["requests"] for host in hosts.values()) == 200 == end["operations"][0]["ops"]
        assert all(host["refused"] == 0 for host in hosts.values())
        least = 90 if balance == "round_robin" else 1
        assert min(host["requests"] for host in hosts.values()) >= least, "each has its share"
        for name, host in hosts.items():
            opened[name] += host["opened"]
            assert (host["setup"] or {"count": 0})["count"] == host["opened"]
    assert all(number >= 2 for number in opened.values())
    if not fast.server.flavour.slow:
        # Each operation in flight needs one connection, to whichever door; they stay open.
        assert sum(opened.values()) <= 2 * 4 * len(doors)
        assert all(host["closed"] == 0 for end in ended.ends() for host in end["connections"])


def test_a_door_that_is_shut_fails_only_what_is_sent_to_it(fast: At) -> None:
    """Half of the requests, with one connection tried for each, and no request more to the other door."""
    with harmful(fast.server.port, passes, lambda _: False) as proxy:
        doors = [fast.server.endpoint, proxy.endpoint]
        more = {"target": {"bucket": fast.bucket}, "queue_depth": 1, "wait_for_go": True}
        engine = Engine(job_at(doors, "prepare", "get", **more), fast.folder)
        engine.wait_for('"barrier"')
        while not any('"phase_end"' in line for line in engine.lines):
            engine.say({"go": True})
            engine.wait_for('"event"')
        proxy.shut()
        for _ in range(4):
            engine.say({"go": True})
        ended = engine.end()
    assert set(ended.failures()) <= {"fault ECONNREFUSED", "fault ECONNABORTED", "fault ECONNRESET"}, ended.reason
    get = ended.of("get")
    assert (get["ops"], get["errors"]) == (6, 6)
    sent = {host["host"]: host for host in ended.end("get")["connections"]}
    assert (sent[doors[0]]["requests"], sent[doors[0]]["refused"]) == (6, 0)
    assert sent[doors[1]]["requests"] + sent[doors[1]]["refused"] >= 6


def other_names(hosts: Path) -> list[str]:
    """Words before a command that has it see another /etc/hosts; the test is skipped where that is forbidden."""
    script = 'mount --bind "$0" /etc/hosts && exec "$@"'
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, str(hosts)]
    try:
        subprocess.run([*words, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"an ordinary user may have no namespaces here: {error}")
    return words


def test_a_name_with_an_address_that_nobody_listens_at(fast: At) -> None:
    """As `localhost` is on most hosts, and any name where IPv6 does not work: the next address is tried."""
    hosts = fast.folder / "hosts"
    hosts.write_text("127.0.0.1 localhost both\n::1 localhost both\n")
    job = job_at(f"http://both:{fast.server.port}", "put", "get", "delete", target={"bucket": fast.bucket}, lanes=2)
    ended = Engine(job, fast.folder, within=other_names(hosts)).end()
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert ended.end("get")["verified_bytes"] == 24 * 64 * KIB


def test_a_service_that_cannot_make_one_bucket_twice_at_once_is_asked_whose_it_is(fast: At) -> None:
    """Another engine of the job was quicker, and the service says that something is wrong with itself."""

    def late(exchange: Exchange) -> None:
        exchange.body()
        fast.make(**{MARK: MARK_TEXT})
        exchange.refuse("500 Internal Server Error", "InternalError")

    def makes(request: Request) -> bool:
        return request.method == "PUT" and request.path.rstrip("/").count("/") == 1

    with harmful(fast.server.port, late, makes) as proxy:
        ended = fast.run("put", "get", target={"endpoints": [proxy.endpoint]})
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    assert ended.of("get")["ops"] == 12 and proxy.struck == 1


def test_engines_of_one_job_share_a_bucket(fast: At) -> None:
    """Each removes its own; the other's objects stay until it is ready."""
    jobs = [fast.job("put", "get", lanes=2, ranks=2, rank=rank) for rank in range(2)]
    jobs[1]["keep_files"] = True
    engines = [Engine(job, fast.folder) for job in jobs]
    for ended in [engine.end() for engine in engines]:
        assert (ended.code, ended.status) == (0, "ok"), ended.reason
        assert ended.end("get")["verified_bytes"] == 24 * 64 * KIB
    assert len(fast.objects()) == 24 and {key.split("/")[2].split(".")[0] for key in fast.objects()} == {"o2", "o3"}
    assert cleaned(fast.target()) and fast.objects() == {}
    assert json.dumps(sorted(fast.sizes())) == json.dumps([MARK])

"""Before and after the phases: what cannot be begun is refused in one line that helps, what stays behind is said."""

from pathlib import Path

import pytest
from run_tools import needs_engine
from s3_certificates import ELSEWHERE, LOOPBACK, certified
from s3_harm import passes, refuses, reset_before_answer, silent
from s3_proxy import Harm, Request, harmful
from s3_tools import FOLDER, KIB, SECOND, At, Json, clean, cleaned, job_at, run_job

pytestmark = needs_engine


def asks_for_bucket(request: Request) -> bool:
    return request.method == "HEAD" and request.path.count("/") == 1


REFUSALS = [
    (refuses("301 Moved Permanently", "PermanentRedirect", "x-amz-bucket-region: eu-west-1"), "region"),
    (refuses("403 Forbidden", "AccessDenied"), "credentials"),
    (refuses("400 Bad Request", "ExpiredToken"), "400"),
    (refuses("503 Slow Down", "SlowDown"), "503"),
    (reset_before_answer, "reset"),
    (silent, "no answer for 2 s"),
]


@pytest.mark.parametrize(("harm", "word"), REFUSALS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_bucket_that_cannot_be_looked_at(fast: At, harm: Harm, word: str) -> None:
    """One question, one answer: nothing is asked again, and nothing is made."""
    with harmful(fast.server.port, harm, asks_for_bucket) as proxy:
        target: Json = {"bucket": fast.bucket, "timeout_ns": 2 * SECOND}
        ended = run_job(job_at(proxy.endpoint, "put", target=target), fast.folder)
        assert len(proxy.seen) == 1
    assert (ended.code, ended.status) == (2, "refused") and ended.ends() == []
    assert len(ended.stderr.splitlines()) == 1 and fast.bucket in ended.stderr
    assert word in ended.stderr
    assert not fast.is_there()


def test_a_clean_up_that_fails_is_said_and_can_be_done_again(fast: At) -> None:
    def removes(request: Request) -> bool:
        return request.method == "POST" and "delete" in request.path

    with harmful(fast.server.port, refuses("503 Slow Down", "SlowDown"), removes) as proxy:
        ended = run_job(job_at(proxy.endpoint, "put", target={"bucket": fast.bucket}), fast.folder)
        assert proxy.count("?delete") == 1, "it is not tried again unasked"
    assert (ended.code, ended.status) == (1, "errors")
    assert "could not be removed" in ended.reason and "SlowDown" in ended.reason
    assert ended.of("put")["ops"] == 12 and ended.failures() == {}, "what was measured stands"
    assert len(fast.objects()) == 12
    assert cleaned(fast.target()) and fast.objects() == {}


def test_a_wrong_region_is_named(guarded: At) -> None:
    ended = guarded.run("put", target={"region": "eu-west-1"})
    if ended.code:
        assert (ended.code, ended.status) == (2, "refused") and len(ended.stderr.splitlines()) == 1
        assert "region" in ended.stderr or "400" in ended.stderr, ended.stderr
    assert ended.code or guarded.is_there()


def test_what_others_have_taken_away_is_named(at: At) -> None:
    at.well("put", keep_files=True)
    at.s3.delete_object(Bucket=at.bucket, Key=f"{FOLDER}o0.3")
    at.s3.put_object(Bucket=at.bucket, Key=f"{FOLDER}o0.4", Body=b"short")
    ended = at.run("get", "head", "list", "delete", reuse_files=True)
    get = {f"{error['kind']} {error['name'] or ''}".strip(): error["count"] for error in ended.end("get")["errors"]}
    assert get == {"fault NoSuchKey": 1, "short_read": 1}
    head = {error["kind"]: error for error in ended.end("head")["errors"]}
    assert head["fault"]["count"] == 1, head
    assert head["fault"]["fault"]["code"] // 100 == 404, "an answer to HEAD has no name, but a status"
    assert {kind: error["count"] for kind, error in head.items()} == {"fault": 1, "corrupt": 1}, "a size is data, too"
    assert ended.end("list")["errors"] == [] and ended.end("delete")["errors"] == []
    assert at.objects() == {}


def test_certificates_are_held_against_those_who_are_trusted(fast: At, tmp_path: Path) -> None:
    context, authority = certified(tmp_path, LOOPBACK)
    with harmful(fast.server.port, passes, lambda _: False, tls=context) as proxy:
        target: Json = {"bucket": fast.bucket, "ca_file": str(authority)}
        ended = run_job(job_at(proxy.endpoint, "put", "get", target=target, lanes=2), fast.folder)
        assert (ended.code, ended.failures()) == (0, {}), ended.reason
        assert ended.end("get")["verified_bytes"] == 24 * 64 * KIB
        (host,) = ended.end("put")["connections"]
        assert host["setup"]["count"] == host["opened"] == 8 and host["setup"]["min_ns"] > 0
        del target["ca_file"]
        target["bucket"] = f"{fast.bucket}-x"
        before = len(proxy.seen)
        ended = run_job(job_at(proxy.endpoint, "put", target=target), fast.folder)
        assert (ended.code, len(ended.stderr.splitlines()), len(proxy.seen)) == (2, 1, before), ended.stderr


def test_a_certificate_for_another_name_is_refused(fast: At, tmp_path: Path) -> None:
    context, authority = certified(tmp_path, ELSEWHERE)
    with harmful(fast.server.port, passes, lambda _: False, tls=context) as proxy:
        target: Json = {"bucket": fast.bucket, "ca_file": str(authority)}
        ended = run_job(job_at(proxy.endpoint, "put", target=target), fast.folder)
        assert (ended.code, len(ended.stderr.splitlines()), proxy.seen) == (2, 1, []), ended.stderr
        assert "certificate" in ended.stderr


def test_authorities_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    file = tmp_path / "nothing.pem"
    for contents in (None, "no certificate"):
        if contents:
            file.write_text(contents)
        job = job_at("https://127.0.0.1:1", "put", target={"ca_file": str(file)})
        ended = run_job(job, tmp_path)
        assert ended.code == 2 and "nothing.pem" in ended.stderr and len(ended.stderr.splitlines()) == 1
        said = clean(job["target"])
        assert said.returncode == 2 and "nothing.pem" in said.stderr

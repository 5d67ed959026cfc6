"""Who asks: signatures as botocore makes them, credentials from where they may stand, and nothing secret is told."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from run_tools import needs_engine
from s3_harm import Row
from s3_servers import ACCESS_KEY, SECRET_KEY
from s3_tools import ROOT_KEYS, Ended, clean
from table_harm import ACTIONS, ON_THE_WIRE
from table_tools import SORTED, Asked, TableAt, Watch, run_watched

pytestmark = needs_engine
PLANTED_SECRET = "planted+secret/0123456789abcdefghijkl=="
PLANTED_TOKEN = "planted-token-FwoGZXIvYXdzEBYaD0123456789"
PLANTED = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": PLANTED_SECRET, "AWS_SESSION_TOKEN": PLANTED_TOKEN}


def in_files(folder: Path, profile: str, secret: str, token: str) -> dict[str, str]:
    """The files of the AWS command line with a profile, and the environment that says where they are."""
    place = folder / "aws"
    place.mkdir(exist_ok=True)
    (place / "credentials").write_text(
        f"[{profile}]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {secret}\n"
        f"aws_session_token = {token}\n"
    )
    return {"AWS_SHARED_CREDENTIALS_FILE": str(place / "credentials"), "AWS_CONFIG_FILE": str(place / "config")}


def signature(asked: Asked, region: str, secret: str, token: str | None) -> str:
    """The header with which botocore would sign the request."""
    signed = asked.headers["authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    headers = {name: asked.headers[name] for name in signed if name != "host"}
    request = AWSRequest("POST", f"http://{asked.headers['host']}/", headers=headers, data=asked.sent)
    moment = datetime.strptime(asked.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    signer = SigV4Auth(Credentials(ACCESS_KEY, secret, token), "dynamodb", region)
    with (
        mock.patch("botocore.auth.get_current_datetime", create=True, return_value=moment.replace(tzinfo=None)),
        mock.patch.object(SigV4Auth, "_modify_request_before_signing"),
    ):
        request.context["timestamp"] = asked.headers["x-amz-date"]
        canonical = signer.canonical_request(request)
        return signer.signature(signer.string_to_sign(request, canonical), request)


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1"])
@pytest.mark.parametrize("token", [None, PLANTED_TOKEN], ids=["lasting", "for-a-while"])
def test_every_request_is_signed_as_botocore_would(one_table: TableAt, region: str, token: str | None) -> None:
    env = {**PLANTED} if token else {**ROOT_KEYS}
    watch = Watch()
    ended = run_watched(one_table, watch, "put", "get", "query", "scan", target={**SORTED, "region": region}, env=env)
    assert ended.code == 0, ended.reason
    assert {asked.action for asked in watch.seen} >= {"DescribeTable", "CreateTable", "PutItem", "GetItem", "Query"}
    for asked in watch.seen:
        told = asked.headers["authorization"]
        day = asked.headers["x-amz-date"][:8]
        assert told.startswith(f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{day}/{region}/dynamodb/aws4_request")
        assert asked.headers.get("x-amz-security-token") == token
        assert {"host", "x-amz-date", "x-amz-target"} <= set(told.split("SignedHeaders=")[1].split(",")[0].split(";"))
        secret = env["AWS_SECRET_ACCESS_KEY"]
        assert told.endswith(f"Signature={signature(asked, region, secret, token)}"), asked.action
        assert asked.headers["content-type"] == "application/x-amz-json-1.0"


def test_credentials_stand_in_the_environment_or_in_a_profile(one_table: TableAt, tmp_path: Path) -> None:
    for target, profile, more in (
        ({}, "default", {}),
        ({}, "bench", {"AWS_PROFILE": "bench"}),
        ({"profile": "bench"}, "bench", {"AWS_SECRET_ACCESS_KEY": "wrong", "AWS_ACCESS_KEY_ID": "WRONG"}),
    ):
        watch = Watch()
        env = {**in_files(tmp_path, profile, PLANTED_SECRET, PLANTED_TOKEN), **more}
        ended = run_watched(one_table, watch, "put", target=target, env=env)
        assert ended.code == 0, ended.reason
        for asked in watch.seen:
            wanted = signature(asked, "us-east-1", PLANTED_SECRET, PLANTED_TOKEN)
            assert asked.headers["authorization"].endswith(wanted), profile


def test_without_credentials_the_user_is_told_where_they_are_looked_for(one_table: TableAt) -> None:
    for env, word in (
        ({}, "AWS_ACCESS_KEY_ID"),
        ({"AWS_ACCESS_KEY_ID": ACCESS_KEY}, "AWS_SECRET_ACCESS_KEY"),
    ):
        ended = one_table.run("put", env=env)
        assert (ended.code, ended.status) == (3, "refused") and len(ended.stderr.splitlines()) == 1
        assert word in ended.stderr
    ended = one_table.run("put", env=ROOT_KEYS, target={"profile": "nobody"})
    assert ended.code == 3 and "nobody" in ended.stderr
    assert not one_table.is_there()


def nothing_told(ended: Ended, folder: Path, *secrets: str) -> None:
    """Neither what the engine says nor what lies in the folder has a secret."""
    for secret in secrets:
        assert secret not in ended.stdout and secret not in ended.stderr, "told"
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "credentials":
                assert secret.encode() not in path.read_bytes(), f"in {path}"


@pytest.mark.parametrize("place", ["environment", "profile"])
def test_credentials_are_not_told(table: TableAt, place: str, tmp_path: Path) -> None:
    env: dict[str, Any] = (
        PLANTED if place == "environment" else in_files(tmp_path, "default", PLANTED_SECRET, PLANTED_TOKEN)
    )
    ended = table.run("put", "get", "scan", env=env)
    assert ended.code == 0, ended.reason
    nothing_told(ended, table.folder, PLANTED_SECRET, PLANTED_TOKEN, ACCESS_KEY, "AWS4-HMAC")
    said = clean(table.target(), "--root", env=env)
    for secret in (PLANTED_SECRET, PLANTED_TOKEN, ACCESS_KEY):
        assert secret not in said.stdout + said.stderr


@pytest.mark.parametrize(
    "row", [row for row in ON_THE_WIRE if row.phase == "put" and row.fails], ids=lambda row: row.id
)
def test_faults_tell_nothing_secret(one_table: TableAt, row: Row) -> None:
    watch = Watch(row.harm, 0, ACTIONS[row.phase], 1)
    ended = run_watched(one_table, watch, "put", env=PLANTED)
    assert watch.struck == 1
    nothing_told(ended, one_table.folder, PLANTED_SECRET, PLANTED_TOKEN, ACCESS_KEY, "AWS4-HMAC")


def test_a_service_that_repeats_what_it_was_sent_is_not_quoted(one_table: TableAt) -> None:
    """As services do that explain why a signature is wrong: with the canonical request in the message."""

    def explains(exchange: Any) -> None:
        exchange.body()
        head = exchange.request.headers
        words = f"{head['authorization']} {head['x-amz-security-token']} {PLANTED_SECRET}"
        body = f'{{"__type":"com.amazon.coral.service#InvalidSignatureException","message":"{words}"}}'
        exchange.send(f"HTTP/1.1 400 Bad Request\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())

    for phase, action in ((0, "PutItem"), (-1, "DescribeTable")):
        ended = run_watched(one_table, Watch(explains, phase, action, 0), "put", env=PLANTED)
        assert "InvalidSignature" in ended.stderr, ended.stderr
        nothing_told(ended, one_table.folder, PLANTED_SECRET, PLANTED_TOKEN, "AWS4-HMAC")
    assert SECRET_KEY not in ended.stdout

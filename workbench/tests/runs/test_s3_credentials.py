"""Who asks: credentials from where they may stand, wrong ones, none; and that nothing secret is ever told."""

import json
from pathlib import Path

import pytest
from run_tools import needs_engine
from s3_harm import TABLE, Row
from s3_proxy import harmful, sends
from s3_servers import ACCESS_KEY, SECRET_KEY
from s3_tools import FOLDER, ROOT_KEYS, At, Ended, clean, job_at, run_job

pytestmark = needs_engine
PLANTED_KEY = "PLANTEDACCESSKEYID00"
PLANTED_SECRET = "planted+secret/0123456789abcdefghijkl=="
PLANTED_TOKEN = "planted-token-FwoGZXIvYXdzEBYaD0123456789"
PLANTED = {
    "AWS_ACCESS_KEY_ID": PLANTED_KEY,
    "AWS_SECRET_ACCESS_KEY": PLANTED_SECRET,
    "AWS_SESSION_TOKEN": PLANTED_TOKEN,
}


def files(folder: Path, profile: str, secret: str = SECRET_KEY, token: str = "") -> dict[str, str]:
    """The files of the AWS command line with a profile, and the environment that says where they are."""
    line = f"aws_session_token = {token}\n" if token else ""
    (folder / "credentials").write_text(
        f"[{profile}]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {secret}\n{line}"
    )
    (folder / "config").write_text("[default]\nregion = us-east-1\n")
    return {
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"),
        "AWS_CONFIG_FILE": str(folder / "config"),
    }


def refused(ended: Ended, *words: str, code: int = 2) -> None:
    """Nothing was done, and one line says why."""
    assert (ended.code, ended.status) == (code, "refused") and ended.ends() == []
    assert len(ended.stderr.splitlines()) == 1, ended.stderr
    for word in words:
        assert word in ended.stderr and word in ended.reason, (word, ended.stderr)


def test_credentials_stand_in_the_environment_or_in_a_profile(guarded: At, tmp_path: Path) -> None:
    guarded.well("put", "get", env=ROOT_KEYS)
    guarded.well("put", "get", env=files(tmp_path, "default"))
    named = files(tmp_path, "bench")
    guarded.well("put", "get", env={**named, "AWS_PROFILE": "bench"})
    guarded.well("put", "get", env=named, target={"profile": "bench"})
    wrong = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": "wrong"}
    guarded.well("put", "get", env={**named, **wrong}, target={"profile": "bench"})
    refused(guarded.run("put", env={**files(tmp_path, "default"), **wrong}))


@pytest.mark.parametrize("wrong", ["secret", "key", "token"])
def test_wrong_credentials_are_said_in_one_line(guarded: At, wrong: str) -> None:
    env = dict(ROOT_KEYS)
    if wrong == "secret":
        env["AWS_SECRET_ACCESS_KEY"] = PLANTED_SECRET
    elif wrong == "key":
        env["AWS_ACCESS_KEY_ID"] = PLANTED_KEY
    else:
        env["AWS_SESSION_TOKEN"] = PLANTED_TOKEN
    ended = guarded.run("put", env=env)
    if wrong == "token" and ended.code == 0:
        return  # The service has no use for one: it lets root in.
    refused(ended, guarded.bucket)
    said = clean(guarded.target(), env=env)
    assert said.returncode == 2 and len(said.stderr.splitlines()) == 1, said
    assert not guarded.is_there()
    assert "403" in ended.stderr or "400" in ended.stderr, ended.stderr


def test_without_credentials_the_user_is_told_where_they_are_looked_for(fast: At) -> None:
    refused(fast.run("put", env={}), "AWS_ACCESS_KEY_ID", "credentials", code=3)
    refused(fast.run("put", env={"AWS_ACCESS_KEY_ID": ACCESS_KEY}), "AWS_SECRET_ACCESS_KEY", code=3)
    refused(fast.run("put", env=ROOT_KEYS, target={"profile": "nobody"}), "nobody", code=3)
    assert not fast.is_there()


def test_whoever_is_nobody_may_do_what_all_may_do(guarded: At) -> None:
    refused(guarded.run("put", env={}, target={"anonymous": True}), "403")
    guarded.well("put", keep_files=True)
    allowed = [("GetObject", "/*"), ("ListBucket", ""), ("GetBucketLocation", "")]
    everybody = [
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": f"s3:{name}",
            "Resource": f"arn:aws:s3:::{guarded.bucket}{below}",
        }
        for name, below in allowed
    ]
    policy = json.dumps({"Version": "2012-10-17", "Statement": everybody})
    guarded.s3.put_bucket_policy(Bucket=guarded.bucket, Policy=policy)
    ended = guarded.run("get", "head", "list", env={}, reuse_files=True, keep_files=True, target={"anonymous": True})
    assert (ended.code, ended.failures()) == (0, {}), ended.reason
    ended = guarded.run("delete", env={}, reuse_files=True, keep_files=True, target={"anonymous": True})
    assert ended.failures() == {"fault AccessDenied": 12}, ended.reason
    assert len(guarded.objects()) == 12


def nothing_told(ended: Ended, folder: Path, *secrets: str) -> None:
    """Neither what the engine says nor what lies in the folder has a secret."""
    for secret in secrets:
        assert secret not in ended.stdout and secret not in ended.stderr, "told"
        for path in folder.rglob("*"):
            if path.is_file() and path.name not in ("credentials", "server.log"):
                assert secret.encode() not in path.read_bytes(), f"in {path}"


@pytest.mark.parametrize("place", ["environment", "profile"])
def test_wrong_credentials_are_not_told(at: At, place: str, tmp_path: Path) -> None:
    env = PLANTED if place == "environment" else files(tmp_path, "default", PLANTED_SECRET, PLANTED_TOKEN)
    ended = at.run("put", "get", env=env)
    nothing_told(ended, at.folder, PLANTED_SECRET, PLANTED_TOKEN)
    said = clean(at.target(), env=env)
    assert PLANTED_SECRET not in said.stdout + said.stderr and PLANTED_TOKEN not in said.stdout + said.stderr


FORMS = {
    "line": "with\nline",
    "tab": "with\ttab",
    "umlaut": "\u00fcmlaut",
    "blanks": " blanks ",
    "empty": "",
    "quoted": '"quoted"',
    "long": "x" * 5000,
}


@pytest.mark.parametrize("secret", FORMS.values(), ids=FORMS)
def test_secrets_of_any_form_are_not_told(fast: At, secret: str) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID"):
        planted = f"planted{secret}secret" if secret else ""
        ended = fast.run("put", env={**PLANTED, name: planted})
        if ended.code or fast.server.flavour.signs:
            assert ended.code in (2, 3) and len(ended.stderr.splitlines()) == 1, ended.stderr
        assert "panicked" not in ended.stderr
        if secret:
            nothing_told(ended, fast.folder, planted, PLANTED_SECRET[10:])


@pytest.mark.parametrize("row", [row for row in TABLE if not row.query and not row.more], ids=lambda row: row.id)
def test_faults_tell_nothing_secret(fast: At, row: Row) -> None:
    method = {"put": "PUT", "copy": "PUT", "get": "GET", "head": "HEAD", "delete": "DELETE"}[row.phase]
    with harmful(fast.server.port, row.harm, sends(method, FOLDER), 1) as proxy:
        target = {"bucket": fast.bucket, **row.target}
        ended = run_job(job_at(proxy.endpoint, *row.phases(), target=target), fast.folder)
    assert proxy.struck == 1
    nothing_told(ended, fast.folder, SECRET_KEY, ACCESS_KEY, "AWS4-HMAC")

"""What is said of a bucket or table before anything is measured: no credentials, refused ones, nobody there."""

import os
from pathlib import Path

import pytest
from run_tools import assay, needs_engine
from s3_harm import refuses
from s3_proxy import Request, harmful
from s3_servers import S3Server
from table_harm import says_no

from assay.store import list_runs

pytestmark = needs_engine
TARGETS = {
    "s3": '{{kind: s3, endpoint: "{endpoint}", bucket: assay-checked}}',
    "dynamodb": '{{kind: dynamodb, endpoint: "{endpoint}", table: assay-checked}}',
}
STUDY = """study: checked
question: May it?
targets:
  cloud: {target}
workloads:
  puts: {{operations: [put], object_size: 1KiB, objects: 2}}
repeats: 1
ceilings: none
network: none
"""
REFUSED = {
    "s3": (refuses("403 Forbidden", "InvalidAccessKeyId"), "403"),
    "dynamodb": (says_no("400 Bad Request", "UnrecognizedClientException"), "UnrecognizedClientException"),
}


def study(folder: Path, kind: str, endpoint: str, more: str = "") -> None:
    text = STUDY.format(target=TARGETS[kind].format(endpoint=endpoint))
    (folder / "study.yaml").write_text(text + more)


def one_fault(folder: Path) -> str:
    """What `check` finds wrong with the target: one line that names it, and a hint."""
    line, hint = assay(folder, "check", "study.yaml", expect=2).stderr.splitlines()
    assert line.startswith("study.yaml:4: error: targets.cloud: ") and len(hint) > len("  hint: ")
    return f"{line}\n{hint}"


def every(request: Request) -> bool:
    return True


@pytest.mark.parametrize("kind", TARGETS)
def test_what_can_be_used_is_well_and_left_as_it_was(tmp_path: Path, server: S3Server, kind: str) -> None:
    with harmful(server.port, lambda exchange: exchange.pass_on(), every, None) as proxy:
        study(tmp_path, kind, proxy.endpoint)
        assert assay(tmp_path, "check", "study.yaml").stdout.startswith("ok: 1 case")
    assert proxy.struck <= 2, "it is asked whether there is a bucket or table, and perhaps whose it is"


@pytest.mark.parametrize("kind", TARGETS)
def test_that_there_are_no_credentials_is_said_before_a_run(
    tmp_path: Path, server: S3Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    study(tmp_path, kind, server.endpoint)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    told = one_fault(tmp_path)
    for word in ("credentials", "AWS_ACCESS_KEY_ID", "~/.aws/credentials", "on their own host", "role of the instance"):
        assert word in told
    refused = assay(tmp_path, "run", "study.yaml", expect=3).stderr
    assert "error: target cloud: " in refused and "hint: engines find credentials on their own host" in refused
    assert not list_runs(tmp_path / "assay-runs")


@pytest.mark.parametrize("kind", TARGETS)
def test_that_the_service_refuses_them_is_said_before_a_run(tmp_path: Path, server: S3Server, kind: str) -> None:
    harm, word = REFUSED[kind]
    with harmful(server.port, harm, every, None) as proxy:
        study(tmp_path, kind, proxy.endpoint)
        told = one_fault(tmp_path)
        refused = assay(tmp_path, "run", "study.yaml", expect=3).stderr
    for text in (told, refused):
        assert word in text and "do the credentials of this host belong to this service" in text
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in told + refused


@pytest.mark.parametrize("kind", TARGETS)
def test_that_nobody_answers_is_said_before_a_run(tmp_path: Path, server: S3Server, kind: str) -> None:
    study(tmp_path, kind, server.endpoint)
    server.kill()
    assert "Connection refused" in one_fault(tmp_path) and server.endpoint in one_fault(tmp_path)


def test_hosts_of_a_study_are_left_for_the_run_to_ask(tmp_path: Path) -> None:
    study(tmp_path, "s3", "http://127.0.0.1:1", "hosts: [elsewhere]\n")
    assert assay(tmp_path, "check", "study.yaml").stdout.startswith("ok: 1 case")

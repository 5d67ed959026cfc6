"""What a service says of a refusal in its own words reaches whoever reads the result; nothing else of it does."""

import json
from pathlib import Path

import pytest
from run_tools import assay, needs_engine, only_run
from s3_proxy import Exchange, Harm, Request, harmful
from s3_servers import S3Server

from assay.store import RunStore

pytestmark = needs_engine
TARGETS = {
    "s3": '{{kind: s3, endpoint: "{endpoint}", bucket: assay-said}}',
    "dynamodb": '{{kind: dynamodb, endpoint: "{endpoint}", table: assay-said}}',
}
STUDY = """study: said
question: What does it say?
targets:
  cloud: {target}
workloads:
  gets: {{operations: [put, get], object_size: 1KiB, objects: 2}}
repeats: 1
ceilings: none
network: none
"""
HIDDEN = "AWS4-HMAC-SHA256 and all the headers"
SENTENCE = "The request signature does not match"


def in_xml(exchange: Exchange) -> None:
    """As S3 refuses: the string to sign stands beside the sentence."""
    words = f"<Code>SignatureDoesNotMatch</Code><Message>{SENTENCE}.</Message><StringToSign>{HIDDEN}</StringToSign>"
    answered(exchange, "403 Forbidden", f"<Error>{words}</Error>")


def in_json(exchange: Exchange) -> None:
    """As DynamoDB refuses: the string to sign stands in lines after the sentence."""
    name = "com.amazonaws.dynamodb.v20120810#InvalidSignatureException"
    message = f"{SENTENCE}.\n\nThe Canonical String should have been\n'{HIDDEN}'"
    answered(exchange, "400 Bad Request", json.dumps({"__type": name, "message": message}))


def answered(exchange: Exchange, status: str, body: str) -> None:
    exchange.body()
    exchange.send(f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())


def gets(request: Request) -> bool:
    """Gets of objects and items, and no looks at marks."""
    if request.method == "GET":
        return "/assay/" in request.path.partition("?")[0]
    return request.headers.get("x-amz-target", "").endswith(".UpdateItem")


@pytest.mark.parametrize(("kind", "harm"), [("s3", in_xml), ("dynamodb", in_json)], ids=TARGETS)
def test_the_sentence_of_a_refusal_is_shown(tmp_path: Path, server: S3Server, kind: str, harm: Harm) -> None:
    operations = "put, get" if kind == "s3" else "put, update"
    with harmful(server.port, harm, gets, None) as proxy:
        text = STUDY.format(target=TARGETS[kind].format(endpoint=proxy.endpoint))
        (tmp_path / "study.yaml").write_text(text.replace("put, get", operations))
        assay(tmp_path, "run", "study.yaml", expect=1)
    assert proxy.struck == 2
    with RunStore.open(only_run(tmp_path)) as store:
        tallies = [tally for sample in store.samples() for tally in sample.errors]
    assert [tally.count for tally in tallies] == [2]
    assert tallies[0].example.endswith(f": {SENTENCE}")
    told = assay(tmp_path, "show", "last", "c0001").stdout
    assert SENTENCE in told and HIDDEN not in told + tallies[0].example

"""What can go wrong between an engine and a service of DynamoDB, as rows of a table: see `s3_harm`."""

import base64
import json
from collections.abc import Callable
from typing import Any

from s3_harm import (
    BROKEN,
    ENDED,
    MALFORMED,
    SHORT,
    Row,
    chunked,
    close_before_answer,
    close_within_answer,
    close_within_head,
    goes_on_first,
    late,
    late_body,
    no_http,
    other_body,
    page_of_a_gateway,
    reset_before_answer,
    reset_within_answer,
    says_close,
    silent,
    until_closed,
)
from s3_proxy import Exchange, Harm
from s3_tools import Json
from table_tools import CONTENTS, PARTITION, SORTED, Item

ACTIONS = {
    "put": "PutItem",
    "get": "GetItem",
    "update": "UpdateItem",
    "delete": "DeleteItem",
    "batch_put": "BatchWriteItem",
    "batch_get": "BatchGetItem",
    "query": "Query",
    "scan": "Scan",
}
"""Operation -> what it asks for."""
TYPE = "com.amazonaws.dynamodb.v20120810#"


def says_no(status: str, code: str, prefix: str = TYPE) -> Harm:
    """A refusal of DynamoDB's in place of an answer."""

    def harm(exchange: Exchange) -> None:
        exchange.body()
        body = json.dumps({"__type": prefix + code, "message": "No."})
        lines = [f"HTTP/1.1 {status}", "content-type: application/x-amz-json-1.0", f"content-length: {len(body)}"]
        exchange.send(("\r\n".join([*lines, "", ""]) + body).encode())

    return harm


def says_no_in_a_header(exchange: Exchange) -> None:
    """As services in front of it do."""
    exchange.body()
    lines = ["HTTP/1.1 400 Bad Request", "x-amzn-ErrorType: ThrottlingException:", "content-length: 2"]
    exchange.send(("\r\n".join([*lines, "", ""]) + "{}").encode())


def says_done(exchange: Exchange) -> None:
    """And does nothing."""
    exchange.body()
    exchange.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: 2\r\n\r\n{}")


def items_of(answer: Json) -> list[Item]:
    """The items that an answer has."""
    if "Responses" in answer:
        (items,) = answer["Responses"].values()
        return list(items)
    return list(answer["Items"]) if "Items" in answer else [answer["Item"]] if "Item" in answer else []


def with_items(answer: Json, items: list[Item]) -> Json:
    """The answer with other items."""
    if "Responses" in answer:
        (table,) = answer["Responses"]
        return {**answer, "Responses": {table: items}}
    if "Items" in answer:
        return {**answer, "Items": items, "Count": len(items), "ScannedCount": len(items)}
    return {**answer, "Item": items[0]} if items else {name: answer[name] for name in answer if name != "Item"}


def other_answer(make: Callable[[Json], Json]) -> Harm:
    """Another answer, from the right one."""
    return other_body(lambda body: json.dumps(make(json.loads(body))).encode())


def other_items(make: Callable[[list[Item]], list[Item]]) -> Harm:
    """Other items than there are. The marks of the table and the job, which a scan meets, stay."""

    def change(answer: Json) -> Json:
        every = items_of(answer)
        mine = [item for item in every if CONTENTS in item]
        return with_items(answer, [item for item in every if CONTENTS not in item] + make(mine))

    return other_answer(change)


def one_item(make: Callable[[Item], Item]) -> Harm:
    """Another one in place of the last."""
    return other_items(lambda items: [*items[:-1], make(items[-1])] if items else [])


def other_contents(make: Callable[[bytes], bytes]) -> Harm:
    """Other contents of the last item."""

    def change(item: Item) -> Item:
        made = make(base64.b64decode(item[CONTENTS]["B"]))
        return {**item, CONTENTS: {"B": base64.b64encode(made).decode()}}

    return one_item(change)


def one_bit(contents: bytes) -> bytes:
    changed = bytearray(contents)
    changed[len(changed) * 2 // 3] ^= 16
    return bytes(changed)


def without_contents(item: Item) -> Item:
    return {name: item[name] for name in item if name != CONTENTS}


def asks_for_another(exchange: Exchange) -> None:
    """The service is asked for the neighbour: that is what comes back, with its own key."""
    body: Json = json.loads(exchange.body())
    key = body["Key"][PARTITION]["S"]
    other = key[:-1] + format(int(key[-1], 16) ^ 1, "x")
    exchange._body = exchange.body().replace(key.encode(), other.encode())
    exchange.pass_on()


def swapped(items: list[Item]) -> list[Item]:
    """The contents of two items, exchanged."""
    *rest, one, two = items
    return [*rest, {**one, CONTENTS: two[CONTENTS]}, {**two, CONTENTS: one[CONTENTS]}]


def leaves_undone(count: int) -> Harm:
    """So many of a batch are not done, by what the service says."""

    def harm(exchange: Exchange) -> None:
        ((table, asked),) = json.loads(exchange.body())["RequestItems"].items()
        answer = exchange.answer()
        told: Json = json.loads(answer.body)
        if "Responses" in told:
            told["Responses"] = {table: told["Responses"][table][count:]}
            left = [item for item in asked["Keys"] if item[PARTITION] not in _partitions(told["Responses"][table])]
            told["UnprocessedKeys"] = {table: {"Keys": left}}
        else:
            told["UnprocessedItems"] = {table: asked[:count]}
        answer.body = json.dumps(told).encode()
        exchange.send(answer.whole())

    return harm


def _partitions(items: list[Item]) -> list[dict[str, Any]]:
    return [item[PARTITION] for item in items]


THROTTLED = "ProvisionedThroughputExceededException"
NAMES = [
    ("400 Bad Request", "ThrottlingException", ""),
    ("400 Bad Request", "RequestLimitExceeded", ""),
    ("400 Bad Request", "ExpiredTokenException", "com.amazon.coral.service#"),
    ("400 Bad Request", "UnrecognizedClientException", "com.amazon.coral.service#"),
    ("400 Bad Request", "AccessDeniedException", "com.amazon.coral.service#"),
    ("400 Bad Request", "InvalidSignatureException", "com.amazon.coral.service#"),
    ("400 Bad Request", "ItemCollectionSizeLimitExceededException", TYPE),
    ("400 Bad Request", "ResourceNotFoundException", TYPE),
    ("500 Internal Server Error", "InternalServerError", TYPE),
    ("503 Service Unavailable", "ServiceUnavailable", "com.amazon.coral.availability#"),
]
GARBAGE = {
    "nothing": b"",
    "cut": b'{"Item": {"pk": {"S": "assay',
    "list": b"[]",
    "null": b"null",
    "no-text": b"\xff\xfe\x00{}",
    "xml": b"<?xml version='1.0'?><Error/>",
    "deep": b'{"a":' * 50_000,
    "two": b'{"ConsumedCapacity":{"CapacityUnits":1}} {}',
}


def garbage(body: bytes) -> Harm:
    """This in place of an answer."""
    return other_body(lambda _: body)


READS = ("get", "batch_get", "query", "scan")
BATCHES: Json = {"objects": {"count": 12, "batch": 4}, "queue_depth": 1}
"""Three requests for twelve items."""
GROUPS: dict[str, Any] = {"more": BATCHES, "target": {**SORTED, "partition_items": 4}}
LENGTH = ("fault ItemLength",)
GONE = ("fault NoSuchItem",)
WRONG = ("corrupt", *GONE, *LENGTH, *MALFORMED)
"""Any of them tells that it was not what was asked for."""


def _extra(phase: str) -> dict[str, Any]:
    """Fields of a row whose operations are few, so that each has several items."""
    return {
        "batch_put": {"more": BATCHES},
        "batch_get": {"more": BATCHES},
        "query": GROUPS,
        "scan": {"more": BATCHES},
    }.get(phase, {})


def _rows(name: str, phases: tuple[str, ...], harm: Harm, fails: tuple[str, ...] = (), **more: Any) -> list[Row]:
    return [Row(f"{one}-{name}", one, harm, fails, **{**_extra(one), **more}) for one in phases]


ON_THE_WIRE = [
    *_rows("throttled", tuple(ACTIONS), says_no("400 Bad Request", THROTTLED), (f"fault {THROTTLED}",)),
    *(
        Row(f"{one}-{name}", one, says_no(status, name, prefix), (f"fault {name}",))
        for one in ("put", "get")
        for status, name, prefix in NAMES
    ),
    Row("get-throttled-in-a-header", "get", says_no_in_a_header, ("fault ThrottlingException",)),
    Row("get-unknown-name", "get", says_no("400 No", "NewInThisReleaseException"), ("fault Bad Request", "fault")),
    Row("put-gateway", "put", page_of_a_gateway, ("fault Bad Gateway", "fault")),
    *_rows("reset-before-answer", tuple(ACTIONS), reset_before_answer, BROKEN),
    *_rows("closed-before-answer", ("put", "get", "scan"), close_before_answer, ENDED),
    *_rows("closed-within-head", ("put", "get"), close_within_head, ENDED),
    *_rows("closed-within-answer", ("get", "query"), close_within_answer, ("short_read", *ENDED)),
    *_rows("reset-within-answer", ("get", "batch_get"), reset_within_answer, BROKEN),
    *_rows("no-http", ("put", "get"), no_http, MALFORMED),
    Row("get-silent", "get", silent, ("fault ETIMEDOUT",), target=SHORT),
    *_rows("late", ("put", "get"), late),
    Row("get-late-body", "get", late_body),
    *_rows("chunked", ("put", "batch_get"), chunked),
    *_rows("until-closed", ("get",), until_closed),
    *_rows("says-close", ("update", "query"), says_close),
    *_rows("told-to-go-on", ("batch_put",), goes_on_first),
    *(Row(f"get-garbage-{name}", "get", garbage(body), MALFORMED) for name, body in GARBAGE.items()),
    *_rows("garbage", tuple(ACTIONS), garbage(b'{"Cons'), MALFORMED),
]  # fmt: skip
"""Faults of the wire, and refusals."""

WRONG_ITEMS = [
    *_rows("one-bit", READS, other_contents(one_bit), ("corrupt",)),
    *_rows("shorter", READS, other_contents(lambda contents: contents[:-1]), (*LENGTH, "short_read")),
    *_rows("longer", READS, other_contents(lambda contents: contents + b"x"), LENGTH),
    *_rows("empty", READS, other_contents(lambda contents: b""), (*LENGTH, "short_read")),
    *_rows("missing", READS, other_items(lambda items: items[:-1]), GONE),
    *_rows("without-contents", READS, one_item(without_contents), (*WRONG, "short_read")),
    *_rows("contents-of-text", READS, one_item(lambda item: {**item, CONTENTS: {"S": "text"}}), (*WRONG, "short_read")),
    *_rows("no-base64", READS, one_item(lambda item: {**item, CONTENTS: {"B": "%%%"}}), (*WRONG, "short_read")),
    Row("get-another-item", "get", asks_for_another, WRONG),
    *_rows("swapped", READS[1:], other_items(swapped), WRONG),
    *_rows("one-twice", READS[1:], other_items(lambda items: [*items[:-1], items[0]]), WRONG),
    *_rows("in-another-order", ("batch_get",), other_items(lambda items: items[::-1])),
    *_rows("with-more-told", READS, other_answer(lambda answer: {**answer, "New": [{"a": None}]})),
]
"""Services that answer something else than what is there."""

ABSURD: dict[str, Any] = {
    "missing": None,
    "null": {"CapacityUnits": None},
    "text": {"CapacityUnits": "many"},
    "negative": {"CapacityUnits": -5.0},
    "huge": {"CapacityUnits": 1e308},
    "list": [{"CapacityUnits": 1.0}],
    "true": True,
}
"""Consumed capacities that no service should tell."""


def tells_units(told: Any) -> Harm:
    """Something else than the capacity that was consumed."""

    def change(answer: Json) -> Json:
        rest = {name: answer[name] for name in answer if name != "ConsumedCapacity"}
        return rest if told is None else {**rest, "ConsumedCapacity": told}

    return other_answer(change)

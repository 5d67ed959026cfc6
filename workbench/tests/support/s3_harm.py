"""What can go wrong on the wire, as rows of a table: what is done to one request, and what must come of it."""

import select
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from s3_proxy import Exchange, GoneError, Harm
from s3_tools import MIB, SECOND, Json

DELAY = 1.5
"""Seconds of a delay that must be seen in a latency."""


def passes(exchange: Exchange) -> None:
    exchange.pass_on()


def reset_before_answer(exchange: Exchange) -> None:
    exchange.body()
    exchange.reset()


def reset_within_answer(exchange: Exchange) -> None:
    whole = exchange.answer().whole()
    exchange.send(whole[: len(whole) * 2 // 3])
    # What was sent must have arrived: an RST may overtake it.
    time.sleep(0.05)
    exchange.reset()


def reset_within_request(exchange: Exchange) -> None:
    exchange.client.take(exchange.request.length // 3)
    exchange.reset()


def close_before_answer(exchange: Exchange) -> None:
    exchange.body()
    exchange.close()


def close_within_head(exchange: Exchange) -> None:
    exchange.send(exchange.answer().whole()[:40])
    exchange.close()


def close_within_answer(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.send(answer.head() + answer.body[: len(answer.body) // 2])
    exchange.close()


def close_within_chunks(exchange: Exchange) -> None:
    answer = exchange.answer()
    half = answer.body[: len(answer.body) // 2]
    exchange.send(answer.head("transfer-encoding: chunked") + b"%x\r\n%s\r\n" % (len(half), half))
    exchange.close()


def chunked(exchange: Exchange) -> None:
    answer, pieces = exchange.answer(), b""
    if " 204 " in answer.status:
        # Such an answer never has a body.
        return exchange.send(answer.whole())
    for start in range(0, len(answer.body), 1000):
        piece = answer.body[start : start + 1000]
        pieces += b"%x;note=1\r\n%s\r\n" % (len(piece), piece)
    end = b"" if exchange.request.method == "HEAD" else b"0\r\nx-trailer: 1\r\n\r\n"
    return exchange.send(answer.head("transfer-encoding: chunked") + pieces + end)


def until_closed(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.send(answer.head("connection: close") + answer.body)
    exchange.close()


def says_close(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.send(
        answer.head(f"content-length: {answer.length or len(answer.body)}", "connection: close") + answer.body
    )
    exchange.close()


def goes_on_first(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    exchange.pass_on()


def silent(exchange: Exchange) -> None:
    exchange.wait_until_closed()


def takes_nothing(exchange: Exchange) -> None:
    """As silent, but the request stays on its way: nothing of its body is taken."""
    poll = select.poll()
    poll.register(exchange.client.wire, select.POLLRDHUP)
    poll.poll()
    raise GoneError


def late(exchange: Exchange) -> None:
    answer = exchange.answer()
    time.sleep(DELAY)
    exchange.send(answer.whole())


def late_body(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.send(answer.head() + answer.body[:1000])
    time.sleep(DELAY)
    exchange.send(answer.body[1000:])


def no_http(exchange: Exchange) -> None:
    exchange.body()
    exchange.send(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    exchange.close()


def refuses(status: str, code: str, *headers: str) -> Harm:
    """A refusal in place of an answer."""

    def harm(exchange: Exchange) -> None:
        exchange.body()
        exchange.refuse(status, code, *headers)

    return harm


def page_of_a_gateway(exchange: Exchange) -> None:
    exchange.body()
    body = b"<html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"
    exchange.send(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def refuses_early(exchange: Exchange) -> None:
    exchange.client.take(1000)
    exchange.refuse("503 Slow Down", "SlowDown")
    exchange.client.take(exchange.request.length - 1000)


def refuses_early_and_closes(exchange: Exchange) -> None:
    exchange.client.take(1000)
    exchange.refuse("503 Slow Down", "SlowDown", "connection: close")
    exchange.close()


def changed(name: str, value: str) -> Harm:
    """Another value of a header of the answer, which has it."""

    def harm(exchange: Exchange) -> None:
        answer = exchange.answer()
        assert name in answer.headers, answer.headers
        answer.headers[name] = value
        exchange.send(answer.whole())

    return harm


def without_etag(exchange: Exchange) -> None:
    answer = exchange.answer()
    del answer.headers["etag"]
    exchange.send(answer.whole())


def one_bit(exchange: Exchange) -> None:
    answer = exchange.answer()
    body = bytearray(answer.body)
    body[len(body) * 2 // 3] ^= 16
    answer.body = bytes(body)
    exchange.send(answer.whole())


def other_body(make: Callable[[bytes], bytes]) -> Harm:
    """Another body, with its length."""

    def harm(exchange: Exchange) -> None:
        answer = exchange.answer()
        answer.body = make(answer.body)
        exchange.send(answer.whole())

    return harm


def whole_instead_of_range(exchange: Exchange) -> None:
    assert exchange.request.headers["range"].startswith("bytes=")
    answer = exchange.answer()
    # The range is signed, so the service cannot be asked for all: what it sends is made longer.
    answer.status = "HTTP/1.1 200 OK"
    answer.headers.pop("content-range", None)
    answer.body = answer.body * 3
    exchange.send(answer.whole())


WRONG_ETAG = '"0123456789abcdef0123456789abcdef"'
NOT_THERE = b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"
NOT_DELETED = (
    b'<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Error><Key>assay/c1-r1/o0.3</Key>'
    b"<Code>AccessDenied</Code><Message>No.</Message></Error></DeleteResult>"
)


@dataclass(frozen=True)
class Row:
    """A fault, and what must come of it.

    Attributes:
        id: Name of the row.
        phase: Of which operation the chosen request is; the objects are there before.
        harm: What is done to it.
        fails: What fails, and how often: any of these tallies.
        method: Of the chosen request.
        query: What its path must have besides the key; none: it is no request of an upload.
        more: Fields of the job.
        target: Fields of its target.
        range: Bytes that are asked for of each object; 0: all.
    """

    id: str
    phase: str
    harm: Harm
    fails: tuple[str, ...] = ()
    method: str = ""
    query: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    target: Json = field(default_factory=dict)
    range: int = 0

    def phases(self) -> list[str | Json]:
        """Of the job."""
        last: Json = {"operation": self.phase, **({"range_bytes": self.range} if self.range else {})}
        return [last] if self.phase == "put" else ["prepare", last]


LARGE: dict[str, Any] = {"file_size_bytes": 8 * MIB, "record_size_bytes": MIB, "objects": {"count": 5}}
PARTS: dict[str, Any] = {**LARGE, "file_size_bytes": 11 * MIB, "objects": {"count": 2, "part_size_bytes": 5 * MIB}}
SHORT: Json = {"timeout_ns": 2 * SECOND}
UNCHECKED: dict[str, Any] = {"data": {"verify": False}}
BROKEN = ("fault ECONNRESET", "fault EPIPE")
"""Which of them comes depends on whether the engine reads or writes just then."""
ENDED = ("fault ECONNABORTED",)
SLOW_DOWN, MALFORMED = ("fault SlowDown",), ("fault MalformedAnswer",)

TABLE = [
    *(Row(f"{one}-reset-before-answer", one, reset_before_answer, BROKEN) for one in ("put", "get", "head", "copy")),
    *(Row(f"{one}-closed-before-answer", one, close_before_answer, ENDED) for one in ("put", "get", "head", "delete")),
    *(Row(f"{one}-closed-within-head", one, close_within_head, ENDED) for one in ("put", "get")),
    *(Row(f"{one}-slow-down", one, refuses("503 Slow Down", "SlowDown"), SLOW_DOWN) for one in ("put", "get", "copy")),
    *(Row(f"{one}-no-http", one, no_http, MALFORMED) for one in ("put", "get", "head")),
    *(Row(f"{one}-silent", one, silent, ("fault ETIMEDOUT",), target=SHORT) for one in ("put", "get")),
    *(Row(f"{one}-late", one, late) for one in ("put", "get", "head")),
    *(Row(f"{one}-says-close", one, says_close) for one in ("put", "get", "head", "delete")),
    Row("put-reset-within-request", "put", reset_within_request, BROKEN),
    Row("long-put-reset-within-request", "put", reset_within_request, BROKEN, more=LARGE),
    Row("long-put-not-taken", "put", takes_nothing, ("fault ETIMEDOUT",), more=LARGE, target=SHORT),
    Row("get-reset-within-answer", "get", reset_within_answer, BROKEN),
    Row("long-get-reset-within-answer", "get", reset_within_answer, BROKEN, more=LARGE),
    Row("get-closed-within-answer", "get", close_within_answer, ("short_read", *ENDED)),
    Row("long-get-closed-within-answer", "get", close_within_answer, ("short_read", *ENDED), more=LARGE),
    Row("get-closed-within-chunks", "get", close_within_chunks, ("short_read", *ENDED)),
    Row("range-closed-within-answer", "get", close_within_answer, ("short_read", *ENDED), range=1000),
    Row("get-chunked", "get", chunked),
    Row("get-until-closed", "get", until_closed),
    Row("put-chunked", "put", chunked),
    Row("put-told-to-go-on", "put", goes_on_first),
    Row("get-late-body", "get", late_body),
    Row("put-internal-error", "put", refuses("500 Internal Server Error", "InternalError"), ("fault InternalError",)),
    Row("put-refused-early", "put", refuses_early, SLOW_DOWN, more=LARGE),
    Row("put-refused-early-and-closed", "put", refuses_early_and_closes, SLOW_DOWN, more=LARGE),
    Row("short-put-refused-early-and-closed", "put", refuses_early_and_closes, SLOW_DOWN),
    Row("get-expired", "get", refuses("400 Bad Request", "ExpiredToken"), ("fault ExpiredToken",)),
    Row("get-skewed", "get", refuses("403 Forbidden", "RequestTimeTooSkewed"), ("fault RequestTimeTooSkewed",)),
    Row("get-gateway", "get", page_of_a_gateway, ("fault Bad Gateway", "fault")),
    Row("get-unknown-name", "get", refuses("503 No", "NewInThisRelease"), ("fault Service Unavailable", "fault")),
    Row(
        "get-moved", "get",
        refuses("301 Moved Permanently", "PermanentRedirect", "location: http://127.0.0.1:1/elsewhere"),
        ("fault PermanentRedirect",),
    ),
    Row(
        "put-moved", "put",
        refuses("307 Temporary Redirect", "TemporaryRedirect", "location: http://127.0.0.1:1/elsewhere"),
        ("fault TemporaryRedirect",),
    ),
    Row("put-wrong-etag", "put", changed("etag", WRONG_ETAG), ("fault ETagMismatch",), target={"checksum": "md5"}),
    Row("put-wrong-etag-not-asked", "put", changed("etag", WRONG_ETAG)),
    Row("get-one-bit", "get", one_bit, ("corrupt",)),
    Row("long-get-one-bit", "get", one_bit, ("corrupt",), more=LARGE),
    Row("get-one-bit-unchecked", "get", one_bit, more=UNCHECKED),
    *(
        Row(f"get-one-bit-{name}", "get", one_bit, (f"fault {found}",), more=UNCHECKED, target={"checksum": name})
        for name, found in [
            ("md5", "ETagMismatch"), ("crc32", "ChecksumMismatch"), ("crc32c", "ChecksumMismatch"),
            ("crc64nvme", "ChecksumMismatch"), ("sha256", "ChecksumMismatch"),
        ]
    ),
    Row("get-too-short", "get", other_body(lambda body: body[:-1]), ("short_read",)),
    Row("get-empty", "get", other_body(lambda body: b""), ("short_read",)),
    Row("get-too-long", "get", other_body(lambda body: body + b"x"), MALFORMED),
    Row("long-get-too-long", "get", other_body(lambda body: body + b"x"), MALFORMED, more=LARGE),
    Row("range-not-heeded", "get", whole_instead_of_range, MALFORMED, range=1000),
    Row("copy-fails-in-the-end", "copy", other_body(lambda body: NOT_THERE), ("fault InternalError",)),
    Row("list-cut-off", "list", other_body(lambda body: body[: len(body) // 2]), MALFORMED, "GET", "list-type=2"),
    Row(
        "some-not-deleted", "multi_delete", other_body(lambda body: NOT_DELETED), ("fault AccessDenied",), "POST",
        "delete",
    ),
    Row("part-wrong-etag", "put", changed("etag", WRONG_ETAG), ("fault InvalidPart",), "PUT", "partNumber=2", PARTS),
    Row(
        "part-slow-down", "put", refuses("503 Slow Down", "SlowDown"), SLOW_DOWN, "PUT", "partNumber=2", PARTS,
    ),
    Row("upload-without-name", "put", other_body(lambda body: b"<a></a>"), MALFORMED, "POST", "uploads=", PARTS),
    Row(
        "upload-fails-in-the-end", "put", other_body(lambda body: NOT_THERE), ("fault InternalError",), "POST",
        "uploadId=", PARTS,
    ),
    Row("part-without-etag", "put", without_etag, MALFORMED, "PUT", "partNumber=2", PARTS),
    Row("part-reset", "put", reset_within_request, BROKEN, "PUT", "partNumber=1", PARTS),
]  # fmt: skip

"""A proxy between an engine and a service that does harm on the wire, to one request only.

It knows as much of HTTP as is needed to tell requests apart, and holds no opinion on what is asked. Each connection has
a thread here; each request goes to the service over a connection of its own.
"""

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

PIECE = 1 << 16


class GoneError(Exception):
    """The other side has closed the connection."""


@dataclass(frozen=True)
class Request:
    """What was asked: the lines of its head, with small letters in the names of headers."""

    method: str
    path: str
    headers: dict[str, str]
    head: bytes
    connection: int

    @property
    def length(self) -> int:
        """Bytes of its body."""
        return int(self.headers.get("content-length", "0"))


@dataclass
class Answer:
    """What the service has answered, without the headers that frame the body."""

    status: str
    headers: dict[str, str]
    body: bytes
    length: str = ""

    def head(self, *framing: str) -> bytes:
        """Its head, with these lines; without any, with one that says how long the body is."""
        framed = framing or (f"content-length: {self.length or len(self.body)}",)
        lines = [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([self.status, *lines, *framed, "", ""]).encode("latin-1")

    def whole(self) -> bytes:
        """Head and body."""
        return self.head() + self.body


class Stream:
    """A socket and what was read ahead."""

    def __init__(self, wire: socket.socket) -> None:
        self.wire, self.ahead = wire, b""

    def more(self) -> None:
        """Read on."""
        piece = self.wire.recv(PIECE)
        if not piece:
            raise GoneError
        self.ahead += piece

    def take(self, length: int) -> bytes:
        """So many bytes."""
        parts = []
        while length > 0:
            if not self.ahead:
                self.more()
            piece, self.ahead = self.ahead[:length], self.ahead[length:]
            parts.append(piece)
            length -= len(piece)
        return b"".join(parts)

    def until(self, mark: bytes) -> bytes:
        """All up to a mark, which is part of it."""
        while mark not in self.ahead:
            self.more()
        end = self.ahead.index(mark) + len(mark)
        return self.take(end)

    def rest(self) -> bytes:
        """All there is until the other side closes."""
        with contextlib.suppress(GoneError):
            while True:
                self.more()
        return self.take(len(self.ahead))

    def lines(self) -> tuple[str, dict[str, str], bytes]:
        """A head: its first line, headers, and all its bytes."""
        head = self.until(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        pairs = (line.split(":", 1) for line in lines)
        return first, {name.strip().lower(): value.strip() for name, value in pairs}, head


@dataclass
class Exchange:
    """A request at the proxy, not passed on yet: harm is done through this."""

    request: Request
    client: Stream
    server_port: int
    server_host: str = "127.0.0.1"
    _body: bytes | None = None

    def body(self) -> bytes:
        """What is sent with it; read when it is first asked for."""
        if self._body is None:
            self._body = self.client.take(self.request.length)
        return self._body

    def answer(self) -> Answer:
        """Pass the request on, and take the answer."""
        with socket.create_connection((self.server_host, self.server_port)) as wire:
            wire.sendall(self.request.head + self.body())
            stream = Stream(wire)
            status, headers, _ = stream.lines()
            length, coding = headers.pop("content-length", ""), headers.pop("transfer-encoding", "")
            for name in ("connection", "keep-alive"):
                headers.pop(name, None)
            code = status.split(" ")[1]
            if self.request.method == "HEAD" or code in ("204", "304"):
                return Answer(status, headers, b"", length)
            if coding:
                return Answer(status, headers, _chunks(stream))
            return Answer(status, headers, stream.take(int(length)) if length else stream.rest())

    def send(self, contents: bytes) -> None:
        """To the engine."""
        self.client.wire.sendall(contents)

    def pass_on(self) -> None:
        """The whole of it, as if nobody was between."""
        self.send(self.answer().whole())

    def refuse(self, status: str, code: str, *headers: str) -> None:
        """Answer in place of the service."""
        body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>No.</Message></Error>'
        sent = "" if self.request.method == "HEAD" else body
        lines = [f"HTTP/1.1 {status}", "content-type: application/xml", f"content-length: {len(body)}", *headers]
        self.send(("\r\n".join([*lines, "", ""]) + sent).encode())

    def reset(self) -> None:
        """Close the connection so that the engine gets an RST."""
        with contextlib.suppress(OSError):
            self.client.wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.client.wire.close()
        raise GoneError

    def close(self) -> None:
        """Close the connection in order: everything sent arrives, then an end. What comes meanwhile is taken."""
        self.client.wire.shutdown(socket.SHUT_WR)
        self.client.rest()
        raise GoneError

    def wait_until_closed(self) -> None:
        """Say nothing until the engine gives up."""
        self.body()
        self.client.rest()
        raise GoneError


def _chunks(stream: Stream) -> bytes:
    parts = []
    while length := int(stream.until(b"\r\n").split(b";")[0], 16):
        parts.append(stream.take(length))
        stream.until(b"\r\n")
    stream.until(b"\r\n")
    return b"".join(parts)


Harm = Callable[[Exchange], None]


@dataclass
class Proxy:
    """One that runs.

    Attributes:
        server_port: Where requests go.
        harm: What is done with the chosen request, in place of passing it on.
        chooses: Of which kind of requests one is chosen.
        which: Its place among these, from 0; none: each of them.
        seen: All requests, in the order in which they came.
        struck: How often harm was done.
        tls: With which the engine has to speak, if it has.
        server_host: Where the service is.
    """

    server_port: int
    harm: Harm
    chooses: Callable[[Request], bool]
    which: int | None = 0
    seen: list[Request] = field(default_factory=list)
    struck: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    server_host: str = "127.0.0.1"
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: list[socket.socket] = field(default_factory=list)
    _listener: socket.socket | None = None
    _chosen: int = 0

    @property
    def endpoint(self) -> str:
        """Where the engine is sent."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def count(self, path_has: str) -> int:
        """Requests that have come whose path has this."""
        return sum(path_has in request.path for request in self.seen)

    def serve(self, listener: socket.socket) -> None:
        """Take connections until the listener is closed."""
        with contextlib.suppress(OSError):
            number = 0
            while True:
                wire, _ = listener.accept()
                self._open.append(wire)
                threading.Thread(target=self._connection, args=(wire, number), daemon=True).start()
                number += 1

    def _connection(self, wire: socket.socket, number: int) -> None:
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.ExitStack() as held, contextlib.suppress(GoneError, OSError):
            held.enter_context(wire)
            # Whoever does not trust the certificate leaves here.
            stream = Stream(held.enter_context(self.tls.wrap_socket(wire, server_side=True)) if self.tls else wire)
            while True:
                first, headers, head = stream.lines()
                method, path, _ = first.split(" ")
                request = Request(method, path, headers, head, number)
                exchange = Exchange(request, stream, self.server_port, self.server_host)
                if self._is_chosen(request):
                    self.harm(exchange)
                else:
                    exchange.pass_on()

    def _is_chosen(self, request: Request) -> bool:
        with self._lock:
            self.seen.append(request)
            if not self.chooses(request):
                return False
            self._chosen += 1
            if self.which is not None and self._chosen != self.which + 1:
                return False
            self.struck += 1
            return True

    def shut(self) -> None:
        """Close all connections, and take no new ones."""
        if self._listener:
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
        for wire in self._open:
            with contextlib.suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)
            wire.close()


@contextlib.contextmanager
def harmful(
    server_port: int,
    harm: Harm,
    chooses: Callable[[Request], bool],
    which: int | None = 0,
    tls: ssl.SSLContext | None = None,
    server_host: str = "127.0.0.1",
) -> Iterator[Proxy]:
    """A proxy, gone afterwards."""
    proxy = Proxy(server_port, harm, chooses, which, tls=tls, server_host=server_host)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy.port, proxy._listener = listener.getsockname()[1], listener
        thread = threading.Thread(target=proxy.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shut()
            thread.join()


def sends(method: str, folder: str) -> Callable[[Request], bool]:
    """Requests of this method for a key below a folder."""
    return lambda request: request.method == method and f"/{folder}" in request.path.partition("?")[0]

"""The HTTP server of `assay serve`: which requests it accepts, and the headers of every answer."""

import errno
import ipaddress
import socket
import socketserver
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.rooms.serve.work.folder import RunsFolder
from assay.rooms.serve.work.responses import Response, error_page, respond
from assay.terminal.output import note

SILENT_TIMEOUT_SECONDS = 30
"""Seconds after which the connection of a silent client is closed."""
_COMMON_HEADERS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


class Server(ThreadingHTTPServer):
    """Serves the runs of a folder, each request in a thread of its own."""

    daemon_threads = True

    def __init__(self, folder: RunsFolder, host: str, port: int) -> None:
        """Listen for connections.

        Args:
            folder: The runs to serve.
            host: Address or name to listen at.
            port: Port; 0 for any free one.

        Raises:
            AssayError: This address or port is not available.
        """
        self.folder = folder
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            self.address_family, _, _, _, place = found[0]
            super().__init__(cast("tuple[str, int]", place), Handler)
        except OSError as error:
            hint = "choose another port with --port, or any free one with --port 0"
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                hint = "give an address of this machine with --host"
            words = (error.strerror or str(error)).lower()
            raise AssayError(f"cannot listen at {host}, port {port}: {words}", hint) from error
        self.loopback = ipaddress.ip_address(str(self.server_address[0]).partition("%")[0]).is_loopback

    def server_bind(self) -> None:
        """Bind without looking up the machine's name, as the parent class does: that may take long."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    @property
    def address(self) -> str:
        """Address of the server for a browser."""
        host = self.server_name
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_port}/"

    def is_addressed(self, host: str | None) -> bool:
        """Return whether a request with this header `Host` was addressed to this server.

        On loopback, a foreign page could reach the server by a name that its owner points at this machine (DNS
        rebinding); the header then has that name. Only IP addresses and `localhost` are accepted there.
        """
        if not self.loopback or host is None:
            return not self.loopback
        name = host.strip().lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        if name == "localhost":
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Print one line about an error; ignore a connection that the browser closed."""
        error = sys.exception()
        if not isinstance(error, OSError):
            note(f"error: a request failed: {type(error).__name__}: {escape_line(str(error))}")


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    server: Server
    server_version, sys_version = "assay", ""
    timeout = SILENT_TIMEOUT_SECONDS

    def do_GET(self) -> None:
        """Answer the request."""
        self._send(self._answer())

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        """Refuse: nothing can be changed here."""
        self._send(error_page(HTTPStatus.METHOD_NOT_ALLOWED, "This server is read-only."))

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST  # noqa: N815

    def _answer(self) -> Response:
        if not self.server.is_addressed(self.headers.get("Host")):
            text = "This server answers only on this machine, by its address or as localhost."
            return error_page(HTTPStatus.MISDIRECTED_REQUEST, text, f"Open {self.server.address}")
        try:
            return respond(self.server.folder, self.path)
        except Exception as error:
            note(f"error: {escape_line(self.path, 200)}: {type(error).__name__}: {escape_line(str(error))}")
            return error_page(HTTPStatus.INTERNAL_SERVER_ERROR, "Assay has a bug: this page cannot be created.")

    def _send(self, found: Response) -> None:
        self.send_response(found.status)
        allow = (("Allow", "GET, HEAD"),) if found.status == HTTPStatus.METHOD_NOT_ALLOWED else ()
        for name, value in (*_COMMON_HEADERS, *allow, *found.headers):
            self.send_header(name, value)
        if found.status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Type", found.kind)
            self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(found.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Send one of our pages for requests that the parent class refuses, such as a too long address."""
        self.close_connection = True
        self._send(error_page(code, "This request cannot be understood."))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing: requests are not logged."""

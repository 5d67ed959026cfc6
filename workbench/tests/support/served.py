"""A folder of runs that is served in this process, and what it answers."""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

from assay.rooms.serve.work.folder import RunsFolder
from assay.rooms.serve.work.server import Server

WAIT = 600


class Reply:
    """What was answered."""

    def __init__(self, answer: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = answer.status, answer.headers, answer.read()
        self.text = self.body.decode("utf-8", "replace")


def ask(server: Server, address: str, method: str = "GET", **headers: str) -> Reply:
    host, port = server.server_address[:2]
    link = http.client.HTTPConnection(str(host), int(port), timeout=WAIT)
    with contextlib.closing(link):
        link.putrequest(method, address, skip_host="Host" in headers)
        for name, value in headers.items():
            link.putheader(name, value)
        link.endheaders()
        return Reply(link.getresponse())


@contextlib.contextmanager
def served(root: Path, host: str = "127.0.0.1") -> Iterator[Server]:
    """The runs below `root`."""
    with Server(RunsFolder(root), host, 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()

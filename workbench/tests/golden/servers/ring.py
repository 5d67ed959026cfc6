"""A small server for tests of the cluster in a box: it answers by HTTP, has peers and users, and reads a device."""

import base64
import hashlib
import http.server
import json
import sys
import urllib.request
from pathlib import Path

USERS = Path("/run/ring-users")
LATE = 3
"""Requests that are answered with 503, as by a server that is up and not ready yet."""


class Handler(http.server.BaseHTTPRequestHandler):
    """What it knows is in its configuration, and in what peers have told it."""

    settings: dict[str, str]
    asked = 0
    peers: list[str]

    def do_GET(self) -> None:
        """Answer with JSON."""
        Handler.asked += 1
        if self.path == "/up":
            self._say(503 if Handler.asked <= LATE else 200, {})
        elif self.path == "/all":
            head = Path(self.settings["device"]).read_bytes()[:8].hex() if self.settings["device"] else ""
            self._say(200, {**self.settings, "joined": sorted(self.peers), "head": head})
        elif self.path.startswith("/join/"):
            self.peers.append(self.path.removeprefix("/join/"))
            self._say(200, {})
        else:
            self._say(200 if self._known() else 401, {})

    def _known(self) -> bool:
        word = self.headers.get("Authorization", "").removeprefix("Basic ")
        user, _, password = base64.b64decode(word).decode().partition(":")
        digest = hashlib.sha256(password.encode()).hexdigest()
        return USERS.exists() and f"{user} {digest}" in USERS.read_text().splitlines()

    def _say(self, status: int, found: dict[str, object]) -> None:
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(command: str, *words: str) -> None:
    """serve ADDRESS FILE, join PEER NAME, or passwd USER with the password on standard input."""
    if command == "serve":
        Handler.settings = dict(line.split("=", 1) for line in Path(words[1]).read_text().splitlines() if "=" in line)
        Handler.peers = []
        http.server.ThreadingHTTPServer((words[0], 8000), Handler).serve_forever()
    elif command == "join":
        urllib.request.urlopen(f"http://{words[0]}:8000/join/{words[1]}", timeout=10).close()
    elif command == "passwd":
        password = sys.stdin.readline().rstrip("\n")
        with USERS.open("a") as file:
            file.write(f"{words[0]} {hashlib.sha256(password.encode()).hexdigest()}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

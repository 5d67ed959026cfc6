"""The source's connection to the replica's side, over ssh as replicators have it."""

from __future__ import annotations

import json
import os
import select
import shlex
import subprocess
import threading
import time
from typing import Any

from .processes import DriverError, kill_tree
from .standby import SOCKET

PING_SECONDS = 0.25
CONNECT_SECONDS = 60.0
MAX_ANSWER_BYTES = 1 << 30
"""Longest answer: the names and hashes of a million files are a fifth of it."""
ATTEMPT_SECONDS = 15.0
"""Longest time of one attempt: ssh waits for ever if a packet of its key exchange is lost with the link."""
_SHUTTLE = """
import os, select, socket, sys, time
os.chdir(sys.argv[1])
end = time.monotonic() + 30
while True:
    try:
        peer = socket.socket(socket.AF_UNIX); peer.connect(sys.argv[2]); break
    except OSError:
        if time.monotonic() > end: sys.exit("no replica answers there")
        time.sleep(0.02)
while True:
    ready = select.select([0, peer], [], [], 30)[0]
    if not ready: sys.exit(1)
    for one in ready:
        piece = os.read(0, 65536) if one == 0 else peer.recv(65536)
        if not piece: sys.exit(0)
        if one == 0: peer.sendall(piece)
        else:
            while piece: piece = piece[os.write(1, piece):]
"""
"""What runs on the replica's host between ssh and the socket. It ends when nothing comes for 30 s, as on a cut link."""


class LostError(DriverError):
    """The replica's side does not answer."""


class Channel:
    """Requests to the replica's side."""

    def __init__(self, ssh: list[str], host: str, folder: str) -> None:
        """Connect nothing yet.

        Args:
            ssh: The ssh client with its options.
            host: The replica's host.
            folder: Its directory there.
        """
        self._command = [*ssh, host, shlex.join(["python3", "-I", "-c", _SHUTTLE, folder, SOCKET])]
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer, self._lock = b"", threading.RLock()
        self._is_silent = threading.Event()
        threading.Thread(target=self._ping, daemon=True).start()

    def connect(self, seconds: float = CONNECT_SECONDS) -> None:
        """Connect, or connect again.

        Raises:
            LostError: The host does not answer in time.
        """
        end = time.monotonic() + seconds
        while True:
            self.close()
            with self._lock:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
                )
                self._buffer = b""
            self._is_silent.clear()
            try:
                self.call("ping", timeout_s=ATTEMPT_SECONDS)
                return
            except LostError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def call(self, do: str, timeout_s: float = 120.0, **fields: Any) -> Any:
        """Have the other side do something, and return its answer.

        Raises:
            LostError: It does not answer.
            DriverError: It could not do that.
        """
        with self._lock:
            process = self._process
            if process is None or process.stdin is None:
                raise LostError("there is no connection to the replica")
            try:
                process.stdin.write(json.dumps({"do": do, **fields}).encode() + b"\n")
                reply = json.loads(self._line(process, timeout_s))
            except OSError:
                raise LostError(self._why(process)) from None
            except LostError:
                # An answer that comes later must not be taken for that of another request.
                self.close()
                raise
        if "error" in reply:
            raise DriverError(f"replica: {reply['error']}")
        return reply["result"]

    def _line(self, process: subprocess.Popen[bytes], timeout_s: float) -> bytes:
        assert process.stdout is not None
        end = time.monotonic() + timeout_s
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, end - time.monotonic()))
            piece = os.read(process.stdout.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise LostError(self._why(process) if ready else f"the replica did not answer for {timeout_s:.0f} s")
            self._buffer += piece
            if len(self._buffer) > MAX_ANSWER_BYTES:
                raise LostError(f"the replica's answer is longer than {MAX_ANSWER_BYTES >> 20} MiB")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    @staticmethod
    def _why(process: subprocess.Popen[bytes]) -> str:
        kill_tree(process.pid)
        process.wait()
        text = process.stderr.read().decode("utf-8", "replace").strip() if process.stderr is not None else ""
        return f"the connection to the replica ended: {text.splitlines()[-1] if text else 'ssh reports nothing'}"

    def _ping(self) -> None:
        while True:
            time.sleep(PING_SECONDS)
            if self._is_silent.is_set() or not self._lock.acquire(blocking=False):
                continue
            try:
                if self._process is not None:
                    self.call("ping", timeout_s=10.0)
            except DriverError:
                self._is_silent.set()
            finally:
                self._lock.release()

    def silence(self) -> None:
        """Send nothing from now on, as a host that has lost its power."""
        self._is_silent.set()
        self.close()

    def close(self) -> None:
        """End the connection; nothing there ends with it."""
        with self._lock:
            if self._process is not None:
                kill_tree(self._process.pid)
                self._process.wait()
                for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                    if pipe is not None:
                        pipe.close()
                self._process = None

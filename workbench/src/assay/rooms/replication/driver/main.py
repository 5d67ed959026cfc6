"""The beginning of the program: a run starts the source's side, which starts the replica's."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import sys

from .processes import DriverError, run
from .replicators import SNAPSHOTS
from .scenarios import SCENARIOS
from .source import ReplicationJob, SourceSide
from .standby import Standby, delete_subvolumes

ARCHIVE = "driver.zip"
FOLDER = "standby"
"""Directory of the replica's side, beside those of tasks: engines remove it with them."""
_UNPACK = f"""
import os, subprocess, sys
above = os.path.dirname(sys.argv[1])
if not os.path.isdir(above): os.mkdir(above)
os.mkdir(sys.argv[1]); os.chdir(sys.argv[1])
with open("{ARCHIVE}", "wb") as file: file.write(sys.stdin.buffer.read())
start = "import sys; sys.path.insert(0, '{ARCHIVE}'); from driver.main import replica; replica()"
words = [sys.executable, "-I", "-c", start]
null = subprocess.DEVNULL
subprocess.Popen(words + sys.argv[2:], stdin=null, stdout=null, stderr=open("log", "wb"), start_new_session=True)
"""
"""What starts the replica's side; it outlives its connection, since it is to take over when that is lost. It makes
directories only in that of the repeat, which the engine of its host has made below its mark."""


def main() -> None:
    """Be the source of a repeat."""
    job = ReplicationJob(**json.loads(os.environ.pop("REPLICATION_JOB")))
    source = None
    try:
        try:
            source = SourceSide(job, os.getcwd(), os.path.join(os.path.dirname(os.getcwd()), FOLDER))
            start_replica(source)
            source.begin(socket.gethostname())
            SCENARIOS[job.scenario](source)
        finally:
            if source is not None:
                _end(source)
    except DriverError as error:
        sys.exit(str(error))
    # Threads that wait for something must not hold up the end.
    sys.stdout.flush()
    os._exit(0)


def start_replica(source: SourceSide) -> None:
    """Start the replica's side on its host.

    Raises:
        DriverError: ssh cannot reach it, or the directory of the repeat is not there.
    """
    job, ends = source.job, source.ends
    options = [str(int(job.read_only)), str(int(job.is_btrfs))]
    words = [*ends.ssh, ends.host, shlex.join(["python3", "-I", "-c", _UNPACK, ends.remote, *options])]
    with open(ARCHIVE, "rb") as archive:
        run(words, archive, ends.host)


def _end(source: SourceSide) -> None:
    source.stop()
    if os.path.isdir(source.ends.here(SNAPSHOTS)):
        delete_subvolumes(source.ends.folder)
    # If it does not answer, it ends by itself when it has been without requests for a while.
    with contextlib.suppress(DriverError):
        source.channel.call("quit", timeout_s=10.0)
    source.channel.close()


def replica() -> None:
    """Be the replica's side, in the working directory."""
    standby = Standby(os.getcwd(), sys.argv[1] == "1", sys.argv[2] == "1")
    try:
        standby.serve()
    finally:
        standby.close()

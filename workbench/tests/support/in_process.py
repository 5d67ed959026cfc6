"""The command line in this process: as true as a real one, without the second that starting Python takes."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.cli.main import main
from assay.launch.shell import close_shells

WIDTH = "200"
"""Columns of the terminal that there is not, where the environment says nothing."""


def run_here(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """What `assay WORDS` prints and its exit code, run in a folder; nothing is judged.

    The files behind standard output and error are caught, so that what engines and other programs print is caught too.
    """
    command = [str(word) for word in words]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with _caught(out, err), _inside(folder), _width():
            try:
                code = main(command)
            finally:
                close_shells()
        texts = [_text(file) for file in (out, err)]
    return subprocess.CompletedProcess(["assay", *command], code, *texts)


@contextlib.contextmanager
def _caught(out: BinaryIO, err: BinaryIO) -> Iterator[None]:
    streams = sys.stdout, sys.stderr
    for stream in streams:
        stream.flush()
    kept = [os.dup(number) for number in (1, 2)]
    try:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = streams
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.chdir(folder)
        yield
    finally:
        os.fchdir(before)
        os.close(before)


@contextlib.contextmanager
def _width() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        if before is not None:
            os.environ["COLUMNS"] = before


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()

"""What elbencho was asked to do: parameters that are known, from its command line and the columns of its files."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model.base import AssayError
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.study.axis import AxisValue
from assay.plan.command_lines.elbencho_options import ElbenchoWords, elbencho_number, elbencho_size, elbencho_words

OBJECT_PATHS = ("bucket", "object")
"""Types of paths in S3 (TranslatorTk.cpp, benchPathTypeToStr)."""
_DEFAULTS = {"threads": 1, "dirs": 1, "files": 1, "size": 0, "block": 1 << 20, "iodepth": 1}
"""Option -> its default (ProgArgs.cpp)."""
_SECRETS = ("s3key", "s3secret", "s3sessiontoken", "s3credlist", "s3sseckey", "s3ssekmskey")


@dataclass
class ElbenchoSetup:
    """What is known of a run.

    Attributes:
        path_type: `dir`, `file`, `blockdev`, `bucket` or `object`; empty if unknown.
        threads: Threads of each host; None if unknown, like all numbers here.
        hosts: How many hosts.
        files: Files of each thread, in all its directories.
        dirs: Directories of each thread.
        file_size: Bytes of a file.
        block_size: Bytes of an operation.
        queue_depth: Operations that a thread has in flight.
        is_random: Whether offsets are random; None if unknown.
        is_direct: Whether O_DIRECT is used; None if unknown.
        seconds_limit: Longest time of a phase, as printed; empty without a limit.
        read_percent: Share of reads in a mix.
        per_thread: The figures are divided by the number of threads (`--perthread` of version 1).
        options: What was asked for, as printed.
    """

    path_type: str = ""
    threads: int | None = None
    hosts: int | None = None
    files: int | None = None
    dirs: int | None = None
    file_size: int | None = None
    block_size: int | None = None
    queue_depth: int | None = None
    is_random: bool | None = None
    is_direct: bool | None = None
    seconds_limit: str = ""
    read_percent: int | None = None
    per_thread: bool = False
    options: dict[str, str] = field(default_factory=dict)

    @property
    def is_objects(self) -> bool:
        """Whether it is about objects."""
        return self.path_type in OBJECT_PATHS

    def parameters_of(self, operation: str) -> dict[str, AxisValue]:
        """Return the known parameters of an operation."""
        found: dict[str, AxisValue | None] = {"lanes": self.threads, "hosts": self.hosts}
        if operation in ("mkdir", "rmdir"):
            return _known({**found, "files": self.dirs})
        if self.is_objects:
            return _known({**found, "queue_depth": self.queue_depth, **self._of_objects(operation)})
        found |= {"files": self.files} if self.path_type == "dir" else {}
        found["layout"] = self._layout
        if operation in ("create", "stat", "open", "unlink"):
            return _known({**found, "file_size": self.file_size})
        cache = None if self.is_direct is None else "direct" if self.is_direct else "keep"
        mix = self.read_percent if operation.endswith("_mix") else None
        return _known({
            **found, "file_size": self.file_size, "record_size": self.block_size, "queue_depth": self.queue_depth,
            "cache": cache, "read_percent": mix,
        })  # fmt: skip

    @property
    def _layout(self) -> str | None:
        """Whether lanes share files or directories; None if unknown."""
        if self.path_type == "dir" and self.dirs is not None and "--dirsharing" not in self.options:
            return "separate" if self.dirs else "shared"
        if self.path_type in ("file", "blockdev") and self.threads is not None and self.hosts is not None:
            return "shared" if self.threads * self.hosts > 1 else "separate"
        return None

    def _of_objects(self, operation: str) -> dict[str, AxisValue | None]:
        found: dict[str, AxisValue | None] = {"objects": self.files, "object_size": self.file_size}
        size, block = self.file_size, self.block_size
        if operation == "put" and size and block and block < size:
            found["part_size"] = block
        if operation == "get" and self.is_random:
            found["range"] = block
        return found


def _known(values: Mapping[str, AxisValue | None]) -> dict[str, AxisValue]:
    """Return what is known, without zeros, which no parameter has but sizes."""
    sizes = ("file_size", "object_size", "read_percent")
    return {name: value for name, value in values.items() if value is not None and (value != 0 or name in sizes)}


def command_setup(text: str) -> ElbenchoSetup:
    """Return what a printed command line says; nothing of it if it cannot be read.

    Args:
        text: The words behind `elbencho`, quoted as for a shell.
    """
    try:
        words = elbencho_words(shlex.split(text))
        return _of_words(words)
    except (AssayError, ValueError):
        return ElbenchoSetup()


def _of_words(words: ElbenchoWords) -> ElbenchoSetup:
    def number(name: str) -> int:
        return elbencho_number(words.values[name], name) if words.has(name) else _DEFAULTS[name]

    size = elbencho_size(words.values["size"], "-s") if words.has("size") else None
    block = elbencho_size(words.values.get("block", "1M"), "-b")
    found = ElbenchoSetup(
        path_type=_path_type(words),
        threads=number("threads"),
        hosts=None if words.has("hosts") or words.has("hostsfile") else 1,
        file_size=size,
        block_size=min(block, size) if size else block,
        queue_depth=number("iodepth"),
        is_random=words.has("rand"),
        is_direct=words.has("direct"),
        per_thread=words.has("perthread"),
        options=printed_options(words),
    )
    if found.path_type in ("dir", "bucket"):
        found.dirs, found.file_size = number("dirs"), size or 0
        found.files = max(found.dirs, 1) * number("files")
    take_limits(found, words)
    return found


def take_limits(setup: ElbenchoSetup, words: ElbenchoWords) -> None:
    """Note the limit of time and the share of reads that a command line asks for."""
    limit = words.values.get("timelimit", "0")
    setup.seconds_limit = "" if limit in ("", "0") else limit
    if words.has("rwmixpct"):
        setup.read_percent = elbencho_number(words.values["rwmixpct"], "rwmixpct")


def _path_type(words: ElbenchoWords) -> str:
    """Return the type of the paths; empty if only a look at them would tell."""
    if words.has("s3endpoints"):
        return "object" if any("/" in path.strip("/").removeprefix("s3://") for path in words.paths) else "bucket"
    if any(words.has(name) for name in ("mkdirs", "deldirs", "dirs", "files", "treefile")):
        return "dir"
    return "blockdev" if words.paths and all(path.startswith("/dev/") for path in words.paths) else ""


def printed_options(words: ElbenchoWords) -> dict[str, str]:
    """Return the options of a command line, without what must stay secret."""
    found = {}
    for name, value in words.values.items():
        if name in _SECRETS:
            continue
        found[f"--{name}"] = redact(escape_line(value, 200)) if value else "true"
    if words.paths:
        found["paths"] = redact(escape_line(" ".join(words.paths), 200))
    return found


def safe_command(text: str) -> str:
    """Return a printed command line without the values of secret options."""
    try:
        words = shlex.split(text)
    except ValueError:
        return ""
    kept, hides = [], False
    for word in words:
        name, equals, _ = word.partition("=")
        is_secret = name.startswith("--") and name[2:] in _SECRETS
        kept.append("(redacted)" if hides else f"{name}=(redacted)" if is_secret and equals else word)
        hides = is_secret and not equals
    return redact(escape_line(shlex.join(kept)))

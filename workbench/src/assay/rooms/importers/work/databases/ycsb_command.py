"""What a command line of YCSB says, and the messages of its client before the numbers."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from assay.model.escape import escape_line
from assay.rooms.importers.work.figure_units import whole_number

_VERSION = re.compile(r"YCSB Client ([0-9]\S{0,30})")
_COMMAND = re.compile(r"Command line:(.*)")
_CORE = re.compile(r"[/:]core-([0-9]+\.[0-9]+\.[0-9]+)\.jar")
_MAX_COMMAND = 100_000
_PHASES = {"-load": "load", "-t": "run"}
_VALUED = ("-db", "-P", "-p", "-threads", "-target", "-l")
_SHOWN: tuple[str, ...] = (
    "target",
    "recordcount",
    "operationcount",
    "insertcount",
    "fieldcount",
    "fieldlength",
    "readproportion",
)
_SHOWN += ("updateproportion", "scanproportion", "insertproportion", "requestdistribution", "maxexecutiontime")


class YcsbCommand(NamedTuple):
    """What is known of how YCSB was called.

    Attributes:
        version: Version of the client.
        text: The arguments.
        database: Name of the binding, such as `MongoDbClient`.
        workload: Name of the workload and the phase: `workloada run`.
        threads: Number of threads; 0 if it is not known.
        options: Other options, as written.
    """

    version: str = ""
    text: str = ""
    database: str = ""
    workload: str = ""
    threads: int = 0
    options: dict[str, str] = {}  # noqa: RUF012 - never changed


def command_of(lines: Iterable[str]) -> YcsbCommand:
    """Return what the messages before the numbers say.

    Args:
        lines: Those lines.
    """
    version, text = "", None
    for line in lines:
        if match := _VERSION.fullmatch(line.strip()):
            version = match[1]
        elif len(line) > _MAX_COMMAND:
            continue
        elif (found := _arguments(line.rstrip())) is not None:
            text = found
            if core := _CORE.search(line):
                version = version or core[1]
    # Version 0.1.4 and its successors before 0.6 all say 0.1, and builds without Maven print a name in braces.
    if text is None:
        return YcsbCommand(version=escape_line(version, 40))
    return _parsed(text.split(), escape_line(version, 40), escape_line(text))


def _arguments(line: str) -> str | None:
    """Return the arguments in a line that states them, or that calls the client by `java`; None if it does neither."""
    if match := _COMMAND.fullmatch(line):
        return match[1].strip()
    call, _, arguments = line.rpartition(".ycsb.Client ")
    _, _, options = call.partition("java ")
    is_call = call.endswith((" site", " com.yahoo")) and any(one in options for one in ("-classpath ", "-cp "))
    return arguments.strip() if is_call else None


def _parsed(words: Sequence[str], version: str, text: str) -> YcsbCommand:
    found: dict[str, str] = {}
    options: dict[str, str] = {}
    phase = "run"
    at = 0
    while at < len(words):
        word = words[at]
        value = words[at + 1] if word in _VALUED and at + 1 < len(words) else ""
        phase = _PHASES.get(word, phase)
        if word == "-p":
            name, _, given = value.partition("=")
            if name in _SHOWN:
                options[name] = escape_line(given, 60)
            found[name] = given
        elif value:
            found[word] = value
        at += 2 if value else 1
    if "-target" in found:
        options["target"] = escape_line(found["-target"], 20)
    threads = found.get("-threads", found.get("threadcount", "1"))
    database = found.get("-db", "").rpartition(".")[2]
    workload = PurePosixPath(found.get("-P", "")).name
    return YcsbCommand(
        version=version,
        text=text,
        database=escape_line(database, 60),
        workload=f"{escape_line(workload, 60)} {phase}".strip(),
        threads=whole_number(threads, 10**6) or 0,
        options=options,
    )

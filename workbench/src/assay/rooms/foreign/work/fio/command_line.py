"""Reads a command line of fio: options, job files, hosts.

Source: fio 3.42, init.c, `l_opts` and `parse_cmd_line`.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.model.base import AssayError
from assay.rooms.foreign.work.fio.jobs import FioJob, FioJobs, Reader, close_names, is_file, set_option
from assay.rooms.foreign.work.fio.options import ALIASES, FLAGS, OPTIONS, canonical, word_set
from assay.rooms.foreign.work.launcher import note_before
from assay.rooms.foreign.work.line import join_lines, split_line
from assay.rooms.foreign.work.notes import Notes

NAMES = ("fio",)
_VALUED = word_set(
    "output output-format cmdhelp enghelp eta eta-interval eta-newline debug section inflate-log alloc-size profile "
    "max-jobs terse-version daemonize client remote-config crctest memcpytest idle-prof status-interval trigger-file "
    "trigger-timeout trigger trigger-remote aux-path server-internal"
)
_ALONE = word_set(
    "latency-log bandwidth-log minimal append-terse version help showcmd readonly parse-only warnings-fatal server "
    "cpuclock-test merge-blktrace-only"
)
"""Options of fio itself, with and without a value."""
_DOES_NO_JOB = {
    "cmdhelp": "prints help", "enghelp": "prints help", "version": "prints a version", "help": "prints help",
    "crctest": "tests checksums", "memcpytest": "tests copies", "cpuclock-test": "tests clocks",
    "inflate-log": "unpacks a log", "merge-blktrace-only": "merges traces", "parse-only": "",
    "server": "waits for jobs of another fio: convert the command line of the client",
    "server-internal": "waits for jobs of another fio: convert the command line of the client",
    "profile": "runs a profile, which is not measured", "remote-config": "reads a file of the server's",
}  # fmt: skip
_SHORT = {"h": "help", "v": "version"}
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass
class FioCommand:
    """What a command line or job file asks for.

    Attributes:
        jobs: The jobs, in order.
        hosts: Hosts of `--client`.
        cpus: CPUs of a taskset before fio; empty without one.
        numa_node: Node of a numactl before fio; None without one.
        is_readonly: `--readonly` says that nothing may be written.
    """

    jobs: list[FioJob]
    hosts: list[str] = field(default_factory=list)
    cpus: str = ""
    numa_node: int | None = None
    is_readonly: bool = False


def read_command(text: str, read: Reader, notes: Notes) -> FioCommand:
    """Return what a text asks for: the path of a job file, or a command line.

    Args:
        text: Path or command line.
        read: Returns the text of a file.
        notes: Receives a line for what stands before fio and is left out.

    Raises:
        AssayError: fio would refuse it, or it asks for no work.
    """
    path = text.strip()
    if _is_path(path):
        jobs = FioJobs(os.environ, read)
        jobs.add_file(path)
        return _with_jobs(FioCommand(jobs.jobs), path)
    parts = split_line(join_lines(text), NAMES)
    variables = dict(os.environ)
    variables.update((match[1], match[2]) for word in parts.before if (match := _VARIABLE.fullmatch(word)))
    texts: list[str] = []

    def read_and_keep(path: str) -> str:
        texts.append(read(path))
        return texts[-1]

    reader = _Words(list(parts.words), FioJobs(variables, read_and_keep))
    reader.read_all()
    taken = [word for word in parts.before if any(f"${{{word.partition('=')[0]}}}" in text for text in texts)]
    note_before([word for word in parts.before if word not in taken], notes)
    command = _with_jobs(FioCommand(reader.jobs.jobs, reader.hosts, is_readonly=reader.is_readonly), "fio")
    _read_before(parts.before, command)
    return command


def _is_path(text: str) -> bool:
    if is_file(text):
        return True
    return len(text.split()) == 1 and not text.startswith("-") and Path(text).name != "fio" and "\n" not in text


def _with_jobs(command: FioCommand, what: str) -> FioCommand:
    if not command.jobs:
        hint = "name one: fio --name=NAME --rw=randread ..., or [NAME] in a file"
        raise AssayError(f"{what}: there is no job", hint)
    return command


def _read_before(words: Sequence[str], command: FioCommand) -> None:
    """Read the commands before fio that decide where it runs."""
    names = [Path(word).name for word in words]
    if "taskset" in names:
        after = words[names.index("taskset") + 1 :]
        place = next((at for at, word in enumerate(after) if word in ("-c", "--cpu-list")), None)
        command.cpus = after[place + 1] if place is not None and place + 1 < len(after) else ""
    for word in words:
        found = re.fullmatch(r"--(?:membind|cpunodebind)=(\d{1,3})", word)
        command.numa_node = int(found[1]) if found else command.numa_node


class _Words:
    """Reads the words after fio."""

    def __init__(self, words: list[str], jobs: FioJobs) -> None:
        self.words, self.jobs = words, jobs
        self.values = jobs.globals
        self.files: list[str] = []
        self.hosts: list[str] = []
        self.files_of_hosts: list[tuple[str, ...]] = []
        self.is_readonly = False

    def read_all(self) -> None:
        """Read all words; job files come after the jobs of the command line, as in fio."""
        while self.words:
            word = self.words.pop(0)
            if word.startswith("-") and len(word) > 1:
                self._option(word)
            else:
                self.files.append(word)
        if len(set(self.files_of_hosts)) > 1:
            raise AssayError("fio --client: hosts have different job files", "convert them one by one")
        for path in (*self.files, *(self.files_of_hosts[0] if self.files_of_hosts else ())):
            self.jobs.add_file(path)

    def _option(self, word: str) -> None:
        written, equals, value = word.lstrip("-").partition("=")
        name = _full_name(_SHORT.get(written, written))
        needs_value = name not in _ALONE and canonical(name) not in FLAGS
        if needs_value and not equals:
            if not self.words:
                raise AssayError(f"fio --{name} lacks its value", f"write --{name}=VALUE")
            value, equals = self.words.pop(0), "="
        if name in _VALUED or name in _ALONE:
            self._own(name, value)
        elif name == "name":
            self._job(value)
        else:
            set_option(self.values, name, value if equals else None, "fio", None)

    def _job(self, name: str) -> None:
        if name.startswith("global"):
            self.values = self.jobs.globals
        else:
            self.values = self.jobs.add(name, "fio").values

    def _own(self, name: str, value: str) -> None:
        if name == "section":
            self.jobs.sections += (value,)
        elif name == "client":
            self._client(value)
        elif name == "readonly":
            self.is_readonly = True
        elif _DOES_NO_JOB.get(name):
            raise AssayError(f"fio --{name} {_DOES_NO_JOB[name]}", "convert a command line that does work")

    def _client(self, value: str) -> None:
        if is_file(value):
            self.hosts += self.jobs.read(value).split()
            return
        files: list[str] = []
        while self.words and not self.words[0].startswith("-"):
            files.append(self.words.pop(0))
        host = value.removeprefix("ip4:").removeprefix("ip:").partition(",")[0]
        if host.startswith(("sock:", "/")):
            raise AssayError(f"fio --client={value}: a socket names no host", "name the host")
        self.hosts.append(host)
        self.files_of_hosts.append(tuple(files))


def _full_name(written: str) -> str:
    """Return the name of an option, of which a beginning may be written that no other has (getopt_long_only)."""
    names = _VALUED | _ALONE | set(OPTIONS) | set(ALIASES)
    if written in names:
        return written
    found = sorted(name for name in names if name.startswith(written))
    if len({canonical(name) for name in found}) == 1:
        return found[0]
    if found:
        raise AssayError(f"fio --{written} may be {' or '.join(found[:4])}", "write the whole name")
    raise AssayError(f"fio has no option --{written}", close_names(written, names))

"""Converts a command line of elbencho to an equivalent study (version 3.1)."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from assay.model.base import AssayError
from assay.plan.command_lines.elbencho_options import LETTERS, OPTIONS, ElbenchoWords, elbencho_number, elbencho_words
from assay.plan.text import study_text
from assay.rooms.foreign.work.elbencho_common import expanded
from assay.rooms.foreign.work.elbencho_files import file_parts
from assay.rooms.foreign.work.elbencho_objects import object_parts
from assay.rooms.foreign.work.elbencho_options import NOTES, REFUSED
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.line import join_lines, plain_words, read_line
from assay.rooms.foreign.work.notes import Notes, note_variable
from assay.rooms.foreign.work.safe_line import safe_line

NAMES = ("elbencho",)
SECRETS = ("s3key", "s3secret", "s3sessiontoken", "s3credlist", "s3sseckey", "s3ssekmskey")
_PORT = re.compile(r"^(\[[^\]]+\]|[^:]+):[0-9]+$")


def elbencho_study(text: str, read: Callable[[str], str]) -> str:
    """Return the text of a study file equivalent to a command line of elbencho.

    Args:
        text: The command line.
        read: Returns the text of a file (`--hostsfile`).

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: elbencho would refuse the command line, or a study cannot do it.
    """
    text = join_lines(text)
    line = read_line(text, NAMES)
    words = elbencho_words(line.words)
    _refuse(words)
    notes = Notes()
    for name in line.launch.variables:
        note_variable(name, notes)
    for name in words.values:
        if name in NOTES:
            notes.add(f"--{name}" if name in SECRETS else words.written[name], NOTES[name])
        elif name not in OPTIONS:
            notes.add(f"--{name}", "left out: elbencho 3.1 has it no more")
    hosts = _hosts(words, read, notes)
    parts = object_parts if words.has("s3endpoints") else file_parts
    targets, workloads = parts(words, len(hosts), notes)
    if hosts:
        for workload in workloads.values():
            workload["hosts"] = len(hosts)
    study: dict[str, Any] = {"study": "from-elbencho", "targets": targets, "workloads": workloads}
    study["repeats"] = elbencho_number(words.values.get("iterations", "1"), "-i") or 1
    if study["repeats"] < 3:
        notes.add(f"-i {study['repeats']}", "an interval needs 3 repeats at least: change repeats")
    if hosts:
        study["hosts"] = hosts
    return study_text(study, head_comments(safe_line(plain_words(text), SECRETS), notes))


def _refuse(words: ElbenchoWords) -> None:
    for name, why in REFUSED.items():
        if words.has(name):
            letter = next((f"-{letter}" for letter, long in LETTERS.items() if long == name), f"--{name}")
            raise AssayError(f"elbencho {letter}: {why}", "leave it out, or write the study yourself")
    if not words.paths:
        raise AssayError("elbencho: there is no path", "add the directory, file, device or bucket")


def _hosts(words: ElbenchoWords, read: Callable[[str], str], notes: Notes) -> list[str]:
    """Return the hosts, as a study names them."""
    names = _split(words.values.get("hosts", "")) if words.has("hosts") else []
    if words.has("hostsfile"):
        names = [*names, *_names_in_file(words, read, notes)]
    if not names:
        return []
    option, found = "--hosts" if words.has("hosts") else "--hostsfile", []
    for name in names:
        host = _PORT.sub(r"\1", name)
        if host != name:
            notes.add(option, "ports of elbencho's services are left out: hosts are reached by ssh")
        found += expanded(host)
    count = elbencho_number(words.values.get("numhosts", str(len(found))), "--numhosts")
    if len(set(found)) < len(found):
        raise AssayError("elbencho --hosts: a host is named twice", "name it once, and raise -t")
    notes.add(option, "engines are copied there by ssh; no service has to run")
    return found[:count] if count else found


def _names_in_file(words: ElbenchoWords, read: Callable[[str], str], notes: Notes) -> Sequence[str]:
    """Return the hosts of `--hostsfile`; none, with a note, if the file is not on this machine."""
    try:
        lines = read(words.values["hostsfile"]).splitlines()
    except AssayError:
        why = "the file cannot be read here: write its hosts, or {inventory: FILE}, as hosts of the study"
        notes.add(words.written["hostsfile"], why)
        return []
    return _split(" ".join(line.partition("#")[0] for line in lines))


def _split(text: str) -> Sequence[str]:
    """Split a list at commas and blanks that are not in brackets."""
    return [word for word in re.split(r"[,\s]+(?![^\[]*\])", text.strip()) if word]

"""Converts job files and command lines of fio to an equivalent study."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from assay.model.base import AssayError
from assay.plan.text import study_text
from assay.rooms.foreign.work.fio.amount import FioAmount
from assay.rooms.foreign.work.fio.command_line import FioCommand, read_command
from assay.rooms.foreign.work.fio.jobs import FioJob, Reader
from assay.rooms.foreign.work.fio.options import OPTIONS, SECRETS
from assay.rooms.foreign.work.fio.shared import sizes_of
from assay.rooms.foreign.work.fio.work import FioWork, rate_fields, work_of
from assay.rooms.foreign.work.ior import head_comments
from assay.rooms.foreign.work.line import join_lines
from assay.rooms.foreign.work.notes import Notes

_MAX_LANES = 1024
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")
_SECRET = re.compile(rf"((?:{'|'.join(sorted(SECRETS))})[= ]\s*)(\"[^\"]*\"|'[^']*'|\S+)")


def fio_study(text: str, read: Reader) -> str:
    """Return the text of a study file equivalent to a job file or command line of fio.

    Args:
        text: Path of a job file, or a command line.
        read: Returns the text of a file.

    Returns:
        The study, with a comment at its head for each option that has no counterpart or a different meaning.

    Raises:
        AssayError: fio would refuse it, or its work has no counterpart.
    """
    notes = Notes()
    command = read_command(text, read, notes)
    targets: dict[str, dict[str, Any]] = {}
    workloads: dict[str, Any] = {}
    used: list[str] = []
    made: set[tuple[str, str]] = set()
    for group in _groups(_measured(command.jobs, notes)):
        name = _unique(group[0].text("name") or group[0].name, workloads)
        works = [work_of(job, made, notes) for job in group]
        target, fields = _workload(works, command, notes)
        made |= {file for work in works for file in work.place.named}
        key = next((key for key, other in targets.items() if other == target), None)
        key = key or ("place" if not targets else f"place-{len(targets) + 1}")
        targets.setdefault(key, target)
        workloads[name] = fields
        used.append(key)
    if len(targets) > 1:
        workloads = {name: {"targets": [key], **workloads[name]} for name, key in zip(workloads, used, strict=True)}
    if len(workloads) > 1 and any(job.text("filename") for job in command.jobs):
        notes.add("several jobs", "each workload makes its data itself, and reads no other's")
    study = {"study": "from-fio", "targets": targets, "workloads": workloads, **_study_fields(command, notes)}
    return study_text(study, head_comments(_SECRET.sub(r"\1(not shown)", join_lines(text)), notes))


def _measured(jobs: Sequence[FioJob], notes: Notes) -> list[FioJob]:
    """Return the jobs that do more than make files.

    Raises:
        AssayError: There is none.
    """
    for job in jobs:
        if job.has("create_only"):
            notes.add(f"job {job.name}", "left out with create_only: each workload makes its files, outside the timing")
    found = [job for job in jobs if not job.has("create_only")]
    if not found:
        raise jobs[0].error("create_only", "nothing is measured", "add a job that reads or writes the files")
    return found


def _groups(jobs: Sequence[FioJob]) -> Iterator[list[FioJob]]:
    """Yield the jobs that run at the same time."""
    group: list[FioJob] = []
    for job in jobs:
        after = job.text("wait_for")
        if after and [other.name for other in group] not in ([], [after]):
            message = "only some of the jobs before it are waited for, and the others run at the same time"
            raise job.error("wait_for", message, "write stonewall")
        if group and (job.has("stonewall") or after):
            yield group
            group = []
        group.append(job)
    yield group


def _workload(works: Sequence[FioWork], command: FioCommand, notes: Notes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the target and the workload of jobs that run at the same time."""
    first = works[0]
    for work in works[1:]:
        if _kind_of_work(work) != _kind_of_work(first):
            why = f"it runs at the same time as job {first.job.name} and does other work"
            hint = "write stonewall, and Assay measures one after the other; mixes of reads and writes are rw=randrw"
            raise AssayError(f"{work.job.where}: job {work.job.name}: {why}", hint)
        if work.job.text("startdelay", "0") != first.job.text("startdelay", "0"):
            raise work.job.error("startdelay", "lanes begin together", "write the same startdelay in all jobs")
    if first.job.has("startdelay"):
        notes.add(f"startdelay={first.job.text('startdelay')}", "phases follow each other at once")
    lanes = sum(work.lanes for work in works)
    if lanes > _MAX_LANES:
        raise first.job.error("numjobs", f"{lanes} jobs: a host has {_MAX_LANES} lanes", "write fewer")
    fields = dict(first.fields)
    if first.amount is not None:
        fields |= sizes_of(works, first.amount, lanes, notes)
        fields |= rate_fields(first, lanes, notes)
    fields["lanes"] = lanes
    if command.cpus and "cpus" not in fields:
        fields["cpus"] = command.cpus
    if command.numa_node is not None:
        fields.setdefault("numa_node", command.numa_node)
    if command.hosts:
        fields["hosts"] = len(command.hosts)
    if command.is_readonly and first.place.is_device:
        why = f"what is read is written first, and {first.place.folders[0]} must not be written"
        raise first.job.error("filename", f"--readonly: {why}", "leave --readonly out if its content may be lost")
    target = _target(works)
    _note_places(works, target, notes)
    return target, fields


def _kind_of_work(work: FioWork) -> tuple[Any, ...]:
    amount: FioAmount | None = work.amount
    return (work.fields, amount, work.place.kind, work.place.fields, work.rate)


def _target(works: Sequence[FioWork]) -> dict[str, Any]:
    place = works[0].place
    folders = list(dict.fromkeys(folder for work in works for folder in work.place.folders))
    if place.is_device and len(folders) > 1:
        job = works[1].job
        raise job.error("filename", "jobs on several devices at once have no counterpart", "write stonewall")
    counts = dict.fromkeys(folders, 0)
    for work in works:
        for at in range(work.lanes):
            if work.place.folders:
                counts[work.place.folders[at % len(work.place.folders)]] += 1
    if len(set(counts.values())) > 1:
        folders = [folder for folder in folders if counts[folder]]
        if len({counts[folder] for folder in folders}) > 1:
            raise works[0].job.error("directory", "lanes are shared out evenly among directories", "write as many jobs")
    found: dict[str, Any] = {"kind": place.kind}
    if folders:
        found["path"] = folders[0]
    if len(folders) > 1:
        found["shares"] = folders[1:]
    return found | dict(place.fields)


def _unique(name: str, taken: dict[str, Any]) -> str:
    base = _UNUSUAL.sub("-", name).strip("-.")[:60] or "job"
    number = 1
    found = base
    while found in taken:
        number += 1
        found = f"{base}-{number}"
    return found


def _note_places(works: Sequence[FioWork], target: dict[str, Any], notes: Notes) -> None:
    if works[0].place.is_folder:
        values = [
            work.job.values[name] for work in works for name in ("filename", "directory") if name in work.job.values
        ]
        written = ", ".join(sorted({value.written for value in values})) or "no directory"
        places = " and ".join([target["path"], *target.get("shares", [])])
        notes.add(written, f"files go to {places}, which Assay makes and removes")


def _study_fields(command: FioCommand, notes: Notes) -> dict[str, Any]:
    free = {name for job in command.jobs for name in job.values if OPTIONS[name].treatment == "free"}
    if free:
        notes.add(", ".join(sorted(free)), "no part of the work")
    notes.add("repeats: 1", "as fio; an interval needs 3 repeats at least: change repeats")
    found: dict[str, Any] = {"repeats": 1, "order": "sequential"}
    seeds = [job for job in command.jobs if "randseed" in job.values]
    if seeds:
        found["seed"] = seeds[0].number("randseed", 1) % 2**32
        notes.add("randseed", "the same each time, but not fio's numbers")
    if command.hosts:
        found["hosts"] = command.hosts
    return found

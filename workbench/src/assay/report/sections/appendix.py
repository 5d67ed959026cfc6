"""The appendix: everything needed to repeat the run."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from assay.model.result.sample import JobRecord
from assay.report import numbers
from assay.report.document import (
    Block,
    Cell,
    Code,
    Column,
    Facts,
    Fold,
    Heading,
    Mono,
    Note,
    Num,
    Paragraph,
    Section,
    Table,
)
from assay.report.view import View

_MOST_JOBS = 400
_MOST_EXAMPLES = 100


def section(view: View) -> Section:
    """Commands, versions and hashes, the study file, the jobs."""
    run = view.run
    marked = (
        "" if run.places and all(place.servers for place in run.places) else ", below a directory with Assay's marker"
    )
    versions = tuple((name, (Mono(value),)) for name, value in run.versions.items())
    blocks: list[Block] = [
        Heading("Repeat it", "appendix-repeat"),
        Paragraph("Save the study below as study.yaml, or one job as job.json, then:"),
        Code(
            "assay plan study.yaml       # what it will take\n"
            "assay run study.yaml        # the whole run\n"
            f"assay report {run.id}\n"
            f"assay-engine run job.json   # one repeat of one case{marked}",
            "shell",
        ),
        Paragraph(("This run was started with ", Mono(run.command), " and is stored in ", Mono(run.folder), ".")),
        Heading("Versions and hashes", "appendix-versions"),
        Facts(versions),
        Heading("The study file", "appendix-study"),
        Code(run.study_text, "yaml"),
        Heading("Jobs", "appendix-jobs"),
        *_jobs(view),
    ]
    return Section("appendix", "Appendix", tuple(blocks))


def _jobs(view: View) -> list[Block]:
    """The first job of each case as a whole, and of its others what differs from it."""
    jobs = view.analysis.jobs
    by_case: dict[str, list[JobRecord]] = {}
    for job in jobs:
        by_case.setdefault(job.case, []).append(job)
    blocks: list[Block] = []
    if len(jobs) > _MOST_JOBS:
        by_case = {case: found[:1] for case, found in islice(by_case.items(), _MOST_EXAMPLES)}
        words = f"One job of each of the first {len(by_case)} cases; the run has {numbers.plural(len(jobs), 'job')}. "
        blocks.append(Note((words, "All of them: ", Mono(f"assay export {view.run.id} --format json"))))
    labels = {case.id: case.label for case in view.analysis.cases}
    return blocks + [_jobs_of(found, labels.get(case, "")) for case, found in by_case.items()]


def _jobs_of(jobs: list[JobRecord], label: str) -> Fold:
    first = jobs[0]
    statuses = list(dict.fromkeys(job.status for job in jobs))
    words = f"{first.case} · {numbers.plural(len(jobs), 'repeat')} · {label} · {', '.join(statuses)}"
    rows = tuple(_row(job, first) for job in jobs)
    table = Table(f"jobs-{first.case}", _COLUMNS, rows)
    job = Code(json.dumps(first.job, indent=1, sort_keys=True, ensure_ascii=False), "json")
    return Fold(words, (table, Paragraph(f"The job of repeat {first.repeat}:"), job))


_COLUMNS = (
    Column("Repeat", numeric=True),
    Column("Started"),
    Column("Took", numeric=True),
    Column("Attempts", numeric=True),
    Column("Status"),
    Column("Its job"),
)


def _row(job: JobRecord, first: JobRecord) -> tuple[Cell, ...]:
    differs = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in _differences(job.job, first.job)]
    same = "below" if job is first else f"as of repeat {first.repeat}"
    return (
        Num(str(job.repeat), job.repeat),
        numbers.moment(job.started_at),
        Num(numbers.seconds(job.seconds), job.seconds),
        Num(str(job.attempts), job.attempts),
        f"{job.status} ({job.reason})" if job.reason else job.status,
        f"{same}, but {'; '.join(differs)}" if differs else same,
    )


def _differences(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """What stands in one job where another one has something else, by its path; `null` what it lacks."""
    if one == other:
        return
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differences(one.get(key), other.get(key), f"{name}.{key}" if name else key)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (mine, its) in enumerate(zip(one, other, strict=True)):
            yield from _differences(mine, its, f"{name}[{place}]")
    else:
        yield name, one

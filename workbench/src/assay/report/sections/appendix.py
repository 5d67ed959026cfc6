"""The appendix: everything needed to repeat the run."""

import json

from assay.model.result.result import JobRecord
from assay.report import numbers
from assay.report.document import Block, Code, Facts, Fold, Heading, Mono, Note, Paragraph, Section
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
    jobs = view.analysis.jobs
    shown = list(jobs)
    blocks: list[Block] = []
    if len(jobs) > _MOST_JOBS:
        first: dict[str, JobRecord] = {}
        for job in jobs:
            first.setdefault(job.case, job)
        shown = list(first.values())[:_MOST_EXAMPLES]
        words = f"One job of each of the first {len(shown)} cases; the run has {numbers.plural(len(jobs), 'job')}. "
        blocks.append(Note((words, "All of them: ", Mono(f"assay export {view.run.id} --format json"))))
    labels = {case.id: case.label for case in view.analysis.cases}
    return blocks + [_job(job, labels.get(job.case, "")) for job in shown]


def _job(job: JobRecord, label: str) -> Fold:
    words = f"{job.case} · repeat {job.repeat} · {label} · {job.status}"
    if job.reason:
        words += f" ({job.reason})"
    facts = (
        ("Started", numbers.moment(job.started_at)),
        ("Took", numbers.seconds(job.seconds)),
        ("Attempts", str(job.attempts)),
    )
    return Fold(words, (Facts(facts), Code(json.dumps(job.job, indent=1, sort_keys=True, ensure_ascii=False), "json")))

"""`assay check`: is the study right, and can it run here?"""

from pathlib import Path

import typer

from assay.cli.output import as_path, note, say
from assay.cli.studyfile import load_study_file, refuse_faults
from assay.model.source import Fault
from assay.model.units import about_size
from assay.plan.doubts import doubts
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.run.planned import Plan


def command(study: Path = typer.Argument(parser=as_path, help="Study file.", metavar="STUDY")) -> None:
    """Check a study file and its targets without writing anything.

    A bucket, table or export is asked whether this machine may use it, unless the study has hosts of its own: `assay
    run` then asks from each of them.

    Each problem is one line `file:line: error: ...` with a hint below it; the exit code is then 2.

    Example: `assay check study.yaml`
    """
    loaded = load_study_file(study)
    refuse_faults(study, loaded.source, target_faults(loaded))
    if any(target.started for target in loaded.study.targets.values()):
        from assay.site.local import LocalSite

        LocalSite(loaded.study.targets).check(1)
    if loaded.prices is not None:
        from assay.cli.money.books import warn_stale

        warn_stale(loaded.prices.book)
    estimate = estimate_study(loaded.study, loaded.cases)
    say(f"ok: {summary(loaded, estimate)}")
    for line in doubts(loaded.study, loaded.cases, estimate):
        note(f"warning: {line}")


def target_faults(loaded: Plan) -> list[Fault]:
    """Targets that this machine must not or cannot write to, or cannot reach; found by looking only."""
    from assay.kinds.place import keeper_of
    from assay.launch.looking import MachineLooking
    from assay.launch.placing import patience_of

    cases = {case.target for case in loaded.cases}
    used = loaded.study.seen_here(cases)
    # Whether a device may be overwritten is asked by `run`.
    looking = MachineLooking(destroy=True, patience=patience_of(loaded.study))
    faults = [
        Fault(path=("targets", name, "path"), message=message, hint=hint)
        for name, target in loaded.study.targets.items()
        if name in used
        for message, hint in keeper_of(target).inspect(looking).problems
    ]
    if loaded.study.local and any(loaded.study.targets[name].made_by_engines for name in cases):
        from assay.run.targets import service_faults

        faults += service_faults(loaded.study, loaded.places)
    return faults


def summary(loaded: Plan, estimate: StudyEstimate) -> str:
    """One line: cases, repeats, exclusions, time and bytes."""
    left_out = f", {len(loaded.excluded)} excluded" if loaded.excluded else ""
    up_to = "up to " if estimate.least_seconds < estimate.seconds else ""
    return (
        f"{len(loaded.cases)} {'case' if len(loaded.cases) == 1 else 'cases'} x {loaded.study.repeating.words}"
        f"{left_out}; {estimate.words}; "
        f"writes {up_to}{about_size(estimate.written)}, reads {estimate.read_words(up_to)}"
        f"{estimate.requests_words}"
    )

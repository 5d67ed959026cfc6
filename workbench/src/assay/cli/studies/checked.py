"""What `assay check` does: a study is read and its targets are looked at; nothing is written."""

from pathlib import Path

from assay.cli.output import note, say
from assay.cli.studyfile import load_study_file, refuse_faults
from assay.kinds.place import keeper_of
from assay.launch.looking import MachineLooking
from assay.launch.placing import patience_of
from assay.launch.room import Lying, Needs, lying_of, place_problems
from assay.model.source import Fault
from assay.model.units import about_size
from assay.plan.change import Change
from assay.plan.doubts import doubts
from assay.plan.estimate import StudyEstimate, estimate_study
from assay.run.planned import Plan


def check_file(path: Path, change: Change | None, on_root: bool) -> None:
    """Check a study, with what is to be changed of it, and print what it is and where its directories lie.

    Args:
        path: Its file.
        change: What the command line changes of it.
        on_root: Directories for mounts may lie on the root file system.

    Raises:
        AssayError: The file cannot be read, or the change fits nothing in it.
        typer.Exit: There are problems; they have been printed.
    """
    loaded = load_study_file(path, change)
    estimate = estimate_study(loaded.study, loaded.cases)
    places, faults = target_faults(loaded, Needs(estimate.peak_space, on_root))
    refuse_faults(path, loaded.source, faults)
    if any(target.started for target in loaded.study.targets.values()):
        from assay.site.local import LocalSite

        LocalSite(loaded.study.targets).check(1)
    if loaded.prices is not None:
        from assay.cli.money.books import warn_stale

        warn_stale(loaded.prices.book)
    say(f"ok: {summary(loaded, estimate)}")
    for name, place in places.items():
        say(f"    {name}: {place.words}")
    for line in doubts(loaded.study, loaded.cases, estimate):
        note(f"warning: {line}")


def target_faults(loaded: Plan, needs: Needs) -> tuple[dict[str, Lying], list[Fault]]:
    """Where directories lie, and targets that this machine must not or cannot write to, or cannot reach.

    Found by looking only; what `assay run` would refuse before its first byte is refused here.
    """
    cases = {case.target for case in loaded.cases}
    used = loaded.study.seen_here(cases)
    # Whether a device may be overwritten is asked by `run`.
    looking = MachineLooking(destroy=True, patience=patience_of(loaded.study))
    seen = {name: keeper_of(target).inspect(looking) for name, target in loaded.study.targets.items() if name in used}
    problems = {name: [*found.problems] for name, found in seen.items()}
    for name, more in place_problems(loaded.study, seen, needs).items():
        problems[name] += more
    faults = [
        Fault(path=("targets", name, "path"), message=message, hint=hint)
        for name, found in problems.items()
        for message, hint in found
    ]
    asked = (loaded.study.targets[name] for name in cases)
    if loaded.study.local and any(target.made_by_engines and not target.started for target in asked):
        from assay.run.targets import service_faults

        faults += service_faults(loaded.study, loaded.places)
    return lying_of(loaded.study, seen), faults


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

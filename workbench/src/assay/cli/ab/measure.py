"""`assay ab`: two sides measured in turns in one run."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.ab.sides import Side, find_sides
from assay.cli.changes import study_path
from assay.cli.progress import TerminalListener
from assay.cli.studyfile import check_study, load_study_file
from assay.launch.machine_checks import exclude_unavailable
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.study.blocks import Blocks, looks_within
from assay.model.study.case import Case
from assay.model.study.commands import works_of
from assay.model.study.repeats import EQUAL_WITHIN
from assay.model.study.study import Study
from assay.model.units import UnitError, about_duration, parse_duration
from assay.plan.blocks import pairs_of
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.plan.sides import study_of_places, study_of_targets, with_rounds, with_target_copies
from assay.plan.text import study_text
from assay.run.session import start
from assay.run.study_plan import Plan
from assay.terminal.output import note

if TYPE_CHECKING:
    from assay.store import RunStore

PRESET = "two-places"
"""Preset of the study that two places get if the user names none."""
DEFAULT_SECONDS = 300.0
"""Default time for measuring."""
MIN_SECONDS, MAX_SECONDS = 1.0, 744 * 3600.0


def measure(
    written: tuple[str, str],
    study: str,
    time: str | None,
    allowed_slowdown: float | None,
    out: Path,
    destroy: bool = False,
    budget: str | None = None,
) -> "RunStore":
    """Measure two sides in turns until every row is decided or the time is spent.

    Args:
        written: The two sides as the command line names them.
        study: File of the study, or its folder; empty for the short preset `PRESET`.
        time: How long to measure, such as `5m`; None: `SECONDS`.
        allowed_slowdown: Greatest slowdown that `--fail-if-slower` lets pass, as a share; None without that option.
        out: Folder of the runs.
        destroy: The user has confirmed that devices may be overwritten.
        budget: As for `assay run`.

    Returns:
        The run, still open for writing.

    Raises:
        AssayError: A word names no side, or the run is refused; nothing is left behind.
    """
    seconds = DEFAULT_SECONDS if time is None else _seconds(time)
    known = load_study_file(study_path(study)) if study else None
    sides = find_sides(written, None if known is None else {n: t.kind for n, t in known.study.targets.items()})
    base, other = sides
    blocks = Blocks(
        base=base.name,
        other=other.name,
        seconds=seconds,
        # A gate that allows 2 % needs "equal within 2 %", not 5 %; for 0 % no finite number of rounds shows equality.
        within=min(EQUAL_WITHIN, allowed_slowdown) if allowed_slowdown else EQUAL_WITHIN,
        engines=base.kind == "engine",
    )
    plan = _plan(sides, _study_or_preset(known, base), blocks, written)
    if plan.prices is not None:
        from assay.cli.money.books import warn_stale

        warn_stale(plan.prices.book)
    return start(plan, out, destroy, TerminalListener(), budget)


def _seconds(written: str) -> float:
    try:
        seconds = parse_duration(written) / 1e9
    except UnitError as error:
        raise error.at("--time") from None
    if seconds < MIN_SECONDS:
        raise AssayError(f"--time {written} is too short", "write --time 5m")
    if seconds > MAX_SECONDS:
        raise AssayError(f"--time {written} is too long", "write --time 5m; 744h is the longest")
    return seconds


def _study_or_preset(known: Plan | None, base: Side) -> Plan:
    """Return the named study; without one, the preset for two places."""
    if known is not None:
        return known
    if base.kind == "engine":
        raise AssayError("two engines need a study, which says what to measure", "add --study STUDY, with one target")
    from assay.cli.studies.init import preset_text

    return check_study(Path(PRESET), preset_text(PRESET).encode())


def _plan(sides: tuple[Side, Side], known: Plan, blocks: Blocks, written: Sequence[str]) -> Plan:
    """Return the plan of the run: the study with the two sides as its targets, its cases and its rounds."""
    study_data, head = _study_data(sides, known, blocks), [f"{' and '.join(written)} in turns, by {known.path}"]
    loaded = check_study(known.path, study_text(study_data, head).encode(), generated=True)
    study, cases, excluded = loaded.study, loaded.cases, loaded.excluded
    if blocks.engines:
        study = with_target_copies(study, {side.name: side.words for side in sides})
        cases, excluded = exclude_unavailable(study, expand(study).cases)
    cases = _paired(cases, blocks)
    blocks = _with_rounds_in_time(study, cases, blocks)
    return Plan(
        with_rounds(study, blocks),
        study_text({**study_data, "repeats": blocks.max_rounds}, head),
        loaded.source,
        known.path,
        cases,
        excluded,
        loaded.prices,
        blocks,
        {side.name: side.engine for side in sides if side.engine is not None},
    )


def _study_data(sides: tuple[Side, Side], known: Plan, blocks: Blocks) -> dict[str, Any]:
    """Return the study with the two sides as its targets; for engines, with the one target that both measure."""
    base, other = sides
    data = known.source.data
    if base.kind == "target":
        study_data = study_of_targets(data, known.study, blocks)
        works = works_of(study_data)
        if not works:
            raise AssayError(f"no workload of {known.path} runs on both {base.name} and {other.name}", "see `targets`")
        alone = [name for name in known.study.workloads if name not in works]
        if alone:
            note(f"note: left out, because they do not run on both sides: {', '.join(alone)}")
        return study_data
    if not known.study.is_local:
        message = f"{known.path} measures on other hosts, but the two {base.kind}s are on this machine"
        raise AssayError(message, "name two of its targets")
    if base.kind == "place":
        return study_of_places(data, {side.name: dict(side.target or {}) for side in sides}, blocks)
    return study_of_places(data, {base.name: data["targets"][_only_target(known)]}, blocks)


def _only_target(known: Plan) -> str:
    used = list(dict.fromkeys(case.target for case in known.cases))
    if len(used) > 1:
        message = (
            f"{known.path} has {len(used)} targets, {', '.join(used)}: two engines are compared on a single target"
        )
        raise AssayError(message, "keep only one of them in a copy of the study")
    return used[0]


def _paired(cases: tuple[Case, ...], blocks: Blocks) -> tuple[Case, ...]:
    """Return the cases that both sides have; note how many are left out."""
    both = {case for pair in pairs_of(cases, blocks.base, blocks.other) for case in pair}
    if not both:
        raise AssayError(f"{blocks.base} and {blocks.other} have no case in common", "see `where` and `exclude`")
    if len(both) < len(cases):
        note(f"note: {len(cases) - len(both)} cases are left out because they run on one side only")
    return tuple(case for case in cases if case.id in both)


def _with_rounds_in_time(study: Study, cases: Sequence[Case], blocks: Blocks) -> Blocks:
    """Return `blocks` with as many rounds as the time allows by estimate; the fewest that can decide must fit."""
    seconds = sum(case.seconds for case in estimate_study(study, cases).cases)
    least = blocks.min_rounds * seconds
    if least > blocks.seconds:
        message = (
            f"{blocks.min_rounds} rounds of {len(cases)} repeats, the fewest for a decision, take about "
            f"{about_duration(least)}, more than the {about_duration(blocks.seconds)} of --time"
        )
        hint = f"give more time, such as --time {math.ceil(2 * least / 60)}m, or a study of fewer cases"
        raise AssayError(message, hint, EXIT_REFUSED)
    return blocks.model_copy(update={"looks": looks_within(blocks.seconds, seconds)})

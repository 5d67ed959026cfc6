"""Read and check a study file for a command; print each of its problems with its line."""

from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import typer

from assay.launch.machine_checks import cache_policy_faults, exclude_unavailable
from assay.model.base import EXIT_REFUSED, EXIT_USAGE, AssayError
from assay.model.escape import escape_line
from assay.model.source import FieldFault, Problem, YamlSource, sorted_problems, without_consequences
from assay.model.study.case import ExcludedPoint
from assay.model.study.study import Study
from assay.model.user_files import UnreadableError, read_user_file
from assay.model.user_text import MAX_FILE_BYTES
from assay.plan.capability_check import Backends, general_faults, read_capabilities
from assay.plan.expand import expand
from assay.plan.load import LoadedStudy, load_study
from assay.run.study_plan import Plan
from assay.terminal.output import note, print_problem

if TYPE_CHECKING:
    from assay.model.money.priced_designs import FrozenPrices
    from assay.plan.change import Change


class ChangedStudy(NamedTuple):
    """A study that the options of a command changed.

    Attributes:
        text: The changed study.
        places: The original file, whose lines problems name.
    """

    text: bytes
    places: YamlSource


def load_study_file(path: Path, change: "Change | None" = None) -> Plan:
    """Return the plan of the study in `path`, expanded and checked against the backends' general capabilities.

    Cases of optional workloads that this machine cannot do are left out, with a note.
    Relative target paths start at the current directory.

    Args:
        path: The file.
        change: Changes to the study; the plan's text is then the changed study.

    Raises:
        AssayError: The file cannot be read, or the change fits nothing in it.
        typer.Exit: There are problems; they have been printed.
    """
    data = read_study(path)
    if change is None:
        return check_study(path, data)
    changed = changed_study(path, data, change)
    try:
        return check_study(path, changed.text, places=changed.places)
    except typer.Exit:
        note(f"the study was changed with {change.options_text}")
        raise


def changed_study(path: Path, data: bytes, change: "Change") -> ChangedStudy:
    """Return a study with changes applied.

    Raises:
        AssayError: The change fits nothing in the study.
        typer.Exit: The unchanged study has problems; they have been printed.
    """
    from assay.plan.text import study_text

    loaded = load_study(data, str(Path.cwd()), folder=str(path.absolute().parent))
    if loaded.study is None:
        exit_with_problems(path, loaded.problems)
    head = [escape_line(f"{path} with {change.options_text}")]
    return ChangedStudy(study_text(change.apply(loaded.source.data), head).encode(), loaded.source)


class StudyProblemsError(Exception):
    """A study has problems.

    Attributes:
        path: Path of the study.
        problems: The problems in line order.
    """

    def __init__(self, path: Path, problems: tuple[Problem, ...]) -> None:
        super().__init__(path, problems)
        self.path = path
        self.problems = problems


def check_study(path: Path, data: bytes, generated: bool = False, places: YamlSource | None = None) -> Plan:
    """Return the plan of a study that was read, as `plan_study` does, but print its problems.

    Raises:
        typer.Exit: There are problems; they have been printed.
    """
    try:
        return plan_study(path, data, generated, places)
    except StudyProblemsError as error:
        exit_with_problems(error.path, error.problems)


def plan_study(path: Path, data: bytes, generated: bool = False, places: YamlSource | None = None) -> Plan:
    """Return the plan of a study that was read: expanded and checked; print none of its problems.

    Args:
        path: Path of the study, or of the file that it was generated from.
        data: Text of the study.
        generated: The study was generated from that file, so that problems cannot name lines of it.
        places: The file whose lines problems name; None: the study itself.

    Raises:
        AssayError: A generated study has problems; the first one.
        StudyProblemsError: The study has problems; all of them.
    """
    folder = path.absolute().parent
    loaded = load_study(data, str(Path.cwd()), places, str(folder))
    if generated:
        _refuse_generated(path, loaded)
    if loaded.study is None:
        from assay.cli.money.study_prices import remaining_price_faults

        more = [loaded.source.problem(fault) for fault in remaining_price_faults(loaded.source.data, folder)]
        raise StudyProblemsError(path, sorted_problems([*loaded.problems, *without_consequences(more, loaded.source)]))
    study = loaded.study
    expansion = expand(study)
    backends = general_capabilities()
    used = None if expansion.faults else {case.target for case in expansion.cases}
    prices, price_faults = _prices(study, folder, used)
    faults = [*expansion.faults, *general_faults(study, expansion.cases, backends), *price_faults]
    if generated:
        _refuse_generated(path, loaded, faults)
    faults += cache_policy_faults(study, expansion.cases)
    if faults:
        raise StudyProblemsError(path, sorted_problems([loaded.source.problem(fault) for fault in faults]))
    cases, impossible = exclude_unavailable(study, expansion.cases)
    _note_impossible(impossible)
    if not cases:
        raise AssayError(f"{path}: this machine can run none of the cases", "`assay doctor` says more", EXIT_REFUSED)
    needed = max(case.parameters.hosts for case in cases)
    if not study.is_local or needed > 1:
        from assay.site.choose import site_of

        site_of(study, folder).check(needed)
    text = data.decode("utf-8-sig")
    if prices is not None:
        from assay.cli.money.study_prices import prices_of_targets

        # A target that cannot be measured here has no cost.
        prices = prices_of_targets(prices, {case.target for case in cases})
    return Plan(study, text, loaded.source, path, cases, expansion.excluded + impossible, prices)


def _prices(study: Study, folder: Path, used: set[str] | None) -> "tuple[FrozenPrices | None, list[FieldFault]]":
    """Call `find_prices`, whose module is loaded only for a study with prices."""
    if study.prices is None:
        return None, []
    from assay.cli.money.study_prices import find_prices

    return find_prices(study, folder, used)


def _note_impossible(left_out: tuple[ExcludedPoint, ...]) -> None:
    for (workload, reason), count in Counter((item.workload, item.reason) for item in left_out).items():
        note(f"note: {count} {'case' if count == 1 else 'cases'} of {workload} left out: {reason}")


def _refuse_generated(path: Path, loaded: LoadedStudy, faults: Sequence[FieldFault] = ()) -> None:
    problems = (*loaded.problems, *(loaded.source.problem(fault) for fault in faults))
    if problems:
        raise AssayError(f"{path}: the two sides cannot be measured: {problems[0].message}", problems[0].hint)


def exit_with_faults(path: Path, source: YamlSource, faults: list[FieldFault]) -> None:
    """Print faults with their lines and exit with code 2; do nothing if there are none."""
    if faults:
        exit_with_problems(path, sorted_problems([source.problem(fault) for fault in faults]))


def exit_with_problems(path: Path, problems: tuple[Problem, ...]) -> NoReturn:
    """Print problems and exit with code 2."""
    for problem in problems:
        print_problem(problem, str(path))
    raise typer.Exit(EXIT_USAGE)


def read_study(path: Path) -> bytes:
    """Return the content of a study file.

    Raises:
        AssayError: The file cannot be read, or is not a regular file.
    """
    try:
        return read_user_file(path, f"cannot read the study {path}", "give the path of a study file", MAX_FILE_BYTES)
    except UnreadableError as error:
        if error.missing:
            raise AssayError(error.message, "`assay init` writes a study to start from") from None
        raise


def general_capabilities() -> Backends:
    """Return what each kind of target can do on any machine: the engine's answer when this version was built."""
    shipped = resources.files("assay.contract").joinpath("capabilities.json")
    built = Path(__file__).parents[4] / "contract" / "capabilities.json"
    try:
        text = shipped.read_text(encoding="utf-8") if shipped.is_file() else built.read_text(encoding="utf-8")
    except OSError as error:
        message = f"the engine's list of capabilities is missing: {built}"
        raise AssayError(message, "install assay again, or run `make generate` in its repository") from error
    return read_capabilities(text)

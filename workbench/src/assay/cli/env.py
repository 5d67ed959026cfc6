"""`assay env`."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay import __version__
from assay.model.base import AssayError, warning
from assay.terminal.output import note, print_blocks, print_json, print_line
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from assay.contract._answers import Look
    from assay.model.result.environment import EnvironmentDifference
    from assay.report.document import Block

    Environment = Mapping[str, Mapping[str, str]]


def command(
    runs: list[str] = typer.Argument(
        None,
        metavar="RUN",
        autocompletion=matching_runs,
        help="Id of a run, a unique beginning of it, `last`, the name of a study, or a path. Default: here and now.",
    ),
    diff: bool = typer.Option(False, "--diff", help="Only what differs between two runs."),
    target: str | None = typer.Option(
        None, "--target", metavar="PATH", help="Describe this folder or device, too; only without RUN."
    ),
    out: Path = RUNS,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show what a run's results depend on: machine, kernel, settings, storage, network, versions.

    Without RUN, describes this machine now. With --diff, shows what differs between two runs, the important first.

    Example: `assay env --target /var/tmp`, `assay env last`, `assay env --diff 20261121 last`
    """
    runs = runs or []
    _check(runs, diff, target)
    if diff:
        _show_difference(runs[0], runs[1], out, as_json)
        return
    environment = stored_environment(_folder(runs[0], out)) if runs else _current_environment(target)
    if as_json:
        print_json(environment)
        return
    _print(environment)


def _check(runs: list[str], diff: bool, target: str | None) -> None:
    if diff and len(runs) != 2:
        raise AssayError(
            f"--diff compares two runs, but {len(runs) or 'none'} {'is' if len(runs) < 2 else 'are'} named",
            "`assay env --diff RUN RUN`; `assay list` names the runs",
        )
    if len(runs) > 1 and not diff:
        raise AssayError(f"{len(runs)} runs are named", "name one, or compare two with --diff")
    if target == "":
        raise AssayError("--target is empty", "name a folder or device")
    if runs and target:
        raise AssayError(
            "--target describes a folder or device of this machine now, not of a run", "leave out RUN or --target"
        )


def _folder(run: str, out: Path) -> Path:
    from assay.run.find_run import find_shown_run

    return find_shown_run(run, out)


def stored_environment(folder: Path) -> "Environment":
    """Return section -> name -> value as stored with a run; its versions are the section `versions`.

    Raises:
        AssayError: The run cannot be read.
    """
    from assay.store import RunStore

    with RunStore.open(folder) as store:
        info = store.info()
    return {"versions": info.versions, **info.environment}


def _current_environment(target: str | None) -> "Environment":
    """Return the environment of this machine now."""
    import platform

    from assay.contract._answers import Look
    from assay.launch.binary import load_engine
    from assay.launch.environment import capture_environment, sources_sha256

    versions = {"assay": __version__, "assay_sha256": sources_sha256()}
    try:
        engine = load_engine()
        versions |= {"assay-engine": engine.version, "engine_sha256": engine.sha256}
    except AssayError as error:
        versions["assay-engine"] = f"unknown: {error.message}"
    versions["python"] = platform.python_version()
    places = {}
    looks: dict[str, Look] = {}
    if target:
        path = Path(target).absolute()
        look = _look_at_directory(target, path)
        # Look at a directory only once, by the engine: its storage may hang.
        device = look is None and path.is_block_device()
        places[str(path)] = (device, str(path))
        looks |= {str(path): look} if look is not None else {}
    return {"versions": versions, **capture_environment(places, looks=looks)}


def _look_at_directory(target: str, path: Path) -> "Look | None":
    """Return the engine's description of a directory; None for a device, for `/`, and without an engine.

    Raises:
        AssayError: The target does not exist, or cannot be read.
    """
    from assay.contract._answers import PlaceState
    from assay.launch import place_commands, places

    missing = AssayError(f"{target}: there is no such folder or device", "name one that exists")
    try:
        launcher = place_commands.local_launcher()
    except AssayError:
        if not path.exists():
            raise missing from None
        return None
    if str(path) == "/":
        return None
    try:
        look = places.inspect_path(str(path), launcher)
    except place_commands.SilentStorageError:
        raise
    except AssayError as error:
        reason = error.message.rpartition(": ")[2]
        raise AssayError(f"{target}: {reason}", "name a folder or device that can be read") from error
    if look.state in (PlaceState.absent, PlaceState.read_only_parent, PlaceState.no_parent):
        raise missing
    return look if look.state == PlaceState.directory else None


def _print(environment: "Environment") -> None:
    from assay.analyse.environments.settings import setting_lines
    from assay.report.document import Facts, Heading
    from assay.report.environments import readable_values

    sections = (
        (Heading(name, ""), Facts(tuple(readable_values(values).items()))) for name, values in environment.items()
    )
    print_blocks(*(block for section in sections for block in section))
    for line in setting_lines(environment):
        note(f"settings: {line}")


def _show_difference(first: str, second: str, out: Path, as_json: bool) -> None:
    from assay.analyse.environments.diff import environment_diff, varying_values
    from assay.report.document import Heading
    from assay.report.environments import differences_table

    folders = _folder(first, out), _folder(second, out)
    before, after = (stored_environment(folder) for folder in folders)
    differences, varying = environment_diff(before, after), varying_values(before, after)
    names = (folders[0].resolve().name, folders[1].resolve().name)
    if as_json:
        print_json({"before": names[0], "after": names[1], "differences": differences, "varying": varying})
        return
    matters = [difference for difference in differences if difference.matters]
    others = [difference for difference in differences if not difference.matters]
    if not differences:
        items = sum(len(values) for values in before.values())
        print_line(f"the environments are the same: {items} items in {len(before)} sections")
    elif not matters:
        print_line("no differences that commonly change results")
    groups: dict[str, Sequence[EnvironmentDifference]] = {
        "These commonly change results:": matters,
        "These rarely change results, or are unknown on one side:": others,
        "These always vary and do not mean a different environment:": varying,
    }
    blocks: list[Block] = []
    for title, group in groups.items():
        blocks += [Heading(title, "environment"), differences_table(group, names)] if group else []
    print_blocks(*blocks)
    for name, environment in zip(names, (before, after), strict=True):
        if len(environment) < 2:
            note(warning(f"run {name} has no stored description of its environment"))

"""Defaults of all commands, from the environment and the user's configuration file."""

import os
import re
from pathlib import Path
from typing import Any

import typer

from assay.model.base import EXIT_USAGE, AssayError
from assay.model.regular_files import IrregularError, TooLargeError, read_regular

RUNS_VARIABLE = "ASSAY_RUNS"
DEFAULT_RUNS = "assay-runs"
MAX_BYTES = 1 << 20
PLAIN_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Names that are offered to a shell: only those that it takes for one plain word."""
KEYS = ("runs",)
"""Keys that the configuration file may have."""


def config_file() -> Path:
    """Return the path of the user's configuration file: `assay/config.yaml` in XDG_CONFIG_HOME, by default ~/.config.

    Source: XDG Base Directory Specification 0.8; a relative path in the variable is ignored.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.config").expanduser()) / "assay" / "config.yaml"


def runs_folder() -> Path:
    """Return the folder of the runs that is used without `--out`.

    Raises:
        AssayError: The configuration file is wrong.
    """
    return Path(runs_setting()[0]).expanduser()


def runs_setting() -> tuple[str, str]:
    """Return the default folder of the runs as written, and its source: the variable, the file or `the default`.

    Raises:
        AssayError: The configuration file is wrong.
    """
    if folder := os.environ.get(RUNS_VARIABLE):
        return folder, RUNS_VARIABLE
    path = config_file()
    if folder := _read_configuration(path).get("runs"):
        return folder, str(path)
    return DEFAULT_RUNS, "the default"


def _read_configuration(path: Path) -> dict[str, Any]:
    """Return the content of the configuration file; empty if there is no file."""
    try:
        if not path.is_file():
            return {}
        data = read_regular(path, MAX_BYTES)
    except (OSError, IrregularError, TooLargeError) as error:
        raise AssayError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}", "fix or remove the file", EXIT_USAGE
        ) from error
    from assay.model.source import read_source
    from assay.model.units import choices_hint, display_value

    source = read_source(data, "configuration")
    if source.problems:
        problem = source.problems[0]
        raise AssayError(f"{path}:{problem.line}: {problem.message}", problem.hint, EXIT_USAGE)
    if not isinstance(source.data, dict):
        raise AssayError(f"{path}:1: {display_value(source.data)} is not a mapping", "write `runs: DIR`", EXIT_USAGE)
    for key, value in source.data.items():
        place = f"{path}:{source.key_position((key,))[0]}"
        if key not in KEYS:
            raise AssayError(f"{place}: unknown key `{key}`", choices_hint(key, KEYS), EXIT_USAGE)
        if not isinstance(value, str) or not value:
            raise AssayError(
                f"{place}: {key}: {display_value(value)} is not the name of a folder", "write text", EXIT_USAGE
            )
    return source.data


def matching_runs(incomplete: str) -> list[str]:
    """Return `last`, ids of runs (newest first) and names of studies that begin with `incomplete`."""
    from assay.store.lookup import list_runs

    try:
        runs = list_runs(runs_folder())[::-1]
    except AssayError:
        return []
    names = ("last", *(run.id for run in runs), *(run.study for run in runs))
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete) and PLAIN_WORD.fullmatch(name)]


RUNS = typer.Option(
    ...,
    "--out",
    metavar="DIR",
    default_factory=runs_folder,
    # typer would show its own words for the default, in parentheses; the help states it instead.
    show_default=False,
    help=f"Folder of the runs; ASSAY_RUNS or the configuration file may name another one.  [default: {DEFAULT_RUNS}]",
)

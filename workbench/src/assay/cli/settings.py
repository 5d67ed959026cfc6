"""What holds for every command unless it is told otherwise: from the environment and the user's configuration file."""

import os
from pathlib import Path
from typing import Any

import typer

from assay.model.base import EXIT_USAGE, AssayError
from assay.model.regular import IrregularError, TooLargeError, read_regular

RUNS_VARIABLE = "ASSAY_RUNS"
STANDARD_RUNS = "assay-runs"
MOST_BYTES = 1 << 20
KEYS = ("runs",)
"""What the configuration file may say."""


def config_file() -> Path:
    """Where the user's configuration is: `assay/config.yaml` in XDG_CONFIG_HOME, which is ~/.config if it is not set.

    Source: XDG Base Directory Specification 0.8; relative paths in the variable do not count.
    """
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.config").expanduser()) / "assay" / "config.yaml"


def runs_folder() -> Path:
    """The folder of the runs where `--out` does not say otherwise.

    Raises:
        AssayError: The configuration file is wrong.
    """
    return Path(runs_setting()[0]).expanduser()


def runs_setting() -> tuple[str, str]:
    """The folder of the runs as it is written, and what says so.

    Raises:
        AssayError: The configuration file is wrong.
    """
    if told := os.environ.get(RUNS_VARIABLE):
        return told, RUNS_VARIABLE
    path = config_file()
    if told := _configured(path).get("runs"):
        return told, str(path)
    return STANDARD_RUNS, "the default"


def _configured(path: Path) -> dict[str, Any]:
    """What the configuration file says; nothing if there is none."""
    try:
        if not path.is_file():
            return {}
        data = read_regular(path, MOST_BYTES)
    except (OSError, IrregularError, TooLargeError) as error:
        raise AssayError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}", "mend or remove it", EXIT_USAGE
        ) from error
    from assay.model.source import read_source
    from assay.model.units import one_of, shown

    source = read_source(data, "configuration")
    if source.problems:
        problem = source.problems[0]
        raise AssayError(f"{path}:{problem.line}: {problem.message}", problem.hint, EXIT_USAGE)
    if not isinstance(source.data, dict):
        raise AssayError(f"{path}:1: {shown(source.data)} is not a mapping", "write `runs: DIR`", EXIT_USAGE)
    for key, value in source.data.items():
        place = f"{path}:{source.key_place((key,))[0]}"
        if key not in KEYS:
            raise AssayError(f"{place}: unknown key `{key}`", one_of(key, KEYS), EXIT_USAGE)
        if not isinstance(value, str) or not value:
            raise AssayError(f"{place}: {key}: {shown(value)} is not the name of a folder", "write text", EXIT_USAGE)
    return source.data


def runs_of(incomplete: str) -> list[str]:
    """What a shell may make of the beginning of a run's name."""
    from assay.cli.completion import runs_like

    return runs_like(incomplete)


RUNS = typer.Option(
    ...,
    "--out",
    metavar="DIR",
    default_factory=runs_folder,
    # What typer makes of a word given as the default stands in parentheses, too.
    show_default=False,
    help=f"Folder of the runs; ASSAY_RUNS or the configuration file may name another one.  [default: {STANDARD_RUNS}]",
)

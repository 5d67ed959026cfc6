"""Optional Python packages: a base install leaves them out; extras of the package install them."""

from collections.abc import Sequence
from importlib.util import find_spec

from assay.model.base import EXIT_REFUSED, AssayError

EXTRAS = {
    "darshan": ("darshan",),
    "deploy": ("boto3",),
    "notebook": ("pandas",),
    "paper": ("typst",),
    "parquet": ("pyarrow",),
    "simulator": ("moto", "flask", "flask_cors"),
    "spreadsheet": ("python_calamine",),
}
"""Extra -> modules it provides; `workbench/pyproject.toml` lists the packages that contain them."""


def is_installed(package: str) -> bool:
    """Whether a Python package is installed; it is not imported to find out."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def how_to_install(packages: Sequence[str]) -> str:
    """Return the command that installs packages: the extra that has all of them, else the packages by name."""
    for extra, provided in EXTRAS.items():
        if packages and set(packages) <= set(provided):
            return f"pip install 'assay[{extra}]'"
    return f"pip install {' '.join(packages)}"


def require(package: str, what: str) -> None:
    """Raise an error unless a package is installed.

    Args:
        package: Name under which it is imported.
        what: What needs it, as the beginning of the message.

    Raises:
        AssayError: It is not installed; the hint is the command that installs it.
    """
    if not is_installed(package):
        message = f"{what} needs the Python package {package}, which is not installed"
        raise AssayError(message, how_to_install((package,)), EXIT_REFUSED)

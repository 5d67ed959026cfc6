"""Packages that are needed only now and then: a base install leaves them out, and extras of the package bring them."""

from collections.abc import Sequence
from importlib.util import find_spec

from assay.model.base import EXIT_REFUSED, AssayError

EXTRAS = {
    "notebook": ("pandas",),
    "parquet": ("pyarrow",),
    "simulator": ("moto", "flask", "flask_cors"),
}
"""Extra -> what is imported of it; `workbench/pyproject.toml` says which packages these are of."""


def is_installed(package: str) -> bool:
    """Whether a Python package is beside Assay, which is found out without loading it."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def how_to_install(packages: Sequence[str]) -> str:
    """The command that brings packages: the extra that has them all, or else they by their names."""
    for extra, brought in EXTRAS.items():
        if packages and set(packages) <= set(brought):
            return f"pip install 'assay[{extra}]'"
    return f"pip install {' '.join(packages)}"


def require(package: str, what: str) -> None:
    """See whether a package is there, before it is loaded.

    Args:
        package: As it is imported.
        what: What needs it, at the beginning of a sentence.

    Raises:
        AssayError: It is not there; the hint is the command that brings it.
    """
    if not is_installed(package):
        message = f"{what} needs the Python package {package}, which is not installed"
        raise AssayError(message, how_to_install((package,)), EXIT_REFUSED)

"""Assay measures, prices and compares storage, and says which one to choose and why.

In a notebook or a program: `assay.run(study)` measures, `assay.load(run)` opens what was measured; both give a `Run`,
whose results are data frames. Only what is used is loaded.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.api import AssayError, Run, StudyError, load, run

__version__ = "0.1.0"
__all__ = ["AssayError", "Run", "StudyError", "__version__", "load", "run"]


def __getattr__(name: str) -> Any:
    """What `assay.api` has, when it is asked for: the command line starts without it (PEP 562)."""
    if name in __all__:
        from assay import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

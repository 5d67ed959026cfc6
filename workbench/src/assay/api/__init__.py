"""Assay in notebooks and programs: studies are measured and runs are opened without a command line.

    import assay

    done = assay.run("study.yaml")
    done.results[["target", "operation", "throughput_median_bytes_per_s", "verdict"]]
    assay.load("last").report("storage.html")

Data frames are those of pandas, which is loaded when the first one is asked for. Everything that can go wrong for the
user's part is an `AssayError`.
"""

import sys
from types import ModuleType

from assay.api.measure import StudyError, run
from assay.api.opened import Run, load
from assay.model.base import AssayError

__all__ = ["AssayError", "Run", "StudyError", "load", "run"]


class _Callable(ModuleType):
    """The package `assay.run`, which can also be called: `assay.run(study)`."""

    __call__ = staticmethod(run)


sys.modules["assay.run"].__class__ = _Callable

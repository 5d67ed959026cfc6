"""Assay in notebooks and programs: measure studies and open runs without the command line.

    import assay

    done = assay.run("study.yaml")
    done.results[["target", "operation", "throughput_median_bytes_per_s", "verdict"]]
    assay.load("last").report("storage.html")

Data frames are pandas data frames; pandas is loaded with the first one. Errors that the user can mend are `AssayError`.
"""

import sys
from types import ModuleType

from assay.api.measure import StudyError, run
from assay.api.stored_run import Run, load
from assay.model.base import AssayError

__all__ = ["AssayError", "Run", "StudyError", "load", "run"]


class _Callable(ModuleType):
    """The package `assay.run`, made callable: `assay.run(study)`."""

    __call__ = staticmethod(run)


sys.modules["assay.run"].__class__ = _Callable

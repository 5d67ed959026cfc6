"""The runs of a document, by names that stand for what the user wrote."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import AssayError

if TYPE_CHECKING:
    from assay.report.view import RunView


def named_runs(refs: Iterable[str]) -> dict[str, str]:
    """Return runs by names that references can have: what the user wrote, without other signs."""
    found: dict[str, str] = {}
    for ref in refs:
        base = re.sub(r"[^A-Za-z0-9_.-]+", "-", Path(ref).name).strip("-.") or "run"
        name = base
        number = 2
        while name in found:
            name, number = f"{base}-{number}", number + 1
        found[name] = ref
    return found


def load_views(refs: Iterable[str], out: Path) -> "dict[str, RunView]":
    """Load runs and return them by the names that a document has for them.

    Raises:
        AssayError: A run is unknown, or named twice.
    """
    from assay.report.view import RunView
    from assay.run.analysis import load_analysis

    views = {name: RunView(load_analysis(ref, out)) for name, ref in named_runs(refs).items()}
    ids = [(view.run.id, view.run.created_at) for view in views.values()]
    if doubled := next((name for name, key in zip(views, ids, strict=True) if ids.count(key) > 1), None):
        raise AssayError(f"run {views[doubled].run.id} is named more than once", "name each run once")
    return views

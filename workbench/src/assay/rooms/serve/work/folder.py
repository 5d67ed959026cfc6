"""The runs of a folder, and the pages made from them.

A request names a run by its slug, and only runs found by listing the folder are known: no text of an address becomes a
path.
"""

import math
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.cli.export import Format, TableName, write_export
from assay.journal.trees import scratch_folder
from assay.model.base import AssayError
from assay.report import numbers
from assay.report.build import build_document
from assay.report.comparison_page import comparison_document
from assay.report.html import render_html
from assay.report.joint import joint_document
from assay.report.view import RunView
from assay.rooms.serve.shown.page_frame import add_links
from assay.rooms.serve.shown.runs import DOWNLOADS, RunLine
from assay.rooms.serve.work.page_cache import PageCache
from assay.run.analysis import load_analysis
from assay.run.between_runs import compare_with_history, join_with_history
from assay.store.entries import DATABASE, INTERVALS, PRICES, STUDY
from assay.store.lookup import RunSummary, run_folders, run_summary
from assay.store.run import RunStore
from assay.store.safe_files import plain_file_status

CACHE_BYTES = 64 << 20
"""Bytes of cached pages at most; a report has about 2 MB."""
_STAMPED_FILES = (DATABASE, f"{DATABASE}-wal", STUDY, PRICES, INTERVALS)
Stamp = tuple[object, ...]


@dataclass(frozen=True)
class RunEntry:
    """A run in the folder.

    Attributes:
        slug: Name of the run in addresses: the name of its folder, percent-encoded.
        folder: Folder of the run.
        summary: Summary of the run.
        stamp: A value that changes when the run changes.
    """

    slug: str
    folder: Path
    summary: RunSummary
    stamp: Stamp

    @property
    def started(self) -> float:
        """Start of the run in seconds since 1970; 0 if not known."""
        return self.summary.created_at if math.isfinite(self.summary.created_at) else 0.0


class RunsFolder:
    """The folder of runs that is served. All methods are thread-safe."""

    def __init__(self, root: Path) -> None:
        """Serve the runs in `root`, which need not exist yet."""
        self.root = root.absolute()
        self._lock = threading.Lock()
        self._entries: dict[str, RunEntry] = {}
        self._lines: dict[str, tuple[Stamp, RunLine]] = {}
        self._pages = PageCache(CACHE_BYTES)

    def entries(self) -> list[RunEntry]:
        """Return all runs, the newest first.

        Raises:
            AssayError: The folder cannot be read.
        """
        with self._lock:
            before = self._entries
        found = [self._entry(folder, before) for folder in run_folders(self.root)]
        with self._lock:
            # Runs that were removed are forgotten.
            self._entries = {entry.slug: entry for entry in found}
            self._lines = {slug: line for slug, line in self._lines.items() if slug in self._entries}
        return sorted(found, key=lambda entry: (entry.started, entry.slug), reverse=True)

    def _entry(self, folder: Path, before: dict[str, RunEntry]) -> RunEntry:
        slug, stamp = quote(os.fsencode(folder.name), safe=""), _stamp(folder)
        known = before.get(slug)
        # Only for a complete run do the files show every change: the status of others depends on processes, too.
        if known and known.stamp == (*stamp, known.summary.status) and str(known.summary.status).startswith("complete"):
            return known
        summary = run_summary(folder)
        return RunEntry(slug, folder, summary, (*stamp, summary.status))

    def line(self, entry: RunEntry) -> RunLine:
        """Return the line of a run in the list."""
        with self._lock:
            stamp, line = self._lines.get(entry.slug, ((), None))
        if line is not None and stamp == entry.stamp:
            return line
        line = _line(entry)
        with self._lock:
            self._lines[entry.slug] = entry.stamp, line
        return line

    def report(self, entry: RunEntry, bare: bool = False) -> bytes:
        """Return the report as HTML; with `bare`, without the links to other pages.

        Raises:
            AssayError: The run cannot be read.
        """
        page = self._pages.get(("report", entry.slug, entry.stamp), lambda: self._report(entry))
        if bare:
            return page
        files = [(words, f"/run/{entry.slug}/{file}") for words, file in (("HTML", "report.html"), *DOWNLOADS)]
        return add_links(page.decode(), [("All runs", "/"), *files]).encode()

    def _report(self, entry: RunEntry) -> bytes:
        return render_html(build_document(load_analysis(str(entry.folder), self.root))).encode()

    def export(self, entry: RunEntry, format_: Format) -> bytes:
        """Return the results as a file of this format.

        Raises:
            AssayError: The run cannot be read.
        """

        def make() -> bytes:
            with scratch_folder("assay-export-") as place:
                path = place / f"export.{format_}"
                write_export(load_analysis(str(entry.folder), self.root), format_, TableName.RESULTS, path, True)
                return path.read_bytes()

        return self._pages.get(("export", format_, entry.slug, entry.stamp), make)

    def comparison(self, before: RunEntry, after: RunEntry) -> bytes:
        """Return the comparison of two runs as HTML, as `assay compare` makes it.

        Raises:
            AssayError: A run cannot be read, or the runs have nothing in common.
        """

        def make() -> bytes:
            first, second = (load_analysis(str(entry.folder), self.root) for entry in (before, after))
            return render_html(comparison_document(compare_with_history(self.root, [first], [second]))).encode()

        # The day-to-day variation comes from the other runs, so the cached page depends on all of them.
        others = tuple(sorted((entry.slug, entry.stamp) for entry in self._known()))
        page = self._pages.get(("compare", before.slug, after.slug, hash(others)), make)
        links = [("All runs", "/"), *((entry.folder.name, f"/run/{entry.slug}") for entry in (before, after))]
        return add_links(page.decode(), links).encode()

    def joint(self, entries: Sequence[RunEntry]) -> bytes:
        """Return any number of runs side by side as HTML, as `assay report RUN RUN ...` makes it.

        Raises:
            AssayError: A run cannot be read, or the runs have nothing in common.
        """

        def make() -> bytes:
            found = [load_analysis(str(entry.folder), self.root) for entry in entries]
            views = {entry.slug: RunView(one) for entry, one in zip(entries, found, strict=True)}
            return render_html(joint_document(views, join_with_history(self.root, found))).encode()

        others = tuple(sorted((entry.slug, entry.stamp) for entry in self._known()))
        page = self._pages.get(("joint", *(entry.slug for entry in entries), hash(others)), make)
        links = [("All runs", "/"), *((entry.folder.name, f"/run/{entry.slug}") for entry in entries)]
        return add_links(page.decode(), links).encode()

    def _known(self) -> list[RunEntry]:
        with self._lock:
            return list(self._entries.values())


def _stamp(folder: Path) -> Stamp:
    found: list[object] = []
    for name in _STAMPED_FILES:
        state = plain_file_status(folder, name)
        # An empty write-ahead log equals a missing one.
        found.append((state.st_mtime_ns, state.st_size, state.st_ino) if state and state.st_size else None)
    return tuple(found)


def _line(entry: RunEntry) -> RunLine:
    """Return the line of a run; its database may be damaged or foreign, so that any value may be wrong."""
    summary, started = entry.summary, _moment(entry.started)
    name, status = entry.folder.name, str(summary.status)
    if summary.problem:
        return RunLine(entry.slug, name, "", status, started, problem=summary.problem)
    try:
        with RunStore.open(entry.folder) as store:
            info, verdicts = store.info(), store.verdict_counts()
    except AssayError as error:
        return RunLine(entry.slug, name, str(summary.study), "unreadable", started, problem=error.message)
    answer = info.page.answer if info.page else next(iter(info.answers), "")
    return RunLine(
        entry.slug,
        name,
        info.study,
        status,
        started,
        info.planned,
        info.finished,
        info.question,
        ", ".join(info.hosts) or info.environment.get("host", {}).get("name", ""),
        tuple((str(verdict), count) for verdict, count in verdicts.by_worst.items()),
        answer,
    )


def _moment(at: Any) -> str:
    try:
        return numbers.utc_time(at) if at else ""
    except (OverflowError, ValueError, OSError):
        return ""

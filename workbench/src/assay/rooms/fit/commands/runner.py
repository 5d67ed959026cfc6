"""Measures the studies of `assay fit` and `assay find`."""

from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.base import EXIT_USAGE, AssayError

if TYPE_CHECKING:
    from assay.rooms.fit.work.first_look import FirstLook
    from assay.rooms.fit.work.place import FitPlace
    from assay.run.listener import Listener
    from assay.store import RunStore


class Runner:
    """Measures studies with what the user has confirmed.

    Attributes:
        out: Folder of the runs.
    """

    def __init__(self, out: Path, destroy: bool, on_root: bool) -> None:
        """Measure studies.

        Args:
            out: Folder of the runs.
            destroy: Devices may be overwritten, and buckets written to.
            on_root: Directories for mounts may be on the root file system.
        """
        self.out = out
        self._destroy, self._on_root = destroy, on_root

    def run(self, text: str, folder: Path) -> "RunStore":
        """Measure the study of a text quietly; return the run in `folder`, open for writing."""
        from assay.cli.quiet import QuietListener

        return self._start(text, folder, QuietListener())

    def run_stored(self, text: str) -> "RunStore":
        """Measure the study of a text, and print the progress; return the run, open for writing."""
        from assay.cli.progress import TerminalListener

        return self._start(text, self.out, TerminalListener())

    def _start(self, text: str, folder: Path, listener: "Listener") -> "RunStore":
        from assay.cli.studyfile import check_study
        from assay.run.session import start

        plan = check_study(Path("assay-fit.yaml"), text.encode())
        try:
            return start(plan, folder, self._destroy, listener, on_root=self._on_root)
        except AssayError as error:
            # The exit code of refused runs is that of undecided answers.
            error.exit_code = EXIT_USAGE
            raise

    def look(self, place: "FitPlace", is_needed: bool) -> "FirstLook":
        """Write briefly to a place that holds files; elsewhere, or if that is not needed, nothing is known."""
        from assay.rooms.fit.work.first_look import FirstLook, first_look
        from assay.run.places.temporary_run import temporary_run_folder
        from assay.terminal.output import note

        if place.work == "objects" or not is_needed:
            return FirstLook(None, None, True)
        note("writing briefly, to fit the amount of data into the time")
        with temporary_run_folder(self.out, note) as folder:
            return first_look(place, folder, self.run)

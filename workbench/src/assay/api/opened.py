"""A run that was measured, as data frames."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.settings import runs_folder
from assay.model.result.result import RunAnalysis
from assay.run.analysis import load_analysis
from assay.store import RunStore, find_run

if TYPE_CHECKING:
    import pandas as pd


def runs_in(out: str | Path | None) -> Path:
    """The folder of the runs: that one, or where the command line has them."""
    return runs_folder() if out is None else Path(out)


def load(run: str | Path, *, out: str | Path | None = None) -> "Run":
    """Open a run that was measured.

    Args:
        run: Its folder, its id or a unique beginning of it, `last`, or the name of a study, whose newest run it is.
        out: Folder of the runs; None: as of the command line (`ASSAY_RUNS`, the configuration file, `assay-runs`).

    Raises:
        AssayError: There is no such run, or it cannot be read.
    """
    return Run(find_run(str(run), runs_in(out)))


class Run:
    """A run and what it says. It is analysed and judged when something of it is asked for first, and kept.

    Data frames have the columns that `assay export` writes, with the units in their names; the same words stand in
    `docs/reference/results.md`. Whole numbers are `Int64`, truths `boolean`, so that a value can be missing (`NA`);
    other numbers are `float64` (`NaN`); names of which each occurs often are `category`.
    """

    def __init__(self, folder: Path) -> None:
        """Use `assay.run` or `assay.load`.

        Raises:
            AssayError: It cannot be read.
        """
        self.folder = folder
        """Folder of the run."""
        with RunStore.open(folder) as store:
            self._head = store.info()

    def __repr__(self) -> str:
        """Such as `<Run 20261125-101500-grid: complete, 12 of 12 repeats>`."""
        head = self._head
        return f"<Run {head.id}: {head.status}, {head.finished} of {head.planned} repeats>"

    @property
    def id(self) -> str:
        """Name of the run."""
        return self._head.id

    @property
    def status(self) -> str:
        """How it stood when it was opened: `running`, `interrupted`, `complete` or `complete with errors`."""
        return self._head.status

    @property
    def study(self) -> str:
        """The study file as it was measured."""
        return self._head.study_text

    @cached_property
    def analysis(self) -> RunAnalysis:
        """Everything that reports are made of, as objects (`assay.model.result.result.RunAnalysis`)."""
        return load_analysis(str(self.folder), self.folder.parent)

    @property
    def answers(self) -> tuple[str, ...]:
        """What the run says of its question, a sentence each; empty while it is not finished."""
        return self._head.answers

    @property
    def results(self) -> "pd.DataFrame":
        """A row for each operation of each case: rates, latencies, parameters, verdict, the ceiling that binds."""
        from assay.api.frames import frame
        from assay.report.tables import results_table

        return frame(results_table(self.analysis))

    @property
    def samples(self) -> "pd.DataFrame":
        """A row for each repeat of each of these."""
        from assay.api.frames import frame
        from assay.report.tables import samples_table

        return frame(samples_table(self.analysis))

    @property
    def ceilings(self) -> "pd.DataFrame":
        """A row for each limit that was measured or stated, in the unit of its column `unit`."""
        from assay.api.frames import frame
        from assay.report.tables import ceilings_table

        return frame(ceilings_table(self.analysis))

    @property
    def costs(self) -> "pd.DataFrame":
        """A row for each target that has a design, priced as the run began; empty of a study without prices."""
        from assay.api.frames import frame
        from assay.report.cost_table import costs_table

        return frame(costs_table(self.analysis))

    @property
    def series(self) -> "pd.DataFrame":
        """A row for each interval of each repeat; times in nanoseconds from the start of the phase.

        A repeat whose events cannot be read has none, which is said on standard error.
        """
        from assay.api.frames import series_frame

        with RunStore.open(self.folder) as store:
            return series_frame(store)

    @property
    def decisions(self) -> "pd.DataFrame":
        """A row for each two targets at each point: which one is faster, and how many times as fast at least.

        `outcome` is `faster`, `equal`, `open` or `barred`; `faster` names the faster one. `ratio` is how many times as
        fast it was measured to be, or of other outcomes the rate of `other` by that of `base`.
        """
        from assay.api.frames import decisions_frame

        return decisions_frame(self.analysis)

    def report(self, path: str | Path, force: bool = False) -> Path:
        """Write the report as one HTML file, replacing an older page of Assay.

        Args:
            path: Where it shall be.
            force: Replace a file even if Assay did not write it.

        Returns:
            Its path.

        Raises:
            AssayError: It cannot be written.
        """
        from assay.cli.report import write_report
        from assay.cli.written import PAGE, Output

        # Whole, so that it is never taken for `-`, which is standard output.
        write_report(self.analysis, Output(Path(path).absolute(), PAGE, force))
        return Path(path)

"""A stored run as data frames."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from assay.model.result.result import RunAnalysis
from assay.run.analysis import load_analysis
from assay.run.find_run import find_shown_run
from assay.store import RunStore
from assay.terminal.settings import runs_folder

if TYPE_CHECKING:
    import pandas as pd


def runs_folder_or(out: str | Path | None) -> Path:
    """Return the folder of the runs: `out`, or the command line's default if `out` is None."""
    return runs_folder() if out is None else Path(out)


def load(run: str | Path, *, out: str | Path | None = None) -> "Run":
    """Open a stored run.

    Args:
        run: Folder or id of the run, a unique beginning of the id, `last`, or the name of a study for its newest run.
        out: Folder of the runs; None: the command line's default (`ASSAY_RUNS`, the configuration file, `assay-runs`).

    Raises:
        AssayError: There is no such run, or it cannot be read.
    """
    return Run(find_shown_run(str(run), runs_folder_or(out)))


class Run:
    """A run and its results. The first access to results analyses and judges it; later ones reuse that analysis.

    Data frames have the columns that `assay export` writes, with units in the names; `docs/reference/results.md`
    describes them. Whole numbers are `Int64` and truth values `boolean`, so that a value can be missing (`NA`); other
    numbers are `float64` (`NaN`); names that recur are `category`.
    """

    def __init__(self, folder: Path) -> None:
        """Open the run in `folder`; users call `assay.run` or `assay.load` instead.

        Raises:
            AssayError: The run cannot be read.
        """
        self.folder = folder
        """Folder of the run."""
        with RunStore.open(folder) as store:
            self._info = store.info()

    def __repr__(self) -> str:
        """Return the run in a few words: `<Run 20261125-101500-grid: complete, 12 of 12 repeats>`."""
        info = self._info
        return f"<Run {info.id}: {info.status}, {info.finished} of {info.planned} repeats>"

    @property
    def id(self) -> str:
        """Id of the run."""
        return self._info.id

    @property
    def status(self) -> str:
        """Status of the run when it was opened: `running`, `interrupted`, `complete` or `complete with errors`."""
        return self._info.status

    @property
    def study(self) -> str:
        """Text of the study file that was measured."""
        return self._info.study_text

    @cached_property
    def analysis(self) -> RunAnalysis:
        """Everything that a report shows, as objects (`assay.model.result.result.RunAnalysis`)."""
        return load_analysis(str(self.folder), self.folder.parent)

    @property
    def answers(self) -> tuple[str, ...]:
        """Answers to the question of the study, a sentence each; empty until the run is complete."""
        return self._info.answers

    @property
    def results(self) -> "pd.DataFrame":
        """A row for each operation of each case: rates, latencies, parameters, verdict, the binding ceiling."""
        from assay.api.frames import table_frame
        from assay.report.tables import results_table, with_origin

        return table_frame(with_origin(results_table(self.analysis), self._info))

    @property
    def samples(self) -> "pd.DataFrame":
        """A row for each repeat of each row of `results`."""
        from assay.api.frames import table_frame
        from assay.report.tables import samples_table, with_origin

        return table_frame(with_origin(samples_table(self.analysis), self._info))

    @property
    def tasks(self) -> "pd.DataFrame":
        """A row for each task of each repeat of commands, with a column for each figure; empty without commands."""
        from assay.api.frames import table_frame
        from assay.report.tasks_table import tasks_table

        return table_frame(tasks_table(self.analysis))

    @property
    def ceilings(self) -> "pd.DataFrame":
        """A row for each measured or stated ceiling; its column `unit` holds the unit."""
        from assay.api.frames import table_frame
        from assay.report.tables import ceilings_table

        return table_frame(ceilings_table(self.analysis))

    @property
    def costs(self) -> "pd.DataFrame":
        """A row for each target with a design, at the prices when the run began; empty if the study has no prices."""
        from assay.api.frames import table_frame
        from assay.report.cost_table import costs_table

        return table_frame(costs_table(self.analysis))

    @property
    def series(self) -> "pd.DataFrame":
        """A row for each interval of each repeat; times in nanoseconds from the start of the phase.

        A repeat whose events cannot be read has no rows; standard error says so.
        """
        from assay.api.frames import series_frame

        with RunStore.open(self.folder) as store:
            return series_frame(store)

    @property
    def decisions(self) -> "pd.DataFrame":
        """A row for each pair of targets at each point: which one is faster, and at least how many times.

        `outcome` is `faster`, `equal`, `open` or `barred`; `faster` names the faster target. `ratio` is the rate of
        the faster target divided by that of the slower one; for other outcomes the rate of `other` divided by that of
        `base`.
        """
        from assay.api.frames import decisions_frame

        return decisions_frame(self.analysis)

    def report(self, path: str | Path, force: bool = False) -> Path:
        """Write the report as one HTML file, replacing an older page of Assay.

        Args:
            path: The file to write.
            force: Replace a file even if Assay did not write it.

        Returns:
            `path`.

        Raises:
            AssayError: The file cannot be written.
        """
        from assay.cli.report import write_report
        from assay.terminal.output_file import PAGE_MARK, OutputFile

        # An absolute path, so that a file named `-` is not taken for standard output.
        write_report(self.analysis, OutputFile(Path(path).absolute(), PAGE_MARK, force))
        return Path(path)

"""Measure a study from a program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from assay.api.stored_run import Run, runs_folder_or
from assay.cli.changes import study_path
from assay.cli.progress import LineProgress
from assay.cli.quiet import QuietListener
from assay.cli.studyfile import StudyProblemsError, plan_study, read_study
from assay.model.base import EXIT_USAGE, AssayError
from assay.model.escape import escape_line
from assay.model.source import Problem
from assay.run.listener import Progress, TimeLeft
from assay.run.session import start
from assay.run.study_plan import Plan
from assay.terminal.output import note

UNNAMED_STUDY = Path("study")
"""Path of a study that is not a file, so that relative file names in it start at the current directory."""

Study = str | Path | Mapping[str, Any]


class StudyError(AssayError):
    """A study has problems.

    Attributes:
        problems: Each problem with its line, in line order.
    """

    def __init__(self, path: Path, problems: tuple[Problem, ...]) -> None:
        first, *others = problems
        super().__init__(
            f"{path}:{first.line}: {first.message}",
            first.hint,
            EXIT_USAGE,
            tuple((f"{path}:{problem.line}: {problem.message}", problem.hint) for problem in others),
        )
        self.path = path
        self.problems = problems

    def __str__(self) -> str:
        """All problems, two lines each."""
        return "\n".join(problem.text(escape_line(str(self.path))) for problem in self.problems)


def run(
    study: Study,
    *,
    out: str | Path | None = None,
    destroy: bool = False,
    on_root: bool = False,
    budget: str | None = None,
    quiet: bool = False,
) -> Run:
    """Measure a study and keep the results, as `assay run` does.

    Any thread may call this. In the main thread Ctrl-C, or a notebook's *interrupt*, stops the run cleanly: the test
    data is removed, the results so far are kept, and `assay run RUN --resume` continues. In other threads a run cannot
    be interrupted.

    Args:
        study: Path of a study file; or its text, which contains line breaks; or the study as a mapping.
        out: Folder of the runs; None: the command line's default (`ASSAY_RUNS`, the configuration file, `assay-runs`).
        destroy: Devices named in the study may be overwritten, and buckets and tables written to.
        on_root: Directories for mounts may be on the root file system.
        budget: The most that the designs of the study may cost during the run, such as `5USD`; None: no limit.
        quiet: Print only warnings.

    Returns:
        The run; its `status` is `complete`, `complete with errors`, or `interrupted` if the budget was spent.

    Raises:
        StudyError: The study has problems; it lists all of them, with their lines.
        AssayError: The run was refused or cannot be done; nothing is left behind.
        KeyboardInterrupt: The run was interrupted; the results so far are kept.
    """
    plan = _plan(study)
    with start(
        plan, runs_folder_or(out), destroy, QuietListener() if quiet else _LineListener(), budget, on_root
    ) as store:
        folder, status = store.folder, store.current_status()
    if status == "interrupted" and budget is None:
        raise KeyboardInterrupt(f"the run was interrupted: go on with assay run {folder} --resume")
    return Run(folder)


def _plan(study: Study) -> Plan:
    text = study if isinstance(study, str) and "\n" in study else None
    try:
        if text is None and isinstance(study, str | Path):
            path = study_path(str(study))
            return plan_study(path, read_study(path))
        if text is None:
            text = yaml.safe_dump(_yaml_value(study), sort_keys=False, allow_unicode=True)
        return plan_study(UNNAMED_STUDY, text.encode())
    except StudyProblemsError as error:
        raise StudyError(error.path, error.problems) from None
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        message = f"the study cannot be written as YAML: {escape_line(str(error))}"
        raise AssayError(message, "give text, numbers, booleans, lists and mappings only") from None


def _yaml_value(value: Any) -> Any:
    """Return a value as plain mappings, lists and text, copied so that YAML writes no anchors and aliases."""
    if isinstance(value, Mapping):
        return {str(key): _yaml_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_yaml_value(item) for item in value]
    return str(value) if isinstance(value, Path) else value


class _LineListener:
    """A listener that prints a line at a time on standard error: a notebook has no cursor to move."""

    def print_line(self, text: str) -> None:
        """Print a line."""
        note(text)

    def progress(self, total: int, done: int, left: TimeLeft) -> Progress:
        """Return a progress that prints a line for each repeat, fewer for large studies."""
        return LineProgress(total, done, left)

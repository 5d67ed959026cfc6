"""`assay doctor`."""

from dataclasses import asdict
from pathlib import Path

import typer

from assay.model.base import EXIT_REFUSED
from assay.terminal.output import as_path


def command(
    study: Path | None = typer.Argument(
        None, parser=as_path, metavar="STUDY", help="Study file: check this machine for the settings that it requires."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show what this machine supports for measurements, and how to get what is missing.

    Nothing is left behind. The exit code is 3 if the engine cannot be used, because then nothing can be measured. With
    a STUDY, each setting that differs from the study's section `settings` is a line; other hosts are not checked.

    Example: `assay doctor`, `assay doctor study.yaml`
    """
    from assay.launch.doctor import Fact, examine, examine_settings
    from assay.terminal.output import print_json, print_table
    from assay.terminal.settings import runs_setting

    settings: list[Fact] = []
    if study is not None:
        from assay.cli.studyfile import load_study_file

        plan = load_study_file(study).study
        places = {name: (plan.targets[name].whole_device, plan.targets[name].path) for name in plan.targets}
        local = plan.inspectable_targets(plan.targets)
        wanted = plan.settings.required_values
        settings = examine_settings(wanted, {name: places[name] for name in local}) if wanted else []
    folder, where = runs_setting()
    facts = [*examine(), *settings, Fact("folder of runs", "ok", f"{folder} ({where})", "")]
    if as_json:
        print_json([asdict(fact) for fact in facts])
    else:
        rows = [(fact.name, fact.status, fact.found, fact.remedy) for fact in facts]
        print_table(("what", "status", "found", "remedy"), rows, least=("found",))
    if any(fact.name == "assay-engine" and fact.status == "missing" for fact in facts):
        raise typer.Exit(EXIT_REFUSED)

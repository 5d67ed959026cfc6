"""`assay doctor`."""

from dataclasses import asdict

import typer

from assay.model.base import EXIT_REFUSED


def command(as_json: bool = typer.Option(False, "--json", help="Print JSON.")) -> None:
    """Say what this machine can do for a measurement, and the remedy for what it cannot.

    Nothing is left behind. The exit code is 3 if the engine cannot be used, because then nothing can be measured.

    Example: `assay doctor`
    """
    from assay.cli.output import print_json, print_table
    from assay.cli.settings import runs_setting
    from assay.launch.doctor import Fact, examine

    folder, where = runs_setting()
    facts = [*examine(), Fact("folder of runs", "ok", f"{folder} ({where})", "")]
    if as_json:
        print_json([asdict(fact) for fact in facts])
    else:
        rows = [(fact.name, fact.status, fact.found, fact.remedy) for fact in facts]
        print_table(("what", "status", "found", "remedy"), rows, least=("found",))
    if any(fact.name == "assay-engine" and fact.status == "missing" for fact in facts):
        raise typer.Exit(EXIT_REFUSED)

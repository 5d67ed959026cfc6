"""`assay audit`."""

from pathlib import Path

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_USAGE, AssayError, LineError
from assay.terminal.settings import RUNS

MAX_UNREAD = 10
"""Most files of folders that are named because they could not be read."""


def command(
    refs: list[str] = typer.Argument(..., metavar="FILE|FOLDER|RUN", help="Outputs of other tools, or runs."),
    facts: list[str] = typer.Option(
        [],
        "--facts",
        metavar="FACTS.yaml",
        help="What is known of the machines. Repeatable: files that complete each other.",
    ),
    roles: str = typer.Option(
        "",
        "--roles",
        metavar="FILE",
        help="What the columns of tables are: a roles file.  [default: that beside each table, TABLE.roles.yaml]",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as JSON."),
    as_sarif: bool = typer.Option(False, "--sarif", help="Print the findings as SARIF 2.1.0."),
    out: Path = RUNS,
) -> None:
    """Say what speaks against results: numbers that contradict each other, the tool, or the machines.

    All that is named is audited together, so that copies between files are found. The exit code is 1 if there is an
    error or a warning; notes are what a reader should know.

    Cells of tables are recomputed from others where the roles file states a formula, or the heading says one.

    Example: `assay audit logs/ --facts cluster.yaml`

    Example: `assay audit costs.csv --roles costs.roles.yaml`
    """
    from assay.rooms.importers.audit import shown
    from assay.rooms.importers.audit.facts import read_facts
    from assay.rooms.importers.audit.rules import audit
    from assay.rooms.importers.audit.runs import outputs_of
    from assay.rooms.importers.audit.tables.rules import recomputed_cells
    from assay.rooms.importers.work.several_files import unread_words
    from assay.rooms.importers.work.table_roles import read_roles
    from assay.terminal.output import note, print_line

    if as_json and as_sarif:
        raise AssayError("--json and --sarif: one form at a time", "give one of the two")
    known = read_facts(facts)
    stated = read_roles(roles) if roles else None
    audited = [outputs_of(ref, out, stated) for ref in dict.fromkeys(refs)]
    outputs = [output for each in audited for output in each.outputs]
    problems = [problem for each in audited for problem in each.unread]
    for line in unread_words(problems, MAX_UNREAD):
        note(line)
    if guessed := [table for each in audited for table in each.guessed]:
        note(shown.guessed_words(guessed))
    findings = audit(outputs, known)
    if as_sarif:
        print_line(shown.as_sarif(findings))
    elif as_json:
        results = sum(len(output.results) for output in outputs)
        files = len({output.file.file for output in outputs})
        print_line(shown.as_json(findings, results, files, recomputed_cells(outputs)))
    else:
        for line in shown.text_lines(findings, outputs):
            print_line(line)
        if words := shown.recomputed_words(recomputed_cells(outputs)):
            print_line(words)
    # What is the output of a tool, but damaged, was not audited.
    if any(isinstance(problem, LineError) for problem in problems):
        raise typer.Exit(EXIT_USAGE)
    if any(finding.severity != "note" for finding in findings):
        raise typer.Exit(EXIT_INCOMPLETE)

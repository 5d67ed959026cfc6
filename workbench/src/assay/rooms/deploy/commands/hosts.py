"""`assay deploy hosts`."""

from pathlib import Path

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, AssayError
from assay.model.units import choices_hint
from assay.terminal.output import as_path, note, print_json, print_line


def command(
    file: Path = typer.Argument(..., parser=as_path, metavar="HOSTS.yaml", help="Hosts, and the role of each."),
    plan: bool = typer.Option(False, "--plan", help="Show what would be done on each host; change nothing."),
    only: list[str] = typer.Option([], "--only", metavar="HOST", help="This host only; may be repeated."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Set up hosts that exist: servers with pooled disks and exports, clients with mounts.

    Each host runs the steps of its role as root; what is so already is left alone. A disk is taken only if it is blank
    and unused. Exit codes: 0 all set up, 1 a host failed, 2 wrong input, 130 interrupted.

    Example: `assay deploy hosts hosts.yaml --plan`
    """
    from assay.launch.shell import close_shells
    from assay.rooms.deploy.work.hosts.file import read_hosts_file
    from assay.rooms.deploy.work.hosts.outcome import HostOutcome
    from assay.rooms.deploy.work.hosts.setup import plan_hosts, set_up_hosts
    from assay.rooms.deploy.work.hosts.show import outcome_json, outcome_lines, summary

    tasks = read_hosts_file(file, note)
    names = [task.host.name for task in tasks]
    for name in only:
        if name not in names:
            raise AssayError(f"--only {name}: {file} has no such host", choices_hint(name, names))
    tasks = tuple(task for task in tasks if not only or task.host.name in only)

    def report(outcome: HostOutcome) -> None:
        if not as_json:
            for line in outcome_lines([outcome]):
                print_line(line)

    try:
        outcomes = plan_hosts(tasks) if plan else set_up_hosts(tasks, report)
    except KeyboardInterrupt:
        note("stopped; what a host has begun it may still end, and the same command goes on from there")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        close_shells()
    if as_json:
        print_json([outcome_json(outcome) for outcome in outcomes])
    elif plan:
        for line in outcome_lines(outcomes):
            print_line(line)
    note(summary(outcomes, len(tasks), plan))
    if any(outcome.has_failed for outcome in outcomes):
        raise typer.Exit(EXIT_INCOMPLETE)

"""`assay serve`."""

import os
from pathlib import Path

import typer

from assay.model.base import AssayError, warning
from assay.terminal.settings import DEFAULT_RUNS, runs_folder

PORT = 8090


def command(
    folder: Path = typer.Argument(
        ...,
        default_factory=runs_folder,
        metavar="DIR",
        show_default=False,
        help=f"Folder of the runs.  [default: {DEFAULT_RUNS}]",
    ),
    port: int = typer.Option(PORT, "--port", min=0, max=65535, help="Port; 0 for any free one."),
    host: str = typer.Option(
        "127.0.0.1", "--host", help="Address to listen at; any address but the default lets other machines connect."
    ),
    open_: bool = typer.Option(False, "--open", help="Open a browser."),
) -> None:
    """Show the runs of a folder in a browser, and compare two by clicking.

    Each run has its report and its results as files. Pages are made on request and are read-only. Only this machine can
    reach them, unless --host names another address; there is no password. Ctrl-C ends the server.

    Example: `assay serve --open`, `assay serve /data/runs --port 0`
    """
    from assay.rooms.serve.work.folder import RunsFolder
    from assay.rooms.serve.work.server import Server
    from assay.terminal.output import note, print_line

    _check(folder)
    try:
        with Server(RunsFolder(folder), host, port) as server:
            if not server.loopback:
                note(warning(f"there is no password: anyone who reaches {server.address} sees all runs in {folder}"))
            print_line(server.address)
            note(f"the runs of {folder}; Ctrl-C ends it")
            if open_:
                _open(server.address)
            server.serve_forever()
    except KeyboardInterrupt:
        note("ended")


def _check(folder: Path) -> None:
    """Raise an error if the folder is itself a run, cannot be read, or is missing and not the default one."""
    from assay.store.entries import DATABASE

    try:
        if os.path.lexists(folder / DATABASE):
            hint = f"name its parent folder, {folder.absolute().parent}"
            raise AssayError(f"{folder} is a run, not a folder of runs", hint)
        missing = not folder.is_dir()
    except OSError as error:
        raise AssayError(f"{folder}: cannot be read: {error.strerror}", "check its permissions") from error
    if missing and folder != runs_folder():
        raise AssayError(f"there is no folder {folder}", "name the folder of the runs")


def _open(address: str) -> None:
    """Open a browser in a thread: a browser in the terminal would block the server until it ends."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

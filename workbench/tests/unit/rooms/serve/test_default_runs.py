"""How help says where runs are by default."""

import inspect

from assay.rooms.serve import command as serve
from assay.terminal.settings import DEFAULT_RUNS, RUNS


def test_the_default_folder_stands_in_one_pair_of_brackets() -> None:
    # A word given to typer as the default is shown in parentheses inside the brackets.
    for option in (RUNS, inspect.signature(serve.command).parameters["folder"].default):
        assert option.show_default is False
        assert option.help.endswith(f"  [default: {DEFAULT_RUNS}]")

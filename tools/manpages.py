#!/usr/bin/env python3
"""Write manual pages of Assay's commands: assay.1, and one for each command.

    tools/manpages.py FOLDER

For those who make packages. What is in them is the help of the commands.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "workbench/src"))


def pages() -> dict[str, str]:
    """Name of the file -> page in the man macros of roff."""
    import typer

    from assay import __version__
    from assay.cli.main import COMMANDS, app

    program = typer.main.get_command(app)
    context = program.make_context("assay", ["doctor"], resilient_parsing=True)
    found = {}
    whole = _head("assay", __version__, program.help) + _options(program, context)
    whole += ".SH COMMANDS\n"
    for name in COMMANDS:
        command = program.get_command(context, name)
        found[f"assay-{name}.1"] = _page(f"assay {name}", command, context, __version__)
        whole += f".TP\n.BR assay\\-{name} (1)\n{_text(_first(command.help))}\n"
    return {"assay.1": whole, **found}


def _page(words: str, command, parent, version: str) -> str:
    """The page of a command, with those that are below it."""
    context = type(parent)(command, info_name=words, parent=None)
    page = _head(words, version, command.help, " ".join(command.collect_usage_pieces(context)))
    page += _options(command, context)
    for name, inner in getattr(command, "commands", {}).items():
        below = type(parent)(inner, info_name=f"{words} {name}", parent=None)
        usage = " ".join(inner.collect_usage_pieces(below))
        page += f".SH {_text(f'{words} {name}'.upper())}\n.B {_text(f'{words} {name}')}\n{_text(usage)}\n.PP\n"
        page += _paragraphs(inner.help) + _options(inner, below, ".SS OPTIONS\n")
    return page


def _head(words: str, version: str, about: str, usage: str = "[OPTIONS] COMMAND [ARGS]...") -> str:
    name = words.replace(" ", "-")
    title = f'.TH "{_text(name.upper())}" 1 "" "Assay {version}" "Assay"\n'
    what = f".SH NAME\n{_text(name)} \\- {_text(_first(about).rstrip('.'))}\n"
    return f"{title}{what}.SH SYNOPSIS\n.B {_text(words)}\n{_text(usage)}\n.SH DESCRIPTION\n{_paragraphs(about)}"


def _options(command, context, heading: str = ".SH OPTIONS\n") -> str:
    lines = []
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument":
            words, about = parameter.metavar or parameter.name.upper(), parameter.help or ""
        else:
            record = parameter.get_help_record(context)
            if record is None:
                continue
            words, about = record
        lines.append(f".TP\n.B {_text(words)}\n{_text(about) or 'See above.'}\n")
    return heading + "".join(lines) if lines else ""


def _first(about: str) -> str:
    return " ".join(about.split("\n\n")[0].split())


def _paragraphs(about: str) -> str:
    parts = (_text(" ".join(part.split())) for part in re.split(r"\n\s*\n", about.strip()))
    return "\n.PP\n".join(parts) + "\n"


def _text(words: str) -> str:
    """Text that roff takes as it is: a backslash, hyphens, and dots or quotes that begin a line."""
    text = words.replace("`", "").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


def main(folder: Path) -> None:
    """Write all pages to a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/manpages.py FOLDER")
    main(Path(sys.argv[1]))

#!/usr/bin/env python3
"""Write the files that follow from the Rust types, or with --check fail if they are out of date.

The contract's JSON Schemas and the capability list come from assay-engine, the workbench's contract
classes from those schemas, the study schema from the workbench's own models.
"""

import argparse
import ast
import difflib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODEGEN = (
    "--input-file-type jsonschema --output-model-type pydantic_v2.BaseModel --use-title-as-name --use-annotated "
    "--collapse-root-models --use-schema-description --use-field-description --strict-nullable --formatters builtin "
    "--disable-timestamp --target-python-version 3.11 --use-standard-collections --use-union-operator "
    "--set-default-enum-member --disable-warnings --base-class assay.contract.base.Message"
).split()
ANSWERS = ("Capabilities", "Claim", "FileTarget", "PlaceAnswer", "TraceContents")
"""Classes that commands need which make no job."""


def engine(*words: str) -> str:
    """Standard output of the engine."""
    binary = os.environ.get("ASSAY_ENGINE", str(ROOT / "target" / "release" / "assay-engine"))
    return subprocess.run([binary, *words], check=True, capture_output=True, text=True).stdout


def classes() -> tuple[str, str]:
    """The workbench's contract classes: those of what is asked and answered before there is a job, and all others."""
    with tempfile.TemporaryDirectory() as folder:
        schema, target = Path(folder, "contract.json"), Path(folder, "contract.py")
        schema.write_text(engine("schema", "contract"))
        command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", "--input", str(schema)]
        subprocess.run([*command, "--output", str(target), *CODEGEN], check=True, stderr=subprocess.DEVNULL)
        return parted(target.read_text())


def parted(text: str) -> tuple[str, str]:
    """The classes that `ANSWERS` need, in a module that loads fast, and the rest, in one that imports them.

    A class that nothing refers to is left out: what is in one event only has its fields in the class of that event.
    """
    found = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    lines = text.splitlines(keepends=True)
    ends = [*(node.lineno - 1 for node in found[1:]), len(lines)]
    texts = {node.name: "".join(lines[node.lineno - 1 : end]) for node, end in zip(found, ends, strict=True)}
    used = {
        node.name: {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in texts}
        for node in found
    }
    first, wanted = reachable(used, ANSWERS), reachable(used, ("Contract",))
    head = "".join(lines[: found[0].lineno - 1]).rstrip() + "\n"
    names = "".join(f"    {name},\n" for name in sorted(first))
    both = f"{head}\nfrom assay.contract._answers import (\n{names})\n"
    parts = ((head, [name in first for name in texts]), (both, [name in wanted - first for name in texts]))
    return tuple(module(top, "".join(itertools.compress(texts.values(), chosen))) for top, chosen in parts)


def reachable(used: Mapping[str, Set[str]], roots: Iterable[str]) -> set[str]:
    """The roots, and the classes that they use, directly or through others."""
    found, left = set(), list(roots)
    while left:
        name = left.pop()
        left += used[name] - found
        found.add(name)
    return found


def module(head: str, body: str) -> str:
    """A module that imports of pydantic only what it uses: `RootModel` alone takes as long to load as many classes."""
    line = next(line for line in head.splitlines() if line.startswith("from pydantic import "))
    words = line.removeprefix("from pydantic import ").split(", ")
    used = ", ".join(word for word in words if re.search(rf"\b{word}\b", body))
    return f"{head.replace(line, f'from pydantic import {used}')}\n\n{body.rstrip()}\n"


def command_reference() -> str:
    """The help of every command, in one page."""
    from assay.cli.main import COMMANDS

    program = [sys.executable, "-c", "import sys; from assay.cli.main import main; sys.exit(main())"]
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "TYPER_USE_RICH")}
    environment = {**kept, "TERMINAL_WIDTH": "100", "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    parts = ["# Commands", "", "Generated from the help of each command by `make generate`.", ""]
    for words in [word for name in COMMANDS for word in ([name], *([name, inner] for inner in subcommands(name)))]:
        shell = [*program, *words, "--help"]
        text = subprocess.run(shell, check=True, capture_output=True, text=True, env=environment).stdout
        lines = [line.rstrip() for line in text.replace("Usage: -c ", "Usage: assay ").strip("\n").splitlines()]
        parts += [f"## assay {' '.join(words)}", "", "```text", *lines, "```", ""]
    return "\n".join(parts)


def parameter_reference() -> str:
    """All parameters of a workload, in one page."""
    from assay.model.study.parameters import DEFINITIONS

    lines = [
        "# Parameters of a workload",
        "",
        "Generated from their definitions by `make generate`. [Write a study](../guides/write-a-study.md) says how",
        "they go together. Each may be one value, a list of values, or a range if it is a number; a list or range",
        "makes it an axis. The column is that of the results in `assay export`.",
        "",
        "| parameter | meaning | values | if left out | column |",
        "|---|---|---|---|---|",
    ]
    for name, item in DEFINITIONS.items():
        usual = _defaults(name, item)
        lines.append(f"| `{name}` | {item.about} | {item.kind.values_text} | {usual} | `{item.column or name}` |")
    return "\n".join([*lines, ""])


def verdict_reference() -> str:
    """What each verdict says, in one page."""
    from assay.model.result.verdict import MEANINGS, PARTLY_CHECKED_MEANING

    lines = [
        "# Verdicts",
        "",
        "Generated from their definitions by `make generate`; terminal, report and exports have the same sentences.",
        "The worst comes first. [Results](results.md#the-verdicts) says which rule gives which, and what to do.",
        "",
        "| verdict | what it says | can the number be used? |",
        "|---|---|---|",
    ]
    items = [*((f"`{verdict}`", meaning) for verdict, meaning in MEANINGS.items()), ("`ok *`", PARTLY_CHECKED_MEANING)]
    lines += [f"| {name} | {meaning.sentence} | {meaning.use} |" for name, meaning in items]
    return "\n".join([*lines, ""])


def role_reference() -> str:
    """All roles of `assay deploy hosts` and their values, in one page."""
    from assay.rooms.deploy.work.roles.description import known_variables, load_role, role_names
    from assay.rooms.deploy.work.roles.scripts import role_variables

    lines = [
        "# Roles of hosts",
        "",
        "Generated from their files by `make generate`. [Deploy](../guides/deploy.md#set-up-hosts-that-exist) says how",
        "to use them. Values that every role has are in the second table only; *must* marks those that have to be set.",
        "",
        "| role | what a host becomes | steps | its own values |",
        "|---|---|---|---|",
    ]
    values = {role: role_variables(role) for role in role_names()}
    common = set.intersection(*(set(names) for names in values.values()))
    for role in role_names():
        own = [
            f"`{name}`" + (" *must*" if about.is_required else f" ({about.default})" if about.default else "")
            for name, about in values[role].items()
            if name not in common
        ]
        description = load_role(role)
        lines.append(f"| `{role}` | {description.description} | {', '.join(description.steps)} | {', '.join(own)} |")
    lines += ["", "| value | meaning |", "|---|---|"]
    lines += [f"| `{name}` | {about.meaning} |" for name, about in sorted(known_variables().items())]
    return "\n".join([*lines, ""])


def audit_reference() -> str:
    """All rules of the audit, in one page."""
    from assay.rooms.importers.audit.rules import RULES
    from assay.rooms.importers.audit.tables.rules import TABLE_RULES

    head = ["| rule | severity | what it finds | why that speaks against a result |", "|---|---|---|---|"]
    lines = [
        "# Rules of the audit",
        "",
        "Generated from their definitions by `make generate`. [Audit](../guides/audit.md) says how to use them. An",
        "*error* cannot be true as it stands, a *warning* can hardly be or is not what it seems, a *note* is what a",
        "reader should know before using the number.",
        "",
        *head,
    ]
    lines += [f"| `{rule.id}` | {rule.severity} | {rule.about} | {rule.basis} |" for rule in RULES]
    lines += ["", "## Tables", "", "Of tables, whose columns a roles file explains:", "", *head]
    lines += [f"| `{rule.id}` | {rule.severity} | {rule.about} | {rule.basis} |" for rule in TABLE_RULES]
    return "\n".join([*lines, ""])


FIO_TITLES = {
    "mapped": ("Options with a counterpart", "field"),
    "noted": ("Options that are left out, with a line in the head of the study", "why"),
    "refused": ("Options that are refused, as the work would be another without them", "why"),
    "free": ("Options that are no part of the work", "why"),
}
FIO_PLACES = {
    "": "none", "path": "`file` or `device`", "names": "`file`", "export": "`nfs`", "objects": "`s3`",
    "nothing": "`null`",
}  # fmt: skip


def fio_reference() -> str:
    """All options and engines of fio, and what `assay study from fio` makes of them, in one page."""
    from assay.rooms.foreign.work.fio.engines import ENGINES
    from assay.rooms.foreign.work.fio.options import ALIASES, OPTIONS

    lines = [
        "# Options of fio",
        "",
        "Generated from their definitions by `make generate`: the options of jobs and of the engines in fio 3.42.",
        "[From fio](../guides/fio.md) says how they go together.",
    ]
    for treatment, (title, column) in FIO_TITLES.items():
        lines += ["", f"## {title}", "", f"| option | {column} |", "|---|---|"]
        for option in sorted(option for option in OPTIONS.values() if option.treatment == treatment):
            names = [option.name, *(alias for alias, name in ALIASES.items() if name == option.name)]
            lines.append(f"| {', '.join(f'`{name}`' for name in names)} | {option.text} |")
    lines += ["", "## Engines", "", "| engine | target | method or operation | what differs, or why there is none |"]
    lines.append("|---|---|---|---|")
    for name, engine in ENGINES.items():
        how = engine.method or engine.operation
        lines.append(f"| `{name}` | {FIO_PLACES[engine.place]} | {f'`{how}`' if how else ''} | {engine.text} |")
    return "\n".join([*lines, ""])


def _defaults(name, item) -> str:
    """What a parameter is if it is left out, whatever the operations work on."""
    from assay.model.study.parameters import DEFAULTS

    if name in ("files", "object_size"):
        return "needed there"
    if item.only in (("names",), ("objects",)):
        return _usual(item.kind, next(iter(item.own_default(item.only[0])), DEFAULTS[name]))
    usual = "needed" if item.is_required else _usual(item.kind, DEFAULTS[name])
    for group, words in (("names", "metadata operations"), ("objects", "operations on objects")):
        own = item.own_default(group)
        if own and item.applies_to(group):
            usual += f"; with {words} {_usual(item.kind, own[0])}"
    return usual


def _usual(kind, value) -> str:
    """A default, as it may be written."""
    return "not set" if value is None else f"`{kind.display(value)}`"


def subcommands(name: str) -> list[str]:
    """Names of the commands below a command, if it has any."""
    from assay.cli.main import LazyGroup

    command = LazyGroup().get_command(None, name)
    return list(getattr(command, "commands", {}))


def generated() -> Iterator[tuple[str, str]]:
    """Paths below the project and their texts; what others need comes first."""
    for what in ("job", "event", "capabilities", "claim", "place"):
        yield f"contract/{what}.schema.json", engine("schema", what)
    yield "contract/capabilities.json", engine("capabilities")
    answers, others = classes()
    yield "workbench/src/assay/contract/_answers.py", answers
    yield "workbench/src/assay/contract/_generated.py", others

    from assay.model.study.study import study_schema

    yield "contract/study.schema.json", json.dumps(study_schema(), indent=2) + "\n"
    yield "docs/reference/commands.md", command_reference()
    yield "docs/reference/parameters.md", parameter_reference()
    yield "docs/reference/verdicts.md", verdict_reference()
    yield "docs/reference/audit.md", audit_reference()
    yield "docs/reference/roles.md", role_reference()
    yield "docs/reference/fio-options.md", fio_reference()


def main() -> int:
    """Exit code 1 if --check finds a difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail on a difference")
    check = parser.parse_args().check
    stale = []
    for name, text in generated():
        path = ROOT / name
        old = path.read_text() if path.exists() else ""
        if old == text:
            continue
        stale.append(name)
        if check:
            lines = difflib.unified_diff(old.splitlines(), text.splitlines(), name, "generated", lineterm="")
            print("\n".join(list(lines)[:40]))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print("wrote", name)
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run: make generate")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fail where the section `Attributes:` or `Args:` of a docstring names what its class or function has not.

A class has the fields, properties and methods of its base classes, too, as far as these are of the same folders.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ("workbench/src/assay", "tools", "bench")
ENTRY = re.compile(r"\**(\w+(?:, \**\w+)*):")
"""The beginning of an entry: one name or several, with a colon behind them."""

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
Classes = dict[str, list[ast.ClassDef]]
"""Name -> the classes of that name."""


def entries(node: Documented, title: str) -> list[str]:
    """The names of a section of a docstring, in order: those of its lines that are indented the least."""
    lines = (ast.get_docstring(node) or "").splitlines()
    if f"{title}:" not in lines:
        return []
    section = lines[lines.index(f"{title}:") + 1 :]
    end = next((n for n, line in enumerate(section) if line and not line.startswith(" ")), len(section))
    depth = min((len(line) - len(line.lstrip()) for line in section[:end] if line), default=0)
    found = (ENTRY.match(line[depth:]) for line in section[:end] if line)
    return [name.lstrip("*") for each in found if each for name in each[1].split(", ")]


@cache
def own_attributes(node: ast.ClassDef) -> set[str]:
    """Names that a class or its methods define or assign."""
    found = set[str]()
    for each in ast.walk(node):
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                found.add(name)
    return found


def attributes(node: ast.ClassDef, classes: Classes, below: tuple[str, ...] = ()) -> set[str]:
    """Names that a class has, with those of its base classes; `below` are the classes that inherit from it."""
    found = own_attributes(node)
    for name in {each.id for base in node.bases for each in ast.walk(base) if isinstance(each, ast.Name)} - {*below}:
        for base_class in classes.get(name, ()):
            found |= attributes(base_class, classes, (*below, node.name, name))
    return found


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names of a function's parameters."""
    args = node.args
    every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    return {each.arg for each in every if each is not None}


def definitions(body: list[ast.stmt]) -> Iterator[Documented]:
    """The classes and functions of a module, with those inside them."""
    for node in body:
        if isinstance(node, Documented):
            yield node
            yield from definitions(node.body)


def faults(files: dict[str, str]) -> Iterator[str]:
    """A line for each name that is none, for files with their texts."""
    found = [(file, node) for file, text in files.items() for node in definitions(ast.parse(text).body)]
    classes = defaultdict[str, list[ast.ClassDef]](list)
    for _, node in found:
        if isinstance(node, ast.ClassDef):
            classes[node.name].append(node)
    for file, node in found:
        if isinstance(node, ast.ClassDef):
            names = entries(node, "Attributes")
            known = attributes(node, classes) if names else set[str]()
        else:
            names, known = entries(node, "Args"), parameters(node)
        yield from (f"{file}:{node.lineno}: {node.name} has no {name}" for name in names if name not in known)


def main() -> int:
    paths = [path for folder in PYTHON for path in (ROOT / folder).rglob("*.py")]
    found = list(faults({str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fail where a file of a run's folder is opened, looked at or named past the one door: it may be somebody else's.

`assay/store/safe_files.py` opens what is read, `snapshot.py` and `schema.py` the database, `entries.py` what is
written. So nowhere else may a database be opened, or a path be made of a run's folder and one of its names unless one
of these functions, or a message, takes it at once.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "workbench" / "src" / "assay"
DATABASE_DOORS = ("store/schema.py", "store/snapshot.py")
DOORS = (*DATABASE_DOORS, "store/safe_files.py", "store/entries.py")
TAKES = {
    *("RunLock", "is_locked", "lock_holders", "is_at", "open_new", "open_to_append", "replace", "lexists"),
    *("AssayError", "_unwritable", "write_series", "script_text"),
}
"""Take a path of a run's file: they follow no link, or only print it."""
OPENS = {
    "open",
    "read_text",
    "read_bytes",
    "read_regular",
    "open_regular",
    "read_user_file",
    "path_kind",
    "stat",
    "exists",
}
OPENS |= {"is_file", "is_dir", "write_text", "write_bytes", "iterdir", "samefile", "resolve", "touch", "unlink"}


def names_of(entries: str) -> set[str]:
    """Constants of `entries.py` that are names of files."""
    found = set()
    for node in ast.parse(entries).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            items = target.elts if isinstance(target, ast.Tuple) else [target]
            found |= {item.id for item in items if isinstance(item, ast.Name) and item.id.isupper()}
    return found


def called(node: ast.AST) -> str:
    """The name of the function of a call; empty of anything else."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def found_in(text: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Line and source of each way past the door."""
    if "sqlite3" not in text and "entries" not in text:
        return
    tree = ast.parse(text)
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    mine = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "assay.store.entries"
        for alias in node.names
        if alias.name in names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="sqlite3"), attr="connect")):
                yield node.lineno, ast.unparse(node)
            case ast.BinOp(op=ast.Div(), right=ast.Name(id=name)) if name in mine and not _taken(node, above):
                yield node.lineno, ast.unparse(above[node]).splitlines()[0]


def _taken(node: ast.AST, above: dict[ast.AST, ast.AST]) -> bool:
    around = above[node]
    if isinstance(around, ast.Attribute):
        # A method of the path.
        return around.attr not in OPENS
    while not isinstance(around, ast.stmt):
        if isinstance(around, ast.JoinedStr) or called(around) in TAKES:
            return True
        around = above[around]
    return False


def problems(source: Path) -> list[str]:
    """One line for each way past the door below a folder of sources."""
    names = names_of((source / "store" / "entries.py").read_text())
    lines = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source).as_posix()
        for line, what in found_in(path.read_text(), names) if place not in DOORS else ():
            lines.append(f"{place}:{line}: {what}: is a file of a run, past `assay.store.safe_files`")
    return lines


if __name__ == "__main__":
    print("\n".join(found := problems(SOURCE)) or "no file of a run is opened past the one door")
    sys.exit(bool(found))

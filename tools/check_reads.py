#!/usr/bin/env python3
"""Fail where the workbench reads a file in a way that has no bound, or YAML in a way that knows no lines and limits.

What a user names is read by `assay.model.user_files`, what lies in a run's folder by `assay.model.regular_files`,
YAML by `assay.model.source`. Other reads are of files that come with Assay, that Assay has just written, or that the
kernel makes; each file of the workbench that has some says below why. A line too many there is an error, too.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "workbench" / "src" / "assay"

KERNEL, OWN = "files that the kernel makes", "files that come with Assay"
DRIVER = "what the kernel makes, and trees that the program itself has made: it runs on hosts without the workbench"
ALLOWED = {
    "api/measure.py": {"safe_dump": "writes"},
    "cli/report.py": {"open": "opens a browser"},
    "cli/studies/init.py": {"read_text": OWN},
    "cli/studyfile.py": {"read_text": OWN},
    "rooms/pricelists/commands/prices.py": {"read_bytes": OWN},
    "terminal/output_file.py": {
        "open": "what Assay has just written, and the ends of a file that the user has it replace"
    },
    "rooms/traces/work/writer.py": {"open": "what Assay has just written, and writes"},
    "rooms/serve/work/folder.py": {"read_bytes": "what Assay has just written"},
    "journal/file.py": {"open": "a journal in a folder that only its user can write, to a bound"},
    "journal/processes.py": {"read_text": KERNEL},
    "launch/machine_checks.py": {"read_text": KERNEL},
    "launch/binary.py": {"open": "the engine, hashed piece by piece"},
    "launch/other_load.py": {"read_text": KERNEL},
    "run/program_files.py": {"fdopen": "a regular file that regular_files has opened, hashed piece by piece"},
    "launch/cgroup.py": {"read_text": KERNEL},
    "launch/signatures.py": {"read_text": KERNEL},
    "launch/devices.py": {"read_text": KERNEL},
    "launch/doctor.py": {"read_text": KERNEL},
    "launch/environment/cpu.py": {"open": KERNEL},
    "launch/environment/reading.py": {"read_text": KERNEL},
    "launch/layers.py": {"open": KERNEL},
    "launch/mounts.py": {"read_text": KERNEL},
    "launch/environment/sources.py": {"read_bytes": OWN},
    "launch/environment/storage.py": {"read_text": KERNEL},
    "site/installed.py": {"read_text": "the log of a server that Assay has started"},
    "site/inventory/hosts.py": {"safe_dump": "writes"},
    "launch/places.py": {"read_text": "the number of the machine in /etc"},
    "launch/free_space.py": {"read_text": "of the kernel, and /etc/fstab"},
    "launch/install.py": {"read_bytes": "the engine, which is copied to other hosts"},
    "model/deadline.py": {"read_text": KERNEL},
    "model/regular_files.py": {"open": "the reader itself, and the kernel's table of mounts"},
    "money/books/books.py": {"read_bytes": OWN},
    "money/cost/catalog.py": {"read_bytes": OWN, "load": OWN},
    "money/papers/presets.py": {"read_bytes": OWN},
    "rooms/advice/work/published_evidence.py": {"read_bytes": OWN},
    "report/html.py": {"read_text": OWN},
    "report/typst.py": {"read_bytes": OWN},
    "rooms/serve/shown/page_frame.py": {"read_text": OWN},
    "rooms/diagrams/work/part.py": {"read_bytes": OWN},
    "rooms/fit/work/profiles.py": {"read_bytes": OWN},
    "rooms/deploy/work/life/template.py": {"load": "templates of CloudFormation, whose tags the one reader refuses"},
    "rooms/deploy/work/roles/description.py": {"read_bytes": OWN, "read_text": OWN},
    "rooms/replication/expansion.py": {"read_text": OWN},
    "rooms/replication/driver/link.py": {"open": DRIVER},
    "rooms/replication/driver/main.py": {"open": DRIVER},
    "rooms/replication/driver/processes.py": {"open": DRIVER},
    "rooms/replication/driver/source.py": {"open": DRIVER},
    "rooms/replication/driver/standby.py": {"open": DRIVER},
    "rooms/replication/driver/trees.py": {"open": DRIVER},
    "rooms/testbed/work/box.py": {"read_bytes": OWN},
    "rooms/testbed/work/disks.py": {"read_text": KERNEL},
    "rooms/testbed/work/folders.py": {"read_text": "a marker in a folder that only root can write"},
    "servers/kinds.py": {"read_bytes": OWN},
    "rooms/testbed/work/process.py": {"read_bytes": KERNEL, "read_text": KERNEL},
    "rooms/testbed/work/programs.py": {"read_text": KERNEL},
    "rooms/testbed/work/servers.py": {"read_text": "passwords that Assay has made"},
    "rooms/testbed/work/ssh.py": {"read_text": "keys that ssh-keygen has just made"},
    "rooms/testbed/work/state.py": {"read_bytes": "in a folder that only root can write"},
}
"""File -> how it reads -> what."""
READS = ("read_text", "read_bytes")
YAML = (
    *("safe_load", "safe_load_all", "load", "load_all", "full_load", "unsafe_load", "compose", "compose_all"),
    *("parse", "scan", "safe_dump"),
)


def found_in(text: str) -> list[tuple[int, str]]:
    """Line and kind of each read in the text of a module: `read_text`, `open`, `safe_load` and so on.

    `open` counts unless it is opened for writing only. Others' methods of that name, such as `RunStore.open`, do not.
    """
    tree = ast.parse(text)
    return sorted(
        (node.lineno, kind) for node in ast.walk(tree) if isinstance(node, ast.Call) and (kind := _kind(node))
    )


def _kind(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Name):
        return "open" if function.id == "open" and _reads(call, 1) else ""
    if not isinstance(function, ast.Attribute):
        return ""
    owner = function.value.id if isinstance(function.value, ast.Name) else ""
    if (owner, function.attr) == ("os", "fdopen"):
        return "fdopen" if _reads(call, 1) else ""
    if owner == "yaml":
        return function.attr if function.attr in YAML else ""
    if function.attr in READS:
        return function.attr
    if function.attr == "open" and owner != "os" and not owner[:1].isupper():
        return "open" if _reads(call, 0) else ""
    return ""


def _reads(call: ast.Call, place: int) -> bool:
    modes = [word.value for word in call.keywords if word.arg == "mode"] + call.args[place : place + 1]
    mode = modes[0].value if modes and isinstance(modes[0], ast.Constant) else "r"
    return not isinstance(mode, str) or not set(mode) & set("wax")


def problems(folder: Path, allowed: dict[str, dict[str, str]]) -> list[str]:
    """One line for each read that is not allowed, and for each allowance that nothing uses."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        reads = found_in(path.read_text())
        for line, kind in reads:
            if kind not in allowed.get(name, {}):
                found.append(f"{name}:{line}: {kind}: read it with assay.model.user_files, .regular or .source")
        unused = set(allowed.get(name, {})) - {kind for _, kind in reads}
        found += [f"{name}: no {kind} any more: remove it from the list" for kind in sorted(unused)]
    found += [f"{name}: there is no such file" for name in sorted(allowed) if not (folder / name).is_file()]
    return found


def main() -> int:
    """Exit code 1 if there is a problem."""
    found = problems(SOURCE, ALLOWED)
    print("\n".join(found) or f"{len(ALLOWED)} files read something that no user names")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Directories under test on other hosts: claimed, cleaned and given back over their shells.

A directory that several hosts mount is one place: the first host marks it, the others find the mark of the same run.
"""

import json
from collections.abc import Iterable, Sequence

from assay.launch.places import MARKER
from assay.launch.shell import Shell
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.secret import redacted

SECONDS = 60.0
CLEAN_SECONDS = 600.0

_CLAIM = """
d=$1; run=$2; mark=$d/@MARK@; text=$4
fail() { echo "$1" >&2; exit 3; }
[ -d "$(dirname "$d")" ] || fail "$(dirname "$d") is not there: mount it, or choose another path"
[ ! -L "$d" ] || fail "$d is a symbolic link: name the directory itself"
if [ ! -e "$d" ]; then mkdir -m 700 "$d" && text=$3; fi
[ -d "$d" ] || fail "$d cannot be made, or is not a directory"
if [ -f "$mark" ]; then
  grep -qF "\\"run\\": \\"$run\\"" "$mark" || fail "$d is marked by another run: if that is over, remove the directory"
elif [ -n "$(ls -A "$d" | grep -vx lost+found)" ]; then
  fail "$d is not empty and not made by Assay: name a path that does not exist yet"
else
  printf '%s\\n' "$text" > "$mark" || fail "$mark cannot be written"
fi
""".replace("@MARK@", MARKER)

_CLEAN = """
d=$1; run=$2; name=$3
grep -qF "\\"run\\": \\"$run\\"" "$d/@MARK@" 2>/dev/null || exit 0
rm -rf --one-file-system -- "$d/$name"
""".replace("@MARK@", MARKER)

_RELEASE = """
d=$1; run=$2
grep -qF "\\"run\\": \\"$run\\"" "$d/@MARK@" 2>/dev/null || exit 0
for left in "$d/$run"-c*; do [ ! -e "$left" ] || rm -rf --one-file-system -- "$left" || exit 1; done
made=no; grep -qF '"created_by_assay": true' "$d/@MARK@" && made=yes
rm -f -- "$d/@MARK@"
if [ "$made" = yes ]; then rmdir -- "$d"; fi
""".replace("@MARK@", MARKER)

_MOUNT = (
    'awk -v d="$1/" \'{ m = $2 == "/" ? "/" : $2 "/"; if (index(d, m) == 1 && length(m) >= n) '
    '{ n = length(m); s = $1 " " $3 " " $4 } } END { print s }\' /proc/self/mounts'
)


def claim(shells: Iterable[Shell], path: str, run: str) -> None:
    """Make and mark a directory on each host, or find it marked by the same run.

    Args:
        shells: Of the hosts.
        path: The directory, an absolute path.
        run: Id of the run.

    Raises:
        AssayError: Assay must not write there, or cannot.
    """
    marks = [
        json.dumps({"written_by": "assay", "run": run, "run_folder": "", "created_by_assay": made, "keep": False})
        for made in (True, False)
    ]
    for shell in shells:
        _said(shell, _CLAIM, (path, run, *marks), SECONDS)


def clean(shells: Iterable[Shell], path: str, run: str, name: str) -> None:
    """Remove what a job that was killed has left on each host.

    Args:
        shells: Of the hosts.
        path: The marked directory.
        run: Id of the run that marked it.
        name: The job's directory below.

    Raises:
        AssayError: It cannot be removed from one of them; it was from the others.
    """
    faults = []
    for shell in shells:
        try:
            _said(shell, _CLEAN, (path, run, name), CLEAN_SECONDS)
        except AssayError as error:
            faults.append(error)
    if faults:
        raise faults[0]


def release(shells: Iterable[Shell], path: str, run: str) -> list[str]:
    """Give a directory back on each host; returns what could not be removed, one line each.

    Args:
        shells: Of the hosts.
        path: The marked directory.
        run: Id of the run that marked it.
    """
    left = []
    for shell in shells:
        try:
            _said(shell, _RELEASE, (path, run), CLEAN_SECONDS)
        except AssayError as error:
            left.append(error.message)
    return left


def mount_facts(shells: Iterable[Shell], path: str) -> dict[str, str]:
    """How each host has mounted what holds a directory: host -> device, type and options."""
    found = {}
    for shell in shells:
        try:
            told = _said(shell, _MOUNT, (path,), SECONDS)
            found[shell.host.name] = redacted(told) or "unknown: the host does not tell"
        except AssayError as error:
            found[shell.host.name] = f"unknown: {error.message}"
    return found


def _said(shell: Shell, script: str, words: Sequence[str], seconds: float) -> str:
    answer = shell.run(["sh", "-c", script, "sh", *words], seconds)
    if answer.code:
        raise AssayError(f"host {shell.host.name}: {answer.last_line}", "", EXIT_REFUSED)
    return answer.out.strip()

"""Reads how other hosts have mounted the file system of a directory under test."""

from collections.abc import Iterable, Sequence

from assay.launch.shell import Shell
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.secret import redact

SECONDS = 60.0

_MOUNT = (
    'awk -v d="$1/" \'{ m = $2 == "/" ? "/" : $2 "/"; if (index(d, m) == 1 && length(m) >= n) '
    '{ n = length(m); s = $1 " " $3 " " $4 } } END { print s }\' /proc/self/mounts'
)


def mount_facts(shells: Iterable[Shell], path: str) -> dict[str, str]:
    """Return host -> device, type and options of the mount that contains a directory."""
    found = {}
    for shell in shells:
        try:
            mount = _run_script(shell, _MOUNT, (path,), SECONDS)
            found[shell.host.name] = redact(mount) or "unknown: the host does not report it"
        except AssayError as error:
            found[shell.host.name] = f"unknown: {error.message}"
    return found


def _run_script(shell: Shell, script: str, words: Sequence[str], seconds: float) -> str:
    answer = shell.run(["sh", "-c", script, "sh", *words], seconds)
    if answer.code:
        raise AssayError(f"host {shell.host.name}: {answer.last_line}", "", EXIT_REFUSED)
    return answer.out.strip()

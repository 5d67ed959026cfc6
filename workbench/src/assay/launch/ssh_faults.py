"""Explains errors of ssh, with the remedy."""

import re

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.escape import escape_line
from assay.model.secret import redact
from assay.model.site.host import Host

_LOG_IN_ONCE = "log in once by hand: ssh {address}"

FAULTS: tuple[tuple[str, str, str], ...] = (
    (
        r"Could not resolve hostname",
        "its name cannot be resolved",
        "check the name {address}, or write the host's address in an inventory",
    ),
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed",
        "its host key is not the known one: another machine answers at {address}, or the host was reinstalled",
        "find out which; if it is the right machine: ssh-keygen -R {address}, then log in once by hand",
    ),
    (
        r"Host key verification failed|No \S+ host key is known",
        "its host key is not known",
        _LOG_IN_ONCE + ", compare the fingerprint, and accept it",
    ),
    (
        r"Permission denied|Too many authentication failures|No more authentication methods",
        "does not let {user} in",
        "put a public key there with ssh-copy-id and start ssh-agent; Assay cannot enter passwords",
    ),
    (
        r"Bad configuration option|Bad owner or permissions|bad configuration options|Can't open user config file"
        r"|garbage at end of line|UNPROTECTED PRIVATE KEY|Load key .*:",
        "ssh does not accept its configuration or key",
        _LOG_IN_ONCE + " and fix the error that it reports",
    ),
    (r"Connection refused", "refuses the connection: no sshd listens there", "start sshd, or check address and port"),
    (
        r"timed out|Timeout, server .* not responding",
        "does not answer",
        "check that it is switched on and that no firewall blocks it",
    ),
    (r"No route to host|Network is unreachable", "cannot be reached: no route", "check the address and the network"),
    (
        r"Connection (?:closed|reset)|kex_exchange_identification|Broken pipe|Control socket connect",
        "closed the connection",
        "see its sshd's log; MaxStartups or MaxSessions may be too low, or a firewall blocks it",
    ),
    (
        r"no matching .* found|Unable to negotiate",
        "and this machine's ssh have no algorithm in common",
        _LOG_IN_ONCE + " and check what it offers",
    ),
)
"""Pattern in the errors of ssh, what it means for the host, and the remedy; the first match counts."""


def explain_failure(host: Host, complaint: str) -> AssayError:
    """Return the error that explains why a host cannot be reached.

    Args:
        host: The host.
        complaint: Standard error of ssh.
    """
    lines = [text for line in complaint.splitlines() if (text := line.strip().strip("@ "))]
    for pattern, meaning, remedy in FAULTS:
        line = next((line for line in lines if re.search(pattern, line)), None)
        if line is not None:
            return _error(host, meaning, line, remedy)
    return _error(host, "the connection failed", lines[-1] if lines else "ssh gives no reason", _LOG_IN_ONCE)


def _error(host: Host, meaning: str, line: str, remedy: str) -> AssayError:
    user = host.user or "this user"
    words = {"address": host.address, "user": user}
    way = f" through {host.jump}" if host.jump else ""
    quoted = escape_line(redact(line.removeprefix("ssh: ").rstrip(".")))
    return AssayError(
        f"host {host.name}: {meaning.format(**words)}{way} (ssh: {quoted})", remedy.format(**words), EXIT_REFUSED
    )

"""The command line that warp prints in its files, with every option it has, also those that were not typed."""

import re

from assay.model.escape import escape_line
from assay.model.secret import redact

_SECRETS = ("access-key", "secret-key", "session-token", "sts-web-token", "sts-api-key", "influxdb")
_OPTION = re.compile(r" --([a-z0-9.-]{1,40})=")


def options_of(command: str) -> dict[str, str]:
    """Return the options of a printed command line, without secrets.

    Args:
        command: Such as `warp get --concurrent=20 --obj.size=10MiB`.
    """
    pieces = _OPTION.split(command[:20_000])
    found = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    return {f"--{name}": redact(escape_line(value, 200)) for name, value in found.items() if name not in _SECRETS}


def safe_command(command: str) -> str:
    """Return a printed command line without secrets; options that are empty are left out."""
    program = command.split(" --", 1)[0]
    return " ".join([escape_line(program, 80), *(f"{name}={value}" for name, value in options_of(command).items())])

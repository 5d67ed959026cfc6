"""The command line in a process that kills itself at one of its requests to AWS.

The process is a fork of the test's: it has boto3 already, whose import takes longer than all its requests.
"""

import os
import signal
from pathlib import Path
from typing import Any

from botocore.httpsession import URLLib3Session

from assay.cli.main import main


def run_killed(folder: Path, number: int, moment: str, words: tuple[str, ...]) -> int:
    """Run `assay WORDS` in a folder and return its exit code, or -9 if it was killed.

    SIGKILL comes `before` the request of this number is sent, or `after` it has been answered and nobody has read the
    answer.
    """
    child = os.fork()
    if child == 0:
        try:
            os.chdir(folder)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nowhere, stream)
            arm(number, moment)
            os._exit(main([*words]))
        finally:
            # Nothing of pytest may go on in here.
            os._exit(70)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def arm(number: int, moment: str) -> None:
    """Let this process die at a request."""
    send = URLLib3Session.send
    count = 0

    def counted(self: Any, request: Any) -> Any:
        nonlocal count
        count += 1
        if (count, moment) == (number, "before"):
            os.kill(os.getpid(), signal.SIGKILL)
        answer = send(self, request)
        if (count, moment) == (number, "after"):
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    URLLib3Session.send = counted

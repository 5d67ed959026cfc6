"""The command line in a process that kills itself at one of its requests to AWS.

Run as a program: `killed_client.py NUMBER before|after WORDS OF ASSAY`: SIGKILL before the request of this number is
sent, or when it has been answered and nobody has read the answer.
"""

import os
import signal
import sys
from typing import Any

from botocore.httpsession import URLLib3Session

from assay.cli.main import main


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


if __name__ == "__main__":
    arm(int(sys.argv[1]), sys.argv[2])
    sys.exit(main(sys.argv[3:]))

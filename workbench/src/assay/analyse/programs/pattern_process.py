"""The process that looks for patterns of users in what programs print; it imports nothing of Assay.

Python's `re` has no time limit, and a pattern such as `(a+)+x` may take years. So a timer of the kernel ends this
process.
"""

import json
import re
import signal
import sys

MAX_CHARS = 200
"""A longer match is no number."""


def main() -> None:
    """Read [patterns, texts, seconds]; write the last match of each pattern's group in each text as a line.

    Null stands for no match, and for one that is longer than `MAX_CHARS`.

    A pattern that takes more than `seconds` of CPU time on all texts together ends the process with SIGVTALRM. The
    number of lines that it has written then is that of the texts which it had finished.
    """
    patterns, texts, seconds = json.load(sys.stdin)
    for pattern in patterns:
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        compiled = re.compile(pattern, re.MULTILINE)
        for text in texts:
            last = None
            for found in compiled.finditer(text):
                last = found[1]
            print(json.dumps(last if last is None or len(last) <= MAX_CHARS else None), flush=True)


if __name__ == "__main__":
    main()

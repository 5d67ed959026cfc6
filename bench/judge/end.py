"""Does what `assay run` does of rows at its end: judges a run, and keeps its results and what it says.

PYTHONPATH=TREE/workbench/src python bench/judge/end.py FOLDER
"""

import sys
from pathlib import Path

from assay.run import answers
from assay.store import RunStore


def main() -> None:
    """The command."""
    with RunStore.open(Path(sys.argv[1]), write=True) as store:
        # Older trees call it `conclude`.
        (getattr(answers, "store_conclusions", None) or answers.conclude)(store)


if __name__ == "__main__":
    main()

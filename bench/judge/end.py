"""Does what `assay run` does of rows at its end: judges a run, and keeps its results and what it says.

PYTHONPATH=TREE/workbench/src python bench/judge/end.py FOLDER
"""

import sys
from pathlib import Path

from assay.run.answers import store_conclusions
from assay.store import RunStore


def main() -> None:
    """The command."""
    with RunStore.open(Path(sys.argv[1]), write=True) as store:
        store_conclusions(store)


if __name__ == "__main__":
    main()

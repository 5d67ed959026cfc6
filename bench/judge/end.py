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
        if hasattr(answers, "conclude"):
            answers.store_conclusions(store)
            return
        # Trees before that judged twice.
        from assay.run.judging import judged_results

        from assay.run.analysis import with_raised_ceilings

        store.describe(ceilings=with_raised_ceilings(store, store.info()).ceilings)
        store.save_results(judged_results(store))
        found = answers.compute_answers(store, over=True)
        store.describe(answers=found.sentences, page=found.page)


if __name__ == "__main__":
    main()

"""The study that measures two sides in turns, made from a user's study."""

from collections.abc import Mapping
from typing import Any

from assay.model.study.blocks import Blocks
from assay.model.study.repeats import Repeats
from assay.model.study.study import Study

LEFT_OUT = ("repeats", "order", "schedule")
"""What a study says of its repeats: rounds come instead."""

MOST_NAME = 61
"""Characters of a study's name that are kept: a name has at most 64."""

Data = dict[str, Any]


def of_targets(data: Data, study: Study, blocks: Blocks) -> Data:
    """A study that has only what both targets do; the rest of it, prices among it, stays as it is.

    Args:
        data: The study file as it was read.
        study: The same as a study.
        blocks: Names the two targets.
    """
    both = {blocks.base, blocks.other}
    kept = [name for name, workload in study.workloads.items() if both <= set(workload.targets or study.targets)]
    workloads = {name: {**data["workloads"][name], "targets": [blocks.base, blocks.other]} for name in kept}
    return {**_rounds(data, blocks), "workloads": workloads}


def of_places(data: Data, places: Mapping[str, Data], blocks: Blocks) -> Data:
    """A study that does all its work in other places than its own targets.

    Args:
        data: The study file as it was read.
        places: Name -> target, as a study file has it.
        blocks: Names the two sides.
    """
    workloads = {
        name: {key: value for key, value in workload.items() if key != "targets"}
        for name, workload in data["workloads"].items()
    }
    found = {**_rounds(data, blocks), "targets": dict(places), "workloads": workloads}
    # Prices are of the targets that the study has named.
    found.pop("prices", None)
    return found


def _rounds(data: Data, blocks: Blocks) -> Data:
    found = {key: value for key, value in data.items() if key not in LEFT_OUT}
    question = f"Is {blocks.other} slower than {blocks.base}, or faster?"
    return {**found, "study": f"{data['study'][:MOST_NAME]}-ab", "question": question, "repeats": blocks.most}


def with_rounds(study: Study, blocks: Blocks) -> Study:
    """A study that was made here, with as many repeats as there may be rounds."""
    return study.model_copy(update={"repeating": Repeats(most=blocks.most, least=blocks.most)})


def twin(study: Study, names: Mapping[str, str]) -> Study:
    """A study of one target with that target under several names.

    No study file can say this: two targets of a file must not share a place. Two engines measure in one.

    Args:
        study: Has one target, and no workload that names it.
        names: Name -> description.
    """
    (target,) = study.targets.values()
    targets = {name: target.model_copy(update={"description": words}) for name, words in names.items()}
    return study.model_copy(update={"targets": targets})

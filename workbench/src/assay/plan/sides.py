"""Makes, from a user's study, the study that measures two sides alternately."""

from collections.abc import Mapping
from typing import Any

from assay.model.study.blocks import Blocks
from assay.model.study.commands import with_works, works_of
from assay.model.study.repeats import Repeats
from assay.model.study.study import Study

REPEAT_FIELDS = ("repeats", "order", "schedule")
"""Fields of a study about repeats, which rounds replace."""

MAX_NAME_CHARS = 61
"""Characters of a study's name that are kept, to leave room for `-ab`: a name has at most 64."""

Data = dict[str, Any]


def study_of_targets(data: Data, study: Study, blocks: Blocks) -> Data:
    """Return the study limited to workloads that run on both targets; the rest of it, such as prices, stays.

    Args:
        data: Parsed study file.
        study: The same as a study.
        blocks: The comparison, which names the two targets.
    """
    both = {blocks.base, blocks.other}
    names = [name for name, workload in study.workloads.items() if both <= set(workload.targets or study.targets)]
    works = works_of(data)
    both_only = {name: {**works[name], "targets": [blocks.base, blocks.other]} for name in names}
    return with_works(_rounds(data, blocks), both_only)


def study_of_places(data: Data, places: Mapping[str, Data], blocks: Blocks) -> Data:
    """Return the study with all its work on other targets than its own.

    Args:
        data: Parsed study file.
        places: Name -> target, as a study file has it.
        blocks: The comparison, which names the two sides.
    """
    workloads = {
        name: {key: value for key, value in workload.items() if key != "targets"}
        for name, workload in works_of(data).items()
    }
    found = {**with_works(_rounds(data, blocks), workloads), "targets": dict(places)}
    # Prices are those of the study's own targets.
    found.pop("prices", None)
    return found


def _rounds(data: Data, blocks: Blocks) -> Data:
    found = {key: value for key, value in data.items() if key not in REPEAT_FIELDS}
    question = f"Is {blocks.other} slower than {blocks.base}, or faster?"
    return {
        **found,
        "study": f"{data['study'][:MAX_NAME_CHARS]}-ab",
        "question": question,
        "repeats": blocks.max_rounds,
    }


def with_rounds(study: Study, blocks: Blocks) -> Study:
    """Return a study from this module with as many repeats as there may be rounds."""
    return study.model_copy(update={"repeating": Repeats(max=blocks.max_rounds, min=blocks.max_rounds)})


def with_target_copies(study: Study, names: Mapping[str, str]) -> Study:
    """Return a study with its only target under several names, so that several engines can measure at one place.

    No study file can express this: its targets must be at different places.

    Args:
        study: Study with one target, which no workload names.
        names: Name -> description.
    """
    (target,) = study.targets.values()
    targets = {name: target.model_copy(update={"description": words}) for name, words in names.items()}
    return study.model_copy(update={"targets": targets})

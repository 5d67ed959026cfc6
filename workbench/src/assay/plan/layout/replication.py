"""Rules of replications that involve other parts of a study."""

from collections.abc import Iterator

from assay.model.source import FieldFault
from assay.model.study.replication import ONLY_IN_BOX
from assay.model.study.study import Study


def replication_faults(study: Study) -> Iterator[FieldFault]:
    """Yield what is wrong with a study's replications apart from their single fields."""
    if not study.replication:
        return
    first, entry = next(iter(study.replication.items()))
    pair = (entry.source, entry.replica)
    if study.hosts.nodes != pair:
        message = f"the hosts of a study with `replication` are its source and its replica, {pair[0]} and {pair[1]}"
        yield FieldFault(path=("hosts",), message=message, hint="leave `hosts` out", names_field=False)
    for name, other in study.replication.items():
        path = ("replication", name)
        if (other.source, other.replica) != pair:
            message = f"its hosts are not those of {first}, {pair[0]} and {pair[1]}"
            yield FieldFault(path=(*path, "source"), message=message, hint="write another study for other hosts")
        harmful = [scenario for scenario in other.scenario if scenario in ONLY_IN_BOX]
        if harmful and study.testbed is None:
            message = f"`{harmful[0]}` would harm what others use on these hosts"
            yield FieldFault(path=(*path, "scenario"), message=message, hint="use it in a box: write `testbed`")
        for target in other.targets or study.targets:
            if target in study.targets and not study.targets[target].is_directory:
                message, hint = f"target {target} is no directory", "use a target of kind file"
                yield FieldFault(path=(*path, "targets"), message=message, hint=hint)

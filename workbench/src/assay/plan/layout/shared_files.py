"""Sets of files that are only read: made once, and read by all repeats of all cases that need the same files."""

from collections.abc import Sequence
from functools import cached_property

from assay.model.study.case import Case
from assay.model.study.names import READS, WRITES
from assay.model.study.study import Study
from assay.plan.jobs import PlannedJob, data_seed
from assay.plan.phases import job_id

READ_PARAMETERS = frozenset(
    (
        *("record_size", "file_order", "streams", "queue_depth", "reorder", "reorder_by", "method", "sqpoll", "iopoll"),
        *("huge_pages", "cpus", "numa_node", "cache", "server_cache", "memory_limit", "sync", "rate", "arrivals"),
        *("runtime", "time_limit", "wear_out", "read_percent", "stride", "verify"),
    )
)
"""Parameters of how files are read; all others determine number, place or content of the files."""
SHARED_REPEAT = 0
"""Repeat number in the name of the shared directory; real repeats count from 1."""


class SharedFiles:
    """The cases of a study that share their files.

    Only sets of files are shared: they take long to make, and each repeat reads them in a different order.
    """

    def __init__(self, study: Study, cases: Sequence[Case]) -> None:
        """Compute nothing yet.

        Args:
            study: The study.
            cases: Its cases.
        """
        self._study = study
        self._cases = cases

    @cached_property
    def first(self) -> dict[str, str]:
        """Case id -> id of the first case that reads the same files; only for cases that share their files."""
        firsts: dict[tuple[object, ...], str] = {}
        found: dict[str, str] = {}
        for case in self._cases:
            if self._only_reads(case):
                values = case.parameters.__dict__.items()
                key = (case.target, *((name, str(value)) for name, value in values if name not in READ_PARAMETERS))
                found[case.id] = firsts.setdefault(key, case.id)
        return found

    def _only_reads(self, case: Case) -> bool:
        reads = all(operation in READS and operation not in WRITES for operation in case.operations)
        target = self._study.targets[case.target]
        return reads and case.parameters.is_on_set and target.keeps_data and not self._study.output.keep_files

    def directory(self, case: Case) -> str | None:
        """Return the name of the directory with the shared files of a case; None if each repeat has its own."""
        first = self.first.get(case.id)
        return None if first is None else job_id(first, SHARED_REPEAT)

    def job(self, planned: PlannedJob, ready: bool) -> PlannedJob:
        """Return the job changed so that it reads shared files and keeps them.

        Args:
            planned: Job of a case that shares its files.
            ready: The files exist already, so that the unmeasured phase `prepare` does nothing.
        """
        job, seed = planned.job, data_seed(self._study.seed, self.first[planned.case], SHARED_REPEAT)
        more = {"seed": seed, "order_seed": job.seed, "keep_files": True, "reuse_files": ready}
        return planned.model_copy(update={"job": job.model_copy(update=more)})

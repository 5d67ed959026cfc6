"""Sets of files that cases only read: made once, and read by all repeats of all cases that need the same ones."""

from collections.abc import Sequence
from functools import cached_property

from assay.model.study.case import Case
from assay.model.study.names import READS, WRITES
from assay.model.study.study import Study
from assay.plan.jobs import PlannedJob, data_seed
from assay.plan.phases import job_id

READING = frozenset(
    (
        *("record_size", "file_order", "streams", "queue_depth", "reorder", "reorder_by", "method", "sqpoll", "iopoll"),
        *("huge_pages", "cpus", "numa_node", "cache", "server_cache", "memory_limit", "sync", "rate", "arrivals"),
        *("runtime", "time_limit", "wear_out", "read_percent", "stride", "verify"),
    )
)
"""Parameters that say how files are read; all others decide which there are, where, and what is in them."""
SHARED_REPEAT = 0
"""In the name of the directory, where a repeat's own number stands: repeats count from 1."""


class SharedFiles:
    """Which cases of a study share their files.

    Only sets of files are shared: many take long to make, and each repeat of a read goes over them in an order of its
    own.
    """

    def __init__(self, study: Study, cases: Sequence[Case]) -> None:
        """Nothing is made yet.

        Args:
            study: The study.
            cases: Its cases.
        """
        self._study = study
        self._cases = cases

    @cached_property
    def first(self) -> dict[str, str]:
        """Case id -> id of the first case that reads the same files; only of cases that share theirs."""
        firsts: dict[tuple[object, ...], str] = {}
        found: dict[str, str] = {}
        for case in self._cases:
            if self._only_reads(case):
                values = case.parameters.__dict__.items()
                key = (case.target, *((name, str(value)) for name, value in values if name not in READING))
                found[case.id] = firsts.setdefault(key, case.id)
        return found

    def _only_reads(self, case: Case) -> bool:
        reads = all(operation in READS and operation not in WRITES for operation in case.operations)
        target = self._study.targets[case.target]
        return reads and case.parameters.on_set and target.keeps_data and not self._study.output.keep_files

    def directory(self, case: Case) -> str | None:
        """Name of the directory that holds the files of a case; None: each repeat has its own."""
        first = self.first.get(case.id)
        return None if first is None else job_id(first, SHARED_REPEAT)

    def job(self, planned: PlannedJob, ready: bool) -> PlannedJob:
        """The job as one that reads shared files, and leaves them where they are.

        Args:
            planned: A job of a case that shares its files.
            ready: They are there, and its unmeasured phase `prepare` finds nothing to do.
        """
        job, seed = planned.job, data_seed(self._study.seed, self.first[planned.case], SHARED_REPEAT)
        more = {"seed": seed, "order_seed": job.seed, "keep_files": True, "reuse_files": ready}
        return planned.model_copy(update={"job": job.model_copy(update=more)})

"""Reading one run on disk."""

import json
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from assay.model.case import Case, Excluded
from assay.model.result import JobRecord, Place, RunInfo, Sample
from assay.store.lock import RunLock, run_is_alive
from assay.store.records import Attempt, JournalEntry, Result

DATABASE = "run.sqlite"
STUDY = "study.yaml"
RETRIED = ("crashed", "stopped")
"""Outcomes that `--resume` executes again."""


class RunReader:
    """What a run's database tells; `assay.store.run.RunStore` adds what changes it."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, locks: Sequence[RunLock]) -> None:
        """Use `RunStore.create` or `RunStore.open`."""
        self.folder = folder
        self._db = connection
        self._locks = locks

    def close(self) -> None:
        """Close the database and give the locks back, if any are held."""
        self._db.close()
        for lock in self._locks:
            lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def info_status(self) -> str:
        """`running`, `interrupted`, `complete` or `complete with errors`; a run whose workbench died is interrupted."""
        status = str(self._db.execute("SELECT status FROM run").fetchone()[0])
        if status == "running" and not self._locks and not run_is_alive(self.folder):
            return "interrupted"
        return status

    def info(self) -> RunInfo:
        """The run without its results."""
        row = self._db.execute(
            "SELECT id, study, question, description, created_at, finished_at, seed, case_order, repeats, command,"
            " planned, details, (SELECT count(*) FROM outcomes) FROM run"
        ).fetchone()
        details = json.loads(row[11])
        return RunInfo(
            id=row[0],
            folder=str(self.folder.absolute()),
            study=row[1],
            question=row[2],
            description=row[3],
            study_text=self.study_text(),
            status=self.info_status(),
            created_at=row[4],
            finished_at=row[5],
            seed=row[6],
            order=row[7],
            repeats=row[8],
            command=row[9],
            versions=details["versions"],
            environment=details["environment"],
            places=tuple(Place.model_validate(place) for place in details["places"]),
            planned=row[10],
            finished=row[12],
        )

    def base(self) -> str:
        """Directory where the study's relative target paths start."""
        details = json.loads(self._db.execute("SELECT details FROM run").fetchone()[0])
        return str(details["base"])

    def study_text(self) -> str:
        """The study file as it was."""
        return (self.folder / STUDY).read_bytes().decode()

    def cases(self, case_id: str | None = None) -> tuple[Case, ...]:
        """All cases in plan order, or the one of that id (none if there is no such case)."""
        rows = self._db.execute("SELECT document FROM cases WHERE ? IN ('', id) ORDER BY position", (case_id or "",))
        return tuple(Case.model_validate_json(row[0]) for row in rows)

    def excluded(self) -> tuple[Excluded, ...]:
        """What the study leaves out."""
        rows = self._db.execute("SELECT document FROM excluded ORDER BY position")
        return tuple(Excluded.model_validate_json(row[0]) for row in rows)

    def left_out(self) -> list[tuple[str, str, str, int]]:
        """What the study leaves out in brief: (workload, rule, reason, number of points)."""
        return list(
            self._db.execute(
                "SELECT document ->> 'workload', document ->> 'rule', document ->> 'reason', count(*) FROM excluded"
                " GROUP BY 1, 2, 3 ORDER BY min(position)"
            )
        )

    def order(self) -> list[tuple[str, int]]:
        """All planned repeats as (case id, repeat), in the order of execution."""
        return list(self._db.execute("SELECT case_id, repeat FROM plan ORDER BY position"))

    def pending(self) -> list[tuple[str, int]]:
        """Planned repeats still to be executed, in order: without an outcome, or crashed or stopped."""
        return list(
            self._db.execute(
                "SELECT p.case_id, p.repeat FROM plan p LEFT JOIN outcomes o USING (case_id, repeat)"
                " WHERE o.status IS NULL OR o.status IN (?, ?) ORDER BY p.position",
                RETRIED,
            )
        )

    def samples(self, case_id: str | None = None) -> tuple[Sample, ...]:
        """All samples, or those of one case, ordered by case, repeat and phase."""
        rows = self._db.execute(
            "SELECT s.document FROM samples s JOIN cases c ON c.id = s.case_id WHERE ? IN ('', s.case_id)"
            " ORDER BY c.position, s.repeat, s.phase",
            (case_id or "",),
        )
        return tuple(Sample.model_validate_json(row[0]) for row in rows)

    def jobs(self, case_id: str | None = None) -> tuple[JobRecord, ...]:
        """The repeats that have an outcome, as they were executed, ordered by case and repeat."""
        rows = self._db.execute(
            "SELECT o.case_id, o.repeat, o.status, a.started_at, a.seconds, a.reason, a.job,"
            " (SELECT count(*) FROM attempts n WHERE n.case_id = o.case_id AND n.repeat = o.repeat)"
            " FROM outcomes o JOIN attempts a ON a.id = o.attempt JOIN cases c ON c.id = o.case_id"
            " WHERE ? IN ('', o.case_id) ORDER BY c.position, o.repeat",
            (case_id or "",),
        )
        return tuple(
            JobRecord(
                case=row[0],
                repeat=row[1],
                status=row[2],
                started_at=row[3],
                seconds=row[4],
                reason=row[5],
                job=json.loads(row[6]),
                attempts=row[7],
            )
            for row in rows
        )

    def attempts(self, case_id: str | None = None) -> list[Attempt]:
        """Every start of the engine, the first one first; also those that came to nothing."""
        rows = self._db.execute(
            "SELECT id, case_id, repeat, started_at, seconds, status, reason FROM attempts WHERE ? IN ('', case_id)"
            " ORDER BY id",
            (case_id or "",),
        )
        return [Attempt(*row) for row in rows]

    def events(self, case_id: str, repeat: int) -> str:
        """The engine's output of a repeat that has an outcome: NDJSON as it came; empty if there is none."""
        row = self._db.execute(
            "SELECT a.events FROM outcomes o JOIN attempts a ON a.id = o.attempt WHERE o.case_id = ? AND o.repeat = ?",
            (case_id, repeat),
        ).fetchone()
        return zlib.decompress(row[0]).decode() if row and row[0] else ""

    def outcome_counts(self) -> dict[str, int]:
        """Number of repeats by outcome."""
        return dict(self._db.execute("SELECT status, count(*) FROM outcomes GROUP BY status ORDER BY status"))

    def results(self, case_id: str | None = None, limit: int = -1) -> list[Result]:
        """What the analysis said at the end of the run, in plan order; empty before that.

        Args:
            case_id: Only of this case.
            limit: At most so many; -1 for all.
        """
        rows = self._db.execute(
            "SELECT r.case_id, c.label, r.operation, r.verdict, r.throughput, r.low, r.high, r.iops, r.n, r.finding"
            " FROM results r JOIN cases c ON c.id = r.case_id WHERE ? IN ('', r.case_id) ORDER BY r.position LIMIT ?",
            (case_id or "", limit),
        )
        return [Result(*row) for row in rows]

    def verdict_counts(self) -> dict[str, int]:
        """Number of results by verdict; empty before the end of the run."""
        return dict(self._db.execute("SELECT verdict, count(*) FROM results GROUP BY verdict"))

    def journal(self, only_open: bool = True) -> list[JournalEntry]:
        """What was made, the newest first; by default only what may still be there."""
        rows = self._db.execute(
            "SELECT id, kind, name, details, recorded_at, removed_at FROM journal"
            " WHERE NOT ? OR removed_at IS NULL ORDER BY id DESC",
            (only_open,),
        )
        return [JournalEntry(row[0], row[1], row[2], json.loads(row[3]), row[4], row[5]) for row in rows]

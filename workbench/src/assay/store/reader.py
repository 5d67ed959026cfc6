"""Reading one run on disk."""

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from assay.model.base import AssayError
from assay.model.result.brief import Result
from assay.model.result.ceiling import Ceiling
from assay.model.result.counts import VerdictCounts, count_weighted
from assay.model.result.first_page import FirstPage
from assay.model.result.machine import Controls, MachineFinding, Reading
from assay.model.result.method import MethodChoice
from assay.model.result.network import Network
from assay.model.result.run import Place, RunInfo
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.settling import Settling
from assay.model.result.stage import StageDone
from assay.model.result.verdict import Verdict
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case, Excluded
from assay.model.study.needs import Need
from assay.model.units import shown
from assay.model.written import MOST_BYTES
from assay.store.damage import OF_DATA, damage_told, mapping, tells_damage
from assay.store.door import DAMAGE_HINT, read_kept
from assay.store.entries import STUDY
from assay.store.heartbeat import last_alive
from assay.store.lock import RunLock, run_is_alive
from assay.store.records import Attempt, attempt_of, case_of, result_of, sample_of, thing_of, verdict_of
from assay.store.values import amount_of, count_of, moment_of, unpacked

if TYPE_CHECKING:
    from assay.journal.entry import Entry

SAMPLE = "s.case_id, s.repeat, s.phase, s.operation, s.document"
RETRIED = ("crashed", "incomplete", "stopped")
"""Outcomes that `--resume` executes again."""


class RunReader:
    """What a run's database tells; `assay.store.run.RunStore` adds what changes it.

    Attributes:
        folder: Where it is.
        made_as: Where it was when what it owns was made: that is how it is known there.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection, locks: Sequence[RunLock]) -> None:
        """Use `RunStore.create` or `RunStore.open`."""
        self.folder = self.made_as = folder
        self._db = connection
        self._locks = locks

    def close(self) -> None:
        """Close the database and give the locks back, if any are held."""
        self._db.close()
        for lock in self._locks:
            lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
        if isinstance(error, OF_DATA) and not self._locks and not os.environ.get("ASSAY_TRACEBACK"):
            # Of a run that is only read, which may come from anywhere, what it holds is to blame.
            with damage_told(self.folder):
                raise error

    @tells_damage
    def info_status(self) -> str:
        """`running`, `interrupted`, `complete` or `complete with errors`; a run whose workbench died is interrupted."""
        status = str(self._db.execute("SELECT status FROM run").fetchone()[0])
        if status == "running" and not self._locks and not run_is_alive(self.folder):
            return "interrupted"
        return status

    @tells_damage
    def info(self) -> RunInfo:
        """The run without its results."""
        row = self._db.execute(
            "SELECT id, study, question, description, created_at, finished_at, seed, case_order, repeats, command,"
            " planned, details, (SELECT count(*) FROM outcomes) FROM run"
        ).fetchone()
        details = mapping(row[11], "versions", "environment", "places")
        return RunInfo(
            id=row[0],
            folder=str(self.folder.absolute()),
            study=row[1],
            question=row[2],
            description=row[3],
            study_text=self.study_text(),
            status=self.info_status(),
            created_at=moment_of(row[4]),
            finished_at=None if row[5] is None else moment_of(row[5]),
            seed=row[6],
            order=row[7],
            repeats=count_of(row[8]),
            command=row[9],
            versions=details["versions"],
            environment=details["environment"],
            places=tuple(Place.model_validate(place) for place in details["places"]),
            ceilings=tuple(Ceiling.model_validate(ceiling) for ceiling in details.get("ceilings", ())),
            planned=count_of(row[10]),
            finished=count_of(row[12]),
            repeats_within=details.get("repeats_within"),
            repeats_decide=details.get("repeats_decide"),
            repeats_least=details.get("repeats_least"),
            repeats_time=details.get("repeats_time"),
            hosts=tuple(details.get("hosts", ())),
            network=Network.model_validate(details["network"]) if details.get("network") else None,
            methods=tuple(MethodChoice.model_validate(choice) for choice in details.get("methods", ())),
            controls=Controls.model_validate(details["controls"]) if details.get("controls") else None,
            machine=MachineFinding.model_validate(details["machine"]) if details.get("machine") else None,
            answers=tuple(details.get("answers", ())),
            page=FirstPage.model_validate(details["first_page"]) if details.get("first_page") else None,
            blocks=Blocks.model_validate(details["blocks"]) if details.get("blocks") else None,
            needs=tuple(Need.model_validate(need) for need in details.get("needs", ())),
            stages=tuple(StageDone.model_validate(stage) for stage in details.get("stages", ())),
            settlings=tuple(Settling.model_validate(one) for one in details.get("settlings", ())),
        )

    @tells_damage
    def controls(self) -> tuple[Reading, ...]:
        """What was measured without storage between the repeats, in order."""
        rows = self._db.execute("SELECT document FROM controls ORDER BY id")
        return tuple(Reading.model_validate_json(row[0]) for row in rows)

    @tells_damage
    def budget(self) -> str | None:
        """What the run may cost, as `--budget` takes it; None if nothing was said."""
        (details,) = self._db.execute("SELECT details FROM run").fetchone()
        found = mapping(details).get("budget")
        return None if found is None else str(found)

    def last_alive(self) -> tuple[float, ...]:
        """When each session was last known alive, in seconds since 1970; not all of them need be known."""
        return last_alive(self.folder)

    @tells_damage
    def sessions(self) -> tuple[float, ...]:
        """When the run was begun, and each time it was resumed: seconds since 1970."""
        created_at, details = self._db.execute("SELECT created_at, details FROM run").fetchone()
        return (moment_of(created_at), *(moment_of(moment) for moment in mapping(details).get("resumed_at", ())))

    @tells_damage
    def base(self) -> str:
        """Directory where the study's relative target paths start."""
        (details,) = self._db.execute("SELECT details FROM run").fetchone()
        return str(mapping(details, "base")["base"])

    @tells_damage
    def study_text(self) -> str:
        """The study file as it was."""
        return read_kept(self.folder, STUDY, MOST_BYTES).decode()

    @tells_damage
    def cases(self, case_id: str | None = None) -> tuple[Case, ...]:
        """All cases in plan order, or the one of that id (none if there is no such case)."""
        only, key = _only("id", case_id)
        rows = self._db.execute(f"SELECT id, document FROM cases{only} ORDER BY position", key)
        found = tuple(case_of(*row) for row in rows)
        if case_id is None:
            self._refuse_lost()
        return found

    def _refuse_lost(self) -> None:
        lost = self._db.execute("SELECT case_id FROM plan EXCEPT SELECT id FROM cases ORDER BY 1").fetchall()
        if lost:
            raise ValueError(f"{len(lost)} of its planned cases are missing, {lost[0][0]} for one")

    def case(self, case_id: str) -> Case:
        """The case of that id, which is there in every run that is whole.

        Raises:
            AssayError: It is not.
        """
        if found := self.cases(case_id):
            return found[0]
        raise AssayError(f"{self.folder} is damaged: it has no case {shown(case_id)}", DAMAGE_HINT)

    @tells_damage
    def workloads(self) -> tuple[str, ...]:
        """Names of the workloads that have cases, in any order."""
        self._refuse_lost()
        return tuple(row[0] for row in self._db.execute("SELECT DISTINCT document ->> 'workload' FROM cases"))

    @tells_damage
    def case_count(self) -> int:
        """How many cases there are."""
        return int(self._db.execute("SELECT count(*) FROM cases").fetchone()[0])

    @tells_damage
    def excluded(self) -> tuple[Excluded, ...]:
        """What the study leaves out."""
        rows = self._db.execute("SELECT document FROM excluded ORDER BY position")
        return tuple(Excluded.model_validate_json(row[0]) for row in rows)

    @tells_damage
    def left_out(self) -> list[tuple[str, str, str, int]]:
        """What the study leaves out in brief: (workload, rule, reason, number of points)."""
        return list(
            self._db.execute(
                "SELECT document ->> 'workload', document ->> 'rule', document ->> 'reason', count(*) FROM excluded"
                " GROUP BY 1, 2, 3 ORDER BY min(position)"
            )
        )

    @tells_damage
    def order(self) -> list[tuple[str, int]]:
        """All planned repeats as (case id, repeat), in the order of execution."""
        return list(self._db.execute("SELECT case_id, repeat FROM plan ORDER BY position"))

    @tells_damage
    def executed(self) -> list[tuple[str, int]]:
        """Repeats that were begun at least once, as (case id, repeat), in any order."""
        return list(self._db.execute("SELECT DISTINCT case_id, repeat FROM attempts"))

    @tells_damage
    def pending(self, settled_too: bool = False) -> list[tuple[str, int]]:
        """Planned repeats still to be executed, in order: without an outcome, or with one of `RETRIED`.

        Args:
            settled_too: Also those without an outcome of cases that are known well enough.
        """
        return list(
            self._db.execute(
                "SELECT p.case_id, p.repeat FROM plan p LEFT JOIN outcomes o USING (case_id, repeat)"
                f" WHERE o.status IN ({', '.join('?' * len(RETRIED))}) OR (o.status IS NULL AND (? OR p.case_id NOT IN"
                " (SELECT case_id FROM settled))) ORDER BY p.position",
                (*RETRIED, settled_too),
            )
        )

    @tells_damage
    def is_pending(self, case_id: str, repeat: int) -> bool:
        """Whether a planned repeat is one of `pending`."""
        row = self._db.execute(
            "SELECT status FROM outcomes WHERE case_id = ? AND repeat = ?", (case_id, repeat)
        ).fetchone()
        return row[0] in RETRIED if row else not self.is_settled(case_id)

    @tells_damage
    def is_settled(self, case_id: str) -> bool:
        """Whether a case gets no more repeats."""
        return self._db.execute("SELECT 1 FROM settled WHERE case_id = ?", (case_id,)).fetchone() is not None

    @tells_damage
    def settled(self) -> dict[str, str]:
        """Cases that get no more repeats, whatever the plan says -> why."""
        return dict(self._db.execute("SELECT case_id, reason FROM settled ORDER BY case_id"))

    @tells_damage
    def known(self) -> dict[str, bool]:
        """Cases that get no more repeats -> whether they are known well enough; else time was up, or it is hopeless."""
        return {str(case): bool(known) for case, known in self._db.execute("SELECT case_id, known FROM settled")}

    @tells_damage
    def samples(self, case_id: str | None = None) -> tuple[Sample, ...]:
        """All samples, or those of one case, ordered by case, repeat and phase."""
        only, key = _only("s.case_id", case_id)
        rows = self._db.execute(
            f"SELECT {SAMPLE} FROM samples s JOIN cases c ON c.id = s.case_id{only}"
            " ORDER BY c.position, s.repeat, s.phase",
            key,
        )
        return tuple(sample_of(*row) for row in rows)

    def rates(self, throughput: float = 0.0, iops: float = 0.0) -> Iterator[tuple[int, str, str, float, float]]:
        """Of samples that ended well: number, case, operation, bytes and operations per second, in any order.

        Args:
            throughput: Those with more bytes per second than that ...
            iops: ... and those with more operations per second than that.
        """
        with damage_told(self.folder):
            for row in self._db.execute(
                "SELECT id, case_id, operation, throughput, iops FROM samples"
                " WHERE status IN ('done', 'time_limit') AND (throughput > ? OR iops > ?)",
                (throughput, iops),
            ):
                yield (*row[:3], amount_of(row[3]), amount_of(row[4]))

    @tells_damage
    def sample(self, number: int) -> Sample:
        """The sample of a number that `rates` has given."""
        return sample_of(*self._db.execute(f"SELECT {SAMPLE} FROM samples s WHERE s.id = ?", (number,)).fetchone())

    def measured(self) -> Iterator[tuple[Case, tuple[Sample, ...]]]:
        """Every case in plan order with its samples as `samples` orders them; only one case is in memory at a time."""
        with damage_told(self.folder):
            self._refuse_lost()
            for name, document in self._db.execute("SELECT id, document FROM cases ORDER BY position"):
                rows = self._db.execute(
                    f"SELECT {SAMPLE} FROM samples s WHERE s.case_id = ? ORDER BY s.repeat, s.phase", (name,)
                )
                yield case_of(name, document), tuple(sample_of(*row) for row in rows)

    def rate_series(self) -> Iterator[list[float]]:
        """Of each operation of each case that was repeated: bytes, or if it moves none operations, per second.

        In the order of the repeats; of those that ended well.
        """
        with damage_told(self.folder):
            rows = self._db.execute(
                "SELECT case_id, phase, CASE WHEN throughput > 0 THEN throughput ELSE iops END FROM samples"
                " WHERE status IN ('done', 'time_limit') ORDER BY case_id, phase, repeat"
            )
            for _, group in groupby(rows, key=itemgetter(0, 1)):
                rates = [rate for *_, stored in group if (rate := amount_of(stored)) > 0]
                if len(rates) > 1:
                    yield rates

    @tells_damage
    def jobs(self, case_id: str | None = None, whole: bool = True) -> tuple[JobRecord, ...]:
        """The repeats that have an outcome, as they were executed, ordered by case and repeat.

        Args:
            case_id: Only of this case.
            whole: With the job as it was sent to the engine, in a large run most of the work; else it is empty.
        """
        only, key = _only("o.case_id", case_id)
        job = "a.job" if whole else "NULL"
        rows = self._db.execute(
            f"SELECT o.case_id, o.repeat, o.status, a.started_at, a.seconds, a.reason, {job},"
            " (SELECT count(*) FROM attempts n WHERE n.case_id = o.case_id AND n.repeat = o.repeat)"
            " FROM outcomes o JOIN attempts a ON a.id = o.attempt JOIN cases c ON c.id = o.case_id"
            f"{only} ORDER BY c.position, o.repeat",
            key,
        )
        return tuple(
            JobRecord(
                case=row[0],
                repeat=row[1],
                status=row[2],
                started_at=moment_of(row[3]),
                seconds=amount_of(row[4]),
                reason=row[5],
                job=json.loads(row[6]) if whole else {},
                attempts=row[7],
            )
            for row in rows
        )

    @tells_damage
    def attempts(self, case_id: str | None = None) -> list[Attempt]:
        """Every start of the engine, the first one first; also those that came to nothing."""
        only, key = _only("case_id", case_id)
        rows = self._db.execute(
            f"SELECT id, case_id, repeat, started_at, seconds, status, reason FROM attempts{only} ORDER BY id", key
        )
        return [attempt_of(*row) for row in rows]

    @tells_damage
    def events(self, case_id: str, repeat: int) -> str:
        """The engine's output of a repeat that has an outcome: NDJSON as it came; empty if there is none."""
        row = self._db.execute(
            "SELECT a.events FROM outcomes o JOIN attempts a ON a.id = o.attempt WHERE o.case_id = ? AND o.repeat = ?",
            (case_id, repeat),
        ).fetchone()
        return unpacked(row[0]) if row and row[0] else ""

    @tells_damage
    def attempt_events(self, case_id: str) -> list[str]:
        """What engines said in every attempt at a case, also in those that came to nothing; as `events`."""
        rows = self._db.execute("SELECT events FROM attempts WHERE case_id = ? ORDER BY id", (case_id,))
        return [unpacked(events) for (events,) in rows if events]

    @tells_damage
    def contract(self) -> int | None:
        """Version of the contract that its first job and the events after it are in; None if nothing was started."""
        row = self._db.execute("SELECT job ->> 'spec_version' FROM attempts ORDER BY id LIMIT 1").fetchone()
        return int(row[0]) if row and row[0] is not None else None

    @tells_damage
    def outcome_counts(self) -> dict[str, int]:
        """Number of repeats by outcome."""
        return dict(self._db.execute("SELECT status, count(*) FROM outcomes GROUP BY status ORDER BY status"))

    @tells_damage
    def results(self, case_id: str | None = None, limit: int = -1) -> list[Result]:
        """What the analysis said at the end of the run, in plan order; empty before that.

        Args:
            case_id: Only of this case.
            limit: At most so many; -1 for all.
        """
        only, key = _only("r.case_id", case_id)
        rows = self._db.execute(
            "SELECT r.case_id, c.label, r.operation, r.verdict, r.throughput, r.low, r.high, r.iops, r.n, r.finding,"
            f" r.also, r.ceiling, r.share FROM results r JOIN cases c ON c.id = r.case_id{only}"
            " ORDER BY r.position LIMIT ?",
            (*key, limit),
        )
        return [result_of(*row) for row in rows]

    @tells_damage
    def verdict_counts(self) -> VerdictCounts:
        """Number of results by verdict; of none before the end of the run."""
        rows = self._db.execute("SELECT verdict, also, count(*) FROM results GROUP BY verdict, also")
        return count_weighted(
            ([Verdict(verdict_of(name)) for name in (verdict, *also.split(", ")) if name], count)
            for verdict, also, count in rows
        )

    @tells_damage
    def journal(self, only_open: bool = True) -> "list[Entry]":
        """What was made, the newest first; by default only what may still be there."""
        from assay.journal.entry import Entry

        rows = self._db.execute(
            "SELECT id, kind, name, details, recorded_at, removed_at FROM journal"
            " WHERE NOT ? OR removed_at IS NULL ORDER BY id DESC",
            (only_open,),
        )
        return [Entry(row[0], *thing_of(row[1], row[2]), mapping(row[3]), row[4], row[5]) for row in rows]


def _only(column: str, case_id: str | None) -> tuple[str, tuple[str, ...]]:
    """A condition that finds one case by its index, and its value; nothing if all are asked for."""
    return ("", ()) if case_id is None else (f" WHERE {column} = ?", (case_id,))

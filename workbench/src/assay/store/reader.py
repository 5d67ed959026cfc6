"""Reads one run on disk."""

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
from assay.model.result.added_repeats import AddedRepeats
from assay.model.result.brief_result import BriefResult
from assay.model.result.ceiling import Ceiling
from assay.model.result.host_loss import HostLoss
from assay.model.result.imported import ImportedFile
from assay.model.result.machine import ControlReading, Controls, MachineFinding
from assay.model.result.method import MethodChoice
from assay.model.result.network import NetworkMeasurements
from assay.model.result.run import RunInfo, TargetPlace
from assay.model.result.sample import JobRecord, Sample
from assay.model.result.stage import MeasuredStage
from assay.model.result.summary_page import SummaryPage
from assay.model.result.verdict import Verdict
from assay.model.result.verdict_counts import VerdictCounts, count_weighted
from assay.model.study.blocks import Blocks
from assay.model.study.case import Case, ExcludedPoint
from assay.model.study.needs import TargetNeed
from assay.model.units import display_value
from assay.model.user_text import MAX_FILE_BYTES
from assay.store.damage import DATA_ERRORS, damage_as_error, json_mapping, reports_damage
from assay.store.entries import STUDY
from assay.store.heartbeat import last_alive
from assay.store.lock import RunLock, run_is_alive
from assay.store.records import Attempt, attempt_of, case_of, journal_key, result_of, sample_of, verdict_of
from assay.store.safe_files import DAMAGE_HINT, read_required
from assay.store.values import amount_of, count_of, decompressed_events, moment_of

if TYPE_CHECKING:
    from assay.journal.entry import Entry

SAMPLE_COLUMNS = "s.case_id, s.repeat, s.phase, s.operation, s.document"
RETRIED_OUTCOMES = ("crashed", "incomplete", "stopped")
"""Outcomes after which `--resume` executes a repeat again."""


class RunReader:
    """Reads a run's database; `assay.store.run.RunStore` adds the methods that change it.

    Attributes:
        folder: The run's folder.
        made_as: The folder's path when the run made things elsewhere; these name the run by that path.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection, locks: Sequence[RunLock]) -> None:
        """Use `RunStore.create` or `RunStore.open`."""
        self.folder = self.made_as = folder
        self._db = connection
        self._locks = locks

    def close(self) -> None:
        """Close the database and release the locks, if any are held."""
        self._db.close()
        for lock in self._locks:
            lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
        if isinstance(error, DATA_ERRORS) and not self._locks and not os.environ.get("ASSAY_TRACEBACK"):
            # A run that is only read may come from anywhere, so its data is the cause.
            with damage_as_error(self.folder):
                raise error

    @reports_damage
    def current_status(self) -> str:
        """Return `running`, `complete`, `complete with errors` or `interrupted`, also if the workbench died."""
        status = str(self._db.execute("SELECT status FROM run").fetchone()[0])
        if status == "running" and not self._locks and not run_is_alive(self.folder):
            return "interrupted"
        return status

    @reports_damage
    def info(self) -> RunInfo:
        """Return the run without its results."""
        row = self._db.execute(
            "SELECT id, study, question, description, created_at, finished_at, seed, case_order, repeats, command,"
            " planned, details, (SELECT count(*) FROM outcomes) FROM run"
        ).fetchone()
        details = json_mapping(row[11], "versions", "environment", "places")
        return RunInfo(
            id=row[0],
            folder=str(self.folder.absolute()),
            study=row[1],
            question=row[2],
            description=row[3],
            study_text=self.study_text(),
            status=self.current_status(),
            created_at=moment_of(row[4]),
            finished_at=None if row[5] is None else moment_of(row[5]),
            seed=row[6],
            order=row[7],
            repeats=count_of(row[8]),
            command=row[9],
            versions=details["versions"],
            environment=details["environment"],
            places=tuple(TargetPlace.model_validate(place) for place in details["places"]),
            ceilings=tuple(Ceiling.model_validate(ceiling) for ceiling in details.get("ceilings", ())),
            planned=count_of(row[10]),
            finished=count_of(row[12]),
            repeats_within=details.get("repeats_within"),
            repeats_decide=details.get("repeats_decide"),
            repeats_min=details.get("repeats_min"),
            repeats_time=details.get("repeats_time"),
            hosts=tuple(details.get("hosts", ())),
            network=NetworkMeasurements.model_validate(details["network"]) if details.get("network") else None,
            methods=tuple(MethodChoice.model_validate(choice) for choice in details.get("methods", ())),
            controls=Controls.model_validate(details["controls"]) if details.get("controls") else None,
            machine=MachineFinding.model_validate(details["machine"]) if details.get("machine") else None,
            answers=tuple(details.get("answers", ())),
            page=SummaryPage.model_validate(details["first_page"]) if details.get("first_page") else None,
            blocks=Blocks.model_validate(details["blocks"]) if details.get("blocks") else None,
            needs=tuple(TargetNeed.model_validate(need) for need in details.get("needs", ())),
            imports=tuple(ImportedFile.model_validate(one) for one in details.get("imports", ())),
            stages=tuple(MeasuredStage.model_validate(stage) for stage in details.get("stages", ())),
            added_repeats=tuple(AddedRepeats.model_validate(one) for one in details.get("added_repeats", ())),
            host_losses=tuple(HostLoss.model_validate(loss) for loss in details.get("host_losses", ())),
        )

    @reports_damage
    def controls(self) -> tuple[ControlReading, ...]:
        """Return the measurements without storage that were made between the repeats, in order."""
        rows = self._db.execute("SELECT document FROM controls ORDER BY id")
        return tuple(ControlReading.model_validate_json(row[0]) for row in rows)

    @reports_damage
    def budget(self) -> str | None:
        """Return what the run may cost, in the form of `--budget`; None without a budget."""
        (details,) = self._db.execute("SELECT details FROM run").fetchone()
        written = json_mapping(details).get("budget")
        return None if written is None else str(written)

    def last_alive(self) -> tuple[float, ...]:
        """Return when each session was last known to be alive, in seconds since 1970; unknown ones are left out."""
        return last_alive(self.folder)

    @reports_damage
    def sessions(self) -> tuple[float, ...]:
        """Return when the run began, and each time it was resumed, in seconds since 1970."""
        created_at, details = self._db.execute("SELECT created_at, details FROM run").fetchone()
        return (moment_of(created_at), *(moment_of(moment) for moment in json_mapping(details).get("resumed_at", ())))

    @reports_damage
    def base_folder(self) -> str:
        """Return the directory that the study's relative target paths start from."""
        (details,) = self._db.execute("SELECT details FROM run").fetchone()
        return str(json_mapping(details, "base")["base"])

    @reports_damage
    def study_folder(self) -> str:
        """Return the folder of the study, which relative paths of inputs start from."""
        (details,) = self._db.execute("SELECT details FROM run").fetchone()
        known = json_mapping(details, "base")
        return str(known.get("folder") or known["base"])

    @reports_damage
    def study_text(self) -> str:
        """Return the study file as it was."""
        return read_required(self.folder, STUDY, MAX_FILE_BYTES).decode()

    @reports_damage
    def cases(self, case_id: str | None = None) -> tuple[Case, ...]:
        """Return all cases in plan order, or the one with that id (none if there is no such case)."""
        condition, key = _case_condition("id", case_id)
        rows = self._db.execute(f"SELECT id, document FROM cases{condition} ORDER BY position", key)
        selected = tuple(case_of(*row) for row in rows)
        if case_id is None:
            self._refuse_lost()
        return selected

    def _refuse_lost(self) -> None:
        lost = self._db.execute("SELECT case_id FROM plan EXCEPT SELECT id FROM cases ORDER BY 1").fetchall()
        if lost:
            raise ValueError(f"{len(lost)} of its planned cases are missing, for example {lost[0][0]}")

    def case(self, case_id: str) -> Case:
        """Return the case with that id, which every undamaged run has.

        Raises:
            AssayError: The run does not have it.
        """
        if found := self.cases(case_id):
            return found[0]
        raise AssayError(f"{self.folder} is damaged: it has no case {display_value(case_id)}", DAMAGE_HINT)

    @reports_damage
    def workloads(self) -> tuple[str, ...]:
        """Return the names of the workloads that have cases, in any order."""
        self._refuse_lost()
        return tuple(row[0] for row in self._db.execute("SELECT DISTINCT document ->> 'workload' FROM cases"))

    @reports_damage
    def case_count(self) -> int:
        """Return how many cases there are."""
        return int(self._db.execute("SELECT count(*) FROM cases").fetchone()[0])

    @reports_damage
    def excluded(self) -> tuple[ExcludedPoint, ...]:
        """Return the points that the study leaves out."""
        rows = self._db.execute("SELECT document FROM excluded ORDER BY position")
        return tuple(ExcludedPoint.model_validate_json(row[0]) for row in rows)

    @reports_damage
    def excluded_counts(self) -> list[tuple[str, str, str, int]]:
        """Count the points that the study leaves out: (workload, rule, reason, number of points)."""
        return list(
            self._db.execute(
                "SELECT document ->> 'workload', document ->> 'rule', document ->> 'reason', count(*) FROM excluded"
                " GROUP BY 1, 2, 3 ORDER BY min(position)"
            )
        )

    @reports_damage
    def order(self) -> list[tuple[str, int]]:
        """Return all planned repeats as (case id, repeat), in the order of execution."""
        return list(self._db.execute("SELECT case_id, repeat FROM plan ORDER BY position"))

    @reports_damage
    def started_repeats(self) -> list[tuple[str, int]]:
        """Return the repeats that were started at least once, as (case id, repeat), in any order."""
        return list(self._db.execute("SELECT DISTINCT case_id, repeat FROM attempts"))

    @reports_damage
    def pending(self, include_settled: bool = False) -> list[tuple[str, int]]:
        """Return the planned repeats without an outcome, or with one of `RETRIED_OUTCOMES`, in the order of execution.

        Args:
            include_settled: Also repeats without an outcome of cases that get no more repeats.
        """
        return list(
            self._db.execute(
                "SELECT p.case_id, p.repeat FROM plan p LEFT JOIN outcomes o USING (case_id, repeat)"
                f" WHERE o.status IN ({', '.join('?' * len(RETRIED_OUTCOMES))}) OR (o.status IS NULL AND (? "
                "OR p.case_id NOT IN"
                " (SELECT case_id FROM settled))) ORDER BY p.position",
                (*RETRIED_OUTCOMES, include_settled),
            )
        )

    @reports_damage
    def is_pending(self, case_id: str, repeat: int) -> bool:
        """Whether a planned repeat is one of `pending`."""
        row = self._db.execute(
            "SELECT status FROM outcomes WHERE case_id = ? AND repeat = ?", (case_id, repeat)
        ).fetchone()
        return row[0] in RETRIED_OUTCOMES if row else not self.is_settled(case_id)

    @reports_damage
    def is_settled(self, case_id: str) -> bool:
        """Whether a case gets no more repeats."""
        return self._db.execute("SELECT 1 FROM settled WHERE case_id = ?", (case_id,)).fetchone() is not None

    @reports_damage
    def settled(self) -> dict[str, str]:
        """Return the cases that get no more repeats, whatever the plan says, and why."""
        return dict(self._db.execute("SELECT case_id, reason FROM settled ORDER BY case_id"))

    @reports_damage
    def settled_as_known(self) -> dict[str, bool]:
        """Return the cases that get no more repeats, and whether their results are known well enough.

        If not, time was up, or their repeats vary too much.
        """
        return {str(case): bool(known) for case, known in self._db.execute("SELECT case_id, known FROM settled")}

    @reports_damage
    def samples(self, case_id: str | None = None) -> tuple[Sample, ...]:
        """Return all samples, or those of one case, ordered by case, repeat and phase."""
        condition, key = _case_condition("s.case_id", case_id)
        rows = self._db.execute(
            f"SELECT {SAMPLE_COLUMNS} FROM samples s JOIN cases c ON c.id = s.case_id{condition}"
            " ORDER BY c.position, s.repeat, s.phase",
            key,
        )
        return tuple(sample_of(*row) for row in rows)

    def rates(self, throughput: float = 0.0, iops: float = 0.0) -> Iterator[tuple[int, str, str, float, float]]:
        """Yield number, case, operation, bytes and operations per second of samples that ended well, in any order.

        Args:
            throughput: Yield samples with more bytes per second than this ...
            iops: ... and samples with more operations per second than this.
        """
        with damage_as_error(self.folder):
            for row in self._db.execute(
                "SELECT id, case_id, operation, throughput, iops FROM samples"
                " WHERE status IN ('done', 'time_limit') AND (throughput > ? OR iops > ?)",
                (throughput, iops),
            ):
                yield (*row[:3], amount_of(row[3]), amount_of(row[4]))

    @reports_damage
    def sample(self, number: int) -> Sample:
        """Return the sample with a number that `rates` yielded."""
        return sample_of(
            *self._db.execute(f"SELECT {SAMPLE_COLUMNS} FROM samples s WHERE s.id = ?", (number,)).fetchone()
        )

    def cases_with_samples(self) -> Iterator[tuple[Case, tuple[Sample, ...]]]:
        """Yield every case in plan order with its samples, ordered as by `samples`; one case is in memory at a time."""
        with damage_as_error(self.folder):
            self._refuse_lost()
            for name, document in self._db.execute("SELECT id, document FROM cases ORDER BY position"):
                rows = self._db.execute(
                    f"SELECT {SAMPLE_COLUMNS} FROM samples s WHERE s.case_id = ? ORDER BY s.repeat, s.phase", (name,)
                )
                yield case_of(name, document), tuple(sample_of(*row) for row in rows)

    def rate_series(self) -> Iterator[list[float]]:
        """Yield the rates of the repeats of each phase of each case that has several, in the order of the repeats.

        Rates are bytes per second, or operations per second where none are moved. Only repeats that ended well count.
        """
        with damage_as_error(self.folder):
            rows = self._db.execute(
                "SELECT case_id, phase, CASE WHEN throughput > 0 THEN throughput ELSE iops END FROM samples"
                " WHERE status IN ('done', 'time_limit') ORDER BY case_id, phase, repeat"
            )
            for _, group in groupby(rows, key=itemgetter(0, 1)):
                rates = [rate for *_, stored in group if (rate := amount_of(stored)) > 0]
                if len(rates) > 1:
                    yield rates

    @reports_damage
    def jobs(self, case_id: str | None = None, with_job: bool = True) -> tuple[JobRecord, ...]:
        """Return the repeats that have an outcome, as they were executed, ordered by case and repeat.

        Args:
            case_id: Only of this case.
            with_job: Include each job as it was sent to the engine, which takes most of the time in a large run;
                else jobs
                are empty.
        """
        condition, key = _case_condition("o.case_id", case_id)
        job = "a.job" if with_job else "NULL"
        rows = self._db.execute(
            f"SELECT o.case_id, o.repeat, o.status, a.started_at, a.seconds, a.reason, {job},"
            " (SELECT count(*) FROM attempts n WHERE n.case_id = o.case_id AND n.repeat = o.repeat)"
            " FROM outcomes o JOIN attempts a ON a.id = o.attempt JOIN cases c ON c.id = o.case_id"
            f"{condition} ORDER BY c.position, o.repeat",
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
                job=json.loads(row[6]) if with_job else {},
                attempts=row[7],
            )
            for row in rows
        )

    @reports_damage
    def attempts(self, case_id: str | None = None) -> list[Attempt]:
        """Return every start of the engine, the first one first, with those that had no outcome."""
        condition, key = _case_condition("case_id", case_id)
        rows = self._db.execute(
            f"SELECT id, case_id, repeat, started_at, seconds, status, reason FROM attempts{condition} ORDER BY id", key
        )
        return [attempt_of(*row) for row in rows]

    @reports_damage
    def events(self, case_id: str, repeat: int) -> str:
        """Return the engine's output in a repeat that has an outcome, unchanged NDJSON; empty if there is none."""
        row = self._db.execute(
            "SELECT a.events FROM outcomes o JOIN attempts a ON a.id = o.attempt WHERE o.case_id = ? AND o.repeat = ?",
            (case_id, repeat),
        ).fetchone()
        return decompressed_events(row[0]) if row and row[0] else ""

    @reports_damage
    def attempt_events(self, case_id: str) -> list[str]:
        """Return the output of the engines in every attempt at a case, even those without an outcome; as `events`."""
        rows = self._db.execute("SELECT events FROM attempts WHERE case_id = ? ORDER BY id", (case_id,))
        return [decompressed_events(events) for (events,) in rows if events]

    @reports_damage
    def contract_version(self) -> int | None:
        """Return the version of the contract that the first job and all events use; None if no engine was started."""
        row = self._db.execute("SELECT job ->> 'spec_version' FROM attempts ORDER BY id LIMIT 1").fetchone()
        return int(row[0]) if row and row[0] is not None else None

    @reports_damage
    def outcome_counts(self) -> dict[str, int]:
        """Return the number of repeats for each outcome."""
        return dict(self._db.execute("SELECT status, count(*) FROM outcomes GROUP BY status ORDER BY status"))

    @reports_damage
    def results(self, case_id: str | None = None, limit: int = -1) -> list[BriefResult]:
        """Return the results that the analysis stored at the end of the run, in plan order; empty before that.

        Args:
            case_id: Only of this case.
            limit: At most this many; -1 for all.
        """
        condition, key = _case_condition("r.case_id", case_id)
        rows = self._db.execute(
            "SELECT r.case_id, c.label, r.operation, r.verdict, r.throughput, r.low, r.high, r.iops, r.n, r.finding,"
            f" r.further_verdicts, r.ceiling, r.share FROM results r JOIN cases c ON c.id = r.case_id{condition}"
            " ORDER BY r.position LIMIT ?",
            (*key, limit),
        )
        return [result_of(*row) for row in rows]

    @reports_damage
    def verdict_counts(self) -> VerdictCounts:
        """Return the number of results for each verdict; all 0 before the end of the run."""
        rows = self._db.execute(
            "SELECT verdict, further_verdicts, count(*) FROM results GROUP BY verdict, further_verdicts"
        )
        return count_weighted(
            ([Verdict(verdict_of(name)) for name in (verdict, *further.split(", ")) if name], count)
            for verdict, further, count in rows
        )

    @reports_damage
    def entries(self, only_open: bool = True) -> "list[Entry]":
        """Return what the run made elsewhere, the newest first; by default only what may still be there."""
        from assay.journal.entry import Entry

        rows = self._db.execute(
            "SELECT id, kind, name, details, recorded_at, removed_at FROM journal"
            " WHERE NOT ? OR removed_at IS NULL ORDER BY id DESC",
            (only_open,),
        )
        return [Entry(row[0], *journal_key(row[1], row[2]), json_mapping(row[3]), row[4], row[5]) for row in rows]


def _case_condition(column: str, case_id: str | None) -> tuple[str, tuple[str, ...]]:
    """Return an SQL condition that selects one case, and its value; both empty if all cases are wanted."""
    return ("", ()) if case_id is None else (f" WHERE {column} = ?", (case_id,))

"""One run on disk, open for reading or writing."""

import contextlib
import json
import os
import re
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.model.base import EXIT_INCOMPLETE, AssayError
from assay.model.result.added_repeats import AddedRepeats
from assay.model.result.brief_result import BriefResult
from assay.model.result.ceiling import Ceiling
from assay.model.result.host_loss import HostLoss
from assay.model.result.machine import ControlReading, Controls, MachineFinding
from assay.model.result.method import MethodChoice
from assay.model.result.network import NetworkMeasurements
from assay.model.result.run import TargetPlace
from assay.model.result.sample import Sample
from assay.model.result.stage import MeasuredStage
from assay.model.result.summary_page import SummaryPage
from assay.model.study.case import Case, ExcludedPoint
from assay.store.entries import (
    DATABASE,
    ENGINE_LOCK,
    IMPORTED,
    INTERVALS,
    PRICES,
    RUN_LOCK,
    STUDY,
    check_entries,
    open_new,
    remove_folder,
    stable_path,
)
from assay.store.lock import RunLock, is_locked
from assay.store.reader import RETRIED_OUTCOMES, RunReader
from assay.store.records import RunMeta
from assay.store.runs_folder import not_stored
from assay.store.schema import connect_to_write, create_database
from assay.store.series import write_series
from assay.store.snapshot import open_to_read

if TYPE_CHECKING:
    from assay.model.money.priced_designs import FrozenPrices

UNFINISHED_PREFIX = ".new-"
_UNFINISHED = re.compile(r"\.new-(?P<pid>\d+)-\d{8}-\d{6}-.+")
"""Names of folders of runs that are being made."""


def new_run_id(study: str, at: float) -> str:
    """Return an id from UTC start and study name: `20261121-211503-quickstart`.

    Args:
        study: Name of the study; characters that do not suit a folder's name become `-`.
        at: Seconds since 1970.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", study).strip("-.") or "study"
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%d-%H%M%S}-{plain[:80]}"


class RunStore(RunReader):
    """A run's folder: `study.yaml` unchanged, `run.sqlite`, `prices.json`, and at the end `intervals.csv.gz`.

    Open for writing, it holds the run's locks until `close`. Each method that writes is one transaction.
    """

    @classmethod
    def create(
        cls,
        root: Path,
        meta: RunMeta,
        cases: Sequence[Case],
        excluded: Sequence[ExcludedPoint],
        order: Sequence[tuple[str, int]],
        study_text: str,
        prices: "FrozenPrices | None" = None,
        imported: str | None = None,
        name: str = "",
    ) -> "RunStore":
        """Make a run's folder whole or not at all, and open it for writing.

        Args:
            root: Folder of all runs; made if missing.
            meta: What is known of the run; a number is appended to its id if the folder exists.
            cases: All cases in plan order.
            excluded: The points that the study leaves out.
            order: The planned repeats as (case id, repeat), in the order of execution.
            study_text: The study file, verbatim.
            prices: Prices of the designs that the study names.
            imported: For a run that another tool measured: all that its output says, as JSON.
            name: Under which the run is shown, in place of the name of its folder.

        Raises:
            AssayError: The folder cannot be made.
        """
        work = root / f"{UNFINISHED_PREFIX}{os.getpid()}-{meta.id}"
        try:
            root.mkdir(parents=True, exist_ok=True)
            _remove_unfinished(root)
            work.mkdir()
            locks = [RunLock(work / RUN_LOCK), RunLock(work / ENGINE_LOCK)]
            with open_new(work / STUDY) as file:
                file.write(study_text.encode())
            if prices is not None:
                with open_new(work / PRICES) as file:
                    file.write(prices.model_dump_json(indent=1).encode())
            if imported is not None:
                with open_new(work / IMPORTED) as file:
                    file.write(imported.encode())
            connection = create_database(work)
            folder = _free_name(root, meta.id)
            _insert_plan(connection, meta, name or folder.name, cases, excluded, order)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.close()
            work.rename(folder)
        except (OSError, sqlite3.Error, AssayError) as error:
            remove_folder(work)
            reason = getattr(error, "strerror", None) or str(error)
            raise AssayError(*not_stored(root, reason)) from error
        except BaseException:
            remove_folder(work)
            raise
        for lock in locks:
            lock.path = folder / lock.path.name
        return cls(folder, connect_to_write(folder), locks)

    @classmethod
    def open(
        cls, folder: Path, write: bool = False, wait: float = 0.0, original_folder: Path | None = None
    ) -> "RunStore":
        """Open an existing run.

        Args:
            folder: `<root>/<run id>`.
            write: Take the run's locks and allow changes.
            wait: Seconds to wait for an engine that a dead workbench left behind; it notices and ends by itself.
            original_folder: The folder's path when the run made things elsewhere; left out if that is `folder`.

        Raises:
            AssayError: It is not a run, is of a newer version of Assay, has an entry that leads elsewhere, or is to be
                written while another process executes it.
        """
        if not write:
            return cls(folder, open_to_read(folder), ())
        check_entries(folder)
        open_to_read(folder).close()
        run_lock = RunLock(folder / RUN_LOCK)
        end = time.monotonic() + wait
        while is_locked(folder / ENGINE_LOCK) and time.monotonic() < end:
            time.sleep(0.05)
        try:
            engine_lock = RunLock(folder / ENGINE_LOCK)
            # The entries may have been replaced before the lock was taken.
            check_entries(folder)
            store = cls(folder, connect_to_write(folder), (run_lock, engine_lock))
            store.made_as = original_folder or folder
            return store
        except AssayError:
            run_lock.release()
            raise

    def close(self) -> None:
        """Close the database and release the locks."""
        if self._locks and self._is_own_folder(self.folder) and self.current_status() != "running":
            # Without WAL files, a finished run can be read from a read-only file system.
            with contextlib.suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA journal_mode = DELETE")
        super().close()

    def _is_own_folder(self, folder: Path) -> bool:
        """Whether a path leads to the run's folder: SQLite makes a journal under its path, wherever that leads."""
        with contextlib.suppress(OSError):
            return self._locks[0].is_at(folder / RUN_LOCK)
        return False

    def discard(self) -> None:
        """Close and remove the whole run; for one that was refused before anything was measured."""
        super().close()
        remove_folder(self.folder)

    @property
    def engine_lock_fd(self) -> int:
        """File descriptor that the engine must inherit, so that it is known to be alive; only if open for writing."""
        return self._locks[1].fd

    def describe(
        self,
        versions: Mapping[str, str] | None = None,
        environment: Mapping[str, Mapping[str, str]] | None = None,
        places: Sequence[TargetPlace] | None = None,
        ceilings: Sequence[Ceiling] | None = None,
        hosts: Sequence[str] | None = None,
        network: NetworkMeasurements | None = None,
        methods: Sequence[MethodChoice] | None = None,
        answers: Sequence[str] | None = None,
        page: SummaryPage | None = None,
    ) -> None:
        """Record what is known of the run; arguments as in `RunInfo`. Values that are None stay as they are."""
        with self._transaction():
            details = json.loads(self._db.execute("SELECT details FROM run").fetchone()[0])
            if versions is not None:
                details["versions"] = dict(versions)
            if environment is not None:
                details["environment"] = {name: dict(section) for name, section in environment.items()}
            if places is not None:
                details["places"] = [place.model_dump(mode="json") for place in places]
            if ceilings is not None:
                details["ceilings"] = [ceiling.model_dump(mode="json") for ceiling in ceilings]
            if hosts is not None:
                details["hosts"] = list(hosts)
            if network is not None:
                details["network"] = network.model_dump(mode="json")
            if methods is not None:
                details["methods"] = [choice.model_dump(mode="json") for choice in methods]
            if answers is not None:
                details["answers"] = list(answers)
            if page is not None:
                details["first_page"] = page.model_dump(mode="json")
            self._db.execute("UPDATE run SET details = ?", (json.dumps(details),))

    def add_control(self, reading: ControlReading) -> None:
        """Store what was measured without storage between two repeats."""
        with self._transaction():
            self._db.execute("INSERT INTO controls (document) VALUES (?)", (reading.model_dump_json(),))

    def describe_machine(self, controls: Controls | None, finding: MachineFinding | None) -> None:
        """Record the summary of all controls and the finding on the machine, replacing earlier ones."""
        texts = [one.model_dump_json() if one is not None else "null" for one in (controls, finding)]
        with self._transaction():
            self._db.execute(
                "UPDATE run SET details = json_set(details, '$.controls', json(?), '$.machine', json(?))", texts
            )

    def store_stages(self, stages: Sequence[MeasuredStage]) -> None:
        """Record the stages that were measured, and who has accepted them, replacing earlier ones."""
        text = json.dumps([stage.model_dump(mode="json") for stage in stages])
        with self._transaction():
            self._db.execute("UPDATE run SET details = json_set(details, '$.stages', json(?))", (text,))

    def store_host_losses(self, losses: Sequence[HostLoss]) -> None:
        """Record the hosts that the run has lost, and what is in their place, replacing earlier ones."""
        text = json.dumps([loss.model_dump(mode="json") for loss in losses])
        with self._transaction():
            self._db.execute("UPDATE run SET details = json_set(details, '$.host_losses', json(?))", (text,))

    def set_status(self, status: str) -> None:
        """Record the status of the run; any but `running` also records the time."""
        finished_at = None if status == "running" else time.time()
        with self._transaction():
            self._db.execute("UPDATE run SET status = ?, finished_at = ?", (status, finished_at))

    def set_start(self, moment: float) -> None:
        """Record when a run that has waited begins, in seconds since 1970."""
        with self._transaction():
            self._db.execute("UPDATE run SET created_at = ?", (moment,))

    def begin_session(self, moment: float) -> None:
        """Record when the run is resumed, in seconds since 1970."""
        with self._transaction():
            self._db.execute(
                "UPDATE run SET details = json_set(details, '$.resumed_at', json(?))",
                (json.dumps([*self.sessions()[1:], moment]),),
            )

    def store_budget(self, written: str) -> None:
        """Record what the run may cost, in the form of `--budget`, replacing an earlier amount."""
        with self._transaction():
            self._db.execute("UPDATE run SET details = json_set(details, '$.budget', ?)", (written,))

    def begin_attempt(self, case_id: str, repeat: int, job: Mapping[str, Any]) -> int:
        """Record that the engine is about to be started with this job; returns the attempt's number."""
        with self._transaction():
            cursor = self._db.execute(
                "INSERT INTO attempts (case_id, repeat, started_at, status, reason, job)"
                " VALUES (?, ?, ?, 'started', '', ?)",
                (case_id, repeat, time.time(), json.dumps(job, separators=(",", ":"))),
            )
        return int(cursor.lastrowid or 0)

    def abandon_attempt(
        self, attempt: int, seconds: float, reason: str, events: str = "", status: str = "stopped"
    ) -> None:
        """Record an attempt without an outcome, so that `--resume` makes another one.

        Args:
            attempt: From `begin_attempt`.
            seconds: How long it took.
            reason: Why it has no outcome.
            events: The engine's output, NDJSON.
            status: `stopped` by the user, or `lost` with a host.
        """
        with self._transaction():
            self._end_attempt(attempt, status, seconds, reason, events)

    def finish_repeat(
        self, attempt: int, status: str, seconds: float, reason: str, events: str, samples: Sequence[Sample]
    ) -> None:
        """Record a repeat's outcome, raw events and samples, all or nothing.

        An earlier outcome is replaced only if it was `crashed`, `incomplete` or `stopped`; its attempt is kept.

        Args:
            attempt: From `begin_attempt`.
            status: `ok`, `errors`, `refused`, `stopped`, `incomplete` or `crashed`.
            seconds: How long it took.
            reason: Why it did not end well; empty if it did.
            events: The engine's output, NDJSON.
            samples: What was measured.

        Raises:
            AssayError: The repeat already has an outcome that is not replaced.
        """
        with self._transaction():
            case_id, repeat = self._end_attempt(attempt, status, seconds, reason, events)
            key = (case_id, repeat)
            earlier = self._db.execute("SELECT status FROM outcomes WHERE case_id = ? AND repeat = ?", key).fetchone()
            if earlier and earlier[0] not in RETRIED_OUTCOMES:
                raise AssayError(f"{self.folder.name}: repeat {repeat} of case {case_id} already has an outcome")
            self._db.execute("DELETE FROM samples WHERE case_id = ? AND repeat = ?", key)
            self._db.execute("DELETE FROM outcomes WHERE case_id = ? AND repeat = ?", key)
            self._db.execute("INSERT INTO outcomes VALUES (?, ?, ?, ?)", (case_id, repeat, status, attempt))
            self._db.executemany(
                "INSERT INTO samples (case_id, repeat, phase, operation, status, throughput, iops, document)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(*key, *_sample_columns(sample)) for sample in samples],
            )

    def _end_attempt(self, attempt: int, status: str, seconds: float, reason: str, events: str) -> tuple[str, int]:
        packed = zlib.compress(events.encode()) if events else None
        self._db.execute(
            "UPDATE attempts SET status = ?, seconds = ?, reason = ?, events = ? WHERE id = ?",
            (status, seconds, reason, packed, attempt),
        )
        case_id, repeat = self._db.execute("SELECT case_id, repeat FROM attempts WHERE id = ?", (attempt,)).fetchone()
        return str(case_id), int(repeat)

    def settle(self, case_id: str, reason: str, known: bool = True) -> int:
        """Record that a case gets no more repeats, or with an empty reason that it gets them after all.

        Its repeats without an outcome are then no longer pending, or pending again; the plan keeps them.

        Args:
            case_id: The case.
            reason: Why, in words.
            known: Its results are known well enough; else time is up, or repeats vary too much.

        Returns:
            How many fewer repeats the run has; below 0 if it has more.
        """
        was_settled = self.is_settled(case_id)
        if not was_settled and not reason:
            return 0
        with self._transaction():
            self._db.execute("DELETE FROM settled WHERE case_id = ?", (case_id,))
            if reason:
                self._db.execute("INSERT INTO settled VALUES (?, ?, ?)", (case_id, reason, known))
            if was_settled and reason:
                return 0
            (idle,) = self._db.execute(
                "SELECT count(*) FROM plan LEFT JOIN outcomes USING (case_id, repeat)"
                " WHERE case_id = ? AND status IS NULL",
                (case_id,),
            ).fetchone()
            fewer = -int(idle) if was_settled else int(idle)
            self._db.execute("UPDATE run SET planned = planned - ?", (fewer,))
        return fewer

    def add_repeats(self, settling: AddedRepeats, order: Sequence[tuple[str, int]]) -> None:
        """Plan more repeats for some cases of a run that is over, which then counts as running again.

        Repeats of these cases that were planned but never started are removed from the plan.

        Args:
            settling: What is added.
            order: The repeats as (case id, repeat), in the order of execution.
        """
        cases = [(case,) for case in settling.repeats]
        idle = "SELECT case_id, repeat FROM plan EXCEPT SELECT case_id, repeat FROM attempts"
        with self._transaction():
            self._db.executemany(
                f"DELETE FROM plan WHERE case_id = ? AND (case_id, repeat) IN ({idle})",
                cases,
            )
            self._db.executemany("DELETE FROM settled WHERE case_id = ?", cases)
            self._db.executemany("INSERT OR IGNORE INTO plan (case_id, repeat) VALUES (?, ?)", order)
            self._db.execute(
                "UPDATE run SET status = 'running', finished_at = NULL, planned = (SELECT count(*) FROM plan"
                " LEFT JOIN outcomes USING (case_id, repeat)"
                " WHERE status IS NOT NULL OR case_id NOT IN (SELECT case_id FROM settled))"
            )
            self._keep_added_repeats((*self.info().added_repeats, settling))

    def end_settling(self) -> None:
        """Record that the repeats that were added last are complete."""
        *before, last = self.info().added_repeats
        with self._transaction():
            self._keep_added_repeats((*before, last.model_copy(update={"done": True})))

    def _keep_added_repeats(self, added_repeats: Sequence[AddedRepeats]) -> None:
        text = json.dumps([one.model_dump(mode="json") for one in added_repeats])
        self._db.execute("UPDATE run SET details = json_set(details, '$.added_repeats', json(?))", (text,))

    def close_lost_attempts(self, reason: str) -> int:
        """End the attempts that a dead workbench left open; returns how many there were."""
        with self._transaction():
            cursor = self._db.execute(
                "UPDATE attempts SET status = 'crashed', reason = ? WHERE status = 'started'", (reason,)
            )
        return cursor.rowcount

    def save_results(self, results: Iterable[BriefResult]) -> None:
        """Store the results of the analysis for `show`, one for each operation of each case, replacing earlier ones."""
        columns = (
            "operation",
            "verdict",
            "throughput",
            "low",
            "high",
            "iops",
            "n",
            "finding",
            "further_verdicts",
            "ceiling",
            "share",
        )
        values = ([result.case, *(getattr(result, name) for name in columns)] for result in results)
        with self._transaction():
            self._db.execute("DELETE FROM results")
            self._db.executemany(
                f"INSERT INTO results (case_id, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})",
                values,
            )

    def write_intervals(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Write the time series of the run to `intervals.csv.gz`, replacing an earlier one.

        Args:
            rows: Columns as in `assay.store.series.COLUMNS`.

        Returns:
            Number of rows.

        Raises:
            AssayError: The file cannot be written.
        """
        try:
            with stable_path(self.folder) as opened:
                if not self._is_own_folder(opened):
                    raise self._unwritable(INTERVALS, "the folder of the run was moved or replaced")
                return write_series(opened / INTERVALS, rows)
        except OSError as error:
            raise self._unwritable(INTERVALS, error.strerror or str(error)) from error

    # The following methods are the journal of what the run makes elsewhere (`assay.journal.entry.Journal`).

    def record(self, kind: str, name: str, details: Mapping[str, Any] | None = None) -> int:
        """Record something before it is made; the same thing is recorded once."""
        with self._transaction():
            known = self._db.execute(
                "SELECT id FROM journal WHERE kind = ? AND name = ? AND removed_at IS NULL", (kind, name)
            ).fetchone()
            if known:
                return int(known[0])
            cursor = self._db.execute(
                "INSERT INTO journal (kind, name, details, recorded_at) VALUES (?, ?, ?, ?)",
                (kind, name, json.dumps(details or {}), time.time()),
            )
        return int(cursor.lastrowid or 0)

    def amend(self, entry: int, details: Mapping[str, Any]) -> None:
        """Replace the details of an entry of the journal."""
        with self._transaction():
            self._db.execute("UPDATE journal SET details = ? WHERE id = ?", (json.dumps(details), entry))

    def mark_removed(self, entry: int) -> None:
        """Record that a thing in the journal is removed."""
        with self._transaction():
            self._db.execute("UPDATE journal SET removed_at = ? WHERE id = ?", (time.time(), entry))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except BaseException as error:
            # SQLite itself rolls back after some errors. A failing rollback must not hide the first error.
            with contextlib.suppress(sqlite3.Error):
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError):
                raise self._unwritable(DATABASE, str(error)) from error
            raise

    def _unwritable(self, name: str, reason: str) -> AssayError:
        message = f"{self.folder / name}: cannot be written: {reason}"
        return AssayError(message, f"fix that, then continue with `assay run {self.folder} --resume`", EXIT_INCOMPLETE)


def _insert_plan(
    connection: sqlite3.Connection,
    meta: RunMeta,
    run_id: str,
    cases: Sequence[Case],
    excluded: Sequence[ExcludedPoint],
    order: Sequence[tuple[str, int]],
) -> None:
    details = {
        "base": meta.base,
        "folder": meta.folder,
        "versions": meta.versions,
        "environment": meta.environment,
        "places": [place.model_dump(mode="json") for place in meta.places],
        "repeats_within": meta.repeats_within,
        "repeats_decide": meta.repeats_decide,
        "repeats_min": meta.repeats_min,
        "repeats_time": meta.repeats_time,
        "blocks": None if meta.blocks is None else meta.blocks.model_dump(mode="json"),
        "needs": [need.model_dump(mode="json") for need in meta.needs],
    }
    if meta.imports:
        details["imports"] = [one.model_dump(mode="json") for one in meta.imports]
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(
        "INSERT INTO run VALUES (?, ?, ?, ?, 'running', ?, NULL, ?, ?, ?, ?, ?, ?)",
        (
            *(run_id, meta.study, meta.question, meta.description, meta.created_at, meta.seed, meta.order),
            *(meta.repeats, meta.command, len(order), json.dumps(details)),
        ),
    )
    connection.executemany(
        "INSERT INTO cases (id, label, document) VALUES (?, ?, ?)",
        [(case.id, case.label, case.model_dump_json()) for case in cases],
    )
    connection.executemany(
        "INSERT INTO excluded (document) VALUES (?)", [(item.model_dump_json(),) for item in excluded]
    )
    connection.executemany("INSERT INTO plan (case_id, repeat) VALUES (?, ?)", order)
    connection.execute("COMMIT")


def _sample_columns(sample: Sample) -> tuple[object, ...]:
    document = sample.model_dump_json(exclude_defaults=True)
    # Columns are for what is read of many runs at once; whether a rate is missing is in the document.
    return (sample.phase, sample.operation, sample.status, sample.throughput, sample.get_value("iops", 0.0), document)


def _free_name(root: Path, run_id: str) -> Path:
    folder = root / run_id
    number = 1
    while folder.exists():
        number += 1
        folder = root / f"{run_id}-{number}"
    return folder


def _remove_unfinished(root: Path) -> None:
    """Remove the folders of runs whose creation was cut short: their names have the process id of the creator."""
    for folder in root.glob(f"{UNFINISHED_PREFIX}*"):
        match = _UNFINISHED.fullmatch(folder.name)
        if match is not None and not Path("/proc", match["pid"]).exists() and not is_locked(folder / RUN_LOCK):
            remove_folder(folder)

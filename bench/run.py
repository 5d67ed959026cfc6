#!/usr/bin/env python3
"""Assay beside its peers: runs each comparison alternating, prints medians, spreads and ratios, writes the page."""

from __future__ import annotations

import argparse
import contextlib
import random
import sys
import time
from pathlib import Path

import machine
import page
import tables
from measure import run_contender
from model import AbsentError, BenchError, Row, Setting
from program import start
from results import Results, RowResult, load
from rows import OBJECTS, ROWS
from services import serving
from setting import GIB, directories, prepared, read_into_cache

ROUNDS, SECONDS = 10, 0.5
QUICK_ROUNDS, QUICK_SECONDS = 2, 0.2
OBJECT_ROUNDS, OBJECT_SECONDS = 5, 2.0
QUICK_OBJECT_SECONDS = 1.0


def options() -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--objects", action="store_true", help="objects of S3 services beside warp, and nothing else; no page"
    )
    rounds = f"rounds of each row (default: {ROUNDS}, of objects {OBJECT_ROUNDS})"
    parser.add_argument("--rounds", type=int, metavar="N", help=rounds)
    parser.add_argument("--only", default="", metavar="WORD", help="only rows whose name or title has WORD")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_ROUNDS} short rounds, to try")
    parser.add_argument("--disk", type=Path, default=Path("/var/tmp"), metavar="DIR", help="on the disk to measure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep all figures in FILE")
    parser.add_argument(
        "--from", type=Path, metavar="FILE", dest="source", help="measure nothing, show what FILE keeps"
    )
    parser.add_argument("--page", action="store_true", help=f"write {page.PAGE.relative_to(page.ROOT)}")
    parser.add_argument("--list", action="store_true", help="name the rows and end")
    chosen = parser.parse_args()
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds must be at least 1")
    if chosen.objects and chosen.page:
        parser.error("--page is not of objects")
    return chosen


def expected_seconds(row: Row, setting: Setting) -> float:
    """About how long one round of a row takes."""
    return sum((setting.seconds if c.seconds is None else c.seconds) + c.overhead for c in row.contenders)


def trial(row: Row, setting: Setting) -> RowResult:
    """Runs everyone once, unrecorded: who is absent, how fast the first one is, and that caches are warm."""
    result = RowResult()
    for contender in row.contenders:
        result.rounds[contender.key] = []
        try:
            sample, result.commands[contender.key] = run_contender(contender, setting)
            if contender is row.contenders[0]:
                setting.rate = sample.get("ops_per_s", 0.0)
        except AbsentError as error:
            result.absent[contender.key] = str(error)
        except BenchError as error:
            result.absent[contender.key] = result.failures[contender.key] = str(error)
    return result


def run_row(row: Row, setting: Setting, rounds: int) -> RowResult:
    """All rounds of a row, beside the service that it asks for."""
    with serving(row.service, setting):
        return run_rounds(row, setting, rounds)


def run_rounds(row: Row, setting: Setting, rounds: int) -> RowResult:
    """Every contender once in every round, in an order that changes."""
    warm(row, setting)
    result = trial(row, setting)
    for number in range(rounds):
        warm(row, setting)
        order = [c for c in row.contenders if c.key not in result.absent]
        random.Random(f"{row.key} {number}").shuffle(order)
        for contender in order:
            try:
                sample, _ = run_contender(contender, setting)
                result.rounds[contender.key].append(sample)
            except BenchError as error:
                result.rounds[contender.key].append(None)
                result.failures[contender.key] = str(error)
    return result


def warm(row: Row, setting: Setting) -> None:
    """Brings the row's files into the page cache."""
    for name in row.cached:
        read_into_cache(setting.file if name == "file" else setting.memory / "data" / "f0")


def show(row: Row, result: RowResult) -> None:
    """One row on the terminal."""
    print(f"\n{row.title} [{row.key}]")
    print(tables.plain(tables.of_row(row, result)))
    goals = tables.of_goals([(row, result)])
    print(*(f"  {line[3].strip('*')}: {line[1]}{': ' * bool(line[2])}{line[2]}" for line in goals[1:]), sep="\n")
    for key, why in result.failures.items():
        print(f"  failed: {key}: {why}")
    sys.stdout.flush()


def place(chosen: argparse.Namespace) -> contextlib.AbstractContextManager[Setting]:
    """Where the rows run: objects need no files."""
    if chosen.objects:
        return directories(QUICK_OBJECT_SECONDS if chosen.quick else OBJECT_SECONDS, chosen.disk, 0, 4 * GIB)
    return prepared(QUICK_SECONDS if chosen.quick else SECONDS, chosen.disk)


def measure(rows: list[Row], chosen: argparse.Namespace) -> Results:
    """All rows, shown as they come."""
    rounds = chosen.rounds or (QUICK_ROUNDS if chosen.quick else OBJECT_ROUNDS if chosen.objects else ROUNDS)
    begin = time.monotonic()
    with place(chosen) as setting:
        seconds = setting.seconds
        expected = sum(expected_seconds(row, setting) for row in rows) * (rounds + 1)
        print(f"{len(rows)} rows, {rounds} rounds: about {expected / 60:.0f} minutes", flush=True)
        results = Results(machine.describe(setting), machine.versions(setting), rounds, seconds)
        for number, row in enumerate(rows, 1):
            results.rows[row.key] = run_row(row, setting, rounds)
            results.minutes = (time.monotonic() - begin) / 60
            show(row, results.rows[row.key])
            print(f"  {number} of {len(rows)} rows after {results.minutes:.1f} minutes", flush=True)
            if chosen.json:
                results.save(chosen.json)
    return results


def main() -> int:
    """Exit code 1 if a contender failed, 2 if the bench could not run."""
    chosen = options()
    every = OBJECTS if chosen.objects else ROWS
    rows = [row for row in every if chosen.only in row.key or chosen.only.lower() in row.title.lower()]
    if chosen.list:
        print(*(f"{row.key:34} {row.title}" for row in rows), sep="\n")
        return 0
    if not rows:
        raise BenchError(f"no row has {chosen.only!r}; --list names them")
    if chosen.page and chosen.only:
        raise BenchError("--page needs every row, so --only does not go with it")
    if chosen.source:
        results = load(chosen.source)
        for row in rows:
            if row.key in results.rows:
                show(row, results.rows[row.key])
    else:
        results = measure(rows, chosen)
    if chosen.page:
        page.write(rows, results)
        print(f"\nwrote {page.PAGE.relative_to(page.ROOT)}")
    failed = [key for key, result in results.rows.items() if result.failures]
    if failed:
        print(f"\nfailed in part: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    start("bench", main)

"""The command: what the user asks for, the series, the terminal, the page."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import machine
import tables
from measure import TIMEOUT_SECONDS
from model import BenchError
from page import ROOT
from results import Results, RowResult, load
from setting import one_file

from agreement import page, show
from agreement.series import run_workload
from agreement.words import sentences
from agreement.workloads import WORKLOADS, Workload, huge_pages

PAIRS, SECONDS = 10, 3.0
QUICK_PAIRS, QUICK_SECONDS = 1, 0.5
START_UP_SECONDS = 0.4


def options(words: list[str] | None = None) -> argparse.Namespace:
    """What the user asks for."""
    parser = argparse.ArgumentParser(description="Assay and fio on the same work, in pairs.")
    parser.add_argument(
        "--pairs",
        type=int,
        metavar="N",
        help=f"rounds of each workload (default: {PAIRS})",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        metavar="S",
        help=f"length of a run (default: {SECONDS:g})",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="WORD",
        help="only workloads whose name or title has WORD",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK_PAIRS} pair of {QUICK_SECONDS:g} s, to try",
    )
    parser.add_argument(
        "--disk",
        type=Path,
        default=Path("/var/tmp"),
        metavar="DIR",
        help="on the disk to use",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep all figures in FILE")
    parser.add_argument(
        "--from",
        type=Path,
        metavar="FILE",
        dest="source",
        help="measure nothing, show what FILE keeps",
    )
    parser.add_argument("--page", action="store_true", help=f"write {page.PAGE.relative_to(ROOT)}")
    parser.add_argument("--list", action="store_true", help="name the workloads and end")
    chosen = parser.parse_args(words)
    chosen.pairs = chosen.pairs if chosen.pairs is not None else QUICK_PAIRS if chosen.quick else PAIRS
    chosen.seconds = chosen.seconds if chosen.seconds is not None else QUICK_SECONDS if chosen.quick else SECONDS
    if chosen.pairs < 1:
        parser.error("--pairs must be at least 1")
    if not 0.05 <= chosen.seconds <= TIMEOUT_SECONDS / 2:
        parser.error(f"--seconds must be 0.05 to {TIMEOUT_SECONDS / 2:g}")
    return chosen


def measure(works: list[Workload], chosen: argparse.Namespace) -> Results:
    """All workloads, shown as they come."""
    begin = time.monotonic()
    runs = sum((4 + len(work.variants)) * chosen.pairs + 2 * (2 + len(work.variants)) for work in works)
    minutes = runs * (chosen.seconds + START_UP_SECONDS) / 60
    print(
        f"{len(works)} workloads, {chosen.pairs} rounds: about {minutes:.0f} minutes",
        flush=True,
    )
    with huge_pages(), one_file(chosen.seconds, chosen.disk) as setting:
        versions = {name: version for name, version in machine.versions(setting).items() if name in page.PROGRAMS}
        results = Results(machine.describe(setting), versions, chosen.pairs, chosen.seconds)
        for work in works:
            results.rows[work.key] = run_workload(work, setting, chosen.pairs)
            results.minutes = (time.monotonic() - begin) / 60
            print_workload(work, results.rows[work.key], results.rows.get(work.twin))
            if chosen.json:
                results.save(chosen.json)
    return results


def print_workload(work: Workload, result: RowResult, twin: RowResult | None) -> None:
    """One workload on the terminal."""
    print(f"\n{work.title} [{work.key}]")
    print(tables.plain(show.of_workload(result)))
    print(*(f"  {sentence}" for sentence in sentences(work, result, twin)), sep="\n")
    for key, why in result.failures.items():
        print(f"  failed: {key}: {why}")
    sys.stdout.flush()


def main(words: list[str] | None = None) -> int:
    """Exit code 1 if a run has failed; that the tools differ is a result, not a failure."""
    chosen = options(words)
    works = [work for work in WORKLOADS if chosen.only in work.key or chosen.only.lower() in work.title.lower()]
    if chosen.list:
        print(*(f"{work.key:18} {work.title}" for work in works), sep="\n")
        return 0
    if not works:
        raise BenchError(f"no workload has {chosen.only!r}; --list names them")
    if chosen.page and chosen.only:
        raise BenchError("--page needs every workload, so --only does not go with it")
    if chosen.source:
        results = load(chosen.source)
        works = [work for work in works if work.key in results.rows]
        if not works:
            raise BenchError(f"{chosen.source} has no workload of these")
        for work in works:
            print_workload(work, results.rows[work.key], results.rows.get(work.twin))
    else:
        if chosen.page:
            page.check(chosen.pairs)
        results = measure(works, chosen)
    there = [(work, results.rows[work.key]) for work in works]
    print(f"\n{show.tally(there)}")
    if chosen.page:
        page.write(results)
        print(f"wrote {page.PAGE.relative_to(ROOT)}")
    return 1 if any(result.failures for _, result in there) else 0

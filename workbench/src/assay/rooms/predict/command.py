"""`assay predict`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import AssayError
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from assay.model.money.priced_designs import FrozenPrices
    from assay.model.result.result import RunAnalysis
    from assay.rooms.predict.work.questions import LimitOption
    from assay.rooms.predict.work.series import Series


def command(
    run: str = typer.Argument(
        ...,
        metavar="RUN",
        autocompletion=matching_runs,
        help="Id of a run, a unique beginning of it, `last`, the name of a study, a path, or a file of another tool.",
    ),
    hosts: str | None = typer.Option(None, "--hosts", metavar="N[,N...]", help="The total of so many hosts."),
    rate: str | None = typer.Option(
        None, "--rate", metavar="RATE", help="How many hosts it takes to reach this total: 2GB/s, 20Gb/s, 5000/s."
    ),
    capacity: str | None = typer.Option(
        None, "--capacity", metavar="SIZE", help="The rate with so much data: 10TB, or a number of files or objects."
    ),
    limit: list[str] = typer.Option(
        [],
        "--limit",
        metavar="[TARGET=]RATE",
        help="What is known to limit the total and is not in the run, such as the servers' link: 20Gb/s. Repeatable.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    out: Path = RUNS,
) -> None:
    """Predict what a run did not measure: more hosts, the hosts for a rate, more data; or say that it cannot be said.

    A run must have measured at least 3 numbers of hosts, or sizes of data. Each prediction has a 95 % interval, which
    covers how much repeats vary and which of the curves that fit is right. It is an answer if the interval is at most
    25 % wide; otherwise the answer is `no`, with the reason and what to measure. Limits count if they are known: links
    that the run measured, rates that its study states, its designs' limits, and --limit.

    Example: `assay predict last --hosts 16,24`, `assay predict last --rate 2GB/s`,
    `assay predict last --capacity 10TB`, `assay predict beegfs --hosts 16 --limit 20Gb/s`
    """
    from assay.rooms.predict.shown.prediction_json import prediction_json
    from assay.rooms.predict.shown.words import left_out_limits, prediction_blocks, size_blocks
    from assay.rooms.predict.work.predictions import predict_series
    from assay.rooms.predict.work.questions import parse_capacity, parse_hosts, parse_limits, parse_total
    from assay.terminal.output import note, print_blocks, print_json

    counts = parse_hosts(hosts) if hosts is not None else []
    wanted = parse_total("--rate", rate) if rate is not None else None
    data = parse_capacity(capacity) if capacity is not None else None
    if hosts is None and rate is None and data is None:
        raise AssayError("it is not known what to predict", "add --hosts 16,24, --rate 2GB/s or --capacity 10TB")
    found, prices = _load(run, out)
    stated = parse_limits(limit, {case.target for case in found.cases})
    totals = predict_series(_host_series(found, prices, stated, wanted), counts, wanted) if counts or wanted else []
    sizes = predict_series(_size_series(found, prices, stated, data[1]), [data[0]]) if data is not None else []
    _refuse_unused(stated, [one.series for one in (*totals, *sizes)])
    for words in left_out_limits(stated, [one.series for one in (*totals, *sizes)]):
        note(words)
    if as_json:
        print_json(prediction_json(found.run.id, totals, sizes))
        return
    print_blocks(*prediction_blocks(totals), *(size_blocks(sizes) if sizes else ()))


def _refuse_unused(stated: "Sequence[LimitOption]", series: "Sequence[Series]") -> None:
    """Raise an error if a limit is in a unit that no result has."""
    for one in stated:
        if not any(one.is_counted == each.is_counted and one.target in (None, each.target) for each in series):
            unit, example = ("operations", "20Gb/s") if one.is_counted else ("bytes", "5000/s")
            raise AssayError(f"--limit: it is in {unit} per second, and no result is", f"write --limit {example}")


def _load(run: str, out: Path) -> "tuple[RunAnalysis, FrozenPrices | None]":
    """Return a run, and its prices with the limits of its designs."""
    from assay.run.analysis import analyse_store
    from assay.run.find_run import find_shown_run
    from assay.store import RunStore
    from assay.store.prices import stored_prices

    with RunStore.open(find_shown_run(run, out)) as store:
        return analyse_store(store, quick=True), stored_prices(store)


def _host_series(
    found: "RunAnalysis",
    prices: "FrozenPrices | None",
    stated: "Sequence[LimitOption]",
    wanted: tuple[float, bool] | None,
) -> "list[Series]":
    """Return the totals of a run by number of hosts.

    Raises:
        AssayError: It has none, or none in the unit of the rate.
    """
    from assay.rooms.predict.work.series import host_series

    series = host_series(found, prices, stated)
    if not series:
        hint = "measure with `hosts: [1, 2, 4, 8]`, or say in a roles file which column is the number of hosts"
        raise AssayError(f"run {found.run.id} has no results with a known number of hosts", hint)
    if wanted is not None and all(one.is_counted != wanted[1] for one in series):
        unit, example = ("bytes per second", "2GB/s") if wanted[1] else ("operations per second", "5000/s")
        raise AssayError(f"--rate: all results of run {found.run.id} are in {unit}", f"write --rate {example}")
    return series


def _size_series(
    found: "RunAnalysis", prices: "FrozenPrices | None", stated: "Sequence[LimitOption]", counted: bool
) -> "list[Series]":
    """Return the rates of a run by size of data, of files and objects or of bytes.

    Raises:
        AssayError: The run has no results whose size is known in that unit.
    """
    from assay.rooms.predict.work.series import size_series

    series = [one for one in size_series(found, prices, stated) if counted == (one.unit != "bytes")]
    if not series:
        what = "number of files or objects" if counted else "number of bytes"
        hint = "write 10TB for bytes, a plain number for files or objects"
        raise AssayError(f"--capacity: run {found.run.id} has no results with a known {what}", hint)
    return series

"""`assay show`."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import EXIT_USAGE, AssayError, warning
from assay.model.room import hook
from assay.model.units import about_count, about_latency, about_rate
from assay.run.brief_results import first_results, stored_or_new_page, stored_or_new_results
from assay.store.entries import BATCH
from assay.store.safe_files import plain_file_status
from assay.terminal.output import ceiling_text, note, print_blocks, print_json, print_line, print_table
from assay.terminal.settings import RUNS, matching_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from assay.model.result.brief_result import BriefResult
    from assay.model.result.ceiling import Ceiling
    from assay.model.result.result import ResultRow
    from assay.model.result.run import RunInfo
    from assay.model.result.sample import JobRecord, Sample
    from assay.store import RunStore

FIRST_ROWS = 40
MAX_VALUE_CHARS, MAX_SHOWN_CHARS = 2000, 40
"""A longer text of a job, such as the program of a replication, is shown by its beginning."""
MAX_FILES = 5
"""Most files of other tools that are named."""
PERCENTILES = ("p50", "p99", "p99.9", "max")
_TOO_FEW = "too few"
"""Printed where too few operations ended for a percentile."""


def command(
    run: str = typer.Argument(
        ...,
        metavar="RUN",
        autocompletion=matching_runs,
        help="Id of the run, a unique beginning of it, `last`, the name of a study, a path, or a file of another tool.",
    ),
    case: str = typer.Argument("", metavar="[CASE]", help="Id of a case, such as c0001."),
    out: Path = RUNS,
    everything: bool = typer.Option(False, "--all", help=f"All results, not only the first {FIRST_ROWS}."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON; without CASE all results."),
    tables: bool = typer.Option(
        False, "--tables", help="The greatest rate of each target, and means over one size for each value of another."
    ),
) -> None:
    """Show a run's results and verdicts, or all details of one case.

    Example: `assay show last`, `assay show last c0003 --json`, `assay show last --tables`
    """
    from assay.run.find_run import find_shown_run
    from assay.store import RunStore

    folder = find_shown_run(run, out)
    with RunStore.open(folder) as store:
        if tables and (case or as_json):
            raise AssayError("--tables is of a whole run, as text", "leave out CASE and --json", EXIT_USAGE)
        if tables:
            _show_tables(store)
        elif case:
            _show_case(store, case, as_json)
        else:
            _show_run(store, None if everything else FIRST_ROWS, as_json)


def _show_tables(store: "RunStore") -> None:
    """Print the tables over all targets that the report has in its evidence.

    Raises:
        AssayError: The run has neither three targets nor a workload over two sizes.
    """
    from assay.report.sections import greatest, means
    from assay.report.view import RunView
    from assay.run.analysis import load_analysis

    view = RunView(load_analysis(str(store.folder), store.folder.parent))
    best = greatest.table(view)
    blocks = [*([best] if best else []), *means.plain_blocks(view)]
    if not blocks:
        message = "no tables: they need three targets, or a workload that sweeps two sizes and nothing else"
        raise AssayError(message, "assay show RUN has all results")
    print_blocks(*blocks)


def _show_run(store: "RunStore", limit: int | None, as_json: bool) -> None:
    from assay.report.document import Facts

    info = store.info()
    if as_json:
        value = info.model_dump(mode="json", exclude={"study_text"})
        value["prices"] = _prices_json(store)
        value["outcomes"] = store.outcome_counts()
        keys = ("workload", "rule", "reason", "cases")
        value["left_out"] = [dict(zip(keys, item, strict=True)) for item in store.excluded_counts()]
        value["results"] = [result_json(result) for result in stored_or_new_results(store)]
        print_json(value)
        return
    _print_origin(info)
    print_summary(store)
    print_blocks(Facts(tuple(_facts(store, info))))
    print_commands(store)
    print_results(store, limit)
    _print_io500(store)
    counts = store.verdict_counts()
    if counts.total:
        print_blocks(Facts((("verdicts", "; ".join(filter(None, (counts.words, counts.also_words)))),)))


def _print_origin(info: "RunInfo") -> None:
    """Print where the results come from, for a run that another tool measured."""
    if info.imports:
        print_line(f"{info.import_words}: Assay measured nothing of it")
        print_line()


def print_commands(store: "RunStore") -> None:
    """Print what commands and replays took, if the run has any."""
    from assay.model.study.names import PROGRAMS

    if all(result.operation not in PROGRAMS for result in stored_or_new_results(store)):
        return
    from assay.report.sections.commands import command_blocks
    from assay.report.sections.replays import replay_blocks
    from assay.report.view import RunView
    from assay.run.analysis import load_analysis

    view = RunView(load_analysis(str(store.folder), store.folder.parent))
    if blocks := (*command_blocks(view), *replay_blocks(view)):
        print_blocks(*blocks)
        print_line()


def _print_io500(store: "RunStore") -> None:
    """Print IO500's summary, if the run has its workloads."""
    from assay.model.study.io500 import is_io500

    if not is_io500(store.workloads()):
        return
    from assay.analyse.io500_score import io500_scores
    from assay.report.formats.io500 import score_lines
    from assay.run.analysis import load_analysis

    lines = score_lines(io500_scores(load_analysis(str(store.folder), store.folder.parent).rows))
    if lines:
        for line in lines:
            print_line(line)
        print_line()


def print_summary(store: "RunStore") -> None:
    """Print the summary: question, answer, cost, caveats and next steps; nothing for a run without results."""
    from assay.report.brief import page_blocks
    from assay.report.document import Bullets, Heading

    page = stored_or_new_page(store)
    info = store.info()
    if page is not None:
        print_blocks(Heading(page.question, ""), *page_blocks(page))
        print_line()
    elif info.answers:
        print_blocks(Heading(info.question, ""), Bullets(info.answers))
        print_line()


def _facts(store: "RunStore", info: "RunInfo") -> "Iterator[tuple[str, str]]":
    """Yield the facts about a run: id, status, targets, ceilings, repeats, stages, failures, losses, left-out cases."""
    from assay.model.study.repeats import until_words
    from assay.report.growth.stages import stage_lines

    yield "run", f"{info.id} ({info.status}, {info.finished} of {info.planned} repeats done)"
    yield from _imported_files(info)
    if plain_file_status(store.folder, BATCH) and (words := hook("job_text")(store.folder)):
        yield "job", words
    for place in info.places:
        yield "target", f"{place.target}: {', '.join(filter(None, (place.path, place.storage_chain)))}"
    for line in _ceiling_lines(info.ceilings):
        yield "ceilings", line
    if info.is_adaptive and info.blocks is None:
        known = store.settled_as_known()
        unknown = sum(not each for each in known.values())
        stopped = f"{len(known)} of {store.case_count()} cases got fewer"
        stopped += f", {unknown} of them undecided because time was up or repeats vary too much" if unknown else ""
        until = until_words(info.repeats_within, info.repeats_decide)
        yield "repeats", f"{info.repeats_min} to {info.repeats} of each case, {until}: {stopped}"
    if added := [one for one in info.added_repeats if one.done]:
        cases = len({case for one in added for case in one.repeats})
        yield "repeats", f"`--settle` added some to {cases} {'case' if cases == 1 else 'cases'}"
    for line in stage_lines(info):
        yield "stages", line
    if info.blocks is not None:
        sides = f"{info.blocks.base} and {info.blocks.other} in turns"
        yield "sides", f"{sides}; `assay compare {info.id}` compares them"
    for status, count in store.outcome_counts().items():
        if status != "ok":
            yield "repeats", f"{count} {status}"
    for loss in info.host_losses:
        yield "lost", loss.sentence
    if info.machine is not None:
        yield "machine", info.machine.text
    for workload, rule, reason, count in store.excluded_counts():
        # A table may name no workload.
        named = f" of {workload}" if workload else ""
        what, by = ("result", "") if info.imports else ("case", f" ({rule})")
        yield "left out", f"{count} {what}{'' if count == 1 else 's'}{named}{by}: {reason}"


def _imported_files(info: "RunInfo") -> "Iterator[tuple[str, str]]":
    """Yield the first files of other tools that a run was imported from."""
    for one in info.imports[:MAX_FILES]:
        measured = ", ".join(filter(None, (one.host, one.date, one.command))) or "no date"
        yield "file", f"{one.file}:{one.line}: {one.form} of {one.program}, {measured}; SHA-256 {one.sha256}"
    if (more := len(info.imports) - MAX_FILES) > 0:
        yield "file", f"{more} more: `assay report {info.id}` has all"


def _prices_json(store: "RunStore") -> "dict[str, Any] | None":
    """Return the prices stored with the run; None without prices, or with a warning if they are damaged."""
    from assay.store.prices import stored_prices

    try:
        prices = stored_prices(store)
    except AssayError as error:
        note(warning(f"{error.message}"))
        return None
    return None if prices is None else prices.model_dump(mode="json")


def _ceiling_lines(ceilings: "Sequence[Ceiling]") -> "list[str]":
    """Return a line of ceilings for the host and each target; without those that hold for one kind of job only."""
    from assay.model.result.ceiling import HOST_WIDE

    found: dict[str, list[str]] = {}
    for item in sorted(ceilings, key=lambda item: item.target != HOST_WIDE):
        if item.value and not item.kind:
            found.setdefault(item.target, []).append(f"{item.name} {ceiling_text(item.value, item.unit)}")
    return [f"{'host' if target == HOST_WIDE else target}: {', '.join(words)}" for target, words in found.items()]


def print_results(store: "RunStore", limit: int | None) -> None:
    """Print the table of results.

    Args:
        store: The run.
        limit: Rows at most; None for all.
    """
    shown, count = first_results(store, limit)
    if not shown:
        print_line("no results yet; a large study has them only at the end of its run")
        return
    from assay.model.study.commands import REPLAY
    from assay.report.brief import result_tables
    from assay.report.measure import REPLAYS_NOTE

    print_line()
    print_blocks(*result_tables(shown))
    if any(one.is_partly_checked for one in shown):
        print_line("* ok, but some checks could not run; `assay show RUN CASE` names them")
    if any(one.operation == REPLAY for one in shown):
        print_line(REPLAYS_NOTE)
    again = [name for name in ("rewrite", "reread") if any(one.operation == name for one in shown)]
    if again:
        print_line(f"{' and '.join(again)}: the same file once more from beginning to end")
    print_line()
    if count > len(shown):
        print_line(f"{count - len(shown)} more results: assay show {_typed(store)} --all")


def _typed(store: "RunStore") -> str:
    """Return how the run is named on a command line: its folder, or what other tools wrote, if it does not last."""
    from assay.run.find_run import is_temporary

    return shlex.quote(store.info().id if is_temporary(store.folder) else str(store.folder))


def result_json(result: "BriefResult") -> dict[str, Any]:
    """Return a result for programs; the keys name the units."""
    value = asdict(result)
    ends = {"low": value.pop("low"), "high": value.pop("high")}
    value["is_partly_checked"] = result.is_partly_checked
    value["further_verdicts"] = result.further_verdicts.split(", ") if result.further_verdicts else []
    value["ceiling"] = result.ceiling or None
    value["share_of_ceiling"] = value.pop("share")
    value["bytes_per_s"] = value.pop("throughput")
    value["operations_per_s"] = value.pop("iops")
    of = {"bytes_per_s": not result.is_counted, "operations_per_s": result.is_counted}
    return value | {f"{rate}_{end}": ends[end] if mine else None for rate, mine in of.items() for end in ends}


def _case_id(store: "RunStore", written: str) -> str:
    """Return the id of a case from what the user typed: `c1` and `1` are c0001."""
    number = written.removeprefix("c")
    for name in (written, f"c{int(number):04}" if number.isascii() and number.isdigit() and len(number) < 9 else ""):
        if name and store.cases(name):
            return name
    first, last = (cases[0].id, cases[-1].id) if (cases := store.cases()) else ("", "")
    there = f"; it has {first} to {last}" if cases else ""
    raise AssayError(f"run {store.folder.name} has no case {written!r}{there}", "`assay show RUN` names its cases")


def _show_case(store: "RunStore", written: str, as_json: bool) -> None:
    from assay.report.sections.commands_tasks import case_tasks
    from assay.report.sections.hosts import host_tables
    from assay.report.view import RunView
    from assay.run.analysis import analyse_store

    case_id = _case_id(store, written)
    analysis = analyse_store(store, case_id)
    attempts = store.attempts(case_id)
    if as_json:
        print_json(
            {
                "case": analysis.cases[0],
                "rows": [_row_json(row) for row in analysis.rows],
                "jobs": analysis.jobs,
                "attempts": [asdict(attempt) for attempt in attempts],
            }
        )
        return
    info = store.info()
    _print_origin(info)
    print_line(f"case     {case_id}: {analysis.cases[0].label}")
    if reason := store.settled().get(case_id):
        print_line(f"repeats  {reason}")
    for row in analysis.rows:
        _print_findings(row)
    samples = [sample for row in analysis.rows for sample in row.samples]
    _print_samples(samples)
    _print_kinds(samples)
    _print_services(samples)
    _print_percentiles(analysis.rows)
    for row in analysis.rows:
        if tasks := case_tasks(RunView(analysis), row):
            print_blocks(*tasks)
            print_line()
    if tables := host_tables(analysis.rows):
        print_line()
        print_blocks(*tables)
        print_line()
    _print_start_delays(analysis.rows)
    _print_methods(samples)
    for attempt in attempts:
        if attempt.status != "ok":
            reason = f": {attempt.reason}" if attempt.reason else ""
            print_line(f"repeat {attempt.repeat} {attempt.status}{reason}")
    if info.imports:
        print_blocks(*hook("imported_blocks")(store.folder, case_id))
        return
    _print_job(analysis.jobs)


def _row_json(row: "ResultRow") -> dict[str, Any]:
    value: dict[str, Any] = row.model_dump(mode="json", exclude={"case", "curve"})
    for sample, dumped in zip(row.samples, value["samples"], strict=True):
        dumped |= {"latency": sample.reliable_latency, "start_delay": sample.reliable_start_delay}
        for counts, kind in zip(sample.kinds, dumped["kinds"], strict=True):
            kind |= {"latency": counts.reliable_latency, "first_byte": counts.reliable_first_byte}
    for item, dumped in zip(row.percentiles, value["percentiles"], strict=True):
        dumped |= {"required_ops": item.min_ops, "quality": item.quality}
    value["is_partly_checked"] = row.is_partly_checked
    value["binding"] = row.limiting_ceiling.name if row.limiting_ceiling else None
    return value


def _print_findings(row: "ResultRow") -> None:
    from assay.model.result.verdict import MEANINGS, Verdict
    from assay.report import unevaluated
    from assay.report.document import Share

    sentence = "" if row.verdict == Verdict.OK else f". {MEANINGS[row.verdict].sentence}"
    print_line(f"{row.operation}: {row.verdict_words}{sentence}")
    for finding in row.findings:
        rule = "" if finding.rule == finding.verdict else f" ({finding.rule})"
        print_line(f"  {finding.verdict}{rule}: {finding.text}")
        print_line(f"    remedy: {finding.remedy}")
    for finding in row.machine:
        print_line(f"  caused by the machine, not the storage ({finding.rule}): {finding.text}")
    if row.ceilings:
        print_line(f"  ceilings: {', '.join(f'{item.name} {Share(item.share).words}' for item in row.ceilings)}")
    for lack in unevaluated.group_by_reason([row]):
        words = "not evaluated" if lack.applies else "not applicable"
        print_line(f"  {words}: {', '.join(lack.rules)}: {lack.reason}")
    for sample in row.samples:
        for tally in sample.errors:
            print_line(f"  repeat {sample.repeat}: {tally.words}")


def _print_samples(samples: "list[Sample]") -> None:
    from assay.model.partial import MISSING_TEXT
    from assay.model.result.percentile import MIN_OPS
    from assay.model.study.names import PROGRAMS, TIMED

    def percentile(name: str) -> "Callable[[Sample], str]":
        least = MIN_OPS.get(name, 1)
        return lambda sample: _latency(
            sample.reliable_latency.get(name),
            _TOO_FEW if sample.latency and sample.get_value("ops", least) < least else "",
        )

    per_second = "ops/s" if any(sample.is_counted for sample in samples) else "IOPS"
    columns: dict[str, Callable[[Sample], str]] = {
        "repeat": lambda sample: str(sample.repeat),
        "operation": lambda sample: sample.operation,
        "status": lambda sample: sample.status,
        "throughput": lambda sample: about_rate(sample.throughput if sample.moves_data else None, counted=False),
        "took": lambda sample: about_latency(sample.elapsed_ns) if sample.operation in PROGRAMS else "",
        per_second: lambda sample: about_count(sample.iops) if sample.has("iops") else MISSING_TEXT,
        "mean": lambda sample: _latency(sample.latency.get("mean"), "") if sample.operation in TIMED else "",
        **{name: percentile(name) for name in PERCENTILES},
        "method": lambda sample: sample.method,
        "cache": lambda sample: str(sample.get_value("cache_done", MISSING_TEXT)),
    }
    for name in _unfilled(samples, columns, per_second):
        columns.pop(name, None)
    rows = [[cell(sample) for cell in columns.values()] for sample in samples]
    print_table(
        list(columns),
        rows,
        right=[name for name in ("repeat", "throughput", "took", per_second, "mean", *PERCENTILES) if name in columns],
        least=[name for name in ("method", "cache", *PERCENTILES[::-1]) if name in columns],
    )


def _unfilled(
    samples: "list[Sample]", columns: "Mapping[str, Callable[[Sample], str]]", per_second: str
) -> "Iterator[str]":
    """Yield the names of columns that no sample fills, or that do not apply to such samples."""
    if not any(sample.moves_data for sample in samples):
        yield "throughput"
    yield from (name for name in ("took", "mean", "method") if not any(map(columns[name], samples)))
    if not any(sample.get_value("cache_done", "") for sample in samples):
        yield "cache"
    is_transfer = all(sample.operation == "transfer" for sample in samples)
    if is_transfer:
        yield per_second
    if is_transfer or not any(sample.latency for sample in samples):
        yield from PERCENTILES


def _print_kinds(samples: "list[Sample]") -> None:
    """Print the rates of each kind, for operations with several kinds, such as reads and writes, or first bytes."""
    from assay.report.kinds_table import performed_kinds

    first = ("p50", "p99") if any(counts.first_byte for sample in samples for counts in sample.kinds) else ()
    cells = [
        [
            str(sample.repeat),
            sample.operation,
            rate.counts.kind,
            about_rate(rate.throughput, counted=False),
            about_count(rate.iops),
            *(_latency(rate.counts.reliable_latency.get(name), _TOO_FEW) for name in PERCENTILES),
            *(
                _latency(rate.counts.reliable_first_byte.get(name), _TOO_FEW * bool(rate.counts.first_byte))
                for name in first
            ),
        ]
        for sample in samples
        for rate in performed_kinds(sample)
    ]
    if cells:
        heads = ["repeat", "operation", "of which", "throughput", "ops/s", *PERCENTILES]
        heads += [f"first byte {name}" for name in first]
        print_table(heads, cells, right=("repeat", *heads[3:]))


def _print_services(samples: "list[Sample]") -> None:
    """Print the counts that services reported: objects, capacity units, throttled and unprocessed requests."""
    from assay.analyse.services import sample_report

    def words(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    cells = [
        [
            str(sample.repeat),
            sample.operation,
            "" if counts.objects_per_s is None else about_count(counts.objects_per_s),
            words(counts.read_units, ",.3g"),
            words(counts.write_units, ",.3g"),
            f"{counts.throttled:,}",
            f"{counts.unprocessed:,}",
        ]
        for sample in samples
        if (counts := sample_report(sample)) is not None
    ]
    if cells:
        heads = ["repeat", "operation", "objects/s", "read units", "write units", "throttled", "left undone"]
        print_table(heads, cells, right=("repeat", *heads[2:]))
        print_line("units: capacity units of each request, as reported by the service")
    for sample in samples:
        if sample.service is not None and sample.service.looks:
            looks, stale = sample.service.looks, sample.service.stale_looks
            missed = f"{stale:,} of {looks:,} reads by the other client missed objects that had been written"
            print_line(f"repeat {sample.repeat}, {sample.operation}: {missed}")


def _print_percentiles(rows: "tuple[ResultRow, ...]") -> None:
    """Print percentiles over all repeats, each with its quality; those with too few operations share a line."""
    from assay.model.result.percentile import PercentileQuality
    from assay.report import percentiles

    for row in rows:
        few = [item for item in row.percentiles if item.quality is PercentileQuality.TOO_FEW]
        for item in row.percentiles:
            if item not in few:
                print_line(f"{item.name} of {row.operation}: {percentiles.percentile_words(item)}")
        if few:
            names = ", ".join(item.name for item in few)
            print_line(f"{names} of {row.operation}: {percentiles.percentile_words(few[0])}")


def _print_start_delays(rows: "tuple[ResultRow, ...]") -> None:
    """Print, for open loops, how long after their intended starts operations were submitted, over all repeats."""
    for row in rows:
        if row.start_delay:
            delays = [(name, _latency(row.start_delay.get(name), _TOO_FEW)) for name in PERCENTILES]
            print_line(f"start delay of {row.operation}: {', '.join(f'{name} {words}' for name, words in delays)}")


def _print_methods(samples: "list[Sample]") -> None:
    """Print the method by which operations reached the kernel or the servers, and the reason for it."""
    found: dict[tuple[str, str], list[str]] = {}
    for sample in samples:
        if sample.method_reason:
            found.setdefault((sample.method, sample.method_reason), []).append(sample.operation)
    for (method, reason), operations in found.items():
        print_line(f"method of {', '.join(dict.fromkeys(operations))}: {method} ({reason})")


def _latency(nanoseconds: float | None, otherwise: str) -> str:
    from assay.report import numbers

    return otherwise if nanoseconds is None else numbers.latency(nanoseconds)


def _print_job(jobs: "tuple[JobRecord, ...]") -> None:
    import json

    if jobs:
        print_line(f"job of repeat {jobs[0].repeat}, as sent to `assay-engine run`:")
        typer.echo(json.dumps(_without_long_values(jobs[0].job)))


def _without_long_values(value: Any) -> Any:
    """Return a job in which variables of the environment that are programs of their own are named by their length."""
    if isinstance(value, dict):
        return {name: _without_long_values(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_long_values(one) for one in value]
    if isinstance(value, str) and len(value) > MAX_VALUE_CHARS:
        return f"{value[:MAX_SHOWN_CHARS]}... ({len(value):,} characters; --json has all)"
    return value

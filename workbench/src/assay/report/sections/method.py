"""The method in words and parameters, so that a reader can judge and repeat it."""

from collections.abc import Iterable, Iterator

from assay.analyse.machine import variation_text
from assay.model.partial import MISSING_TEXT
from assay.model.result.imported import programs
from assay.model.result.run import RunInfo, TargetPlace
from assay.model.study.axis import AxisValue
from assay.model.study.case import Case
from assay.model.study.commands import RUN
from assay.model.study.kinds import kinds
from assay.model.study.names import MIXABLE, Group
from assay.model.study.parameters import DEFINITIONS, Parameters, default_value
from assay.model.study.repeats import within_words
from assay.report import numbers, percentiles
from assay.report.document import Block, Bullets, Cell, Column, Fold, Heading, Section, Table, Text
from assay.report.view import RunView, WorkloadRows

CACHE_WORDS = {
    "direct": "Cache direct: files are opened with O_DIRECT, so that data bypasses the page cache",
    "drop": "Cache drop: the machine's page cache is dropped before each phase",
    "evict": "Cache evict: the case's own files are taken out of the page cache before each phase",
    "limit": "Cache limit: the engine runs in a memory cgroup, so that the page cache cannot hold the data",
    "remount": "Cache remount: what Assay has mounted is unmounted and mounted again, on all hosts that generate the "
    "load, before each phase that finds files there",
    "keep": "Cache keep: the page cache is left alone on purpose; such numbers show the cache, not the storage",
}
_CACHE_SHORT = {
    "direct": "O_DIRECT",
    "drop": "dropped before each phase",
    "evict": "own files evicted before each phase",
    "limit": "too little memory for it",
    "remount": "mounted again before each phase",
    "keep": "left alone on purpose: shows the cache",
}
_COMMAND_CACHE = {
    "drop": "dropped",
    "remount": "what Assay has mounted is mounted again on all hosts",
    "keep": "left alone, so that these files may be read from memory",
}
_NAMES_CACHE_WORDS = {
    "drop": "Cache drop, metadata operations: the machine's caches of names are dropped before each phase",
    "limit": "Cache limit, metadata operations: the engine runs in a memory cgroup, which bounds the caches of names",
    "remount": "Cache remount, metadata operations: what Assay has mounted is unmounted and mounted again, on all "
    "hosts that generate the load, before each phase that looks names up",
    "keep": "Cache keep, metadata operations: names that are still in memory are found there; the verdict states where "
    "memory alone answered",
}
_SYNC_WORDS = {
    "none": "Flush none: data may still be in memory when the clock stops",
    "fsync": "Flush fsync: at the end of each file, inside the measured time",
    "fdatasync": "Flush fdatasync: at the end of each file, inside the measured time",
    "o_sync": "Flush o_sync: each write returns only when data and metadata are stable",
    "o_dsync": "Flush o_dsync: each write returns only when its data is stable",
}


_FLUSHED = "each thread flushes the file system (syncfs) after changes of names, inside the measured time"
_NAMES_SYNC_WORDS = {
    "none": "Flush none, metadata operations: changes may still be in memory when the clock stops",
    "fsync": f"Flush fsync, metadata operations: {_FLUSHED}",
    "fdatasync": f"Flush fdatasync, metadata operations: {_FLUSHED}",
}
_MAX_VALUES = 16
_REMOTE_WORDS = (
    "the engine itself accesses the servers, so no client cache is involved; what servers answer from their own memory "
    "is not known"
)
_OBJECT_WORDS = (
    "The engine itself puts and gets objects, so no cache of its machine is involved; a put ends when the service has "
    "answered. What the service keeps in its memory is not known. One request is one operation; nothing is sent twice."
)
_EXISTING_WORDS = (
    "The engine itself gets objects that existed before, so no cache of its machine is involved. Nothing "
    "is written or removed. Each thread has objects of its own, drawn from their list before the clock starts; their "
    "sizes are those of the list. What the service keeps in its memory is not known. One request is one operation; "
    "nothing is sent twice."
)
_MAX_CALLS = 100
_OF_HOSTS = ("hosts", "tasks_per_host")
"""Settings that are listed with the load, since they are a part of it."""


def section(view: RunView) -> Section:
    """Return the section: the method in a few lines."""
    return Section("method", "Method", (Bullets(tuple(_principles(view))),))


def folds(view: RunView) -> Iterator[Fold]:
    """Yield parameters of all workloads with their meaning, the system calls used, and points that were left out."""
    across = {place.target for place in view.run.places if _is_remote(place)}
    data = [case for case in view.analysis.cases if case.group == "data" and case.target not in across]
    names = [case for case in view.analysis.cases if case.is_metadata]
    words = [*_used(data, "cache", CACHE_WORDS), *_used(names, "cache", _NAMES_CACHE_WORDS)]
    words += [*_used(data, "sync", _SYNC_WORDS), *_used(names, "sync", _NAMES_SYNC_WORDS)]
    existing = [_is_existing(case) for case in view.analysis.cases if case.group == "objects"]
    words += [_OBJECT_WORDS] * (False in existing) + [_EXISTING_WORDS] * (True in existing)
    words += _remote(view, across)
    kernel = any(case.target not in across for case in view.analysis.cases)
    reached = f"How operations reached the {'kernel' if kernel else 'servers'}"
    blocks: list[Block] = [_parameters(view), Bullets((*words, *(() if view.run.imports else _DETAILS)))]
    if not view.run.imports:
        blocks += [Heading(reached, "method-calls", 4), _calls(view)]
    if view.analysis.excluded:
        blocks += [Heading("Left out", "method-excluded", 4), _excluded(view)]
    yield Fold("Parameters and method in full", tuple(blocks), "method-all")


def _is_remote(place: TargetPlace) -> bool:
    """Return whether the engine itself reaches a target over a network; in old runs only such targets have servers."""
    return bool(place.servers) if place.remote is None else place.remote


def _remote(view: RunView, across: set[str]) -> list[str]:
    """Return sentences on targets that the engine accesses over a network, one kind of target after another."""
    if not across:
        return []
    kind_of = {place.target: place.kind for place in view.run.places}
    words = []
    for word, kind in kinds().items():
        cases = [case for case in view.analysis.cases if case.target in across and kind_of.get(case.target) == word]
        if cases and kind.protocol():
            words.append(f"{kind.protocol()}: {_REMOTE_WORDS}")
            flush_words = {policy: f"Flush {policy}: {text}" for policy, text in kind.flushes().items()}
            words += _used(cases, "sync", flush_words or _SYNC_WORDS)
    return words


def _principles(view: RunView) -> list[Text]:
    run = view.run
    if run.imports:
        return [
            f"Assay measured nothing: it has read what other programs printed ({programs(run.imports)}). What the "
            "output does not say is not known here, and no default stands in for it.",
            "Results of the same work in several outputs are its repeats. Results are medians over repeats with their "
            "95 % confidence interval.",
        ]
    cases = numbers.plural(len(view.analysis.cases), "case")
    cases_of_round = "every case that still needs repeats" if run.is_adaptive else "every case"
    order = (
        f"each round runs {cases_of_round} once, in a new random order, so that a drift of the machine hits all alike"
        if run.order == "random"
        else "cases run one after the other in the order of the study"
    )
    return [
        f"{cases}, {run.repeats_words} each; order {run.order}: {order}. Seed {run.seed}.",
        *_until(run),
        "A repeat is an independent execution. Results are medians over repeats with their 95 % confidence interval.",
        *(
            ["Writes are timed up to and including the flush that the workload asks for."]
            if view.includes_flushes
            else []
        ),
        *_caches(view),
        *_contents(view),
        *_control(view),
    ]


def _caches(view: RunView) -> Iterator[Text]:
    """Yield a sentence on how the page cache was treated."""
    cases = [case for case in view.analysis.cases if case.group == "data"]
    used = [f"{value} ({_CACHE_SHORT[str(value)]})" for value in _values(cases, "cache") if str(value) in _CACHE_SHORT]
    if used:
        yield f"Page cache: {', '.join(used)}."
    commands = [case for case in view.analysis.cases if case.group == "programs"]
    used = [
        f"{value} ({_COMMAND_CACHE[str(value)]})"
        for value in _values(commands, "cache")
        if str(value) in _COMMAND_CACHE
    ]
    if used:
        yield f"Page cache before each repeat of a command, after its files were made: {', '.join(used)}."


_DETAILS = (
    "Throughput is all bytes of a phase divided by the time from the common start to the end of the last thread; the "
    "rate of operations that move none is their number divided by the same time.",
    "Latencies are kept in HDR histograms with three significant digits, merged exactly over threads and hosts. "
    + percentiles.EXPLANATION,
)


def _is_existing(case: Case) -> bool:
    """Return whether a case reads objects that existed before the run."""
    parameters = case.parameters
    return parameters.has("objects") and parameters.has("object_size") and parameters.has_existing_objects


def _contents(view: RunView) -> Iterator[Text]:
    """Yield sentences on the contents of the data."""
    cases = view.analysis.cases
    if any(RUN in case.operations for case in cases):
        yield "What programs read and write is their own affair; checks of it are those of the study."
    existing = [_is_existing(case) for case in cases if RUN not in case.operations]
    if cases and not existing:
        return
    if not all(existing) or not existing:
        yield "Data is unique and incompressible unless a workload says otherwise, and what is read can be checked."
    if any(existing):
        yield "The contents of objects that existed before the run are not known and not checked."


def _control(view: RunView) -> list[Text]:
    """Return the control measurements of a quiet machine; for a busy one they are part of the verdicts section."""
    controls = view.run.controls
    if controls is None or view.analysis.machine is not None:
        return []
    return [f"{variation_text(controls)} No sign that the machine affected the results."]


def _until(run: RunInfo) -> list[Text]:
    """Return the rule that ends repeats, if the study sets no fixed number."""
    if run.blocks is not None:
        looks = ", ".join(str(look) for look in run.blocks.looks)
        return [
            "In a round a case is measured on both sides, one right after the other, in random order. "
            f"Cases are checked for a decision after these rounds only: {looks}; the chance of calling equal sides "
            "different, 5 in 100, is shared among these checks."
        ]
    if run.repeats_decide is not None:
        time_limit = None if run.repeats_time is None else numbers.seconds(run.repeats_time)
        or_after = "" if time_limit is None else f", or after {time_limit}"
        return [
            "A case is repeated until it is decided which target is faster, or that they differ by less than "
            f"{within_words(run.repeats_decide)}{or_after}. This is checked after {run.repeats_min} repeats, then "
            f"each time there are 1.4 times as many, {run.look_count} times at most; p-values allow for it."
        ]
    if run.repeats_within is None:
        return []
    return [
        "A case is repeated until the 95 % interval of each of its rates reaches at most "
        f"{within_words(run.repeats_within)} of the median to either side, checked after {run.repeats_min} repeats "
        "at the earliest."
    ]


def _parameters(view: RunView) -> Table:
    """Return a table with a column per workload and a row per parameter that any of them sets."""
    columns = (Column("Parameter"), *(Column(workload.name) for workload in view.workloads))
    facts = [_facts(workload) for workload in view.workloads]
    names = list(dict.fromkeys(name for fact in facts for name in fact))
    rows = tuple((name, *(fact.get(name, numbers.NONE) for fact in facts)) for name in names)
    groups = {case.group == "programs" for case in view.analysis.cases}
    lanes = ["threads on each host"] if False in groups else []
    lanes += ["of commands, tasks at once on each host"] if True in groups else []
    caption = "Several values: swept, all combinations that the study allows."
    return Table("method-table", columns, rows, f"{caption} Lanes: {'; '.join(lanes)}." if lanes else caption)


def _facts(workload: WorkloadRows) -> dict[str, str]:
    """Return title of a parameter -> its value, or its values if it is swept."""
    cases = list({row.case.id: row.case for row in workload.rows}.values())
    operations = [numbers.operation_title(name).lower() for name in workload.operations]
    found = {"Targets": ", ".join(dict.fromkeys(case.target for case in cases)), "Operations": ", ".join(operations)}
    group = cases[0].group
    on_set = group != "data" or any(case.parameters.is_on_set for case in cases)
    for name in _in_order(workload.swept_axes, group):
        if DEFINITIONS[name].sets_only and not on_set:
            continue
        values = _values(cases, name)
        always_shown = name in workload.swept_axes or DEFINITIONS[name].report_row not in ("limit", "setting")
        usual = None if always_shown else default_value(name, group)
        if values != [usual]:
            found.setdefault(numbers.axis_title(name), _shortened(name, values))
    p = cases[0].parameters
    if set(MIXABLE) & set(workload.operations):
        found["Mix (%)"] = _shortened("mix", _values(cases, "mix"))
    if group != "objects" and (not (p.has("lanes") and p.has("hosts")) or p.all_lanes > 1):
        trees = group == "names" or any(case.parameters.is_on_set for case in cases)
        thing = "Directory trees" if trees else "Files"
        layouts = {"separate": "one per thread", "shared": "one, shared by all threads"}
        found[thing] = layouts.get(p.get_value("layout"), MISSING_TEXT)
    if p.get_value("rate") is not None:
        found["Arrivals"] = f"{p.get_value('arrivals', MISSING_TEXT)}; latency counts from the intended start"
    if group != "objects":
        found["Cache"] = _shortened("cache", _values(cases, "cache"))
        found["Flush"] = _shortened("sync", _values(cases, "sync"))
    if _is_existing(cases[0]):
        found = {f"{key}, at most" if key == numbers.axis_title("objects") else key: one for key, one in found.items()}
    found["Data"] = "existing objects" if _is_existing(cases[0]) else _data(p)
    if group != "names":
        found["Verified on read"] = _shortened("verify", _values(cases, "verify"))
    return found


def _data(p: Parameters) -> str:
    if not (p.has("compressible") and p.has("duplicate")):
        return MISSING_TEXT
    data = f"{p.compressible} % compressible, {p.duplicate} % duplicate"
    return data if p.compressible or p.duplicate else "incompressible"


def _in_order(swept: Iterable[str], group: Group) -> list[str]:
    """Return the parameters that may have a row, in order: load, axes, limits, settings; booleans are last."""
    shown = {name: item.report_row for name, item in DEFINITIONS.items() if item.applies_to(group)}
    load = [name for name in shown if shown[name] == "always" or name in _OF_HOSTS]
    settings = sorted((name for name in shown if shown[name] == "setting"), key=_on_or_off)
    return [*load, *swept, *(name for name in shown if shown[name] == "limit"), *settings]


def _on_or_off(name: str) -> bool:
    return DEFINITIONS[name].kind.column == "boolean"


def _calls(view: RunView) -> Table:
    """Return a table of the I/O methods that were used, with the reasons."""
    groups: dict[tuple[str, str, str, str, str], dict[str, None]] = {}
    for row in view.analysis.rows:
        case = row.case
        for sample in row.samples:
            if sample.method:
                requested = case.parameters.get_value("method", MISSING_TEXT)
                about = (case.workload, case.target, requested, sample.method, sample.method_reason)
                groups.setdefault(about, {})[sample.operation] = None
    rows: list[tuple[Cell, ...]] = []
    for (workload, target, requested, used, reason), named in groups.items():
        operations = ", ".join(numbers.operation_title(name).lower() for name in named)
        rows.append((workload, target, requested, used, operations, reason or numbers.NONE))
    columns = ("Workload", "Target", "Requested", "Used", "Operations", "Why")
    return Table("calls-table", tuple(Column(name) for name in columns), tuple(rows[:_MAX_CALLS]))


def _values(cases: list[Case], name: str) -> list[AxisValue]:
    """Return the different values of a parameter, in plan order."""
    return list(dict.fromkeys(case.parameters.get_value(name, MISSING_TEXT) for case in cases))


def _shortened(name: str, values: list[AxisValue]) -> str:
    words = [numbers.axis_value(name, value) for value in values]
    return ", ".join(words if len(words) <= _MAX_VALUES else [*words[:8], "…", *words[-3:]])


def _used(cases: list[Case], name: str, words: dict[str, str]) -> list[str]:
    """Return the explanation of each value that a parameter has in these cases."""
    return [words[str(value)] for value in _values(cases, name) if str(value) in words]


def _excluded(view: RunView) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for point in view.analysis.excluded[:200]:
        axes = ", ".join(
            f"{numbers.axis_title(name)} {numbers.axis_value(name, value)}" for name, value in point.axes.items()
        )
        rows.append((point.target, point.workload, axes or numbers.NONE, point.rule, point.reason))
    columns = (Column("Target"), Column("Workload"), Column("Point"), Column("Rule"), Column("Reason"))
    more = len(view.analysis.excluded) - len(rows)
    caption = f"{more:,} more are not listed." if more > 0 else ""
    return Table("excluded-table", columns, tuple(rows), caption)

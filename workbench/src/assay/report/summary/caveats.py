"""Caveats on the answer, the gravest first, each from the run's own data."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.analyse.anomalies.falling import SIZES, falls
from assay.analyse.anomalies.stalls import stalls
from assay.analyse.decide import MAX_NEEDED
from assay.analyse.environments.limits import AT_END, group_limits, memory_limit
from assay.analyse.machine import busy_text
from assay.analyse.scaling import Scaling
from assay.model.result.decision import PointOutcome
from assay.model.result.result import ResultRow
from assay.model.result.summary_page import Caveat
from assay.model.result.verdict import OWN_SPEED, Verdict
from assay.model.result.verdict_counts import count_verdicts
from assay.model.room import hook
from assay.model.study.names import WORK
from assay.model.units import about_latency, about_size
from assay.report import numbers
from assay.report.claims import ComparisonClaim
from assay.report.summary.control_groups import limit_files, reached_limits
from assay.report.summary.location_caveats import (
    different_mounts,
    different_read_ahead,
    journalled_data,
    same_storage,
    unknown_link,
    without_barriers,
)
from assay.report.summary.lower_bounds import is_lower_bound, limit_sentences
from assay.report.summary.sentences import frequent_reasons
from assay.report.view import RunView, is_sound

Caveats = list[Caveat]
_HOLDS = " The ranking still holds; the size of the difference may change on an idle machine."


def caveats(view: RunView, found: Sequence[ComparisonClaim], growth: Sequence[Scaling]) -> list[Caveat]:
    """Return all caveats of a run, each with a remedy; the first page shows the first ones.

    Args:
        view: The run.
        found: The run's claims.
        growth: How totals grow with the number of hosts, if the run measures that.
    """
    answered = {Verdict.NETWORK_BOUND} if growth else set()
    kinds: tuple[Callable[[], Caveats], ...] = (
        lambda: _unfinished(view),
        lambda: _lost_hosts(view),
        lambda: _audited(view),
        lambda: _absent(view),
        lambda: without_barriers(view),
        lambda: journalled_data(view),
        lambda: same_storage(view) if found else [],
        lambda: [*different_mounts(view), *different_read_ahead(view)] if found else [],
        lambda: _disturbed(view, found),
        lambda: _limited(view),
        lambda: _little_memory(view),
        lambda: _compressed(view),
        lambda: _stalled(view),
        lambda: _served_from_memory(view),
        lambda: unknown_link(view),
        lambda: _few_sound(view, answered),
        lambda: _lower_bounds(view, answered, bool(found)),
        lambda: _unverified(view),
        lambda: _left_out(view, found),
        lambda: _still_open(found),
        lambda: _measured_once(view),
        lambda: _odd(view),
        lambda: _in_memory(view, found),
        lambda: _started(view),
        lambda: _unstable(view, found),
    )
    return [caveat for kind in kinds for caveat in kind()]


def _unfinished(view: RunView) -> Caveats:
    run = view.run
    if run.finished >= run.planned:
        return []
    if run.imports:
        text = f"The import was cut short: {run.planned - run.finished:,} of {run.planned:,} results are missing."
        return [Caveat(text=text, remedy="Import the files again, and delete this run")]
    up_to = "up to " if run.is_adaptive else ""
    missing = f"{up_to}{run.planned - run.finished:,} of {run.planned:,} repeats are missing"
    rest = " The answer uses those that are done." if any(is_sound(row) for row in view.analysis.rows) else ""
    lost = run.lost_server is not None
    remedy = f"Measure on another stack: {run.command}" if lost else f"Finish it: assay run {run.id} --resume"
    return [Caveat(text=f"This run is {run.status}: {missing}.{rest}", remedy=remedy)]


def _lost_hosts(view: RunView) -> Caveats:
    """State which hosts AWS has ended, and since when another instance is in their place."""
    losses = view.run.host_losses
    if not losses:
        return []
    count = f" {len(losses):,} hosts were lost in all; Environment lists them." if len(losses) > 1 else ""
    remedy = "Take instances on demand, if the difference between instances matters."
    return [Caveat(text=f"{losses[-1].sentence}.{count}", remedy=remedy)]


def _audited(view: RunView) -> Caveats:
    """Tell what the audit has against imported results."""
    text = hook("audit_words")(Path(view.run.folder)) if view.run.imports else ""
    return [Caveat(text=text, remedy="See Audit under Evidence.", is_audit=True)] if text else []


def _measured_once(view: RunView) -> Caveats:
    """Tell that imported results have no repeats; a run of Assay says so of each comparison."""
    rows = [row for row in view.analysis.rows if row.rate is not None]
    if not view.run.imports or len(rows) < 2 or any(row.rate.n > 1 for row in rows if row.rate):
        return []
    text = "The source prints one figure for each result: by how much repeats differ is not known."
    return [Caveat(text=text, remedy="Small differences should not be relied on.")]


def _absent(view: RunView) -> Caveats:
    """Warn of targets that have no result."""
    unmeasured = targets_without_rate(view)
    if not unmeasured:
        return []
    texts = [finding.text for row in view.analysis.rows if row.case.target in unmeasured for finding in row.findings]
    why = f": {texts[0]}" if texts else ""
    text = f"Nothing could be measured on {numbers.listing(unmeasured)}{why}."
    return [Caveat(text=text, remedy="Fix the cause of that error, and run again.")]


def targets_without_rate(view: RunView) -> list[str]:
    """Return the targets without any rate."""
    measured = {row.case.target for row in view.analysis.rows if row.rate is not None}
    return [name for name in view.targets if name not in measured]


def unusable_rows(view: RunView, answered: set[Verdict]) -> list[ResultRow]:
    """Return results that are not known, no lower bounds, and whose verdicts are not part of the answer."""
    return [
        row
        for row in view.analysis.rows
        if not (_known(row) or is_lower_bound(row) or answered.issuperset(row.verdicts))
    ]


def _known(row: ResultRow) -> bool:
    """Return whether a result's rate is known, though it may be unverified."""
    return row.rate is not None and (OWN_SPEED | {Verdict.UNVERIFIED}).issuperset(row.verdicts) and not row.is_vague


def _few_sound(view: RunView, answered: set[Verdict]) -> Caveats:
    """Warn if more than half of the results are not usable, with the remedy for most of them."""
    rows = view.analysis.rows
    bad = unusable_rows(view, answered)
    if 2 * len(bad) <= len(rows):
        return []
    usable_count = len(rows) - len(bad)
    common = most_frequent_verdict(bad)
    if common is not None and common[0] is Verdict.INCOMPLETE and _unfinished(view):
        return []
    which = "" if common is None else count_verdicts(row.verdicts for row in bad).words_for(common[0])
    if not usable_count:
        none = f"None of {numbers.plural(len(rows), 'result')} is usable"
        return [Caveat(text=f"{none}: {which}." if which else f"{none}.", remedy=remedy_of(bad))]
    few = (
        f"Only {usable_count:,} of {numbers.plural(len(rows), 'result')} {'is' if usable_count == 1 else 'are'} usable"
    )
    return [Caveat(text=f"{few}; {which}." if which else f"{few}.", remedy=remedy_of(bad))]


def lower_bound_rows(view: RunView, answered: set[Verdict]) -> list[ResultRow]:
    """Return results that are lower bounds, except those whose limit is part of the answer."""
    return [row for row in view.analysis.rows if is_lower_bound(row) and not answered.issuperset(row.verdicts)]


def _lower_bounds(view: RunView, answered: set[Verdict], compared: bool) -> Caveats:
    """Warn if most rates are lower bounds in a run that compares targets; in other runs the answer says so itself."""
    if not compared or 2 * len(lower_bound_rows(view, answered)) <= len(view.analysis.rows):
        return []
    return [Caveat(text=f"{limit_sentences(view.analysis.rows)} These rates are lower bounds.")]


def most_frequent_verdict(bad: Sequence[ResultRow]) -> tuple[Verdict, int] | None:
    """Return the most frequent verdict that makes results unusable, with its count; None if there is none."""
    verdicts = (
        verdict
        for row in bad
        for verdict in row.verdicts
        if verdict not in OWN_SPEED or (row.is_vague and verdict is Verdict.UNSTABLE)
    )
    return next(iter(Counter(verdicts).most_common(1)), None)


def remedy_of(rows: Sequence[ResultRow], verdict: Verdict | None = None) -> str:
    """Return the remedy that the findings name most often; empty if there is none.

    Args:
        rows: The results.
        verdict: The verdict to remedy; None: the most frequent one.
    """
    against = verdict or next(iter(most_frequent_verdict(rows) or ()), None)
    each = [{finding.remedy for finding in row.findings if finding.verdict is against} for row in rows]
    remedies = Counter(remedy for found in each for remedy in found)
    return max(remedies, key=lambda text: (remedies[text], text), default="")


def _decided(found: Sequence[ComparisonClaim]) -> bool:
    """Return whether any point is decided as faster or equal."""
    return any(claim.counted_points > len(claim.points_with(PointOutcome.OPEN)) for claim in found)


def _disturbed(view: RunView, found: Sequence[ComparisonClaim]) -> Caveats:
    words = busy_text(view.run.controls) if view.analysis.machine is not None else ""
    if not words:
        return []
    holds = _HOLDS if _decided(found) else ""
    remedy = "Repeat it on an idle machine."
    return [Caveat(text=f"{words}{holds}", remedy=remedy)]


def _limited(view: RunView) -> Caveats:
    """Warn of limits that a control group of this machine sets to the engine or to the devices it used."""
    environment, places = view.run.environment, view.run.places
    if view.run.hosts:
        return []
    before = group_limits(environment, places).words
    if AT_END in environment:
        after = group_limits(environment, places, AT_END).words
        text = f"Limits of control groups changed during the run: from {before or 'none'} to {after or 'none'}."
        return [Caveat(text=text, remedy="Repeat it with the same limits from start to end.")]
    limits = reached_limits(view)
    if not limits.words:
        return []
    text = f"A control group limits {limits.words}: rates are those under this limit."
    return [Caveat(text=text, remedy=f"To measure the storage itself, lift it ({limit_files(limits)}).")]


def _little_memory(view: RunView) -> Caveats:
    """Warn of a control group that allows less memory than the buffered data needs."""
    limit = None if view.run.hosts else memory_limit(view.run.environment)
    if limit is None:
        return []
    buffered = [
        case.parameters for case in view.analysis.cases if case.parameters.get_value("cache") in ("keep", "limit")
    ]
    data = max((parameters.data_set_bytes for parameters in buffered), default=0)
    if data <= limit:
        return []
    sizes = f"{about_size(limit)} of memory, less than the {about_size(data)} of data"
    text = f"A control group limits this process to {sizes}: the page cache cannot hold the data."
    return [
        Caveat(
            text=text,
            remedy="Raise it (memory.max or memory.limit_in_bytes), or expect the same wherever this limit applies.",
        )
    ]


def _compressed(view: RunView) -> Caveats:
    """Warn of file systems that compress, with the share of the run's data that is compressible."""
    found: list[Caveat] = []
    for place in view.run.places:
        layer = next((layer for layer in place.layers if layer.compresses == "does"), None)
        cases = [case for case in view.analysis.cases if case.target == place.target]
        shares = sorted({int(case.parameters.get_value("compressible") or 0) for case in cases})
        if layer is None or not shares:
            continue
        data = f"{' to '.join(f'{share} %' for share in dict.fromkeys((shares[0], shares[-1])))} compressible"
        text = f"{place.target} is compressed ({layer.label}), and the data of this run is {data}."
        found.append(
            Caveat(text=text, remedy="Set `compressible` to the compressible share of your data: rates depend on it.")
        )
    return found


def _stalled(view: RunView) -> Caveats:
    found = stalls(view.analysis.rows)
    if not found:
        return []
    row, longest, usual = found[0]
    count = numbers.part_of_total(len(found), len(view.analysis.rows))
    operation = numbers.operation_title(row.operation).lower()
    took = f"one {operation} on {row.case.target} took {about_latency(longest)}, against a median of"
    text = f"The storage stalled in {count}: {took} {about_latency(usual)}."
    return [Caveat(text=text, remedy="Look at the network, the device's log and its other users at that time.")]


def _served_from_memory(view: RunView) -> Caveats:
    """Warn of reads of data that the run has just written, from a server whose cache was not dropped."""
    remote = {place.target for place in view.run.places if place.remote or place.servers}
    names = [
        row.case.target
        for row in view.analysis.rows
        if row.case.target in remote
        and row.case.group == "data"
        and WORK[row.operation.split(" ", 1)[0]].reads
        and row.case.parameters.get_value("server_cache") == "keep"
    ]
    if not names:
        return []
    targets = numbers.listing(list(dict.fromkeys(names)))
    text = f"What was read from {targets} had just been written: the server may have answered from its memory."
    return [Caveat(text=text, remedy="Use `server_cache: drop`, or files larger than the server's memory.")]


def _unverified(view: RunView) -> Caveats:
    rows = [row for row in view.analysis.rows if Verdict.UNVERIFIED in row.verdicts]
    if not rows:
        return []
    targets = list(dict.fromkeys(row.case.target for row in rows))
    on = f", on {numbers.listing(targets)}," if len(view.targets) > 1 else ""
    text = f"In {numbers.part_of_total(len(rows), len(view.analysis.rows))}{on} a cache may have answered (unverified)."
    rules = {found.rule for row in rows for found in row.findings if found.verdict is Verdict.UNVERIFIED}
    if rules == {"compressed"}:
        text = (
            f"In {numbers.part_of_total(len(rows), len(view.analysis.rows))} less data was stored than "
            "written (unverified)."
        )
    return [Caveat(text=text, remedy=remedy_of(rows, Verdict.UNVERIFIED))]


def _left_out(view: RunView, found: Sequence[ComparisonClaim]) -> Caveats:
    points = [point for claim in found for point in claim.points_with(PointOutcome.BARRED)]
    every = sum(len(claim.points) for claim in found)
    if not points or all(row.has_no_result for row in view.analysis.rows):
        return []
    made = "decided" if all(point.shows_ratio for point in points) else "made"
    count = f"{len(points):,} of {numbers.plural(every, 'comparison')}"
    what = "Differences between the results are not tested" if view.run.imports else f"{count} could not be {made}"
    text = f"{what}: {frequent_reasons(points)}."
    return [Caveat(text=text, remedy=remedy_of([row for row in view.analysis.rows if row.has_no_result]))]


def _still_open(found: Sequence[ComparisonClaim]) -> Caveats:
    points = [point for claim in found for point in claim.points_with(PointOutcome.OPEN)]
    every = sum(claim.counted_points for claim in found)
    if not points:
        return []
    count = numbers.capitalized(numbers.part_of_total(len(points), every, "comparison"))
    text = f"{count} {'is' if len(points) == 1 else 'are'} undecided: {frequent_reasons(points)}."
    near = any(point.needs is not None and point.needs <= MAX_NEEDED for point in points)
    them = "it" if len(points) == 1 else "them"
    return [Caveat(text=text, remedy=f"More repeats are likely to decide {them}." if near else "")]


def _odd(view: RunView) -> Caveats:
    """Warn of a rate that falls where it should rise along an axis other than a size."""
    found = [fall.words for fall in falls(view.analysis.rows) if fall.axis not in SIZES][:1]
    return [Caveat(text=text, remedy="Use the lower setting on this storage.") for text in found]


def _in_memory(view: RunView, found: Sequence[ComparisonClaim]) -> Caveats:
    """Warn of faster targets that are in RAM, whose files a restart loses; without claims, of all such targets."""
    ahead = {name for claim in found for name in (claim.base, claim.other) if claim.points_won_by(name)}
    ahead, unmeasured = ahead if found else set(view.targets), targets_without_rate(view)
    names = [
        place.target
        for place in view.run.places
        if place.memory_backed and place.target in ahead and place.target not in unmeasured and not place.started_server
    ]
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    text = f"{numbers.listing(names)} {verb} a file system in RAM: its files are lost at a restart."
    return [Caveat(text=text, remedy="Use it for data that can be recreated and fits in free memory.")]


def started_servers(view: RunView) -> list[str]:
    """Return a sentence for each server that Assay started on this machine."""
    found: dict[str, list[str]] = {}
    for place in view.run.places:
        if place.started_server:
            found.setdefault(place.started_server, []).append(place.target)
    return [
        f"{server} was started by Assay on this machine, for {' and '.join(names)}, and shared its processors with "
        f"the load: these numbers describe {server} on this machine, not AWS."
        for server, names in found.items()
    ]


def _started(view: RunView) -> Caveats:
    return [
        Caveat(text=text, remedy="Name its endpoint to measure a service of your own.")
        for text in started_servers(view)
    ]


def _unstable(view: RunView, found: Sequence[ComparisonClaim]) -> Caveats:
    counts = count_verdicts(row.verdicts for row in view.analysis.rows)
    count = counts.by_worst.get(Verdict.UNSTABLE, 0) + counts.by_further.get(Verdict.UNSTABLE, 0)
    if 4 * count < counts.total or not count or not any(_known(row) for row in view.analysis.rows):
        return []
    text = (
        f"Of {numbers.plural(counts.total, 'result')}, {counts.words_for(Verdict.UNSTABLE)}: their repeats vary widely."
    )
    if counts.by_worst.get(Verdict.UNSTABLE) == counts.total:
        every, verb = numbers.capitalized(numbers.part_of_total(count, count)), "is" if count == 1 else "are"
        text = f"{every} {verb} unstable: {'its' if count == 1 else 'their'} repeats vary widely."
    remedy = remedy_of(view.analysis.rows, Verdict.UNSTABLE)
    return [Caveat(text=f"{text}{_HOLDS if _decided(found) else ''}", remedy=remedy)]

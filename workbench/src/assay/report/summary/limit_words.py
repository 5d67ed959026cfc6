"""What limits results, in few words."""

from collections.abc import Sequence

from assay.analyse.ceilings import CPU_BOUND
from assay.analyse.environments.limits import GroupLimits
from assay.analyse.scaling import BINDING_SHARE
from assay.model.result.result import ResultRow
from assay.model.units import about_latency
from assay.report import numbers
from assay.report.summary.control_groups import limit_of_row
from assay.report.summary.location_caveats import round_trip
from assay.report.summary.lower_bounds import CONTROL_GROUP_LIMIT, limit_of
from assay.report.view import RunView


def binding_limit(rows: Sequence[ResultRow]) -> str:
    """Return what limits more than half of these results; empty if nothing is known to."""
    limits = [limit for row in rows if (limit := limit_of(row)) is not None]
    return _commonest(limits, len(rows)) if 2 * len(limits) > len(rows) else ""


def _commonest(limits: Sequence[tuple[str, float | None]], rows: int) -> str:
    names = [name for name, _ in limits]
    name = max(dict.fromkeys(names), key=names.count)
    return _limit_words(name, [share for each, share in limits if each == name], rows)


def group_limit(rows: Sequence[ResultRow], limits: GroupLimits, view: RunView) -> str:
    """Return the control group's limit that applies to all of these results; empty if there is none."""
    found = dict.fromkeys(limit_of_row(row, limits, view) for row in rows)
    words = [limit.words for limit in found if limit is not None]
    return f"{CONTROL_GROUP_LIMIT} ({', '.join(words)})" if len(words) == len(found) else ""


def _network_limit(row: ResultRow, view: RunView) -> tuple[str, None] | None:
    """Return the network's round trip as a limit, if it is most of the latency; else None."""
    seconds = round_trip(row, view)
    return None if seconds is None else (f"the network's round trip of {about_latency(1e9 * seconds)}", None)


def _close(row: ResultRow) -> tuple[str, float] | None:
    """Return the ceiling that a result comes close to, with the share reached; None if it comes close to none."""
    near = row.limiting_ceiling is not None and row.limiting_ceiling.share >= BINDING_SHARE
    return (
        (row.limiting_ceiling.name, row.limiting_ceiling.share) if near and row.limiting_ceiling is not None else None
    )


def nearest_limit(rows: Sequence[ResultRow], view: RunView) -> str:
    """Return what limits some of these results, or else the ceiling that most of them are closest to."""
    if all(row.case.parameters.get_value("rate") is not None for row in rows):
        return "the requested rate" if view.run.imports else "the rate set in the study"
    if limits := [
        limit for row in rows if (limit := _network_limit(row, view) or limit_of(row) or _close(row)) is not None
    ]:
        return _commonest(limits, len(rows))
    found = [
        row.limiting_ceiling
        for row in rows
        if row.limiting_ceiling is not None and row.limiting_ceiling.name not in CPU_BOUND
    ]
    if not found:
        return ""
    names = [binding.name for binding in found]
    name = max(dict.fromkeys(names), key=names.count)
    shares = [one.share for one in found if one.name == name]
    ends = dict.fromkeys(numbers.share(share) for share in (min(shares), max(shares)))
    return f"not reached: {' to '.join(ends)} of {name}"


def _limit_words(name: str, shares: Sequence[float | None], rows: int) -> str:
    """Return a limit in words: `device read (98 % of it)`, or `device read (62 to 98 % of it, 3 of 4)`."""
    known = sorted(share for share in shares if share is not None)
    ends = list(dict.fromkeys(numbers.share(share) for share in known[:1] + known[-1:]))
    of = [f"{' to '.join(ends)} of it"] if len(known) == len(shares) else []
    of += [f"{len(shares):,} of {rows:,}"] if len(shares) < rows else []
    return f"{name} ({', '.join(of)})" if of else name

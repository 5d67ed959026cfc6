"""The expected performance of a variant: by evidence of the same design, else by its limits and rules of thumb.

Rates are bytes per second, times seconds.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

from assay.model.money.design import S3
from assay.model.money.priced_designs import DesignEvidence
from assay.model.units import format_size
from assay.money.cost.catalog import catalog
from assay.money.cost.limits import METRICS, Limit, Metric
from assay.money.cost.sizing import COMPONENT_SHARE, COMPONENT_SOURCE, PAIRS, usable_share
from assay.rooms.advice.model.advice import Basis, ExpectedFigure
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.candidates import DesignKey, Variant
from assay.rooms.advice.work.caps import Cap, caps
from assay.rooms.advice.work.contradictions import contradiction_text, contradictions
from assay.rooms.advice.work.plausible import PlausibleRange, latency_range, small_file_range, unknown_range
from assay.rooms.advice.work.texts import amount, count_text, percent, seconds, sum_text

EvidenceByKey = Mapping[DesignKey, tuple[DesignEvidence, ...]]

_WIRES = ("network", "volume bandwidth", "leased link")
"""Layers that random access does not slow down. For every other layer, its operations per second must be known."""


@dataclass(frozen=True)
class _Bound:
    """The rate that one layer allows.

    Attributes:
        kind: What bounds it: bytes, operations, or the clients.
        shared: Reads and writes count against it together.
        share: Share of it that is expected in practice.
        cap: The limit of the clients that it stands for; None: it is a layer of the design.
        quota: The first quota that the need exceeds, and how it is raised; empty: `value` is a limit.
    """

    value: float
    layer: str
    how: str
    source: str
    kind: Literal["rate", "iops", "clients"] = "clients"
    shared: bool = False
    share: float = COMPONENT_SHARE
    cap: Cap | None = None
    quota: str = ""

    @property
    def expected(self) -> float:
        return self.value * self.share

    @property
    def share_text(self) -> str:
        return percent(self.share) if self.share < 1 else "all"

    def text(self, metric: Metric) -> str:
        return (
            self.quota or f"{self.share_text} of {amount(metric, self.value)}, the limit of {self.layer} ({self.how})"
        )

    @property
    def sources(self) -> str:
        return "; ".join(part for part in (self.source, COMPONENT_SOURCE if self.share < 1 else "") if part)

    def freed(self, metric: Metric) -> "_Bound | None":
        """Return the bound without doubt: None if it is only assumed; the higher figure where two contradict."""
        if self.cap is not None:
            return None if self.cap.assumed else self
        dispute = contradictions().get((self.layer, metric)) if self.kind == "rate" else None
        return self if dispute is None else replace(self, value=self.value * dispute.factor)

    def doubt(self, metric: Metric) -> str:
        """Return why the bound does not exclude."""
        if self.cap is not None:
            return f"{self.cap.text} are {amount(metric, self.cap.value)} ({self.source}): {self.cap.assumed}"
        dispute = contradictions()[self.layer, metric]
        return f"{dispute.text}: measure it"


@dataclass(frozen=True)
class SharedLoad:
    """The load of reads and writes at once on the shared layer that has the least left.

    Attributes:
        used_share: Share of the layer that they use.
        usable_share: Share of the layer that may be used.
        text: The sum in words.
        source: Source of the layer's limit.
    """

    used_share: float
    usable_share: float
    text: str
    source: str

    @property
    def scale(self) -> float:
        """Factor by which reads and writes could both be multiplied."""
        return self.usable_share / self.used_share


@dataclass(frozen=True)
class PlausibleLoad:
    """The load of reads and writes at once on a layer whose rates no source states.

    Attributes:
        chance: Chance that the layer has enough for both, by what is plausible.
        text: The range in words.
    """

    chance: float
    text: str
    source: str


Bounds = tuple[list[_Bound], list[Limit]]
"""The rates that the layers allow, and the layers whose rate is unknown."""


class Expectation:
    """What a variant is expected to do for a need.

    Attributes:
        figures: Metric -> what is expected: rates always, because they rank variants; operations and latencies if the
            need requires them.
        loads: Reads and writes at once, for each pair of metrics of which the need requires both.
        plausible_loads: The same for each shared layer without a stated rate, where it is known what is plausible.
    """

    def __init__(self, variant: Variant, need: Need, evidence: Sequence[DesignEvidence]) -> None:
        """Compute all figures.

        Args:
            variant: The design with its values.
            need: The requirements.
            evidence: Measurements of this variant.
        """
        self._variant, self._need, self._evidence = variant, need, evidence
        metrics = [each for each in METRICS if not each.endswith("_iops") or getattr(need, each) is not None]
        self._bounds = {metric: _bounds_of(variant, metric, need) for metric in metrics}
        self.figures: dict[str, ExpectedFigure] = {metric: self._rate(metric) for metric in metrics}
        if need.p99 is not None:
            self.figures |= {f"{side}_p99": self._latency(f"{side}_latency_p99") for side in sides_of(need)}
        required = [pair for pair in PAIRS if None not in (getattr(need, pair[0]), getattr(need, pair[1]))]
        self.loads = {pair: self._load(pair) for pair in required}
        self.plausible_loads = {pair: list(self._plausible_loads(pair)) for pair in required}

    @property
    def ranking_rate(self) -> ExpectedFigure | None:
        """The lowest of the required rates, or of both if none is required; under the load of both sides at once."""
        need, load = self._need, self.loads.get(("read", "write"))
        metrics = [metric for metric in ("read", "write") if getattr(need, metric) is not None] or sides_of(need)
        known = [self.figures[metric] for metric in metrics if self.figures[metric].value is not None]
        if len(known) != len(metrics):
            return None
        values = [_value_under_load(figure, need, load) for figure in known]
        figure, value = min(zip(known, values, strict=True), key=lambda pair: pair[1] or 0.0)
        if value == figure.value:
            return figure
        basis: Basis = "ceiling" if figure.basis == "ceiling" else "rule"
        return figure.model_copy(update={"value": value, "low": None, "high": None, "basis": basis})

    def _rate(self, metric: Metric) -> ExpectedFigure:
        """Return the rate that the variant is expected to sustain.

        The best fitting measurement counts. Without one, the lowest limit of its layers and clients counts, times the
        share that is expected in practice (`usable_share`).
        """
        measured, unused_text = self._measured(metric)
        if measured is not None:
            return measured
        known, unknown = self._bounds[metric]
        need = self._need
        if not known:
            missing = ", ".join(layer.layer for layer in unknown) or "no layer has a figure"
            how = f"not known ({missing}): measure it{unused_text}"
            plausible = self._plausible(metric, unknown) if unknown else None
            how += "" if plausible is None else f"; plausible is {_range_text(metric, plausible)}"
            return ExpectedFigure(
                metric=metric, value=None, basis="unknown", how=how, source="", plausible=_ends(plausible)
            )
        doubtful = min(bound.expected for bound in known)
        known, doubt = _without_doubtful(known, getattr(need, metric), metric)
        binding = min(known, key=lambda bound: bound.expected)
        how = binding.text(metric)
        source, value = binding.sources, binding.expected
        basis: Basis = "ceiling" if unknown or doubt else "rule"
        plausible = self._plausible(metric, unknown) if unknown or doubt or need.profile.small_files is True else None
        # A known limit that allows what is needed does not make it less likely: the chance is that of the rest.
        rest = plausible
        if plausible is not None:
            plausible = plausible.lowered_to(PlausibleRange(min(doubtful, value), value, binding.layer))
            rest = plausible if rest is None or math.isinf(rest.high) else replace(rest, low=plausible.low)
        if unknown:
            names = ", ".join(layer.layer for layer in unknown)
            how += f"; but the rate of {names} is not known"
            how += (
                ": measure it" if plausible is None else f", plausible is {_range_text(metric, plausible)}: measure it"
            )
        how += doubt
        if need.profile.small_files is True:
            value, basis, text = _with_small_files(value, basis, plausible, getattr(need, metric), metric)
            how += text
        ends = None if basis == "rule" else _ends(rest)
        return ExpectedFigure(
            metric=metric, value=value, basis=basis, how=how + unused_text, source=source, plausible=ends
        )

    def _plausible(self, metric: Metric, unknown: Sequence[Limit]) -> PlausibleRange | None:
        """Return what the layers without a stated rate plausibly allow; None: nothing comparable is known of one."""
        design, need = self._variant.design, self._need
        ranges = [unknown_range(layer, metric, design, need) for layer in unknown]
        if need.profile.small_files is True:
            ranges.append(small_file_range(design, metric, need))
        known = [each for each in ranges if each is not None]
        unbounded = PlausibleRange(math.inf, math.inf, "")
        return reduce(PlausibleRange.lowered_to, known, unbounded) if len(known) == len(ranges) else None

    def _load(self, metrics: tuple[Metric, Metric]) -> SharedLoad | None:
        """Return the load of reads and writes at once on a layer that both share; None if they share none.

        A measured rate overrides a layer's limit; if both are measured, there is no sum.
        """
        wanted = [getattr(self._need, metric) for metric in metrics]
        if all(self.figures[metric].basis == "measured" for metric in metrics):
            return None
        sides = [
            {(bound.layer, bound.kind): bound for bound in self._bounds[metric][0] if bound.shared}
            for metric in metrics
        ]
        loads = []
        for key in sides[0].keys() & sides[1].keys():
            parts = []
            for metric, rate, side in zip(metrics, wanted, sides, strict=True):
                figure, limit = self.figures[metric], side[key].value
                limit = max(limit, figure.value or 0.0) if figure.basis == "measured" else limit
                parts.append(rate / limit if limit else float("inf"))
            loads.append((sum(parts), key, parts, sides[0][key]))
        if not loads:
            return None
        used, key, parts, bound = max(loads, key=lambda item: (item[0] / item[3].share, item[1]))
        rates = " and ".join(f"{amount(metric, rate)}" for metric, rate in zip(metrics, wanted, strict=True))
        text = f"reading and writing {rates} at the same time take {sum_text(parts)} "
        how = "; ".join(dict.fromkeys(side[key].how for side in sides))
        text += f"of {self._counted(metrics, sides[0][key])}{key[0]}, which reads and writes share ({how}); "
        text += f"{bound.share_text} can be expected"
        return SharedLoad(used, bound.share, text, bound.sources)

    def _counted(self, metrics: tuple[Metric, Metric], bound: _Bound) -> str:
        """Return which limit of a layer bytes of random access count against, in words; empty: that of bytes."""
        if bound.kind != "iops" or metrics[0].endswith("_iops"):
            return ""
        record = self._need.profile.record
        return f"the {bound.value / record:,.0f} operations/s of {format_size(record)} of "

    def _plausible_loads(self, metrics: tuple[Metric, Metric]) -> Iterator[PlausibleLoad]:
        """Yield the load of required reads and writes at once on each shared layer without a stated rate."""
        wanted = [getattr(self._need, metric) for metric in metrics]
        if any(self.figures[metric].basis == "measured" for metric in metrics):
            return
        unknown = {layer.layer: layer for metric in metrics for layer in self._bounds[metric][1] if layer.shared}
        for layer in unknown.values():
            ranges = [unknown_range(layer, metric, self._variant.design, self._need) for metric in metrics]
            reads, writes = ranges
            if reads is None or writes is None:
                continue
            used = [
                sum(rate / end for rate, end in zip(wanted, ends, strict=True))
                for ends in ((reads.high, writes.high), (reads.low, writes.low))
            ]
            rates = " and ".join(amount(metric, rate) for metric, rate in zip(metrics, wanted, strict=True))
            text = (
                f"reading and writing {rates} at the same time plausibly take {percent(used[0])} to {percent(used[1])} "
            )
            text += f"of {layer.layer} ({reads.basis}): measure it"
            yield PlausibleLoad(
                PlausibleRange(1 / used[1], 1 / used[0], reads.basis).share_above(1.0), text, layer.source
            )

    def _latency(self, metric: str) -> ExpectedFigure:
        """Return the 99th percentile of latency, which only evidence can give; low and high span the measurements.

        More clients can only increase latency: a measurement with fewer clients can exclude a variant, but proves
        nothing.
        """
        need = self._need
        fitting = [item for item in self._evidence if item.metric == metric and not mismatch_reason(item, need)]
        exact = [item for item in fitting if need.clients is None or item.clients == need.clients]
        fewer = [item for item in fitting if item.clients is not None]
        slow = fewer and need.p99 is not None and min(item.measured.low for item in fewer) > need.p99
        counting = exact or (fewer if slow else [])
        if not counting:
            how = "not known: measure it"
            if fitting:
                largest = max(fitting, key=lambda item: item.clients or 0)
                by = count_text(largest.clients, "client") if largest.clients else "an unknown number of clients"
                how = f"{seconds(largest.measured.value)} measured with {by}, "
                how += f"which proves nothing for {need.clients}: measure it"
            elif _has_first_byte_latency(self._variant):
                return _first_bytes(metric, need)
            elif (plausible := latency_range(self._variant.design)) is not None:
                ends = f"{seconds(plausible.low)} to {seconds(plausible.high)}"
                return ExpectedFigure(
                    metric=metric,
                    value=plausible.high,
                    low=plausible.low,
                    high=plausible.high,
                    basis="rule",
                    how=f"not measured; plausible is {ends} ({plausible.basis})",
                    source=plausible.basis,
                    plausible=_ends(plausible),
                )
            return ExpectedFigure(metric=metric, value=None, basis="unknown", how=how, source="")
        worst = max(counting, key=lambda item: item.measured.value)
        low, high = min(item.measured.low for item in counting), max(item.measured.high for item in counting)
        how = f"{seconds(worst.measured.value)} measured"
        how += f" with {count_text(worst.clients, 'client')} already" if not exact and worst.clients else ""
        if len(counting) > 1:
            how += f", the highest of {len(counting)}; the lowest {seconds(low)}"
        return ExpectedFigure(
            metric=metric,
            value=worst.measured.value,
            low=low,
            high=high,
            basis="measured",
            how=how,
            source=worst.source,
        )

    def _measured(self, metric: str) -> tuple[ExpectedFigure | None, str]:
        """Return the figure of the evidence that counts; else, in words, what was measured and why it does not count.

        The nearest number of clients counts. Fewer clients than the need has may not load the variant fully: a lower
        rate does not exclude it. A rate that they reach is proven: more clients do not lower what it can do.
        """
        need = self._need
        own = [item for item in self._evidence if item.metric == metric]
        fitting = [item for item in own if not mismatch_reason(item, need)]
        if not fitting:
            return None, _mismatched_text(own, metric, need)
        known = [item for item in fitting if item.clients is not None] if need.clients is not None else fitting
        if not known:
            rate = amount(metric, max(item.measured.value for item in fitting))
            return None, f"; {rate} measured with an unknown number of clients prove nothing for {need.clients}"
        if need.clients is not None:
            most = max(item.clients or 0 for item in known)
            known = [item for item in known if item.clients == most]
        best = max(known, key=lambda item: item.measured.value)
        value, low, high = best.measured.value, best.measured.low, best.measured.high
        wanted = getattr(need, metric, None)
        fewer = need.clients is not None and best.clients is not None and best.clients < need.clients
        by = count_text(best.clients, "client") if best.clients else ""
        if fewer and wanted is not None and value < wanted:
            return None, f"; {amount(metric, value)} measured with {by} do not exclude it for {need.clients}"
        how = f"{amount(metric, value)} measured"
        how += f" with {by}{' already' if fewer else ''}" if by else ""
        how += f", 95 % interval {amount(metric, low)} to {amount(metric, high)}" if low < high else ""
        how += f", the best of {len(known)}" if len(known) > 1 else ""
        how += contradiction_text(self._variant.limits, metric, value, best.source)
        return ExpectedFigure(
            metric=metric, value=value, low=low, high=high, basis="measured", how=how, source=best.source
        ), ""


def sides_of(need: Need) -> tuple[str, ...]:
    """Return the sides that a need uses: reads, writes, or both."""
    share = need.profile.read_share
    return tuple(side for side, none in (("read", share == 0), ("write", share == 1)) if not none)


def _value_under_load(figure: ExpectedFigure, need: Need, load: SharedLoad | None) -> float | None:
    """Return the value of one side with both sides at once, in the proportion that the need requires."""
    wanted = getattr(need, figure.metric)
    if load is None or figure.value is None or wanted is None:
        return figure.value
    return min(figure.value, float(wanted * load.scale))


def _with_small_files(
    value: float, basis: Basis, plausible: PlausibleRange | None, wanted: float | None, metric: Metric
) -> tuple[float, Basis, str]:
    """Return the expected value of small files, its basis, and the text; `value` is what large files reach."""
    if plausible is None:
        return value, "ceiling", "; small files reach less, by an unknown amount: measure it"
    text = f"; with small files plausible is {_range_text(metric, plausible)}"
    if basis == "rule" and wanted is not None and plausible.low >= wanted:
        return plausible.low, "rule", text
    return min(value, plausible.high), "ceiling", f"{text}: measure it"


def _range_text(metric: Metric, plausible: PlausibleRange) -> str:
    return f"{amount(metric, plausible.low)} to {amount(metric, plausible.high)} ({plausible.basis})"


def _ends(plausible: PlausibleRange | None) -> tuple[float, float] | None:
    return None if plausible is None or math.isinf(plausible.high) else (plausible.low, plausible.high)


def _without_doubtful(known: list[_Bound], wanted: float | None, metric: Metric) -> tuple[list[_Bound], str]:
    """Leave out bounds that rest on an assumption or that evidence contradicts, if the need could be met without them.

    Returns:
        The remaining bounds, and what to measure; empty if nothing is left out.
    """
    if wanted is None or min(bound.expected for bound in known) >= wanted:
        return known, ""
    freed = [bound.freed(metric) for bound in known]
    sure = [bound for bound in freed if bound is not None]
    if not sure or min(bound.expected for bound in sure) < wanted:
        return known, ""
    words = [bound.doubt(metric) for bound in known if bound.expected < wanted]
    return sure, "".join(f"; {text}" for text in words)


FIRST_BYTE_SECONDS = (0.1, 0.2)
"""Seconds to the first byte or for a small object in S3. Source: `S3_GUIDE`."""
P99_FACTOR = 5
"""The upper end times this factor is assumed to hold for 99 of 100; the guide states no percentile."""
S3_GUIDE = "docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html"


def _has_first_byte_latency(variant: Variant) -> bool:
    """Return whether the guide's times hold for the design: a class of S3 that is neither an archive nor Express."""
    service = variant.design.service
    if not isinstance(service, S3):
        return False
    kind = catalog().object_class(service.storage_class)
    return kind.provider == "aws" and "express" not in kind.name and not kind.retrieval_seconds


def _first_bytes(metric: str, need: Need) -> ExpectedFigure:
    low, high = FIRST_BYTE_SECONDS
    how = f"{seconds(low)} to {seconds(high)} to the first byte by its guide, which states no percentile"
    surely = need.p99 is not None and need.p99 >= P99_FACTOR * high
    end = high if surely else P99_FACTOR * high
    return ExpectedFigure(metric=metric, value=high, low=low, high=end, basis="rule", how=how, source=S3_GUIDE)


def _mismatched_text(own: Sequence[DesignEvidence], metric: str, need: Need) -> str:
    """Return, in words, what was measured only with other record sizes or patterns: it proves nothing, but is shown."""
    near = [
        item for item in own if not mismatch_reason(item.model_copy(update={"pattern": None, "record": None}), need)
    ]
    if not near:
        return ""
    clients = max(item.clients or 0 for item in near)
    best = max((item for item in near if (item.clients or 0) == clients), key=lambda item: item.measured.value)
    words = [f"with {count_text(best.clients, 'client')}"] if best.clients else []
    words += [f"{best.pattern} access"] if best.pattern not in (None, need.profile.pattern) else []
    words += [f"records of {format_size(best.record)}"] if best.record is not None else []
    rate = amount(metric, best.measured.value)
    return f"; {rate} measured {', '.join(words)} ({best.source}), but {mismatch_reason(best, need)}"


def mismatch_reason(item: DesignEvidence, need: Need) -> str:
    """Return why a measurement does not apply to the need; empty if it applies.

    Rates grow with the record size and operations fall with it: a smaller record proves a rate, a larger one a number
    of operations. More clients than the need has prove nothing for fewer.
    """
    profile, metric = need.profile, item.metric
    if metric in ("recovery_point", "recovery_time"):
        wanted, name = (need.rpo, "rpo") if metric == "recovery_point" else (need.recovery, "recovery")
        return "" if wanted is not None else f"the need requires no {name}"
    if profile.small_files is True:
        return "it is not of small files"
    if item.pattern not in (None, profile.pattern):
        return f"it is of {item.pattern} access, and the need's is {profile.pattern}"
    if item.record is not None:
        operations = metric.endswith(("_iops", "_p99"))
        if (operations and item.record < profile.record) or (not operations and item.record > profile.record):
            than = "smaller" if operations else "larger"
            return f"its records of {format_size(item.record)} are {than} than the need's {format_size(profile.record)}"
    if need.clients is not None and item.clients is not None and item.clients > need.clients:
        return f"{count_text(item.clients, 'client')} measured it, and the need has {need.clients}"
    return ""


def _bounds_of(variant: Variant, metric: Metric, need: Need) -> Bounds:
    """Return the rates that the layers allow, and the layers whose rate is unknown."""
    known: list[_Bound] = []
    unknown = []
    by_operations = _is_bound_by_operations(metric, need)
    for layer in variant.limits.layers:
        layer_bounds = list(_layer_bounds(layer, metric, need, by_operations))
        iops = layer.sustained("read_iops" if metric.startswith("read") else "write_iops")
        if not layer_bounds or (by_operations and iops is None and not layer.layer.startswith(_WIRES)):
            unknown.append(layer)
        known += layer_bounds
    for cap in caps(variant, metric, need):
        share = 1.0 if cap.whole else COMPONENT_SHARE
        known.append(_Bound(cap.value, cap.what, cap.text, cap.source, share=share, cap=cap))
    return known, unknown


def _is_bound_by_operations(metric: Metric, need: Need) -> bool:
    """Return whether operations of `profile.record` bytes bound a metric: operations do, and bytes of random access.

    If the need states the operations of the side, its bytes are transferred in larger records at other times.
    """
    return metric.endswith("_iops") or (need.profile.pattern == "random" and getattr(need, f"{metric}_iops") is None)


def _layer_bounds(layer: Limit, metric: Metric, need: Need, by_operations: bool) -> Iterator[_Bound]:
    """Yield what the bytes and the operations of one layer allow, in the unit of the metric."""
    side: Metric = "read" if metric.startswith("read") else "write"
    side_iops: Metric = "read_iops" if side == "read" else "write_iops"
    rate, iops, record = layer.sustained(side), layer.sustained(side_iops), need.profile.record
    operations = metric.endswith("_iops")
    wanted = getattr(need, metric) if layer.raised else None
    if rate is not None:
        value, how = rate / record if operations else rate, layer.formulas[side] if layer.formulas else layer.how
        yield _bound_of(layer, value, "rate", how, metric, wanted)
    if iops is not None and (rate is None or by_operations):
        value, how = iops if operations else iops * record, layer.formulas[side_iops] if layer.formulas else layer.how
        yield _bound_of(layer, value, "iops", how, metric, wanted)


def _bound_of(
    layer: Limit, value: float, kind: Literal["rate", "iops"], how: str, metric: Metric, wanted: float | None
) -> _Bound:
    """Return the bound of a layer: `wanted`, which is known for first quotas only, if it is above its value."""
    quota = ""
    if wanted is not None and wanted > value:
        quota = f"above the first quota of {amount(metric, value)} of {layer.layer} ({how}): {layer.raised}"
        value = wanted
    return _Bound(value, layer.layer, how, layer.source, kind, layer.shared, usable_share(layer), quota=quota)

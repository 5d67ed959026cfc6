"""Rules about transfers over networks and round trips: rows of iperf against each other, and what got lost."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, by_output, half_digit, number, rate_words
from assay.rooms.importers.work.figure_units import convert
from assay.rooms.importers.work.results import Figure

NETWORK_TOOLS = frozenset({"iperf", "iperf3", "ping", "sockperf"})
_INTERVAL = re.compile(r", ([0-9.]{1,30})-([0-9.]{1,30}) s(?:, omitted)?$")
_BOTH = re.compile(r"(?:SUM|FD)[^:]*: rate")
MIN_SECONDS = Decimal(1)
"""Shorter intervals are printed too coarsely to be compared: iperf 2.0 prints tenths of a second."""
SLACK = Decimal("0.01")
"""Beside the printed rounding: iperf divides by a time that it does not print in full, and counts its last packets."""
RECEIVED_SLACK = Decimal("0.02")
LOSS_NOTE = Decimal("0.01")
"""Share of lost datagrams above which what was sent is not what the network carries."""


def _of_tools(items: Sequence[Item], *tools: str) -> Iterator[Item]:
    return (item for item in items if item.output.file.tool in tools)


def _groups(item: Item) -> dict[str, dict[str, Figure]]:
    """Return the figures by what they are of: `sum` -> `rate` -> the figure; the whole result's under an empty name."""
    found: dict[str, dict[str, Figure]] = {}
    for figure in item.result.figures:
        of, _, name = figure.name.rpartition(": ")
        found.setdefault(of, {})[name] = figure
    return found


def _groups_of_json(item: Item) -> dict[str, dict[str, Figure]]:
    """Return the figures of the sums of iperf3's JSON by what they are of: `sum_sent` -> `bytes` -> the figure.

    Of one stream, and of UDP, iperf3 3.7 prints the sender's time and divides by the receiver's (iperf_api.c).
    """
    found: dict[str, dict[str, Figure]] = {}
    for name, figure in item.figures.items():
        of, _, last = name.rpartition(".")
        if of in ("sum_sent", "sum_received") and last in ("bytes", "seconds", "bits_per_second"):
            found.setdefault(of, {})[last] = figure
    return found


def _error(figure: Figure) -> Decimal:
    """Return by which share a printed number may be off because it is rounded."""
    value = number(figure.text)
    return half_digit(figure.text) / value if value else Decimal(0)


def rate_of_transfer(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield rows of iperf whose rate is not their transfer over their time."""
    for item in _of_tools(items, "iperf", "iperf3"):
        for of, figures in (*_groups(item).items(), *_groups_of_json(item).items()):
            moved = figures.get("transfer") or figures.get("bytes")
            rate = figures.get("rate") or figures.get("bits_per_second")
            seconds, rounding = _seconds(of, figures)
            if moved is None or rate is None or seconds < MIN_SECONDS:
                continue
            stated, computed = convert(rate.text, rate.unit), convert(moved.text, moved.unit) / seconds
            slack = SLACK + _error(moved) + _error(rate) + rounding / seconds
            if abs(stated - computed) > slack * max(stated, computed):
                where = f"{of}: " if of else ""
                text = f"{where}{moved.text} {moved.unit} in {seconds} s are {rate_words(float(computed))}, and "
                text += f"{rate.text} {rate.unit} are printed, {rate_words(float(stated))}"
                yield RuleFinding(item, text, {"computed": f"{computed:.0f}", "stated": f"{stated:.0f}"})
                break


def _seconds(of: str, figures: Mapping[str, Figure]) -> tuple[Decimal, Decimal]:
    """Return how long a row is, and by how much that may be off; 0 if it is not known."""
    if "seconds" in figures:
        return number(figures["seconds"].text), half_digit(figures["seconds"].text)
    match = _INTERVAL.search(of)
    if match is None or match[1].count(".") > 1 or match[2].count(".") > 1:
        return Decimal(0), Decimal(0)
    return number(match[2]) - number(match[1]), half_digit(match[1]) + half_digit(match[2])


def sum_of_streams(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield sums of iperf that are not the sum of what the streams moved."""
    for item in _of_tools(items, "iperf", "iperf3"):
        groups = _groups(item)
        for end in ("", ", sent", ", received"):
            whole = groups.get(f"sum{end}", {})
            parts = [one for of, one in groups.items() if re.fullmatch(rf"stream \*?[0-9]+{end}", of)]
            for name in ("transfer", "bytes"):
                yield from _sum(item, f"sum{end}", whole.get(name), [one[name] for one in parts if name in one])
        yield from _sums_of_json(item)


def _sums_of_json(item: Item) -> Iterator[RuleFinding]:
    figures = item.figures
    for name, part in (("sum_sent", "sender"), ("sum_received", "receiver")):
        parts = [one for key, one in figures.items() if re.fullmatch(rf"streams\.[0-9]+\.{part}\.bytes", key)]
        yield from _sum(item, name, figures.get(f"{name}.bytes"), parts)


def _sum(item: Item, name: str, whole: Figure | None, parts: Sequence[Figure]) -> Iterator[RuleFinding]:
    if whole is None or len(parts) != item.parameter("streams") or not parts:
        return
    amounts = [convert(one.text, one.unit) for one in parts]
    stated, computed = convert(whole.text, whole.unit), sum(amounts, Decimal(0))
    slack = sum((half_digit(one.text) * convert("1", one.unit) for one in (*parts, whole)), Decimal(0))
    if computed and stated and abs(stated - computed) > slack + Decimal("0.001") * max(stated, computed):
        times = f"{float(computed / stated):.4g} times that"
        text = f"{name} is {whole.text} {whole.unit}, and its {len(parts)} streams moved {times}"
        yield RuleFinding(item, text, {"stated": f"{stated:.0f}", "computed": f"{computed:.0f}"})


def loss_from_packets(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield shares of lost packets that do not follow from the packets that were sent and received."""
    for item in _of_tools(items, *NETWORK_TOOLS):
        for of, figures in _groups(item).items():
            found = _loss(figures)
            if found is None:
                continue
            lost, sent, loss = found
            computed, stated = 100 * lost / sent, number(loss.text)
            # Tools cut off decimals or round to two digits; C's %g leaves out zeros behind the point.
            slack = max(
                2 * half_digit(loss.text), Decimal("0.06") * computed if of or "lost" in figures else Decimal(0)
            )
            if not 0 <= computed <= 100 or abs(computed - stated) > slack:
                where = f"{of}: " if of else ""
                share = f"{float(computed):.4g} %"
                text = f"{where}{lost} of {sent} packets are {share}, and {loss.text} % are printed as lost"
                yield RuleFinding(item, text, {"computed": f"{computed:.4f}", "stated": loss.text})
                break


def _loss(figures: Mapping[str, Figure]) -> tuple[Decimal, Decimal, Figure] | None:
    """Return how many packets were lost, of how many, and the printed share; None if the output does not say."""
    loss = figures.get("loss") or figures.get("sum_received.lost_percent") or figures.get("sum.lost_percent")
    if loss is None:
        return None
    if "transmitted" in figures and "received" in figures:
        sent, received = (number(figures[name].text) for name in ("transmitted", "received"))
        return (sent - received, sent, loss) if sent >= received and sent else None
    start = loss.name.rpartition(".")[0]
    names = (f"{start}.lost_packets", f"{start}.packets") if start in ("sum", "sum_received") else ("lost", "datagrams")
    counts = [number(figures[name].text) for name in names if name in figures]
    return (counts[0], counts[1], loss) if len(counts) == 2 and counts[1] else None


def received_above_sent(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results of which more was received than was sent."""
    for item in _of_tools(items, "iperf", "iperf3"):
        if "omit" in item.result.options or any(name.partition(":")[0].endswith("omitted") for name in item.figures):
            # Versions before 3.2 count what is left out on one side only.
            continue
        groups, figures = _groups(item), item.figures
        pairs = [(figures.get("sum_sent.bytes"), figures.get("sum_received.bytes"))]
        for of, group in groups.items():
            if of.endswith("received"):
                start = of.removesuffix("received").removesuffix(", ")
                other = groups.get(f"{start}, sent" if start else "sent") or groups.get(start, {})
                pairs += [(other.get(name), group.get(name)) for name in ("transfer", "bytes")]
        for sent, received in pairs:
            if sent is None or received is None:
                continue
            most, moved = convert(sent.text, sent.unit), convert(received.text, received.unit)
            slack = RECEIVED_SLACK + _error(sent) + _error(received)
            if most and moved > most * (1 + slack):
                text = f"{received.text} {received.unit} were received, and only {sent.text} {sent.unit} sent"
                yield RuleFinding(item, text, {"received": f"{moved:.0f}", "sent": f"{most:.0f}"})
                break


def datagrams_lost(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results of UDP of which the receiver did not receive what was sent."""
    for item in _of_tools(items, "iperf", "iperf3"):
        if item.measured is None:
            continue
        for figures in _groups(item).values():
            found = _loss(figures)
            if found is not None and found[0] > LOSS_NOTE * found[1]:
                lost, sent, loss = found
                text = f"{lost} of {sent} datagrams were lost, {loss.text} %: the rate is that of what was received"
                yield RuleFinding(item, text, {"lost": str(lost), "sent": str(sent)})
                break


def udp_as_sent(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results of UDP of which only what was sent is known."""
    for item in _of_tools(items, *NETWORK_TOOLS):
        if item.measured is not None and item.result.name.startswith("udp") and item.result.name.endswith("as sent"):
            yield RuleFinding(item, "the rate is that of what was sent: how much of it was received is not known")


def sum_of_both_ways(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs of iperf whose sum adds both ways of a link, which is no rate of one of them."""
    for members in by_output(list(_of_tools(items, "iperf"))):
        ways = {item.result.workload for item in members if item.result.operation == "transfer"}
        sums = [
            figure
            for item in members
            for figure in item.result.figures
            if re.match(r"(?:SUM|FD)[^:]*: rate$", figure.name)
        ]
        if len(ways) > 1 and sums:
            text = f"{sums[-1].text} {sums[-1].unit} in a row of sums add both ways: no way of the link has this rate"
            yield RuleFinding(members[0], text, {"rate": sums[-1].text}, tuple(members[1:]))

"""Rules about transactions: rates, latencies, counts and times of YCSB, pgbench and HammerDB against each other."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.model.units import about_duration, about_latency, about_number
from assay.rooms.importers.audit.facts import MachineFacts
from assay.rooms.importers.audit.findings import Item, RuleFinding, by_output, number

FLIGHT_SHARE = 1.05
"""By how much transactions in flight may be above the number of clients: rate and latency are rounded."""
COUNT_SHARE = Decimal("0.01")
TIME_SHARE = Decimal("0.01")
LATE_SHARE, LATE_S, LATE_LATENCIES = Decimal("0.05"), 2, 20
"""By how much a run of pgbench may be longer than `-T`: the last transactions end behind it, and clients disconnect."""
_DATABASE = ("READ", "UPDATE", "INSERT", "SCAN", "DELETE")


def transactions_in_flight(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield results with more transactions in flight than clients; not those that wait for their time: Little's law."""
    for item in items:
        measured, lanes = item.measured, item.parameter("lanes")
        mean = measured.latency.get("mean") if measured else None
        if item.result.operation != "transaction" or measured is None or not mean or not lanes or not measured.iops:
            continue
        if "schedule lag average" in item.figures:
            continue
        clients = lanes * max(1, item.parameter("hosts"))
        # Before 14, pgbench's mean has the time of connecting in it, as this rate has (pgbench.c, printResults).
        connecting = item.figures.get("tps (including connections establishing)")
        rate = measured.iops if connecting is None else float(number(connecting.text))
        flight = rate * mean / 1e9
        if flight > clients * FLIGHT_SHARE:
            text = f"{about_number(rate)}/s of {about_latency(mean)} each are {flight:.1f} at a time"
            yield RuleFinding(item, f"{text}, and there were {clients} clients", {"in flight": f"{flight:.2f}"})


def operations_of_a_run(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield outputs of YCSB whose operations are not its rate by its time."""
    for members in by_output([item for item in items if item.output.file.tool == "YCSB"]):
        overall, counts = members[0], {item.result.name: item.measured.ops or 0 for item in members if item.measured}
        names = ("RunTime(ms)", "Throughput(ops/sec)")
        if any(name not in overall.figures for name in names) or (overall.measured and overall.measured.errors):
            continue
        time, rate = (number(overall.figures[name].text) for name in names)
        total = sum(counts.get(name, 0) for name in _DATABASE) - counts.get("READ-MODIFY-WRITE", 0)
        if "Operations" in overall.figures:
            total = int(number(overall.figures["Operations"].text))
        stated, listed = rate * time / 1000, Decimal(total)
        if total > 0 and abs(stated - listed) > COUNT_SHARE * max(stated, listed):
            text = f"{rate:.0f} operations/s in {time} ms are {stated:,.0f}, and {total:,} are listed"
            yield RuleFinding(overall, text, {"computed": f"{stated:.0f}", "stated": str(total)})


def time_of_transactions(items: Sequence[Item], _facts: MachineFacts) -> Iterator[RuleFinding]:
    """Yield runs of pgbench whose transactions and rate are of another time than `-T`."""
    for item in items:
        figures, measured = item.figures, item.measured
        if item.output.file.tool != "pgbench" or "duration" not in figures or measured is None or not measured.iops:
            continue
        if measured.ops is None:
            continue
        asked = number(figures["duration"].text)
        # A rate without connections is over the time behind them (-T counts from before), if all came at the start.
        before = figures.get("initial connection time")
        including = figures.get("tps (including connections establishing)")
        rate = number(including.text) if including else Decimal(str(measured.iops))
        took = (measured.ops / rate if rate else Decimal(0)) + (number(before.text) / 1000 if before else 0)
        mean = Decimal(str(measured.latency.get("mean", 0))) / 10**9
        latest = asked * (1 + LATE_SHARE) + LATE_S + LATE_LATENCIES * mean
        if not asked * (1 - TIME_SHARE) <= took <= latest:
            text = f"{measured.ops:,} transactions at {about_number(float(rate))}/s take {about_duration(float(took))}"
            yield RuleFinding(
                item, f"{text}, and -T was {asked} s", {"computed_s": f"{took:.2f}", "asked_s": str(asked)}
            )

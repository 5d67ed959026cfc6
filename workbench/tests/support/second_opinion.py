"""What twenty needs cost, by arithmetic of its own: it shares with Assay only the price books and the needs.

    python tests/support/second_opinion.py [01 13 ...]

For each need it prices the choice that the need's comment argues, and its rivals, and ranks those that do. Formulas
are written out. What services and machines can do is written here again, from the pages of their providers: another
mind makes other mistakes.

Bytes, bytes per second and money are Decimals. A GiB has 2^30 bytes. 90 % of a rate is what may be asked of it.
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from functools import cache
from pathlib import Path
from typing import Any

import yaml

WORKBENCH = Path(__file__).resolve().parents[2]
NEEDS = WORKBENCH / "tests" / "golden" / "needs"
BOOKS = WORKBENCH / "src" / "assay" / "money" / "books" / "data"

QUICK = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader that is written in C, where there is one: books are long."""

KIB, MIB, GIB, TIB = (Decimal(2**power) for power in (10, 20, 30, 40))
KB, MB, GB, TB = (Decimal(10**power) for power in (3, 6, 9, 12))
SIZES = {
    "B": Decimal(1),
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
    "kB": KB,
    "MB": MB,
    "GB": GB,
    "TB": TB,
    "PB": 1000 * TB,
}
PER = {
    **{f"{name}-month": factor for name, factor in SIZES.items()},
    **SIZES,
    "MB/s-month": MB,
    "MiB/s-month": MIB,
    "request": Decimal(1),
    "1000 requests": Decimal(1000),
    "10000 requests": Decimal(10_000),
    "million requests": Decimal(1_000_000),
    **dict.fromkeys(("hour", "unit-hour", "piece", "kWh", "U-month", "person-hour", "IOPS-month", "month"), Decimal(1)),
}
"""What one unit of a price is in bytes, bytes per second, requests or pieces."""
USABLE = Decimal("0.9")
"""Share of a rate that may be asked of a design (the BeeGFS paper of 2016)."""
GP3 = 125 * MIB
"""Bytes per second that a volume of gp3 has without buying any; 3000 IOPS likewise."""
ST1 = 40 * MIB
"""Bytes per second that a TiB of st1 keeps."""


def size(written: object) -> Decimal:
    """Bytes, or bytes per second, of `20TB` and `1.5GB/s`; a plain number is itself."""
    found = re.fullmatch(r"([0-9.]+) *([A-Za-z]*)(/s)?", str(written))
    if found is None:
        raise ValueError(f"{written} is not a size")
    return Decimal(found[1]) * SIZES.get(found[2], Decimal(1))


def up(value: Decimal, step: Decimal | int = 1) -> Decimal:
    """The next multiple of the step."""
    return (value / step).to_integral_value(ROUND_CEILING) * step


def shown(value: Decimal) -> str:
    """With thousands, and no more than eight decimals."""
    return f"{value:,.8f}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Line:
    """A part of a bill: its formula in numbers, and what it comes to in a month."""

    formula: str
    cost: Decimal

    def over(self, months: Decimal | int) -> "Line":
        """What is paid once, as a share of each month."""
        return Line(f"({self.formula}) / {months}", self.cost / months)


class Book:
    """Rows of a price book."""

    def __init__(self, path: Path) -> None:
        read = yaml.load(path.read_text(), QUICK)
        self.hours = Decimal(str(read["hours_per_month"]))
        self.rows = {(row["dimension"], row["item"], row.get("term", "on-demand")): row for row in read["rows"]}

    def line(self, dimension: str, item: str, amount: Decimal | int, term: str = "on-demand", each: int = 1) -> Line:
        """The cost of an amount in bytes, requests or pieces; `each`: so many things that each have what is free."""
        row = self.rows[dimension, item, term]
        units = Decimal(amount) / PER[row["unit"]] - each * Decimal(str(row.get("free", 0)))
        if units <= 0:
            return Line("0", Decimal(0))
        if "tiers" in row:
            return self.tiered(row["tiers"], units)
        price = Decimal(str(row["price"]))
        return Line(f"{shown(units)} {row['unit']} x {shown(price)}", units * price)

    @staticmethod
    def tiered(tiers: list[dict[str, Any]], units: Decimal) -> Line:
        """Each tier from the end of the last to its own."""
        cost, below, parts = Decimal(0), Decimal(0), []
        for tier in tiers:
            end = min(units, Decimal(str(tier.get("up_to", units))))
            price = Decimal(str(tier["price"]))
            if end > below:
                cost += (end - below) * price
                parts.append(f"{shown(end - below)} x {shown(price)}")
                below = end
        return Line(" + ".join(parts), cost)

    def machines(self, item: str, count: int = 1, duty: Decimal | int = 1, term: str = "on-demand") -> Line:
        """Machines by the hour."""
        price = Decimal(str(self.rows["instance", item, term]["price"]))
        formula = f"{count} x {shown(price)} x {self.hours} h" + (f" x {duty}" if duty != 1 else "")
        return Line(formula, count * price * self.hours * duty)

    def upfront(self, item: str, term: str, terms: int, months: int) -> Line:
        """A machine that is paid for whole terms at once."""
        price = Decimal(str(self.rows["instance", item, term]["upfront"]))
        return Line(f"{terms} x {shown(price)}", terms * price).over(months)

    def own(self, pieces: dict[str, int], watts: int, units: int, hours: int, months: int) -> list[Line]:
        """Own hardware: the purchase whole in the months of the need, power, rack and people."""
        bought = [self.line("purchase", item, count) for item, count in pieces.items()]
        whole = Line(" + ".join(line.formula for line in bought), sum((line.cost for line in bought), Decimal(0)))
        power = Decimal(watts) / 1000 * self.hours
        lines = [whole.over(months), self.line("power", "electricity", power), self.line("rack", "rack", units)]
        return [*lines, self.line("administration", "administrator", hours)] if hours else lines


@dataclass(frozen=True)
class Candidate:
    """One thing that could be chosen.

    Attributes:
        design, settings, term: As Assay names it.
        lines: Its bill of a month.
        fails: Why it is no choice; empty: it does what is needed.
        unproven: It may do what is needed, but nobody states it.
        rate: What one of the bill's currency is worth in that of the need.
    """

    design: str
    settings: dict[str, Any]
    lines: list[Line]
    fails: str = ""
    unproven: str = ""
    term: str | None = None
    rate: Decimal = Decimal(1)

    @property
    def cost(self) -> Decimal:
        """Of a month."""
        return sum((line.cost for line in self.lines), Decimal(0)) * self.rate

    @property
    def formula(self) -> str:
        """The bill in numbers."""
        text = " + ".join(line.formula for line in self.lines if line.cost)
        return text if self.rate == 1 else f"({text}) x {self.rate}"

    @property
    def name(self) -> str:
        """With what tells it from others."""
        return " ".join([self.design, *(f"{key}={value}" for key, value in self.settings.items())])


@dataclass
class Asked:
    """A need, as its file says it, with sizes in bytes."""

    number: str
    written: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (path,) = NEEDS.glob(f"{self.number}-*.yaml")
        self.text = path.read_text()
        self.written = yaml.load(self.text, QUICK)

    def bytes(self, key: str, within: str = "") -> Decimal:
        """A size or rate; 0 if it is not asked for."""
        return size((self.written.get(within, {}) if within else self.written).get(key, 0))

    @property
    def sold(self) -> Decimal:
        """Bytes per second of reading and writing at once, of a rate that is bought: all of it counts."""
        return self.bytes("read") + self.bytes("write")

    @property
    def both(self) -> Decimal:
        """The same of a link or of disks, over 90 %."""
        return self.sold / USABLE

    @property
    def months(self) -> int:
        return int(self.written.get("months", 12))

    @property
    def record(self) -> Decimal:
        return size(self.written.get("profile", {}).get("record", "1MiB"))

    def objects(self, key: str) -> Decimal:
        """How many objects are `read` or `written` in a month."""
        return self.bytes(key, "monthly") / self.record

    def first(self, book: Book, item: str, dimension: str = "object-requests") -> Line:
        """What writing all that lies there costs once, spread over the months."""
        return book.line(dimension, item, up(self.bytes("capacity") / self.record)).over(self.months)


def bucket(book: Book, asked: Asked, kind: str, stored: Decimal, egress: bool = False) -> list[Line]:
    """A bucket in one class: what lies there, the first upload, requests, what retrieval costs, and what leaves."""
    lines = [
        book.line("object-capacity", kind, stored),
        asked.first(book, f"{kind}/put"),
        book.line("object-requests", f"{kind}/put", asked.objects("written")),
        book.line("object-requests", f"{kind}/get", asked.objects("read")),
    ]
    if kind in ("s3-glacier-flexible", "s3-deep-archive"):
        lines.append(book.line("object-requests", f"{kind}/restore", asked.objects("read")))
    if ("object-retrieval", kind, "on-demand") in book.rows:
        lines.append(book.line("object-retrieval", kind, asked.bytes("read", "monthly")))
    return [*lines, book.line("transfer-out", "internet", asked.bytes("egress", "monthly"))] if egress else lines


def archived(stored: Decimal, record: Decimal) -> Decimal:
    """Bytes that Glacier's archive classes charge: 32 KiB with each object (S3 user guide)."""
    return stored + stored / record * 32 * KIB


def indexed(stored: Decimal, record: Decimal) -> Decimal:
    """Bytes that Glacier's archive classes charge at the price of the standard class: 8 KiB for each object."""
    return stored / record * 8 * KIB


def lost(volumes: int) -> Decimal:
    """Chance in a year that one of the volumes fails, of which up to 0.2 % do (EBS)."""
    return 1 - Decimal("0.998") ** volumes


def too_slow(has: Decimal, needed: Decimal) -> str:
    """Why a rate is too little; `needed` is over 90 % already."""
    return "" if has >= needed else f"{shown(has / MB)} MB/s for {shown(round(needed / MB, 1))}"


Needs = dict[str, Callable[[Asked], list[Candidate]]]
ALL: Needs = {}


def need(function: Callable[[Asked], list[Candidate]]) -> Callable[[Asked], list[Candidate]]:
    """Take a need into the table by the number in its name."""
    ALL[function.__name__[-2:]] = function
    return function


@cache
def candidates(number: str) -> list[Candidate]:
    """The choice first, then its rivals."""
    return ALL[number](Asked(number))


def ranked(found: list[Candidate]) -> list[Candidate]:
    """Those that do, the cheapest first."""
    return sorted((item for item in found if not item.fails and not item.unproven), key=lambda item: item.cost)


def table(number: str) -> Iterator[str]:
    """The lines that are printed of one need."""
    found = candidates(number)
    order = ranked(found)
    yield f"{number}  {Asked(number).written['need']}"
    for item in found:
        rank = str(order.index(item) + 1) if item in order else "-"
        why = (("fails", item.fails), ("unproven", item.unproven))
        said = "".join(f"  {word}: {text}" for word, text in why if text)
        yield f"  {rank:>2}  {item.cost:>12,.2f}  {item.name}{said}"
        yield f"      {'':>12}  = {item.formula}"


def main(numbers: list[str]) -> None:
    """Print all needs, or those that are named."""
    import second_opinion_needs  # noqa: F401  (fills the table)

    for number in numbers or sorted(ALL):
        print("\n".join(table(number)), end="\n\n")


if __name__ == "__main__":
    sys.modules["second_opinion"] = sys.modules["__main__"]
    main(sys.argv[1:])

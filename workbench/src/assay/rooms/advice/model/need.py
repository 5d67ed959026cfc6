"""What the storage must do, as its user specifies it."""

import datetime as dt
import math
import re
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from assay.model.frozen import Frozen
from assay.model.money.amount import MAX_BYTES, Amount, Share, Term, parse_decimal
from assay.model.money.design import Access, Durability, Rate, Throughput
from assay.model.money.managed import Provider
from assay.model.money.price import Currency
from assay.model.money.use import Size
from assay.model.study.axis import fault
from assay.model.units import UnitError, display_value, format_size, parse_duration, parse_rate, parse_throughput

MAX_MONTHS = 240
MAX_RECOVERY_SECONDS = 90 * 24 * 3600
MAX_GROWTH = 10
DATABASE_PAGE, TABLE_ITEM = 8 << 10, 1 << 10
"""Bytes of an operation and of an item whose size is not stated.

The first is the page of PostgreSQL and SQL Server, the second what one write unit of DynamoDB writes.
"""
MAX_OPERATIONS, MAX_LATENCY_SECONDS, MIN_LATENCY_SECONDS = 10**12, 3600, 1e-9
"""Bounds of operations per second, and of latencies."""
DEFAULT_BOOKS = ("own-2026", "aws-us-east-1", "azure-eastus", "gcp-us-central1")
"""Price books used unless a need or the command names others: one for each provider."""

_BUDGET = re.compile(r"(?P<amount>-?[0-9][0-9,]*(\.[0-9]+)?) +(?P<currency>[A-Za-z]+)(?P<per> ?/ ?month| in all)?")


def _seconds(written: object) -> float:
    if isinstance(written, float):
        return written
    try:
        return parse_duration(written) / 1e9
    except UnitError as error:
        raise fault(error.message, error.hint) from None


def _growth(written: object) -> Decimal:
    percent = isinstance(written, str) and written.strip().endswith("%")
    value = (
        parse_decimal(written.strip().removesuffix("%")) / 100
        if isinstance(written, str) and percent
        else parse_decimal(written)
    )
    if value > MAX_GROWTH:
        raise fault(f"{display_value(written)} is more than {100 * MAX_GROWTH} %", "write growth as 50% or 0.5")
    return value


def _budget(written: object) -> object:
    """Parse `5000 USD/month` or `60000 USD in all`."""
    if isinstance(written, dict | CostLimit):
        return written
    hint = "write it as 5000 USD/month, or 60000 USD in all"
    found = _BUDGET.fullmatch(written.strip()) if isinstance(written, str) else None
    if found is None:
        raise fault(f"{display_value(written)} is not a budget", hint)
    if found["per"] is None:
        raise fault(f"{display_value(written)} does not say for how long", hint)
    if len(found["currency"]) != 3 or not found["currency"].isupper():
        raise fault(f"`{found['currency']}` is not a currency", "write its ISO 4217 code, such as USD or EUR")
    per = "all" if found["per"].strip() == "in all" else "month"
    return {"amount": parse_decimal(found["amount"].replace(",", "")), "currency": found["currency"], "per": per}


def _whole(written: object) -> object:
    if isinstance(written, bool) or not isinstance(written, int):
        raise fault(f"{display_value(written)} is not a whole number", "write it without unit, such as 12")
    if written < 1:
        raise fault(f"{written} is less than 1", "write a number of at least 1, or leave it out")
    return written


def _candidate(written: object) -> object:
    return {"design": written} if isinstance(written, str) else written


def _up_to(most: float, words: str, least: float = 0) -> AfterValidator:
    """Check that a value is above 0, at least `least` and at most `most`; `words` states the bounds in the hint."""

    def check(value: Any) -> Any:
        if value <= 0 or value < least or value > most:
            wrong = "is not above 0" if value <= 0 else "is too small" if value < least else "is too large"
            raise fault(f"{_written(value, words)} {wrong}", f"write {words}")
        return value

    return AfterValidator(check)


def _written(value: Any, words: str) -> str:
    return format_size(value) if words.startswith("a size") else f"{value:,}"


def _text(written: str) -> str:
    """Refuse invisible characters: they could make the answer look like another one."""
    strange = next((sign for sign in written if not sign.isprintable()), None)
    if strange is not None:
        raise fault(f"the character U+{ord(strange):04X} cannot be printed", "leave it out, and write one line")
    return written


def _lines(written: str) -> str:
    _text(written.replace("\n", " "))
    return written


def _values(written: dict[str, Any]) -> dict[str, Any]:
    for key, value in written.items():
        for each in value if isinstance(value, list | tuple) else (value,):
            _text(f"{key} {each}")
    return written


Whole = Annotated[int, BeforeValidator(_whole)]
Text = Annotated[str, Field(min_length=1), AfterValidator(_text)]
Clients = Annotated[Whole, _up_to(1_000_000, "a number from 1 to 1000000")]
Streams = Annotated[Whole, _up_to(100_000, "a number from 1 to 100000")]
Months = Annotated[Whole, _up_to(MAX_MONTHS, f"a number from 1 to {MAX_MONTHS}")]
Bytes = Annotated[Size, _up_to(MAX_BYTES, "a size above 0, up to 1000000PB")]
Bandwidth = Annotated[Throughput, _up_to(MAX_BYTES, "a throughput above 0/s, up to 1000000PB/s")]
Operations = Annotated[Rate, _up_to(MAX_OPERATIONS, "a rate above 0/s, up to 1000000000000/s")]
Recovery = Annotated[float, BeforeValidator(_seconds), _up_to(MAX_RECOVERY_SECONDS, "a time from 1s to 2160h", 1)]
Latency = Annotated[
    float, BeforeValidator(_seconds), _up_to(MAX_LATENCY_SECONDS, "a time from 1ns to 1h", MIN_LATENCY_SECONDS)
]


def _traffic(value: int) -> int:
    if value > MAX_BYTES:
        raise fault(f"{format_size(value)} is too large", "write a size up to 1000000PB")
    return value


Traffic = Annotated[Size, AfterValidator(_traffic)]


def _day(written: object) -> object:
    value = parse_decimal(written)
    if not 0 < value <= 24:
        raise fault(f"{display_value(written)} is not a number of hours in a day", "write hours above 0, up to 24")
    return value


def _exchange(written: object) -> object:
    """Split `{EUR: 1.14, date: 2026-09-23, source: ECB}`: every unknown key is a currency."""
    if not isinstance(written, dict):
        return written
    known = {key: value for key, value in written.items() if key in ("date", "source", "rates")}
    rates = {key: value for key, value in written.items() if key not in known}
    for key in rates:
        if not isinstance(key, str) or len(key) != 3 or not key.isupper():
            raise fault(f"{display_value(key)} is not a currency", "write its ISO 4217 code, such as EUR: 1.14")
    return {"rates": rates, **known}


def _client(written: object) -> object:
    """Read a link rate such as `10Gb/s`, or the name of an instance."""
    if isinstance(written, str) and "/s" in written:
        try:
            written = float(parse_throughput(written))
        except UnitError as error:
            raise fault(error.message, error.hint) from None
    if not isinstance(written, str) and type(written) is not float:
        raise fault(
            f"{display_value(written)} is neither a link rate nor an instance type",
            "write 25Gb/s, or the name of an instance type",
        )
    if isinstance(written, float) and not 0 < written <= MAX_BYTES:
        raise fault(f"{display_value(written)} is not a link rate", "write 25Gb/s, or the name of an instance type")
    return written


def _flag(written: object) -> object:
    if not isinstance(written, bool):
        raise fault(f"{display_value(written)} is not true or false", "write true or false")
    return written


def _small_files(written: object) -> object:
    """Read true or false, or small files a second."""
    if isinstance(written, bool | float):
        return written
    try:
        return parse_rate(written)
    except UnitError:
        hint = "write true, false, or how many all clients need in a second: 300/s"
        raise fault(f"{display_value(written)} is neither true, false nor a rate", hint) from None


def _file_rate(value: bool | float) -> bool | float:
    if not isinstance(value, bool) and not 0 < value <= MAX_OPERATIONS:
        raise fault(f"{value:g}/s is not above 0, or too large", "write a rate above 0/s, up to 1000000000000/s")
    return value


def _lower(written: object) -> object:
    return written.lower() if isinstance(written, str) else written


def _by_provider(written: object) -> object:
    """Use a single figure for all providers."""
    if isinstance(written, dict):
        return written
    return dict.fromkeys(("aws", "azure", "gcp", "own"), written)


class CostLimit(Frozen):
    """The highest acceptable cost.

    Attributes:
        per: For each month, or for all months of the need together.
    """

    amount: Decimal = Field(gt=0)
    currency: str
    per: Literal["month", "all"]


class AccessProfile(Frozen):
    """How programs use the storage.

    Attributes:
        record: Bytes of each operation, object or item.
        read_share: Share of the bytes that are read; the rest are written.
        streams: Concurrent transfers of each client.
        small_files: Most operations are on names and small files; or how many small files all clients together open,
            read or write and close in a second.
        cold: The data is rarely read, and the first byte may take long.
    """

    pattern: Literal["sequential", "random"] = "sequential"
    record: Bytes = 2**20
    read_share: Share = Decimal("0.5")
    streams: Streams = 1
    small_files: Annotated[bool | float, BeforeValidator(_small_files), AfterValidator(_file_rate)] = False
    cold: bool = False

    @property
    def file_rate(self) -> float | None:
        """Small files a second that are needed; None: `small_files` states no rate."""
        return None if isinstance(self.small_files, bool) else self.small_files


class MonthlyTraffic(Frozen):
    """Data transferred in a month, for services that charge by request or byte.

    Attributes:
        read, written: Bytes; None: computed from the rates of the need.
        egress: Bytes that leave the provider; None: what clients outside the region read, else none.
        zone: Bytes between zones of a region.
    """

    read: Traffic | None = None
    written: Traffic | None = None
    egress: Traffic | None = None
    zone: Traffic = 0


class DataLocation(Frozen):
    """Where the data may be stored; empty: anywhere.

    Attributes:
        providers: `own`, or names of clouds.
        regions: Names of regions as in price books.
    """

    providers: tuple[Provider, ...] = ()
    regions: tuple[Text, ...] = ()


class DailyBurst(Frozen):
    """A rate that is needed during a part of each day only.

    Attributes:
        read, write: Bytes per second of all clients together.
        hours: Hours of each day.
    """

    read: Bandwidth | None = None
    write: Bandwidth | None = None
    hours: Annotated[Decimal, BeforeValidator(_day)]


class Migration(Frozen):
    """Data that must be moved in once, at the beginning.

    Attributes:
        origin: Where the data is now (`from` in the file): clouds charge for data that leaves them.
        link: Bytes per second of the connection.
        size: Bytes; None: the need's capacity.
    """

    origin: Provider = Field(alias="from")
    link: Bandwidth
    size: Bytes | None = None


class ExchangeRates(Frozen):
    """Exchange rates.

    Attributes:
        rates: Currency -> value of one unit in the need's currency.
        date: Date of the rates.
        source: Source of the rates.
    """

    rates: dict[str, Annotated[Decimal, BeforeValidator(parse_decimal), Field(gt=0)]]
    date: dt.date
    source: str = ""


class CandidateDesign(Frozen):
    """A design to be considered.

    Attributes:
        design: Name of a design that comes with Assay, or a file.
        set: Parameter -> value, or list of values, in place of the design's own choices.
    """

    design: Text
    set: Annotated[dict[str, Any], AfterValidator(_values)] = Field(default_factory=dict)


class Need(Frozen):
    """What the storage must do and may cost. What is left out is not required.

    Attributes:
        capacity: Bytes of data it must hold.
        read, write: Sustained bytes per second of all clients together, not those of a burst.
        read_iops, write_iops: Sustained operations per second of `profile.record` bytes, of all clients together.
        protocol: Protocol that the clients use; None: any.
        worm: Data must be kept so that it cannot be changed or deleted before a date.
        managed: A provider must run it.
        p99: Seconds within which 99 of 100 operations must end.
        clients: Hosts that use it at the same time.
        durability: Weakest acceptable durability class.
        data: persistent: the data must outlive the work; scratch: it can be recreated.
        archive: A copy of the important data is stored elsewhere.
        months: How long it is needed.
        duty: Share of the time that the storage is switched on.
        growth: By how much capacity and rates may grow later; every design must support that from the start.
        growth_per_year: By how much the data grows each year; costs by stored byte grow with it.
        active: Share of the data used in a month; None: derived from `monthly.read` if given, else all.
        availability: Percent of the time that the data must be available.
        max_loss: Acceptable chance of losing the data in a year; None: 1 % if `durability` is required.
        rpo: Seconds of the newest writes that may be lost when what `durability` names fails; recovery point objective.
        recovery: Seconds within which the data must be readable after a loss, or at all.
        where: Where the data may lie.
        burst: A higher rate for some hours of each day.
        snapshots: Bytes of stored snapshots or backups.
        migration: Data that must be moved in first.
        clients_at: Where the clients are: in the region of the data, or on own premises, which the internet or a leased
            line connects with it.
        client: Instance type of each client, or its link in bytes per second.
        admin_hours: Who runs it -> hours of administration in a month; `own`: what the user runs, on rented servers as
            well.
        support: Provider -> support costs as a share of the bill.
        tax: Share that is added to all payments.
        discount: Yearly discount rate of money; None: no discounting.
        currency: Currency of the answer; None: that of the budget, else of the first book.
        exchange: Rates for books in other currencies.
        term: The only acceptable term; None: the cheapest allowed one.
        book: Price book; None: `books`, else `DEFAULT_BOOKS`.
        books: Several price books: each design is priced by those of its provider.
        candidates: The only designs considered; empty: all that come with Assay.
        prefer: Criterion among the suitable designs: the lowest cost, or the lowest cost for each GB/s.
    """

    need: Text
    about: Annotated[str, AfterValidator(_lines)] = ""
    access: Access
    capacity: Bytes
    read: Bandwidth | None = None
    write: Bandwidth | None = None
    read_iops: Operations | None = None
    write_iops: Operations | None = None
    protocol: Annotated[Literal["nfs", "smb", "s3", "iscsi"] | None, BeforeValidator(_lower)] = None
    worm: Annotated[bool, BeforeValidator(_flag)] = False
    managed: Annotated[bool, BeforeValidator(_flag)] = False
    p99: Latency | None = None
    clients: Clients | None = None
    durability: Durability | None = None
    data: Literal["persistent", "scratch"] = "persistent"
    archive: bool = False
    months: Months = 12
    budget: Annotated[CostLimit, BeforeValidator(_budget)] | None = None
    duty: Share = Field(Decimal(1), gt=0)
    growth: Annotated[Decimal, BeforeValidator(_growth)] = Decimal(0)
    growth_per_year: Annotated[Decimal, BeforeValidator(_growth)] = Decimal(0)
    active: Share | None = None
    availability: Annotated[float, Field(gt=0, le=100)] | None = None
    max_loss: Share | None = None
    rpo: Recovery | None = None
    recovery: Recovery | None = None
    where: DataLocation = DataLocation()
    burst: DailyBurst | None = None
    snapshots: Traffic = 0
    migration: Migration | None = None
    clients_at: Literal["region", "internet", "leased-line"] = "region"
    client: Annotated[float | str, BeforeValidator(_client)] | None = None
    admin_hours: Annotated[dict[Provider, Amount], BeforeValidator(_by_provider)] = Field(default_factory=dict)
    support: Annotated[dict[Provider, Share], BeforeValidator(_by_provider)] = Field(default_factory=dict)
    tax: Share = Decimal(0)
    discount: Share | None = None
    currency: Currency | None = None
    exchange: Annotated[ExchangeRates, BeforeValidator(_exchange)] | None = None
    profile: AccessProfile = AccessProfile()
    monthly: MonthlyTraffic = MonthlyTraffic()
    term: Term | None = None
    book: str | None = None
    books: tuple[Text, ...] = ()
    candidates: tuple[Annotated[CandidateDesign, BeforeValidator(_candidate)], ...] = ()
    prefer: Literal["cost", "cost-per-rate"] = "cost"

    @model_validator(mode="before")
    @classmethod
    def _part_of_month(cls, written: Any) -> Any:
        """Take a part of a month, after which everything is deleted, as so much of the time of whole months."""
        months = written.get("months") if isinstance(written, dict) else None
        if not isinstance(months, float) or not 0 < months <= MAX_MONTHS or months.is_integer():
            return written
        if written.get("data") != "scratch" or "duty" in written:
            hint = "write whole months; of scratch data (`data: scratch`) without `duty` they may be 0.5"
            raise fault(f"months: {months} is not a whole number", hint, "months")
        whole = math.ceil(months)
        return {**written, "months": whole, "duty": Decimal(repr(months)) / whole}

    @model_validator(mode="after")
    def _small_operations(self) -> "Need":
        """Take operations a second whose size is not stated as those of a database, and items as one unit of writes."""
        assumed: dict[str, Any] = {}
        if self.access == "table":
            assumed = {"pattern": "random", "record": TABLE_ITEM}
        elif self.access != "object" and (self.read_iops or self.write_iops):
            assumed = {"pattern": "random", "record": DATABASE_PAGE}
        stated = self.profile.model_fields_set
        if not assumed or "record" in stated:
            return self
        assumed = {key: value for key, value in assumed.items() if key not in stated}
        profile = AccessProfile.model_construct(_fields_set=stated, **{**self.profile.__dict__, **assumed})
        return self.model_copy(update={"profile": profile})

    @model_validator(mode="after")
    def _consistent(self) -> "Need":
        if self.book is not None and self.books:
            raise fault("the need has both `book` and `books`", "write one of the two", "books")
        share = self.profile.read_share
        for metric, absent in (("write", share == 1), ("read", share == 0)):
            for name in (metric, f"{metric}_iops"):
                if absent and getattr(self, name) is not None:
                    word = "read" if share == 0 else "written"
                    raise fault(
                        f"{name} is required, but with profile.read_share: {share} nothing is {word}",
                        f"remove `{name}`, or change profile.read_share",
                        name,
                    )
        return self

    @property
    def after_growth(self) -> "Need":
        """The need with capacity and rates after their growth."""
        if not self.growth and not self.growth_per_year:
            return self
        yearly = (1 + self.growth_per_year) ** (Decimal(self.months) / 12)
        factor = (1 + self.growth) * yearly
        rates = ("read", "write", "read_iops", "write_iops")
        changes: dict[str, Any] = {
            name: float(Decimal(repr(value)) * factor) for name in rates if (value := getattr(self, name)) is not None
        }
        return self.model_copy(update={**changes, "capacity": int(self.capacity * factor)})

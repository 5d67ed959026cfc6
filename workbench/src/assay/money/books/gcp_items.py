"""Which SKUs of Google Cloud's price list the rows of a price book stand for.

Descriptions are those of the list, as public readers of it know them (Cyclenerd/google-cloud-pricing-cost-calculator,
opencost); a description goes on with the place, which the SKU's regions say as well. A machine is the sum of its cores
and its memory, which the catalogue of instance types has.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import TERM_MONTHS
from assay.model.money.price import Book, Row
from assay.money.books.gcp import address
from assay.money.books.listed import ON_DEMAND, RESERVED, SPOT, Attributes, Offered
from assay.money.cost.catalog import catalog

COMPUTE, OBJECTS, FILES = "Compute Engine", "Cloud Storage", "Cloud Filestore"
SERVICES = {COMPUTE: "6F81-5844-456A", OBJECTS: "95FF-2EF5-5EA1", FILES: "D97E-AB26-5D95"}
"""Numbers of the services whose names SKUs carry."""
GIB = 2**30
UNITS: dict[str, tuple[str, int | None]] = {
    "h": ("hours", 1),
    "giby.mo": ("byte-months", GIB),
    "giby.h": ("byte-hours", GIB),
    "giby": ("bytes", GIB),
    "tiby": ("bytes", 2**40),
    "count": ("requests", 1),
    "mo": ("months", 1),
}
"""Usage units: kind, and base units in one."""
_DISKS = {
    "pd-standard": "Storage PD Capacity",
    "pd-balanced": "Balanced PD Capacity",
    "pd-ssd": "SSD backed PD Capacity",
    "pd-extreme": "Extreme PD Capacity",
    "pd-standard-regional": "Regional Storage PD Capacity",
    "pd-balanced-regional": "Regional Balanced PD Capacity",
    "pd-ssd-regional": "Regional SSD backed PD Capacity",
}
_BOUGHT = {"capacity": "Capacity", "iops": "IOPS", "throughput": "Throughput"}
_HYPERDISK = re.compile(r"hyperdisk-(?P<kind>balanced|extreme|throughput|ml)(?P<high>-ha|-high-availability)?")
_BUCKET = re.compile(r"gcs-(?P<kind>standard|nearline|coldline|archive)(?:/(?P<request>put|get))?")
_FILESTORE = re.compile(r"filestore-(?P<tier>zonal|regional|basic-hdd|basic-ssd|enterprise|high-scale-ssd)")
_FILESTORE_WORDS = {
    "zonal": "Zonal",
    "regional": "Regional",
    "basic-hdd": r"(?:Basic HDD|Standard)(?: \(Standard\))?",
    "basic-ssd": r"(?:Basic SSD|Premium)(?: \(Premium\))?",
    "enterprise": "Enterprise",
    "high-scale-ssd": "High Scale(?: SSD)?",
}
_PLACE = r"(?: (?!.*(?:Multi-region|Dual-region|Early Delete|Confidential|Storage Pool)).*)?"
"""What may follow a description: where it is, and nothing that makes it another thing."""


@dataclass(frozen=True)
class Rule:
    """What a SKU must be.

    Attributes:
        offer: Name of its service.
        names: What its description is; several are the parts of a sum, as `sums` says.
    """

    offer: str
    names: tuple[re.Pattern[str], ...]
    sums: tuple[tuple[str, Decimal], ...] = ()
    units: Mapping[str, tuple[str, int | None]] = field(default_factory=lambda: UNITS)
    bounds: tuple[Decimal | None, ...] = (None,)

    @property
    def offers(self) -> tuple[str, ...]:
        """The services whose lists have it."""
        return (self.offer,)

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Whether a SKU is this one, in a region or everywhere."""
        regions = attributes.get("regions", "").split()
        return (
            attributes.get("servicecode") == self.offer
            and (region in regions or "global" in regions)
            and any(name.fullmatch(attributes.get("description", "")) for name in self.names)
        )

    def parts(self, fitting: Sequence[Offered]) -> list[list[Offered]]:
        """Those of each name."""
        return [
            [each for each in fitting if name.fullmatch(each.attributes.get("description", ""))] for name in self.names
        ]


def rule_for(row: Row) -> Rule | None:
    """How a row's SKUs are found; None: no rule finds them."""
    item, dimension = row.item, row.dimension
    if dimension == "instance":
        return _machine_rule(item, row.term)
    if dimension.startswith("volume-"):
        return _disk_rule(dimension, item)
    if dimension == "snapshot-capacity" and item in ("standard", "pd-snapshot"):
        return Rule(COMPUTE, (_described("Storage PD Snapshot"),))
    if dimension.startswith("object-"):
        return _bucket_rule(dimension, item)
    found = _FILESTORE.fullmatch(item)
    if found and dimension == "filesystem-capacity":
        tier = _FILESTORE_WORDS[found["tier"]]
        return Rule(FILES, (_described(f"(?:Filestore )?Capacity {tier}(?: Capacity)?"),))
    return None


def term_fits(row: Row, offered: Offered) -> bool:
    """Whether a price is on the row's term: commitments are paid month by month."""
    if row.term not in TERM_MONTHS:
        return offered.term == (SPOT if row.term == "spot" else ON_DEMAND)
    kind, _, length = row.term.partition("-")
    no_upfront = row.payment == "no-upfront"
    return kind == "reserved" and no_upfront and offered.term == RESERVED and offered.lease == length + "r"


def addresses(book: Book) -> list[str]:
    """Where the SKUs are of the services that a book has rows of."""
    services = dict.fromkeys(rule.offer for rule in map(rule_for, book.rows) if rule)
    return [address(SERVICES[service], book.currency) for service in services]


def _described(start: str) -> re.Pattern[str]:
    return re.compile(start + _PLACE)


@functools.cache
def _size(name: str) -> tuple[Decimal, Decimal] | None:
    """Cores and GiB of memory of a machine type; None: it is unknown, or has disks of its own, which cost as well."""
    try:
        machine = catalog().instance(name)
    except AssayError:
        return None
    if machine.disks or not machine.vcpus or not machine.memory:
        return None
    return Decimal(machine.vcpus), Decimal(int(machine.memory)) / GIB


def _machine_rule(item: str, term: str) -> Rule | None:
    family = item.partition("-")[0].upper()
    size = _size(item)
    if size is None:
        return None
    if term in TERM_MONTHS:
        years = "1 Year" if term.endswith("1y") else "3 Years?"
        names = [re.compile(rf"Commitment v1: {family} {part} in .* for {years}") for part in ("Cpu", "Ram")]
    else:
        spot = "Spot Preemptible " if term == "spot" else ""
        kind = r"(?: (?:AMD|Arm|Predefined))?"
        names = [re.compile(rf"{spot}{family}{kind} Instance {part} running in .*") for part in ("Core", "Ram")]
    return Rule(COMPUTE, tuple(names), (("h", size[0]), ("GiBy.h", size[1])))


def _disk_rule(dimension: str, item: str) -> Rule | None:
    bought = _BOUGHT.get(dimension.removeprefix("volume-"))
    hyperdisk = _HYPERDISK.fullmatch(item)
    if hyperdisk and bought:
        kind = "ML" if hyperdisk["kind"] == "ml" else hyperdisk["kind"].capitalize()
        name = f"Hyperdisk {kind}{' High Availability' if hyperdisk['high'] else ''} (?i:{bought})"
        return Rule(COMPUTE, (_described(name),), units=_provisioned(dimension))
    if item in _DISKS and dimension == "volume-capacity":
        return Rule(COMPUTE, (_described(_DISKS[item]),))
    if (item, dimension) == ("pd-extreme", "volume-iops"):
        return Rule(COMPUTE, (_described("Extreme PD IOPS"),), units=_provisioned(dimension))
    return None


def _provisioned(dimension: str) -> Mapping[str, tuple[str, int | None]]:
    """What `mo` and `h` are of: a disk's operations a second, or its rate in MiB/s."""
    if dimension == "volume-iops":
        return UNITS | {"mo": ("IOPS-months", 1), "count": ("IOPS-months", 1), "h": ("IOPS-hours", 1)}
    if dimension == "volume-throughput":
        rate = 2**20
        return UNITS | {"mo": ("byte/s-months", rate), "mibps.mo": ("byte/s-months", rate), "h": ("byte/s-hours", rate)}
    return UNITS


def _bucket_rule(dimension: str, item: str) -> Rule | None:
    found = _BUCKET.fullmatch(item)
    if not found or bool(found["request"]) != (dimension == "object-requests"):
        return None
    kind = found["kind"].capitalize()
    if dimension == "object-capacity":
        return Rule(OBJECTS, (_described(f"{kind} Storage"),))
    if dimension == "object-retrieval":
        return Rule(OBJECTS, (re.compile(f"{kind} Data Retrieval"),)) if kind != "Standard" else None
    operations = "A" if found["request"] == "put" else "B"
    return Rule(OBJECTS, (re.compile(rf"Regional {kind} Class {operations} Operations"),))

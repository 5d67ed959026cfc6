"""Which SKUs of Google Cloud's price list the rows of a price book stand for.

Descriptions are those of the list, as public readers of it quote them (Cyclenerd/google-cloud-pricing-cost-calculator,
opencost). A description ends with the location, which the SKU's regions state as well. The price of a machine is the
sum of its cores and its memory, which the catalogue of instance types states.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import TERM_MONTHS
from assay.model.money.price import PriceBook, PriceRow
from assay.money.cost.catalog import catalog
from assay.rooms.pricelists.work.gcp import list_url
from assay.rooms.pricelists.work.price_list import ON_DEMAND, RESERVED, SPOT, Attributes, ListedPrice

COMPUTE, OBJECTS, FILES = "Compute Engine", "Cloud Storage", "Cloud Filestore"
SERVICES = {COMPUTE: "6F81-5844-456A", OBJECTS: "95FF-2EF5-5EA1", FILES: "D97E-AB26-5D95"}
"""IDs of the services, by the names that their SKUs carry."""
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
"""Usage unit -> kind, and base units in one."""
_DISKS = {
    "pd-standard": "Storage PD Capacity",
    "pd-balanced": "Balanced PD Capacity",
    "pd-ssd": "SSD backed PD Capacity",
    "pd-extreme": "Extreme PD Capacity",
    "pd-standard-regional": "Regional Storage PD Capacity",
    "pd-balanced-regional": "Regional Balanced PD Capacity",
    "pd-ssd-regional": "Regional SSD backed PD Capacity",
}
_MEASURES = {"capacity": "Capacity", "iops": "IOPS", "throughput": "Throughput"}
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
"""Allowed rest of a description: the location, and nothing that makes it another product."""


@dataclass(frozen=True)
class GcpRule:
    """The conditions that a SKU must satisfy.

    Attributes:
        offer: Name of its service.
        names: Patterns of its description; several are the parts of a sum, weighted by `sums`.
    """

    offer: str
    names: tuple[re.Pattern[str], ...]
    sums: tuple[tuple[str, Decimal], ...] = ()
    units: Mapping[str, tuple[str, int | None]] = field(default_factory=lambda: UNITS)
    bounds: tuple[Decimal | None, ...] = (None,)

    @property
    def offers(self) -> tuple[str, ...]:
        """The services whose lists may have the SKU."""
        return (self.offer,)

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Return whether a SKU satisfies the rule, in a region or globally."""
        regions = attributes.get("regions", "").split()
        return (
            attributes.get("servicecode") == self.offer
            and (region in regions or "global" in regions)
            and any(name.fullmatch(attributes.get("description", "")) for name in self.names)
        )

    def parts(self, fitting: Sequence[ListedPrice]) -> list[list[ListedPrice]]:
        """Return the prices that match each description."""
        return [
            [each for each in fitting if name.fullmatch(each.attributes.get("description", ""))] for name in self.names
        ]


def rule_for(row: PriceRow) -> GcpRule | None:
    """Return the rule that finds a row's SKUs; None: there is none."""
    item, dimension = row.item, row.dimension
    if dimension == "instance":
        return _machine_rule(item, row.term)
    if dimension.startswith("volume-"):
        return _disk_rule(dimension, item)
    if dimension == "snapshot-capacity" and item in ("standard", "pd-snapshot"):
        return GcpRule(COMPUTE, (_starting_with("Storage PD Snapshot"),))
    if dimension.startswith("object-"):
        return _bucket_rule(dimension, item)
    found = _FILESTORE.fullmatch(item)
    if found and dimension == "filesystem-capacity":
        tier = _FILESTORE_WORDS[found["tier"]]
        return GcpRule(FILES, (_starting_with(f"(?:Filestore )?Capacity {tier}(?: Capacity)?"),))
    return None


def term_fits(row: PriceRow, price: ListedPrice) -> bool:
    """Return whether a price is on the row's term; commitments are paid monthly."""
    if row.term not in TERM_MONTHS:
        return price.term == (SPOT if row.term == "spot" else ON_DEMAND)
    kind, _, length = row.term.partition("-")
    no_upfront = row.payment == "no-upfront"
    return kind == "reserved" and no_upfront and price.term == RESERVED and price.lease == length + "r"


def list_urls(book: PriceBook) -> list[str]:
    """Return the URLs of the SKUs of all services that a book has rows of."""
    services = dict.fromkeys(rule.offer for rule in map(rule_for, book.rows) if rule)
    return [list_url(SERVICES[service], book.currency) for service in services]


def _starting_with(start: str) -> re.Pattern[str]:
    return re.compile(start + _PLACE)


@functools.cache
def _size(name: str) -> tuple[Decimal, Decimal] | None:
    """Return the cores and GiB of memory of a machine type; None: unknown, or with local disks, which cost extra."""
    try:
        machine = catalog().instance(name)
    except AssayError:
        return None
    if machine.disks or not machine.vcpus or not machine.memory:
        return None
    return Decimal(machine.vcpus), Decimal(int(machine.memory)) / GIB


def _machine_rule(item: str, term: str) -> GcpRule | None:
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
    return GcpRule(COMPUTE, tuple(names), (("h", size[0]), ("GiBy.h", size[1])))


def _disk_rule(dimension: str, item: str) -> GcpRule | None:
    measure = _MEASURES.get(dimension.removeprefix("volume-"))
    hyperdisk = _HYPERDISK.fullmatch(item)
    if hyperdisk and measure:
        kind = "ML" if hyperdisk["kind"] == "ml" else hyperdisk["kind"].capitalize()
        name = f"Hyperdisk {kind}{' High Availability' if hyperdisk['high'] else ''} (?i:{measure})"
        return GcpRule(COMPUTE, (_starting_with(name),), units=_provisioned(dimension))
    if item in _DISKS and dimension == "volume-capacity":
        return GcpRule(COMPUTE, (_starting_with(_DISKS[item]),))
    if (item, dimension) == ("pd-extreme", "volume-iops"):
        return GcpRule(COMPUTE, (_starting_with("Extreme PD IOPS"),), units=_provisioned(dimension))
    return None


def _provisioned(dimension: str) -> Mapping[str, tuple[str, int | None]]:
    """Return the units with the meaning of `mo` and `h` for a dimension: IOPS, or a rate in MiB/s."""
    if dimension == "volume-iops":
        return UNITS | {"mo": ("IOPS-months", 1), "count": ("IOPS-months", 1), "h": ("IOPS-hours", 1)}
    if dimension == "volume-throughput":
        rate = 2**20
        return UNITS | {"mo": ("byte/s-months", rate), "mibps.mo": ("byte/s-months", rate), "h": ("byte/s-hours", rate)}
    return UNITS


def _bucket_rule(dimension: str, item: str) -> GcpRule | None:
    found = _BUCKET.fullmatch(item)
    if not found or bool(found["request"]) != (dimension == "object-requests"):
        return None
    kind = found["kind"].capitalize()
    if dimension == "object-capacity":
        return GcpRule(OBJECTS, (_starting_with(f"{kind} Storage"),))
    if dimension == "object-retrieval":
        return GcpRule(OBJECTS, (re.compile(f"{kind} Data Retrieval"),)) if kind != "Standard" else None
    operations = "A" if found["request"] == "put" else "B"
    return GcpRule(OBJECTS, (re.compile(rf"Regional {kind} Class {operations} Operations"),))

"""Which meters of Azure's retail prices the rows of a price book stand for.

Names of products, SKUs and meters are those of the list. They were compared with public readers of it (infracost, and
tools that quote the meters of Premium SSD v2, Files and NetApp Files). An item names tier and redundancy:
`blob-cool-lrs`, `files-premium-zrs`, `anf-standard`, `premium-ssd-p30-lrs`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.money.amount import TERM_MONTHS
from assay.model.money.price import PriceBook, PriceRow
from assay.rooms.pricelists.work.azure import list_url
from assay.rooms.pricelists.work.price_list import ON_DEMAND, RESERVED, SAVINGS, SPOT, Attributes, ListedPrice

MACHINES, STORAGE, NETAPP, TRAFFIC = "Virtual Machines", "Storage", "Azure NetApp Files", "Bandwidth"
GIB = 2**30
MACHINES_AT_ONCE = 12
"""Machine types in one URL: the server refuses longer URLs."""
UNITS: dict[str, tuple[str, int | None]] = {
    "1 hour": ("hours", 1),
    "1 gb": ("bytes", None),
    "1 gib": ("bytes", GIB),
    "1 gb/month": ("byte-months", None),
    "1 gib/month": ("byte-months", GIB),
    "1 gib/hour": ("byte-hours", GIB),
    "10k": ("requests", 10**4),
    "1m": ("requests", 10**6),
}
"""Unit of the list -> kind, and base units in one. None: the list says GB, and the book row decides GB or GiB."""
DISK_GIB = {1: 4, 2: 8, 3: 16, 4: 32, 6: 64, 10: 128, 15: 256, 20: 512, 30: 1024, 40: 2048, 50: 4096}
DISK_GIB |= {60: 8192, 70: 16384, 80: 32767}
"""Sizes of managed disks in GiB, by the number in their names."""
_DISKS = {"p": "Premium SSD Managed Disks", "e": "Standard SSD Managed Disks", "s": "Standard HDD Managed Disks"}
_COPIES = r"(?P<copies>lrs|zrs|grs|ra-?grs|gzrs|ra-?gzrs)"
_BLOB = re.compile(rf"blob-(?P<tier>hot|cool|cold|archive|premium)(?:-{_COPIES})?(?:/(?P<request>put|get))?")
_FILES = re.compile(rf"files-(?P<tier>hot|cool|transaction-optimized|premium)(?:-{_COPIES})?")
_FILES_V2 = re.compile(rf"files-(?:(?:provisioned-)?v2-)?(?P<media>ssd|hdd)(?:-v2)?(?:-{_COPIES})?")
_ANF = re.compile(r"(?:anf|netapp-files)-(?P<level>standard|premium|ultra|flexible)")
_DISK = re.compile(
    rf"(?:(?:premium|standard)-(?:ssd|hdd)-)?(?P<kind>[pes])(?P<size>[0-9]+)(?:-\w+-(?:ssd|hdd))?(?:-{_COPIES})?"
)
_PER_GIB = re.compile(rf"(?P<name>premium-ssd-v2|premiumv2|ultra-ssd|ultra)(?:-disk)?(?:-{_COPIES})?")
_TIER_AND_COPIES = r"(?:\w+ )?(?:(?:RA-)?G?Z?R?L?RS )?"


@dataclass(frozen=True)
class AzureRule:
    """The conditions that a meter must satisfy.

    Attributes:
        offer: Name of its service.
        products: Allowed product names; the first that the list has is used; empty: any.
        meter: Pattern of its name.
        sku: Name of its SKU; None: any.
        machine: Its machine type; empty: any.
        units: Unit of the list -> kind, and base units in one.
    """

    offer: str
    products: tuple[str, ...]
    meter: re.Pattern[str]
    sku: str | None = None
    machine: str = ""
    units: Mapping[str, tuple[str, int | None]] = field(default_factory=lambda: UNITS)
    sums: tuple[tuple[str, Decimal], ...] = ()
    bounds: tuple[Decimal | None, ...] = (None,)

    @property
    def offers(self) -> tuple[str, ...]:
        """The services whose lists may have the meter."""
        return (self.offer,)

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Return whether a meter satisfies the rule, in a region."""
        return (
            attributes.get("servicecode") == self.offer
            and attributes.get("regioncode") == region
            and (not self.products or attributes.get("productname") in self.products)
            and (self.sku is None or attributes.get("skuname", "").lower() == self.sku.lower())
            and (not self.machine or attributes.get("armskuname", "").lower() == self.machine.lower())
            and bool(self.meter.fullmatch(attributes.get("metername", "")))
            and not (self.machine and _is_other_machine(attributes))
        )

    def parts(self, fitting: Sequence[ListedPrice]) -> list[list[ListedPrice]]:
        """Return the prices of the first product that the list has."""
        for product in self.products:
            of_product = [each for each in fitting if each.attributes.get("productname") == product]
            if of_product:
                return [of_product]
        return [list(fitting)]


def _is_other_machine(attributes: Attributes) -> bool:
    """Return whether a price is for Windows, a dedicated host, low priority or Cloud Services, not for plain Linux."""
    product, meter = attributes.get("productname", ""), attributes.get("metername", "")
    return (
        product.endswith(("Windows", "CloudServices", "Cloud Services"))
        or "Dedicated Host" in product
        or meter.endswith("Low Priority")
    )


def rule_for(row: PriceRow) -> AzureRule | None:
    """Return the rule that finds a row's meters; None: there is none."""
    item, dimension = row.item, row.dimension
    if dimension == "instance":
        return AzureRule(MACHINES, (), re.compile(".*"), machine=item) if item.lower().startswith("standard_") else None
    if dimension.startswith("object-"):
        return _blob_rule(dimension, item)
    if dimension.startswith("filesystem-"):
        return _files_rule(dimension, item) or _netapp_rule(dimension, item)
    if dimension.startswith("volume-"):
        return _disk_rule(dimension, item) or _per_gib_rule(dimension, item)
    if dimension == "snapshot-capacity" and item in ("standard", "disk-snapshot", "managed-disk"):
        return AzureRule(STORAGE, ("Standard HDD Managed Disks",), re.compile("LRS Snapshots"))
    if (dimension, item) == ("transfer-out", "internet"):
        return AzureRule(TRAFFIC, ("Rtn Preference: MGN",), re.compile("Standard Data Transfer Out"))
    return None


def term_fits(row: PriceRow, price: ListedPrice) -> bool:
    """Return whether a price is on the row's term."""
    if row.term not in TERM_MONTHS:
        return price.term == (SPOT if row.term == "spot" else ON_DEMAND)
    kind, _, length = row.term.partition("-")
    return price.term == (SAVINGS if kind == "savings" else RESERVED) and price.lease == length + "r"


def list_urls(book: PriceBook) -> list[str]:
    """Return the URLs of the list that have a book's rows: by service and region, and machines also by type."""
    rules = [rule for rule in map(rule_for, book.rows) if rule]
    machines = sorted({rule.machine for rule in rules if rule.machine})
    region_filter = f"armRegionName eq '{book.region}' and serviceName eq"
    urls = []
    for at in range(0, len(machines), MACHINES_AT_ONCE):
        names = " or ".join(f"armSkuName eq '{name}'" for name in machines[at : at + MACHINES_AT_ONCE])
        urls.append(list_url(f"{region_filter} '{MACHINES}' and ({names})", book.currency))
    services = dict.fromkeys(rule.offer for rule in rules if not rule.machine)
    return urls + [list_url(f"{region_filter} '{service}'", book.currency) for service in services]


def _copies(match: re.Match[str]) -> str:
    return (match["copies"] or "lrs").upper().replace("RAG", "RA-G")


def _blob_rule(dimension: str, item: str) -> AzureRule | None:
    found = _BLOB.fullmatch(item)
    if not found or bool(found["request"]) != (dimension == "object-requests"):
        return None
    meter = {
        "object-capacity": "Data Stored",
        "object-retrieval": "Data Retrieval",
        "object-requests": "Write Operations" if found["request"] == "put" else "Read Operations",
    }[dimension]
    products = ("General Block Blob v2", "Blob Storage")
    if found["tier"] == "premium":
        products = ("Premium Block Blob", "Premium Block Blob v2")
    sku = f"{found['tier'].capitalize()} {_copies(found)}"
    return AzureRule(STORAGE, products, re.compile(_TIER_AND_COPIES + meter), sku)


def _files_rule(dimension: str, item: str) -> AzureRule | None:
    v2 = _FILES_V2.fullmatch(item)
    if v2:
        sku = f"{v2['media'].upper()} {_copies(v2)}"
        meter_names = {"capacity": "Storage", "iops": "IOPS", "throughput": "Throughput (?i:MiBPS)"}
        name = meter_names.get(dimension.removeprefix("filesystem-"))
        meter = re.compile(f"{sku} Provisioned {name}")
        return (
            AzureRule(STORAGE, ("Azure Files Provisioned v2",), meter, sku, units=_per_hour(dimension))
            if name
            else None
        )
    name = item.partition("/")[0]
    found = _FILES.fullmatch(name)
    if not found:
        return None
    premium = found["tier"] == "premium"
    tier = "Standard" if found["tier"] == "transaction-optimized" else found["tier"].capitalize()
    request = {"read": "Read Operations", "write": "Write Operations"}.get(item.partition("/")[2])
    meters = {"filesystem-capacity": "Provisioned" if premium else "Data Stored", "filesystem-requests": request}
    meters["filesystem-backup"] = "Snapshots" if premium else "Data Stored"
    meter_name = meters.get(dimension)
    if not meter_name:
        return None
    products = ("Premium Files",) if premium else ("Files v2",)
    return AzureRule(STORAGE, products, re.compile(_TIER_AND_COPIES + meter_name), f"{tier} {_copies(found)}")


def _netapp_rule(dimension: str, item: str) -> AzureRule | None:
    found = _ANF.fullmatch(item)
    if not found:
        return None
    sku = "Flexible Service Level" if found["level"] == "flexible" else found["level"].capitalize()
    if dimension == "filesystem-capacity":
        return AzureRule(NETAPP, (NETAPP,), re.compile(f"{sku} Capacity"), sku)
    if dimension == "filesystem-throughput" and found["level"] == "flexible":
        meter = re.compile(f"{sku} Throughput (?i:MiBPS)")
        return AzureRule(NETAPP, (NETAPP,), meter, sku, units=_per_hour(dimension))
    return None


def _disk_rule(dimension: str, item: str) -> AzureRule | None:
    found = _DISK.fullmatch(item.lower())
    if not found or int(found["size"]) not in DISK_GIB:
        return None
    disk = f"{found['kind']}{found['size']}".upper()
    copies, product = _copies(found), _DISKS[found["kind"]]
    if dimension == "volume-requests":
        return AzureRule(STORAGE, (product,), re.compile(f"{disk} {copies} Disk Operations"), f"{disk} {copies}")
    if dimension != "volume-capacity":
        return None
    # The list has a price for a whole disk, the book one for each GiB.
    units = UNITS | {"1/month": ("byte-months", DISK_GIB[int(found["size"])] * GIB)}
    return AzureRule(STORAGE, (product,), re.compile(f"{disk} (?:{copies} )?Disks?"), f"{disk} {copies}", units=units)


def _per_gib_rule(dimension: str, item: str) -> AzureRule | None:
    found = _PER_GIB.fullmatch(item)
    names = {"capacity": "Capacity", "iops": "IOPS", "throughput": r"Throughput \(MBps\)"}
    name = names.get(dimension.removeprefix("volume-"))
    if not found or not name:
        return None
    ultra = found["name"].startswith("ultra")
    sku = f"{'Ultra' if ultra else 'Premium'} {_copies(found)}"
    product = "Ultra Disks" if ultra else "Azure Premium SSD v2"
    return AzureRule(STORAGE, (product,), re.compile(f"{sku} Provisioned {name}"), sku, units=_per_hour(dimension))


def _per_hour(dimension: str) -> Mapping[str, tuple[str, int | None]]:
    """Return the units with `1/Hour`: per IOPS, or per MB/s for disks and MiB/s for files."""
    rate = 10**6 if dimension.startswith("volume-") else 2**20
    hourly = ("IOPS-hours", 1) if dimension.endswith("-iops") else ("byte/s-hours", rate)
    return UNITS | {"1/hour": hourly}

"""Which products of AWS's price list files the rows of a price book stand for.

Usage types and attributes are those of the files; they were compared with infracost and other public readers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model.money.amount import TERM_MONTHS
from assay.model.money.price import PriceBook, PriceRow
from assay.rooms.pricelists.work.aws import HOST, ROOT
from assay.rooms.pricelists.work.price_list import ON_DEMAND, RESERVED, SAVINGS, Attributes, ListedPrice

EC2, S3, EFS, FSX = "AmazonEC2", "AmazonS3", "AmazonEFS", "AmazonFSx"
DYNAMODB, TRANSFER, LINKS, VPC = "AmazonDynamoDB", "AWSDataTransfer", "AWSDirectConnect", "AmazonVPC"
DEEP = "AmazonS3GlacierDeepArchive"
"""Deep archive is a service of its own in the price list; reads from it are priced with those of S3."""
_HERE = {"locationtype": ("AWS Region", "")}
_LINUX = {
    "operatingsystem": ("Linux",),
    "tenancy": ("Shared",),
    "preinstalledsw": ("NA", ""),
    "capacitystatus": ("Used", ""),
}
_EBS = {"gp2": ".gp2", "gp3": ".gp3", "io1": ".piops", "io2": ".io2", "st1": ".st1", "sc1": ".sc1", "standard": ""}
_SNAPSHOTS = {"standard": "SnapshotUsage", "ebs-snapshot": "SnapshotUsage", "archive": "SnapshotArchiveStorage"}
_EFS = {
    "efs-standard": "TimedStorage-ByteHrs",
    "efs-one-zone": "TimedStorage-Z-ByteHrs",
    "efs-ia": "IATimedStorage-ByteHrs",
    "efs-elastic-ia": "IATimedStorage-ET-ByteHrs",
    "efs-one-zone-ia": "IATimedStorage-Z-ByteHrs",
    "efs-archive": "ArchiveTimedStorage-ByteHrs",
}
_ZONES = {
    ("ontap", "single-az-1"): "SAZ_2N",
    ("ontap", "single-az-2"): "SAZ_2N2",
    ("ontap", "multi-az-1"): "MAZ",
    ("ontap", "multi-az-2"): "MAZ2",
    ("openzfs", "single-az-2"): "SAZ2",
    ("openzfs", "multi-az-1"): "MAZ",
}
"""Deployment types in usage types; those of other file systems are not known."""
_BACKED_UP = {"fsx-lustre": "Lustre", "fsx-openzfs": "OpenZFS", "fsx-windows": "Windows", "fsx-ontap": "ONTAP"}
_EFS_ACCESS = {
    "efs-elastic": "ETDataAccess-Bytes",
    "efs-ia": "IADataAccess-Bytes",
    "efs-archive": "ArchiveDataAccess-Bytes",
}
_S3 = {
    "s3-standard": "",
    "s3-standard-ia": "SIA-",
    "s3-one-zone-ia": "ZIA-",
    "s3-glacier-instant": "GIR-",
    "s3-glacier-flexible": "GLACIER-",
    "s3-deep-archive": "GDA-",
    "s3-express-one-zone": "XZ-",
    "s3-reduced-redundancy": "RRS-",
}
_PUTS = {"s3-glacier-flexible": ("PutObject",), "s3-deep-archive": ("PutObject", "PostObject")}
"""The archive classes price some operations of a request tier differently."""
_NETWORK = {
    ("gateway", "nat-gateway"): (EC2, "NatGateway-Hours"),
    ("gateway-traffic", "nat-gateway"): (EC2, "NatGateway-Bytes"),
    ("address", "public-ipv4"): (VPC, "PublicIPv4:InUseAddress"),
    ("address", "public-ipv4-idle"): (VPC, "PublicIPv4:IdleAddress"),
}
"""Dimension and item -> file and usage type. Public addresses moved from EC2's file to that of VPC in 2024."""
_RESTORES = {"s3-glacier-flexible": "RestoreObject", "s3-deep-archive": "DeepArchiveRestoreObject"}
LOCATIONS = {
    "us-east-1": "US East (N. Virginia)",
    "us-east-2": "US East (Ohio)",
    "us-west-1": "US West (N. California)",
    "us-west-2": "US West (Oregon)",
    "ca-central-1": "Canada (Central)",
    "sa-east-1": "South America (Sao Paulo)",
    "eu-west-1": "EU (Ireland)",
    "eu-west-2": "EU (London)",
    "eu-west-3": "EU (Paris)",
    "eu-central-1": "EU (Frankfurt)",
    "eu-north-1": "EU (Stockholm)",
    "ap-south-1": "Asia Pacific (Mumbai)",
    "ap-southeast-1": "Asia Pacific (Singapore)",
    "ap-southeast-2": "Asia Pacific (Sydney)",
    "ap-northeast-1": "Asia Pacific (Tokyo)",
    "ap-northeast-2": "Asia Pacific (Seoul)",
}
"""Region code -> region name in files that do not state the code."""
_CODES = {place: code for code, place in LOCATIONS.items()}
PLANS = f"{HOST}/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json"
"""Index of the savings plan files of all regions."""
_COMPUTE_PLANS = ("ComputeSavingsPlans", "")
"""The kind of plan that covers every instance type: the terms `savings-1y` and `savings-3y` mean this one."""
UNITS: dict[str, tuple[str, int | None]] = {
    "hrs": ("hours", 1),
    "hours": ("hours", 1),
    "gb-mo": ("byte-months", None),
    "gb-month": ("byte-months", None),
    "gb": ("bytes", None),
    "iops-mo": ("IOPS-months", 1),
    "mibps-mo": ("byte/s-months", 2**20),
    "gibps-mo": ("byte/s-months", 2**30),
    "ios": ("requests", 1),
    "requests": ("requests", 1),
    "readrequestunits": ("requests", 1),
    "writerequestunits": ("requests", 1),
    "readcapacityunit-hrs": ("unit-hours", 1),
    "writecapacityunit-hrs": ("unit-hours", 1),
}
"""Unit of the files -> kind, and base units in one. None: AWS prints GB, and the book row decides GB or GiB."""

_REGION_PREFIX = re.compile(r"(?:[A-Z]{3}[0-9]+|EU)-")
_LINK_USAGE = re.compile(r"(?:HC)?PortUsage:\S+|DataXfer-Out")
_BETWEEN = re.compile(r"(?:[A-Z]{3}[0-9]+-|EU-)?(?:[A-Z]{3}[0-9]+-|EU-)(AWS-Out-Bytes)")


@dataclass(frozen=True)
class AwsRule:
    """The conditions that a product must satisfy.

    Attributes:
        offer: Code of its file.
        usage: Its usage type without the region's prefix; several are the tiers of one price, bounded by `bounds`.
        where: Attribute -> its allowed values.
        bounds: Upper bounds of the usage types' tiers, in the file's unit.
        by_origin: Whether the region is where the traffic comes from, not where the product is.
        also: Codes of other files that may have it.
    """

    offer: str
    usage: tuple[str, ...]
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: tuple[Decimal | None, ...] = (None,)
    by_origin: bool = False
    also: tuple[str, ...] = ()
    sums: tuple[tuple[str, Decimal], ...] = ()
    units: Mapping[str, tuple[str, int | None]] = field(default_factory=lambda: UNITS)

    @property
    def offers(self) -> tuple[str, ...]:
        """All files that may have the product."""
        return self.offer, *self.also

    def fits(self, attributes: Attributes, region: str) -> bool:
        """Return whether a product satisfies the rule, in a region."""
        return (
            usage_of(attributes) in self.usage
            and _is_in(attributes, region, self.by_origin)
            and all(_attribute(attributes, name) in allowed for name, allowed in self.where.items())
        )

    def parts(self, fitting: Sequence[ListedPrice]) -> list[list[ListedPrice]]:
        """Return one part for each usage type; for a single one, products without a region prefix are preferred."""
        if len(self.usage) > 1:
            return [[each for each in fitting if usage_of(each.attributes) == usage] for usage in self.usage]
        without = [each for each in fitting if not has_prefix(each.attributes) and self.offer != LINKS]
        return [without or list(fitting)]


def _attribute(attributes: Attributes, name: str) -> str:
    """Return an attribute; older files state a region's name instead of its code."""
    value = attributes.get(name, "")
    if not value and name == "toregioncode":
        place = attributes.get("tolocation", "").replace("Europe (", "EU (")
        return _CODES.get(place, place)
    return value


def rule_for(row: PriceRow) -> AwsRule | None:
    """Return the rule that finds a row's products; None: the files do not have such a price."""
    if row.term == "spot":
        return None
    item = row.item
    if row.dimension == "instance" and row.term.startswith("savings-"):
        return AwsRule(
            EC2, (f"BoxUsage:{item}",), {"family": _COMPUTE_PLANS, "discountedoperation": ("RunInstances", "")}
        )
    if row.dimension == "instance":
        return AwsRule(EC2, (f"BoxUsage:{item}",), {"instancetype": (item,), **_LINUX, **_HERE})
    if row.dimension.startswith(("volume-", "snapshot-")):
        return _volume_rule(row.dimension, item)
    if row.dimension.startswith("filesystem-"):
        return _filesystem_rule(row.dimension, item)
    if row.dimension.startswith("object-"):
        return _object_rule(row.dimension, item)
    if row.dimension.startswith("table-"):
        return _table_rule(row.dimension, item)
    return _network_rule(row.dimension, item)


def term_fits(row: PriceRow, price: ListedPrice) -> bool:
    """Return whether a price is on the row's term."""
    if row.term not in TERM_MONTHS:
        return price.term == ON_DEMAND
    kind, _, length = row.term.partition("-")
    return (
        price.term == (SAVINGS if kind == "savings" else RESERVED)
        and (kind == "savings" or price.offering in ("standard", ""))
        and price.lease.replace(" ", "") == length + "r"
        and price.payment.lower().replace(" ", "") == (row.payment or "").replace("-", "")
    )


def usage_of(attributes: Attributes) -> str:
    """Return the usage type without region and location: `EU-EBS:VolumeUsage.gp3` -> `EBS:VolumeUsage.gp3`."""
    usage = attributes.get("usagetype", "")
    between = _BETWEEN.fullmatch(usage)
    link = _LINK_USAGE.search(usage)
    if between:
        return between[1]
    return link[0].partition(":dc")[0] if link else _REGION_PREFIX.sub("", usage, count=1)


def has_prefix(attributes: Attributes) -> bool:
    """Return whether the usage type starts with a region; in us-east-1 the region's own products have no prefix."""
    return bool(_REGION_PREFIX.match(attributes.get("usagetype", "")))


def list_urls(book: PriceBook) -> list[str]:
    """Return the URLs of the files that have a book's rows; for savings plans, the URL of the index of regions."""
    rules = [rule for row in book.rows if (rule := rule_for(row)) and not row.term.startswith("savings-")]
    offers = dict.fromkeys(offer for rule in rules for offer in rule.offers)
    urls = [f"{ROOT}/{offer}/current/{book.region}/index.csv" for offer in offers]
    return urls + ([PLANS] if any(row.term.startswith("savings-") and rule_for(row) for row in book.rows) else [])


def _is_in(attributes: Attributes, region: str, leaving: bool) -> bool:
    code = attributes.get("fromregioncode" if leaving else "regioncode", "")
    if code:
        return code == region
    place = attributes.get("fromlocation" if leaving else "location", "").replace("Europe (", "EU (")
    # A location with an unknown name is assumed to belong to the file's region.
    return not place or region not in LOCATIONS or place == LOCATIONS[region] or place not in LOCATIONS.values()


def _volume_rule(dimension: str, item: str) -> AwsRule | None:
    if dimension == "snapshot-capacity":
        return AwsRule(EC2, (f"EBS:{_SNAPSHOTS[item]}",), _HERE) if item in _SNAPSHOTS else None
    if item not in _EBS:
        return None
    if dimension == "volume-capacity":
        return AwsRule(EC2, (f"EBS:VolumeUsage{_EBS[item]}",), _HERE)
    if dimension == "volume-iops":
        usage = f"EBS:VolumeP-IOPS{_EBS[item]}"
        if item == "io2":
            return AwsRule(
                EC2, (usage, f"{usage}.tier2", f"{usage}.tier3"), _HERE, (Decimal(32000), Decimal(64000), None)
            )
        return AwsRule(EC2, (usage,), _HERE)
    if dimension == "volume-throughput":
        return AwsRule(EC2, (f"EBS:VolumeP-Throughput{_EBS[item]}",), _HERE)
    return AwsRule(EC2, ("EBS:VolumeIOUsage",), _HERE) if item == "standard" else None


def _filesystem_rule(dimension: str, item: str) -> AwsRule | None:
    if (dimension, item) == ("filesystem-throughput", "efs-provisioned"):
        return AwsRule(EFS, ("ProvisionedTP-MiBpsHrs",), _HERE)
    if dimension in ("filesystem-throughput", "filesystem-iops"):
        return _zoned_rule(dimension, item)
    if dimension == "filesystem-backup":
        system = _BACKED_UP.get(item)
        return AwsRule(FSX, ("BackupUsage",), {"filesystemtype": (system,), **_HERE}) if system else None
    if dimension == "filesystem-requests":
        return None
    if dimension == "filesystem-access":
        name, _, way = item.rpartition("-")
        access = way.capitalize()
        if name not in _EFS_ACCESS or access not in ("Read", "Write"):
            return None
        return AwsRule(EFS, (_EFS_ACCESS[name],), {"accesstype": (access,), **_HERE})
    if item in _EFS:
        return AwsRule(EFS, (_EFS[item],), _HERE)
    lustre = re.fullmatch(r"fsx-lustre-(?:scratch-[12]|persistent-(?:(ssd|hdd)-)?([0-9]+))", item)
    if not lustre:
        return _zoned_rule(dimension, item)
    media, rate = lustre.groups()
    usage = f"Storage.{(media or 'ssd').upper()}.{rate}" if rate else "Storage"
    return AwsRule(FSX, (usage,), {"filesystemtype": ("Lustre",), "family": ("Storage",), **_HERE})


def _zoned_rule(dimension: str, item: str) -> AwsRule | None:
    """Return the rule for ONTAP and OpenZFS, which are sold by deployment type; None if its code is not known."""
    match = re.fullmatch(r"fsx-(ontap|openzfs)-(capacity-pool-)?((?:single|multi)-az-[12])(-ssd)?", item)
    if not match:
        return None
    system, pool, zones, ssd = match.groups()
    code = _ZONES.get((system, zones))
    usage = {
        "filesystem-capacity": f"Storage.{code}:{'CPoolStd' if pool else 'SSD'}" if pool or ssd else None,
        "filesystem-throughput": f"ThroughputCapacity.{code}",
        "filesystem-iops": f"ProvisionedSSDIOPS.{code}",
    }.get(dimension)
    where = {"filesystemtype": ("ONTAP" if system == "ontap" else "OpenZFS",), **_HERE}
    return AwsRule(FSX, (usage,), where) if code and usage else None


def _object_rule(dimension: str, item: str) -> AwsRule | None:
    name, _, request = item.partition("/")
    if name not in _S3:
        return None
    of = _S3[name]
    file, also = (DEEP, (S3,)) if name == "s3-deep-archive" else (S3, ())
    if dimension == "object-requests":
        tier = {"put": "Tier1", "get": "Tier2"}.get(request)
        of = "" if name == "s3-reduced-redundancy" else of
        operation = {"operation": _PUTS[name]} if request == "put" and name in _PUTS else {}
        return AwsRule(file, (f"Requests-{of}{tier}",), {**operation, **_HERE}, also=also) if tier else None
    if dimension == "object-retrieval":
        if name in _RESTORES:
            where = {"operation": (_RESTORES[name],), **_HERE}
            return AwsRule(file, ("Standard-Retrieval-Bytes",), where, also=also)
        return AwsRule(S3, (f"Retrieval-{of.rstrip('-')}",), _HERE) if of else None
    if name == "s3-standard":
        return AwsRule(S3, ("TimedStorage-ByteHrs",), {"volumetype": ("Standard",), **_HERE})
    if name == "s3-glacier-flexible":
        return AwsRule(S3, ("TimedStorage-GlacierByteHrs",), _HERE)
    return AwsRule(file, (f"TimedStorage-{of}ByteHrs",), _HERE, also=also)


def _table_rule(dimension: str, item: str) -> AwsRule | None:
    usage = {
        ("table-capacity", "dynamodb"): "TimedStorage-ByteHrs",
        ("table-read", "dynamodb"): "ReadCapacityUnit-Hrs",
        ("table-write", "dynamodb"): "WriteCapacityUnit-Hrs",
        ("table-requests", "dynamodb/read"): "ReadRequestUnits",
        ("table-requests", "dynamodb/write"): "WriteRequestUnits",
    }.get((dimension, item))
    return AwsRule(DYNAMODB, (usage,), _HERE) if usage else None


def _network_rule(dimension: str, item: str) -> AwsRule | None:
    if (dimension, item) in _NETWORK:
        file, usage = _NETWORK[dimension, item]
        return AwsRule(file, (usage,), _HERE)
    if (dimension, item) == ("transfer-out", "internet"):
        where = {"transfertype": ("AWS Outbound",), "tolocation": ("External",)}
        return AwsRule(TRANSFER, ("DataTransfer-Out-Bytes",), where, by_origin=True)
    if (dimension, item) == ("transfer-zone", "zone"):
        return AwsRule(TRANSFER, ("DataTransfer-Regional-Bytes",), {"transfertype": ("IntraRegion",)}, by_origin=True)
    if dimension == "transfer-region":
        to = {} if item == "region" else {"toregioncode": (item,)}
        return AwsRule(TRANSFER, ("AWS-Out-Bytes",), {"transfertype": ("InterRegion Outbound",), **to}, by_origin=True)
    if (dimension, item) == ("transfer-out", "direct-connect"):
        return AwsRule(LINKS, ("DataXfer-Out",), {"virtualinterfacetype": ("Private", "private", "")}, by_origin=True)
    port = re.fullmatch(r"direct-connect-(hosted-)?([0-9]+[mg])", item)
    if dimension == "port" and port:
        return AwsRule(LINKS, (f"{'HC' if port[1] else ''}PortUsage:{port[2].upper()}",))
    return None

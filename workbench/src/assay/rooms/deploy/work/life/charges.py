"""Things of a cloud as lines of a bill, and their prices by a price book. Pure but for reading the book."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from assay.model.base import AssayError
from assay.model.money.amount import Term
from assay.model.money.price import Bill, BillItem, Per, PriceBook
from assay.money.books.books import book_names, load_book
from assay.money.cost.cost import price_bill
from assay.rooms.deploy.model.priced import PricedThing, Prices, Thing

GIB, MIB = 2**30, 2**20
PAID_IOPS = frozenset({"gp3", "io1", "io2"})
"""Types of volumes whose IOPS are paid for; of gp3 those above the free ones that the price book states."""
UNLIMITED = frozenset({"t3", "t3a", "t4g"})
"""Burstable families that are charged for CPU time above their baseline unless that is switched off.

Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances-unlimited-mode.html
"""
FREE = frozenset(
    f"AWS::{name}"
    for name in (
        *("AutoScaling::LaunchConfiguration", "CloudFormation::WaitCondition", "CloudFormation::WaitConditionHandle"),
        *("EC2::DHCPOptions", "EC2::InternetGateway", "EC2::LaunchTemplate", "EC2::PlacementGroup", "EC2::Route"),
        *("EC2::RouteTable", "EC2::SecurityGroup", "EC2::SecurityGroupEgress", "EC2::SecurityGroupIngress"),
        *("EC2::Subnet", "EC2::SubnetRouteTableAssociation", "EC2::VPC", "EC2::VPCGatewayAttachment"),
        *("EC2::VolumeAttachment", "EC2::EIPAssociation", "EC2::NetworkInterface", "EFS::MountTarget"),
        *("IAM::InstanceProfile", "IAM::ManagedPolicy", "IAM::Policy", "IAM::Role", "IAM::RolePolicy"),
        *("S3::BucketPolicy", "Scheduler::Schedule", "Scheduler::ScheduleGroup", "Budgets::Budget"),
        *("FSx::DataRepositoryAssociation", "FSx::StorageVirtualMachine", "DirectConnect::PublicVirtualInterface"),
        *("Events::Rule", "SNS::Topic", "SNS::TopicPolicy"),
    )
)
"""Types of resources for whose existence AWS charges nothing."""


def bill_item(what: str, dimension: str, item: str, each: Decimal | float, per: Per, pieces: int = 1) -> BillItem:
    """Return a line of a bill that ends when its thing is deleted; see `BillItem` for units."""
    return BillItem(
        what=what,
        dimension=dimension,
        item=item,
        pieces=Decimal(pieces),
        each=Decimal(str(each)),
        per=per,
        stops_when_off=True,
    )


def instance(name: str, type_name: str, count: int = 1, spot: bool = False, max_price: Decimal | None = None) -> Thing:
    """Return instances of one type, without their volumes; `max_price` is that of an hour of a spot instance."""
    what = f"{count} x {type_name}{' spot' if spot else ''}"
    term: Term = "spot" if spot else "on-demand"
    items = (bill_item(what, "instance", type_name, 1, "hour", count),) if count else ()
    used = "CPU time above the baseline is charged by use" if type_name.partition(".")[0] in UNLIMITED else ""
    return Thing("instance", name, what, items, term, max_price, used)


def volume(
    name: str, type_name: str, size_gib: float, iops: float | None, throughput_mib: float | None, count: int = 1
) -> Thing:
    """Return volumes of EBS.

    Args:
        name: Id of the volume, or the name in the template.
        type_name: Such as gp3.
        size_gib: Size of each, in GiB.
        iops: Provisioned IOPS of each; None: those that come with it.
        throughput_mib: Provisioned throughput of each, in MiB/s; None: what comes with it.
        count: Number of volumes.
    """
    what = f"{count} x {size_gib:g} GiB {type_name}"
    items = [bill_item(what, "volume-capacity", type_name, size_gib * GIB, "month", count)]
    if iops is not None and type_name in PAID_IOPS:
        items.append(bill_item(f"IOPS of {what}", "volume-iops", type_name, iops, "month", count))
    if throughput_mib is not None and type_name == "gp3":
        items.append(
            bill_item(f"MiB/s of {what}", "volume-throughput", type_name, throughput_mib * MIB, "month", count)
        )
    by_use = "requests are charged by use" if type_name == "standard" else ""
    return Thing("volume", name, what, tuple(items), by_use=by_use)


def number(value: Any) -> float:
    """Return a number of a template or an answer; 0 for what is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def snapshot(name: str, size_gib: float) -> Thing:
    """Return a snapshot, at the size of its volume: an upper bound, as snapshots are incremental."""
    what = f"{size_gib:g} GiB snapshot at most"
    return Thing("snapshot", name, what, (bill_item(what, "snapshot-capacity", "standard", size_gib * GIB, "month"),))


def efs(
    name: str, stored_bytes: float, one_zone: bool, throughput_mib: float | None, is_elastic: bool = False
) -> Thing:
    """Return a file system of EFS; its storage and access are charged by use.

    Args:
        name: Its id.
        stored_bytes: Bytes that it has now.
        one_zone: It is of the One Zone class.
        throughput_mib: Provisioned throughput in MiB/s; None: elastic or bursting.
        is_elastic: Its throughput is elastic, so that each byte read or written is charged.
    """
    item = "efs-one-zone" if one_zone else "efs-standard"
    items = [bill_item("EFS storage", "filesystem-capacity", item, stored_bytes, "month")]
    if throughput_mib is not None:
        what = f"{throughput_mib:g} MiB/s of EFS"
        items.append(bill_item(what, "filesystem-throughput", "efs-provisioned", throughput_mib * MIB, "month"))
    paid = tuple(each for each in items if each.each)
    by_use = "storage and access are charged by use"
    if is_elastic:
        by_use = "storage is charged by use, and so is each GB that is read or written (elastic throughput)"
    return Thing("file system", name, "EFS file system", paid, by_use=by_use)


FSX_LUSTRE = {"SCRATCH_1": "fsx-lustre-scratch-1", "SCRATCH_2": "fsx-lustre-scratch-2"}


FSX_NAMES = {"LUSTRE": "Lustre", "OPENZFS": "OpenZFS", "ONTAP": "Ontap", "WINDOWS": "Windows"}
"""Type of a file system of FSx -> beginning of its `...Configuration`, in templates and in the API."""
FSX_IOPS_PER_GIB = 3
"""IOPS that the price of a GiB of SSD includes.

Source: docs.aws.amazon.com/fsx, OpenZFSGuide/performance-ssd.html and ONTAPGuide/storage-capacity-and-IOPS.html
"""
FSX_BACKUP_DAYS = {"LUSTRE": 0}
"""Days for which automatic backups are stored if nothing is stated; of other types 30 (FSx API, CreateFileSystem)."""


def fsx(name: str, described: Mapping[str, Any]) -> Thing:
    """Return a file system of FSx, as a template or DescribeFileSystems describes it: both name the same properties."""
    type_name, disk = str(described.get("FileSystemType", "")), str(described.get("StorageType", "SSD"))
    own = described.get(f"{FSX_NAMES.get(type_name, '')}Configuration") or {}
    is_lustre, gib = type_name == "LUSTRE", number(described.get("StorageCapacity", 0))
    deployment = str(own.get("DeploymentType", "SCRATCH_1" if is_lustre else "SINGLE_AZ_1"))
    what = f"FSx {type_name.capitalize()} {deployment} {gib:g} GiB"
    family = f"fsx-{type_name.lower()}-{deployment.lower().replace('_', '-')}"
    item = _lustre_item(deployment, disk, own) if is_lustre else f"{family}-{disk.lower()}"
    items = [bill_item(what, "filesystem-capacity", item, gib * GIB, "month")]
    rate = number(own.get("ThroughputCapacityPerHAPair", 0)) * number(own.get("HAPairs", 1))
    rate = rate or number(own.get("ThroughputCapacity", 0))
    if rate and not is_lustre:
        items.append(bill_item(f"throughput of {what}", "filesystem-throughput", family, rate * MIB, "month"))
    extra = number((own.get("DiskIopsConfiguration") or {}).get("Iops", 0)) - FSX_IOPS_PER_GIB * gib
    if extra > 0:
        items.append(bill_item(f"IOPS of {what}", "filesystem-iops", family, extra, "month"))
    days = number(own.get("AutomaticBackupRetentionDays", FSX_BACKUP_DAYS.get(type_name, 30)))
    return Thing("file system", name, what, tuple(items), by_use="backups are charged by use" if days else "")


def _lustre_item(deployment: str, disk: str, own: Mapping[str, Any]) -> str:
    kind = "persistent-hdd" if disk == "HDD" else "persistent-ssd" if deployment == "PERSISTENT_2" else "persistent"
    rate = f"{number(own.get('PerUnitStorageThroughput', 0)):g}"
    return FSX_LUSTRE.get(deployment, f"fsx-lustre-{kind}-{rate}")


def bucket(name: str) -> Thing:
    """Return a bucket, which is charged by use."""
    return by_use("bucket", name, "S3 bucket", "storage, requests and transfer are charged by use")


def table(name: str, read_units: int, write_units: int) -> Thing:
    """Return a table of DynamoDB; 0 units: on demand."""
    items = [
        bill_item(f"{units} {way} units", f"table-{way}", "dynamodb", 1, "hour", units)
        for way, units in (("read", read_units), ("write", write_units))
        if units
    ]
    used = "storage is charged by use" if items else "storage and requests are charged by use"
    return Thing("table", name, "DynamoDB table", tuple(items), by_use=used)


def nat_gateway(name: str) -> Thing:
    """Return a NAT gateway, without its address."""
    items = (bill_item("NAT gateway", "gateway", "nat-gateway", 1, "hour"),)
    return Thing("NAT gateway", name, "NAT gateway", items, by_use="each GB that goes through it is charged by use")


def address(name: str, count: int = 1, is_idle: bool = False) -> Thing:
    """Return public IPv4 addresses; `is_idle`: nothing uses them."""
    what = f"{count} x {'idle ' if is_idle else ''}public address"
    item = "public-ipv4-idle" if is_idle else "public-ipv4"
    return Thing("address", name, what, (bill_item(what, "address", item, 1, "hour", count),))


def line(name: str, bandwidth: str) -> Thing:
    """Return a dedicated connection of Direct Connect; `bandwidth` is as AWS writes it: 10Gbps."""
    what = f"Direct Connect {bandwidth}"
    item = f"direct-connect-{bandwidth.lower().removesuffix('bps')}"
    return Thing(
        "line",
        name,
        what,
        (bill_item(what, "port", item, 1, "hour"),),
        by_use="each GB that leaves the cloud is charged by use",
    )


def by_use(kind: str, name: str, what: str, words: str) -> Thing:
    """Return a thing for which nothing is paid but its use; `words` say what that is."""
    return Thing(kind, name, what, by_use=words)


def unpriced(kind: str, name: str, what: str, note: str) -> Thing:
    """Return a thing whose price no book has, with the reason."""
    return Thing(kind, name, what, note=note)


def book_of(region: str, named: str = "") -> PriceBook | None:
    """Return the price book of a region; None if Assay has none.

    Args:
        region: Such as eu-west-1.
        named: Name or file of another book, which the user chose; empty: the region's.

    Raises:
        AssayError: The named book cannot be read.
    """
    name = named or f"aws-{region}"
    return load_book(name) if named or name in book_names() else None


def price_things(things: Iterable[Thing], book: PriceBook | None) -> Prices:
    """Return things with their prices; what the book lacks has none, and says so."""
    priced = tuple(_priced(thing, book) for thing in things)
    if book is None:
        return Prices(priced, "USD", None)
    return Prices(priced, book.currency, book)


def _priced(thing: Thing, book: PriceBook | None) -> PricedThing:
    if not thing.items:
        hour = None if thing.note or thing.by_use else Decimal(0)
        return PricedThing(thing, hour, hour, thing.note)
    if book is None:
        return PricedThing(thing, None, None, "no price book of this region; --book names one")
    try:
        cost = price_bill(Bill(lines=thing.items), book, thing.term)
        hour = cost.hour
        most = hour if thing.term == "on-demand" else _most(thing, book)
    except AssayError as error:
        return PricedThing(thing, None, None, error.message)
    return PricedThing(thing, hour, max(hour, most), thing.note, tuple(cost.rows))


def _most(thing: Thing, book: PriceBook) -> Decimal:
    """Return the most that an hour of spot instances may cost: at their maximum price, by default that on demand."""
    if thing.max_price is not None:
        return thing.max_price * sum(item.pieces for item in thing.items)
    return price_bill(Bill(lines=thing.items), book, "on-demand").hour

"""Things of a cloud as lines of a bill, and their prices by a price book. Pure but for reading the book."""

from collections.abc import Iterable
from decimal import Decimal

from assay.model.base import AssayError
from assay.model.money.amount import Term
from assay.model.money.price import Bill, BillItem, Per, PriceBook
from assay.money.books.books import book_names, load_book
from assay.money.cost.cost import price_bill
from assay.rooms.deploy.model.priced import PricedThing, Prices, Thing

GIB, MIB = 2**30, 2**20
PAID_IOPS = frozenset({"gp3", "io1", "io2"})
"""Types of volumes whose IOPS are paid for; of gp3 those above the free ones that the price book states."""
FREE = frozenset(
    f"AWS::{name}"
    for name in (
        *("AutoScaling::LaunchConfiguration", "CloudFormation::WaitCondition", "CloudFormation::WaitConditionHandle"),
        *("EC2::DHCPOptions", "EC2::InternetGateway", "EC2::LaunchTemplate", "EC2::PlacementGroup", "EC2::Route"),
        *("EC2::RouteTable", "EC2::SecurityGroup", "EC2::SecurityGroupEgress", "EC2::SecurityGroupIngress"),
        *("EC2::Subnet", "EC2::SubnetRouteTableAssociation", "EC2::VPC", "EC2::VPCGatewayAttachment"),
        *("EC2::VolumeAttachment", "EC2::EIPAssociation", "EC2::NetworkInterface", "EFS::MountTarget"),
        *(
            "IAM::InstanceProfile",
            "IAM::ManagedPolicy",
            "IAM::Policy",
            "IAM::Role",
            "IAM::RolePolicy",
            "S3::BucketPolicy",
        ),
        *(
            "DLM::LifecyclePolicy",
            "Scheduler::Schedule",
            "Scheduler::ScheduleGroup",
            "Budgets::Budget",
            "FSx::DataRepositoryAssociation",
        ),
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
    return Thing("instance", name, what, items, term, max_price)


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
    note = "requests are charged by use" if type_name == "standard" else ""
    return Thing("volume", name, what, tuple(items), note=note)


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
    note = "storage and access are charged by use"
    if is_elastic:
        note = "storage is charged by use, and so is each GB that is read or written (elastic throughput)"
    return Thing("file system", name, "EFS file system", paid, note=note)


FSX_LUSTRE = {"SCRATCH_1": "fsx-lustre-scratch-1", "SCRATCH_2": "fsx-lustre-scratch-2"}


def fsx(
    name: str, type_name: str, capacity_gib: float, deployment: str, rate_per_tib: int, throughput: float, disk: str
) -> Thing:
    """Return a file system of FSx.

    Args:
        name: Its id.
        type_name: LUSTRE, OPENZFS, ONTAP or WINDOWS.
        capacity_gib: Its capacity in GiB.
        deployment: Its deployment type, such as PERSISTENT_2 or SINGLE_AZ_2.
        rate_per_tib: Lustre: MB/s for each TiB; 0 if it has none.
        throughput: The others: throughput capacity in MB/s; 0 if it has none.
        disk: SSD or HDD.
    """
    what = f"FSx {type_name.capitalize()} {deployment} {capacity_gib:g} GiB"
    note = "backups are charged by use"
    if type_name == "LUSTRE":
        kind = "persistent-hdd" if disk == "HDD" else "persistent-ssd" if deployment == "PERSISTENT_2" else "persistent"
        item = FSX_LUSTRE.get(deployment, f"fsx-lustre-{kind}-{rate_per_tib}")
    else:
        family = f"fsx-{type_name.lower()}-{deployment.lower().replace('_', '-')}"
        item = f"{family}-{disk.lower()}"
    items = [bill_item(what, "filesystem-capacity", item, capacity_gib * GIB, "month")]
    if throughput and type_name != "LUSTRE":
        rate = throughput * MIB
        items.append(bill_item(f"throughput of {what}", "filesystem-throughput", family, rate, "month"))
        note = "IOPS above the included ones and backups cost extra"
    return Thing("file system", name, what, tuple(items), note=note)


def bucket(name: str) -> Thing:
    """Return a bucket, which is charged by use."""
    return Thing("bucket", name, "S3 bucket", note="storage, requests and transfer are charged by use")


def table(name: str, read_units: int, write_units: int) -> Thing:
    """Return a table of DynamoDB; 0 units: on demand."""
    items = [
        bill_item(f"{units} {way} units", f"table-{way}", "dynamodb", 1, "hour", units)
        for way, units in (("read", read_units), ("write", write_units))
        if units
    ]
    note = "storage is charged by use" if items else "storage and requests are charged by use"
    return Thing("table", name, "DynamoDB table", tuple(items), note=note)


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
        return Prices(priced, "USD", "")
    return Prices(priced, book.currency, f"{book.book}, {book.date}")


def _priced(thing: Thing, book: PriceBook | None) -> PricedThing:
    if not thing.items:
        hour = None if thing.note else Decimal(0)
        return PricedThing(thing, hour, hour, thing.note)
    if book is None:
        return PricedThing(thing, None, None, "no price book of this region; --book names one")
    try:
        hour = price_bill(Bill(lines=thing.items), book, thing.term).hour
        most = hour if thing.term == "on-demand" else _most(thing, book)
    except AssayError as error:
        return PricedThing(thing, None, None, error.message)
    return PricedThing(thing, hour, max(hour, most), thing.note)


def _most(thing: Thing, book: PriceBook) -> Decimal:
    """Return the most that an hour of spot instances may cost: at their maximum price, by default that on demand."""
    if thing.max_price is not None:
        return thing.max_price * sum(item.pieces for item in thing.items)
    return price_bill(Bill(lines=thing.items), book, "on-demand").hour

"""The twenty needs of `second_opinion`: for each the choice that its comment argues, then its rivals."""

from decimal import Decimal

from second_opinion import (
    BOOKS,
    GB,
    GIB,
    GP3,
    KIB,
    MB,
    MIB,
    NEEDS,
    ST1,
    TB,
    TIB,
    USABLE,
    Asked,
    Book,
    Candidate,
    Line,
    archived,
    bucket,
    indexed,
    lost,
    need,
    size,
    too_slow,
    up,
)

MADE_UP = Book(NEEDS / "book.yaml")
IRELAND_2016 = Book(BOOKS / "aws-eu-west-1-2016.yaml")
OWN = Book(BOOKS / "own-2026.yaml")
AWS = Book(BOOKS / "aws-us-east-1.yaml")
AZURE = Book(BOOKS / "azure-eastus.yaml")
GCP = Book(BOOKS / "gcp-us-central1.yaml")
DUBLIN, BRABANT, BRUSSELS = (
    Book(BOOKS / f"{name}.yaml") for name in ("aws-eu-west-1", "azure-westeurope", "gcp-europe-west1")
)

TO_VOLUMES = {"c6in.2xlarge": Decimal("781.25"), "c5n.9xlarge": Decimal("1187.5"), "m5.4xlarge": Decimal("593.75")}
"""MB/s that an instance keeps to its volumes (EC2 user guide, EBS-optimized instances); below those of 2016."""
TO_VOLUMES_2016 = {"c4.4xlarge": Decimal(250), "c4.8xlarge": Decimal(500)}
HDD, DISK = "hdd-22TB", 22 * TB
LOSS = "{volumes} volumes without copies are lost with {chance:.1%} a year, more than 1 %"


def gigabytes(value: Decimal) -> str:
    """As a design's capacity is written."""
    return f"{value / GB:.0f}GB"


def gibibytes(value: Decimal) -> str:
    return f"{value / GIB:.0f}GiB"


def st1_volumes(asked: Asked, count: int) -> Decimal:
    """Bytes of that many st1 volumes which keep the rates, each of whole GB."""
    needed = max(asked.both / ST1 * TIB, asked.bytes("capacity"))
    return count * up(needed / count, int(GB))


@need
def need_01(asked: Asked) -> list[Candidate]:
    book, whole = MADE_UP, st1_volumes(asked, 2)
    stored = asked.bytes("capacity")
    disks = book.line("volume-capacity", "st1", whole)
    four = st1_volumes(asked, 4)  # BeeGFS is offered with two volumes for each server at least
    pairs = {"volume": "st1", "volumes": 2, "capacity": gigabytes(four / 2)}
    half = {"volume": "st1", "volumes": 1, "capacity": gigabytes(whole / 2)}
    two = book.machines("c6in.2xlarge", 2)
    one = {"volume": "st1", "volumes": 2, "capacity": gigabytes(whole)}
    lustre = max(up(stored / GIB, 2400), up(asked.sold / (125 * MB) * TIB / GIB, 2400)) * GIB
    slow = {name: too_slow(TO_VOLUMES[name] * MB, asked.both) for name in ("m5.4xlarge", "c5n.9xlarge")}
    return [
        Candidate("orangefs-volumes", {"instance": "c6in.2xlarge", "nodes": 2, **half}, [two, disks]),
        Candidate(
            "beegfs-volumes",
            {"instance": "c6in.2xlarge", "servers": 2, **pairs},
            [two, book.line("volume-capacity", "st1", four), book.machines("m6a.xlarge")],
        ),
        Candidate(
            "nfs-volumes",
            {"instance": "c5n.9xlarge", **one},
            [book.machines("c5n.9xlarge"), disks],
            slow["c5n.9xlarge"],
        ),
        Candidate(
            "fsx-lustre-persistent",
            {"type": "fsx-lustre-persistent-ssd-125", "capacity": gibibytes(lustre)},
            [book.line("filesystem-capacity", "fsx-lustre-persistent-ssd-125", lustre)],
        ),
        Candidate("efs-one-zone", {"stored": "20TB"}, [book.line("filesystem-capacity", "efs-one-zone", stored)]),
        Candidate(
            "nfs-volumes", {"instance": "m5.4xlarge", **one}, [book.machines("m5.4xlarge"), disks], slow["m5.4xlarge"]
        ),
    ]


@need
def need_02(asked: Asked) -> list[Candidate]:
    book, stored = MADE_UP, asked.bytes("capacity")
    iops = asked.bytes("read_iops") + asked.bytes("write_iops")

    def volumes(instance: str, count: int, most: int) -> Candidate:
        each = max(up(iops / count, 100), Decimal(3000))
        rate = max(up(iops * size("16KiB") / count / MIB), Decimal(125))
        lines = [
            book.line("volume-capacity", "gp3", stored),
            book.line("volume-iops", "gp3", each * count, each=count),
            book.line("volume-throughput", "gp3", rate * count * MIB, each=count),
        ]
        settings = {
            "instance": instance,
            "volume": "gp3",
            "volumes": count,
            "layout": "raid0",
            "iops": int(each),
            "throughput": f"{rate}MiB/s",
            "capacity": "4TB",
        }
        few = "" if most >= iops / USABLE else f"{most:,} IOPS of the instance for {iops / USABLE:,.0f}"
        chance = LOSS.format(volumes=count, chance=lost(count)) if lost(count) > Decimal("0.01") else ""
        return Candidate("direct-volumes", settings, lines, few or chance)

    return [
        volumes("c6in.2xlarge", 1, 25_000),
        volumes("c6in.2xlarge", 8, 25_000),
        volumes("m5.4xlarge", 1, 18_750),
    ]


def beegfs_2016(instance: str, servers: int, fails: str = "", unproven: str = "") -> Candidate:
    """That many servers, and one for management and metadata."""
    lines = [IRELAND_2016.machines(instance, servers), IRELAND_2016.machines("c3.large")]
    return Candidate(
        "beegfs", {"instance": instance, "servers": servers, "metadata": "c3.large"}, lines, fails, unproven
    )


def stored_2016(instance: str, asked: Asked, **how: str) -> Candidate:
    """One NFS server on its own disks, on terms of a year, of three, or on demand."""
    term = how.get("term", "reserved-1y")
    years = 3 if term == "reserved-3y" else 1
    lines = [IRELAND_2016.machines(instance)]
    if term != "on-demand":
        lines = [IRELAND_2016.upfront(instance, term, -(-asked.months // (12 * years)), asked.months)]
    settings = {"instance": instance, "layout": "raid0"}
    return Candidate("nfs-instance-store", settings, lines, how.get("fails", ""), how.get("unproven", ""), term)


def volumes_2016(instance: str, capacity: Decimal, asked: Asked, count: int = 1) -> Candidate:
    """One NFS server on st1 volumes."""
    lines = [IRELAND_2016.machines(instance), IRELAND_2016.line("volume-capacity", "st1", capacity)]
    settings = {"instance": instance, "volume": "st1", "volumes": count, "capacity": gigabytes(capacity)}
    return Candidate("nfs-volumes", settings, lines, too_slow(TO_VOLUMES_2016[instance] * MB, asked.both))


@need
def need_03(asked: Asked) -> list[Candidate]:
    two = too_slow(2 * 1250 * MB, asked.bytes("read") / USABLE)
    return [
        beegfs_2016("c3.8xlarge", 8),  # 7.65 GB/s read and 6.81 GB/s written were measured (BeeGFS paper)
        beegfs_2016("d2.8xlarge", 8, unproven="nobody states what its disks do"),
        beegfs_2016("c3.8xlarge", 2, two),
        stored_2016("d2.8xlarge", asked, fails=too_slow(1250 * MB, asked.bytes("read") / USABLE)),
    ]


@need
def need_04(asked: Asked) -> list[Candidate]:
    return [
        stored_2016("d2.8xlarge", asked),  # 1.17 GB/s written were measured, and more read (NFS paper)
        stored_2016("d2.8xlarge", asked, term="on-demand"),
        beegfs_2016("d2.8xlarge", 2),  # 2.4 GB/s were measured (BeeGFS paper)
        volumes_2016("c4.8xlarge", 40 * TB, asked, 4),
    ]


@need
def need_05(asked: Asked) -> list[Candidate]:
    least = st1_volumes(asked, 1)
    return [
        volumes_2016("c4.8xlarge", least, asked),
        volumes_2016("c4.8xlarge", 10 * TB, asked),
        volumes_2016("c4.4xlarge", least, asked),
        stored_2016("d2.xlarge", asked, fails="its data go with it, and no copy is kept elsewhere"),
    ]


@need
def need_06(asked: Asked) -> list[Candidate]:
    return [
        stored_2016("d2.xlarge", asked),  # 141 MB/s written were measured, and more read (NFS paper)
        stored_2016("d2.4xlarge", asked),
        volumes_2016("c4.8xlarge", st1_volumes(asked, 1), asked),
        stored_2016("d2.2xlarge", asked, unproven="it was not measured"),
    ]


@need
def need_07(asked: Asked) -> list[Candidate]:
    return [
        stored_2016("d2.4xlarge", asked, term="reserved-3y"),  # 613 MB/s were measured (NFS paper)
        stored_2016("d2.4xlarge", asked, term="reserved-1y"),
        stored_2016("d2.4xlarge", asked, term="on-demand"),
        stored_2016("d2.8xlarge", asked, term="reserved-3y"),
        stored_2016(
            "d2.2xlarge", asked, term="reserved-3y", fails=too_slow(Decimal("312.5") * MB, asked.bytes("read") / USABLE)
        ),
    ]


@need
def need_08(asked: Asked) -> list[Candidate]:
    stored = asked.bytes("capacity")
    deep = bucket(MADE_UP, asked, "s3-deep-archive", archived(stored, MIB))
    deep.append(MADE_UP.line("object-capacity", "s3-standard", indexed(stored, MIB)))
    one_zone = bucket_one_zone(MADE_UP, stored)
    return [
        Candidate("s3-archive", {"class": "s3-deep-archive", "stored": "500TB"}, deep),
        Candidate(
            "s3-tiered",
            {"cold_class": "s3-deep-archive", "cold_share": "99%", "stored": "500TB"},
            moved_to_deep_archive(MADE_UP, asked, stored),
        ),
        Candidate(
            "s3", {"class": "s3-standard-ia", "stored": "500TB"}, bucket(MADE_UP, asked, "s3-standard-ia", stored)
        ),
        Candidate("s3", {"class": "s3-standard", "stored": "500TB"}, bucket(MADE_UP, asked, "s3-standard", stored)),
        one_zone,
    ]


def moved_to_deep_archive(book: Book, asked: Asked, stored: Decimal) -> list[Line]:
    """All is put into the standard class, and 99 % moved on: what is not read in a month; so are 99 % of the reads."""
    rare = Decimal("0.99")
    cold, reads = stored * rare, asked.objects("read")
    return [
        book.line("object-capacity", "s3-standard", stored - cold),
        book.line("object-capacity", "s3-deep-archive", archived(cold, MIB)),
        book.line("object-capacity", "s3-standard", indexed(cold, MIB)),
        asked.first(book, "s3-standard/put"),
        book.line("object-requests", "s3-deep-archive/transition", up(stored / MIB) * rare).over(asked.months),
        book.line("object-requests", "s3-standard/put", asked.objects("written")),
        book.line("object-requests", "s3-deep-archive/transition", asked.objects("written") * rare),
        book.line("object-requests", "s3-standard/get", reads * (1 - rare)),
        book.line("object-requests", "s3-deep-archive/get", reads * rare),
        book.line("object-requests", "s3-deep-archive/restore", reads * rare),
        book.line("object-retrieval", "s3-deep-archive", asked.bytes("read", "monthly") * rare),
    ]


def bucket_one_zone(book: Book, stored: Decimal) -> Candidate:
    """Only what is stored: it is ruled out, and the book has no price of its requests."""
    lines = [book.line("object-capacity", "s3-one-zone-ia", stored)]
    return Candidate("s3-one-zone", {"stored": f"{stored / TB:.0f}TB"}, lines, "one zone; a region is asked for")


@need
def need_09(asked: Asked) -> list[Candidate]:
    stored = asked.bytes("capacity")
    return [
        Candidate("s3", {"class": "s3-standard", "stored": "50TB"}, bucket(MADE_UP, asked, "s3-standard", stored)),
        Candidate(
            "s3", {"class": "s3-standard-ia", "stored": "50TB"}, bucket(MADE_UP, asked, "s3-standard-ia", stored)
        ),
        bucket_one_zone(MADE_UP, stored),
    ]


@need
def need_10(asked: Asked) -> list[Candidate]:
    book = MADE_UP
    kept = book.line("table-capacity", "dynamodb", asked.bytes("capacity"))
    filling = book.line("table-write", "dynamodb", up(asked.bytes("capacity") / KIB) / 3600)

    def bought(reads: int, writes: int) -> Candidate:
        units = [
            book.line("table-read", "dynamodb", reads * book.hours),
            book.line("table-write", "dynamodb", writes * book.hours),
        ]
        return Candidate(
            "dynamodb-provisioned",
            {"reads": reads, "writes": writes, "item": "1KiB", "stored": "100GB"},
            [kept, *units, filling.over(asked.months)],
        )

    paid = [
        book.line("table-requests", "dynamodb/read", asked.bytes("read", "monthly") / KIB),
        book.line("table-requests", "dynamodb/write", asked.bytes("written", "monthly") / KIB),
    ]
    rates = int(asked.bytes("read_iops")), int(asked.bytes("write_iops"))
    return [
        bought(*rates),
        bought(5000, 1000),
        Candidate(
            "dynamodb-on-demand",
            {"item": "1KiB", "stored": "100GB"},
            [kept, *paid, asked.first(book, "dynamodb/write", "table-requests")],
        ),
    ]


def lustre(
    book: Book, kind: str, per_tib: int, step: int, asked: Asked, design: str = "fsx-lustre-persistent"
) -> Candidate:
    """FSx for Lustre of so many MB/s for each TiB, in steps of so many GiB: for the rate or the data."""
    capacity = up(max(asked.sold / (per_tib * MB) * TIB, asked.bytes("capacity")) / GIB, step) * GIB
    name = f"{'fsx-lustre-efa' if design.endswith('efa') else 'fsx-lustre-persistent-ssd'}-{per_tib}"
    line = book.line("filesystem-capacity", kind, capacity)
    return Candidate(design, {"type": name, "capacity": gibibytes(capacity)}, [line])


@need
def need_11(asked: Asked) -> list[Candidate]:
    book, stored = MADE_UP, asked.bytes("capacity")
    kind = "fsx-lustre-persistent-ssd-125"
    servers = up(asked.both / (TO_VOLUMES["c6in.2xlarge"] * MB))
    each = 2 * up(max(asked.both / ST1 * TIB, stored) / servers / 2, int(GB))
    settings = {
        "instance": "c6in.2xlarge",
        "volume": "st1",
        "volumes": 2,
        "layout": "raid0",
        "servers": int(servers),
        "capacity": gigabytes(each),
    }
    chance = lost(2 * int(servers))
    disks = book.line("volume-capacity", "st1", each * servers)
    # Each byte that is written goes to two volumes, on the way to them and there.
    mirrored = asked.both + asked.bytes("write") / USABLE
    pairs = up(mirrored / (TO_VOLUMES["c6in.2xlarge"] * MB))
    half = 8 * up(2 * stored / pairs / 8, int(GB))
    how = {"instance": "c6in.2xlarge", "volume": "gp3", "volumes": 8, "layout": "raid10", "servers": int(pairs)}
    fast = up(asked.bytes("write") / MIB + asked.bytes("read") / MIB / 3)
    return [
        lustre(book, kind, 125, 2400, asked),
        lustre(book, kind, 125, 38400, asked, "fsx-lustre-efa"),
        Candidate(
            "efs-provisioned",
            {"throughput": f"{fast}MiB/s", "stored": "30TB"},
            [
                book.line("filesystem-capacity", "efs-standard", stored),
                book.line("filesystem-throughput", "efs-provisioned", (fast - 50 * stored / TIB) * MIB),
            ],
        ),
        Candidate(
            "beegfs-volumes",
            settings,
            [book.machines("c6in.2xlarge", int(servers)), book.machines("m6a.xlarge"), disks],
            LOSS.format(volumes=2 * servers, chance=chance),
        ),
        Candidate(
            "beegfs-volumes",
            {**how, "capacity": gigabytes(half)},
            [
                book.machines("c6in.2xlarge", int(pairs)),
                book.machines("m6a.xlarge"),
                book.line("volume-capacity", "gp3", half * pairs),
            ],
            too_slow(8 * pairs * GP3, mirrored),
        ),
    ]


@need
def need_12(asked: Asked) -> list[Candidate]:
    book, stored = MADE_UP, asked.bytes("capacity") * Decimal("1.5")
    read = asked.bytes("read") * Decimal("1.5") / USABLE

    def array(chassis: int, links: int) -> Candidate:
        lines = [
            book.line("purchase", "isilon-h500", chassis).over(asked.months),
            book.line("rack", "rack", 6 * chassis),
            book.line("port", "direct-connect-10g", links * book.hours),
            book.line("transfer-out", "direct-connect", asked.bytes("write") * Decimal("1.5") * book.hours * 3600),
        ]
        fails = too_slow(links * 1250 * MB, read) or (
            "" if chassis * 178 * TB >= stored else f"{chassis * 178} TB for 225"
        )
        return Candidate("array-leased-link", {"chassis": chassis, "links": links}, lines, fails)

    efs = [book.line("filesystem-capacity", "efs-standard", stored)]
    return [
        array(2, 2),
        array(2, 4),
        Candidate("efs-bursting", {"stored": gigabytes(stored)}, efs),
        array(2, 1),
        array(1, 2),
    ]


@need
def need_13(asked: Asked) -> list[Candidate]:
    stored, record = asked.bytes("capacity"), GIB
    hours = int(asked.written["admin_hours"]["own"])

    def tape(cartridge: int, copies: int, fails: str = "") -> Candidate:
        count = int(up(copies * stored / (cartridge * TB)))
        pieces = {f"tape-{cartridge}TB": count, f"tape-drive-{cartridge}TB": 1, "sas-hba": 1, "server-1u-small": 1}
        settings = {"cartridge": f"{cartridge}TB", "copies": copies, "drives": 1, "cartridges": count}
        return Candidate("own-tape", settings, OWN.own(pieces, 385, 2, hours, asked.months), fails)

    deep = bucket(AWS, asked, "s3-deep-archive", archived(stored, record))
    deep.append(AWS.line("object-capacity", "s3-standard", indexed(stored, record)))
    return [
        tape(18, 2),
        Candidate("s3-archive", {"class": "s3-deep-archive", "stored": "2PB"}, deep),
        Candidate("azure-blob-archive", {"stored": "2PB"}, bucket(AZURE, asked, "blob-archive", stored)),
        Candidate("gcs-archive", {"stored": "2PB"}, bucket(GCP, asked, "gcs-archive", stored)),
        tape(30, 2),
        tape(18, 1, "one copy does not survive its cartridge; `host` is asked for"),
    ]


@need
def need_14(asked: Asked) -> list[Candidate]:
    stored, hours, months = asked.bytes("capacity"), int(asked.written["admin_hours"]["own"]), asked.months
    groups = int(up(stored / (8 * DISK)))
    group = int(up(stored / (groups * DISK))) + 2
    server = {"storage-server-4u36": 1, HDD: group * groups}
    nodes, disks = 3, 36
    ceph = {"ceph-server-4u36": nodes, HDD: nodes * disks, "switch-25gbe-16": 3}
    beegfs = {**server, "metadata-server-1u": 2, "switch-25gbe-16": 2}
    kind = "fsx-lustre-persistent-hdd-12"
    rented = max(up(stored / GIB, 6000), up(asked.sold / (12 * MB) * TIB / GIB, 6000)) * GIB
    ports = max(asked.bytes("read"), asked.bytes("write")) / USABLE
    return [
        Candidate(
            "own-nfs-server",
            {"groups": groups, "group": group, "disk": "22TB"},
            OWN.own(server, 505 + 14 * group * groups, 4, hours, months),
            too_slow(6250 * MB, ports),
        ),
        Candidate(
            "own-beegfs",
            {"servers": 1, "groups": groups, "group": group, "gigabits": 25, "disk": "22TB"},
            OWN.own(beegfs, 505 + 14 * group * groups + 2 * 520 + 2 * 146, 8, hours, months),
        ),
        Candidate(
            "own-ceph",
            {"nodes": nodes, "disks": disks, "disk": "22TB", "copies": 3},
            OWN.own(ceph, nodes * (640 + disks * 14) + 3 * 146, 4 * nodes + 3, hours, months),
        ),
        Candidate(
            "fsx-lustre-hdd",
            {"type": kind, "capacity": gibibytes(rented)},
            [AWS.line("filesystem-capacity", kind, rented)],
        ),
        Candidate(
            "own-nfs-server",
            {"groups": groups - 1, "group": 12, "disk": "22TB"},
            OWN.own({**server, HDD: 12 * (groups - 1)}, 505 + 14 * 12 * (groups - 1), 4, hours, months),
            f"{(groups - 1) * 10 * 22} TB for 500",
        ),
    ]


@need
def need_15(asked: Asked) -> list[Candidate]:
    stored, duty = asked.bytes("capacity"), Decimal("0.1")
    dense = int(up(asked.both / (6200 * MB)))
    parallel = up(stored / TIB, 4) * TIB
    reads, writes = parallel * Decimal("1.15") / 1024, parallel / 2 / 1024
    slow = too_slow(reads, asked.bytes("read")) or too_slow(writes, asked.bytes("write"))
    servers = up(asked.both / (TO_VOLUMES["m5.4xlarge"] * MB))
    each = 8 * up(stored / servers / 8, int(GB))
    scratch = up((asked.bytes("read") / (200 * MB) + asked.bytes("write") / (100 * MB)) * TIB / GIB, 2400) * GIB
    fast = lustre(AWS, "fsx-lustre-persistent-ssd-500", 500, 2400, asked)

    whole, rate = up(stored / GIB) * GIB, int(up(asked.sold / MIB))
    files = [
        AZURE.line("filesystem-capacity", "files-ssd-v2-lrs", whole),
        AZURE.line("filesystem-throughput", "files-ssd-v2-lrs", (rate - 100) * MIB),
    ]

    def part(whole: Candidate) -> Candidate:
        shares = [Line(f"{line.formula} x {duty}", line.cost * duty) for line in whole.lines]
        return Candidate(whole.design, whole.settings, shares)

    return [
        part(Candidate("azure-files-v2", {"throughput": f"{rate}MiB/s", "capacity": gibibytes(whole)}, files)),
        Candidate(
            "beegfs-dense",
            {"servers": dense, "layout": "raid0"},
            [AWS.machines("d3en.12xlarge", dense, duty, "spot"), AWS.machines("m6a.xlarge", 1, duty)],
            term="spot",
        ),
        Candidate(
            "gcp-parallelstore",
            {"capacity": f"{parallel / TIB:.0f}TiB"},
            [GCP.line("filesystem-capacity", "parallelstore-scratch", parallel * duty)],
            slow,
        ),
        Candidate(
            "beegfs-volumes",
            {
                "instance": "m5.4xlarge",
                "servers": int(servers),
                "volume": "gp3",
                "volumes": 8,
                "capacity": gigabytes(each),
            },
            [
                AWS.machines("m5.4xlarge", int(servers), duty, "spot"),
                AWS.machines("m6a.xlarge", 1, duty),
                AWS.line("volume-capacity", "gp3", each * servers * duty),
            ],
            too_slow(8 * servers * GP3, asked.sold),
            term="spot",
        ),
        part(fast),
        Candidate(
            "fsx-lustre-scratch",
            {"capacity": gibibytes(scratch)},
            [AWS.line("filesystem-capacity", "fsx-lustre-scratch-2", scratch * duty)],
        ),
        Candidate(
            "beegfs",
            {"instance": "im4gn.4xlarge", "servers": 3},
            [AWS.machines("im4gn.4xlarge", 3, duty, "spot"), AWS.machines("m6a.xlarge", 1, duty)],
            unproven="nobody states what its disks do",
            term="spot",
        ),
    ]


@need
def need_16(asked: Asked) -> list[Candidate]:
    stored = asked.bytes("capacity")
    return [
        Candidate(
            "s3", {"class": "s3-standard", "stored": "20TB"}, bucket(AWS, asked, "s3-standard", stored, egress=True)
        ),
        Candidate(
            "azure-blob", {"class": "blob-hot", "stored": "20TB"}, bucket(AZURE, asked, "blob-hot", stored, egress=True)
        ),
        Candidate("s3-one-zone", {"stored": "20TB"}, bucket(AWS, asked, "s3-one-zone-ia", stored, egress=True)),
        Candidate(
            "gcs", {"class": "gcs-standard", "stored": "20TB"}, bucket(GCP, asked, "gcs-standard", stored, egress=True)
        ),
        Candidate("gcs-archive", {"stored": "20TB"}, bucket(GCP, asked, "gcs-archive", stored, egress=True)),
    ]


@need
def need_17(asked: Asked) -> list[Candidate]:
    stored = asked.bytes("capacity")
    google = up(max(asked.sold / (125 * MB) * TIB, stored) / GIB, 72_000) * GIB
    ultra = up(max(asked.sold / (128 * MIB), stored / TIB)) * TIB
    tiered = up(asked.sold, 4000 * int(MB))
    servers = up(asked.both / (TO_VOLUMES["c6in.2xlarge"] * MB))
    each = 8 * up(stored / servers / 8, int(GB))
    how = {
        "instance": "c6in.2xlarge",
        "servers": int(servers),
        "volume": "gp3",
        "volumes": 8,
        "layout": "raid0",
        "capacity": gigabytes(each),
    }
    return [
        lustre(AWS, "fsx-lustre-persistent-ssd-250", 250, 2400, asked),
        lustre(AWS, "fsx-lustre-persistent-ssd-250", 250, 19_200, asked, "fsx-lustre-efa"),
        lustre(AWS, "fsx-lustre-persistent-ssd-125", 125, 2400, asked),
        lustre(AWS, "fsx-lustre-persistent-ssd-500", 500, 2400, asked),
        Candidate(
            "gcp-managed-lustre",
            {"capacity": gibibytes(google)},
            [GCP.line("filesystem-capacity", "managed-lustre-125", google)],
        ),
        Candidate(
            "azure-netapp-files",
            {"type": "azure-netapp-files-ultra", "capacity": f"{ultra / TIB:.0f}TiB"},
            [AZURE.line("filesystem-capacity", "netapp-files-ultra", ultra)],
            fails="the largest volume has 12,800 MiB/s, and 44 GB/s are 41,962 MiB/s",
        ),
        Candidate(
            "fsx-lustre-intelligent-tiering",
            {"throughput": f"{tiered / MB:.0f}MB/s", "infrequent": "0%", "stored": "200TB"},
            intelligent(asked, stored, Decimal(1), tiered),
            unproven="what it can write is not stated",
        ),
        Candidate(
            "beegfs-volumes",
            how,
            [
                AWS.machines("c6in.2xlarge", int(servers), term="reserved-1y"),
                AWS.machines("m6a.xlarge", term="reserved-1y"),
                AWS.line("volume-capacity", "gp3", each * servers),
            ],
            LOSS.format(volumes=8 * servers, chance=lost(8 * int(servers))),
        ),
    ]


def intelligent(asked: Asked, stored: Decimal, active: Decimal, throughput: Decimal) -> list[Line]:
    """FSx for Lustre Intelligent-Tiering: two tiers that are watched, the rate that is bought, and requests."""
    name = "fsx-lustre-intelligent-tiering"
    return [
        AWS.line("filesystem-capacity", f"{name}/frequent", stored * active),
        AWS.line("filesystem-capacity", f"{name}/infrequent", stored * (1 - active)),
        AWS.line("filesystem-capacity", f"{name}/monitoring", stored),
        AWS.line("filesystem-throughput", name, throughput),
        AWS.line("filesystem-requests", f"{name}/read", asked.objects("read")),
        AWS.line("filesystem-requests", f"{name}/write", asked.objects("written")),
        asked.first(AWS, f"{name}/write", "filesystem-requests"),
    ]


@need
def need_18(asked: Asked) -> list[Candidate]:
    stored, hours, months = asked.bytes("capacity"), int(asked.written["admin_hours"]["own"]), asked.months
    rate = Decimal(str(asked.written["exchange"]["USD"]))
    minio = {"storage-server-2u12": 4, HDD: 48, "switch-25gbe-8": 2}
    ceph = {"storage-server-2u12": 6, HDD: 54, "switch-25gbe-8": 2}
    return [
        Candidate(
            "own-minio",
            {"nodes": 4, "disks": 12, "disk": "22TB", "copies": "12+4"},
            OWN.own(minio, 4 * 475 + 48 * 14 + 138, 10, hours, months),
            rate=rate,
        ),
        Candidate(
            "own-ceph",
            {"nodes": 6, "disks": 9, "disk": "22TB", "copies": "4+2"},
            OWN.own(ceph, 6 * 475 + 54 * 14 + 138, 14, hours, months),
            rate=rate,
        ),
        Candidate(
            "azure-blob",
            {"class": "blob-hot", "stored": "600TB"},
            bucket(BRABANT, asked, "blob-hot", stored),
            rate=rate,
        ),
        Candidate(
            "gcs",
            {"class": "gcs-standard", "stored": "600TB"},
            bucket(BRUSSELS, asked, "gcs-standard", stored),
            rate=rate,
        ),
        Candidate(
            "s3", {"class": "s3-standard", "stored": "600TB"}, bucket(DUBLIN, asked, "s3-standard", stored), rate=rate
        ),
    ]


@need
def need_19(asked: Asked) -> list[Candidate]:
    stored, active = asked.bytes("capacity"), Decimal("0.05")
    whole = up(stored / GIB) * GIB
    efs = [
        AWS.line("filesystem-capacity", "efs-standard", stored * active),
        AWS.line("filesystem-capacity", "efs-ia", stored * (1 - active)),
        AWS.line("filesystem-access", "efs-ia-write", asked.bytes("written", "monthly") * (1 - active)),
        AWS.line("filesystem-access", "efs-ia-write", stored * (1 - active)).over(asked.months),
    ]
    elastic = [
        efs[0],
        AWS.line("filesystem-capacity", "efs-elastic-ia", stored * (1 - active)),
        *efs[2:],
        AWS.line("filesystem-access", "efs-elastic-read", asked.bytes("read", "monthly")),
        AWS.line("filesystem-access", "efs-elastic-write", asked.bytes("written", "monthly")),
        AWS.line("filesystem-access", "efs-elastic-write", stored).over(asked.months),
    ]
    pool = [
        AWS.line("filesystem-capacity", "fsx-ontap-multi-az-1-ssd", whole * active),
        AWS.line("filesystem-capacity", "fsx-ontap-capacity-pool-multi-az-1", whole * (1 - active)),
        AWS.line("filesystem-throughput", "fsx-ontap-multi-az-1", 128 * MIB),
    ]
    cold = {"infrequent": "95%"}
    return [
        Candidate(
            "fsx-lustre-intelligent-tiering",
            {"throughput": "4000MB/s", **cold, "stored": "500TB"},
            intelligent(asked, stored, active, 4000 * MB),
        ),
        Candidate("efs-elastic", {**cold, "stored": "500TB"}, elastic),
        Candidate("efs-bursting", {**cold, "stored": "500TB"}, efs),
        Candidate("fsx-ontap-multi-az", {"throughput": "128MiB/s", **cold, "capacity": gibibytes(whole)}, pool),
        Candidate(
            "efs-bursting",
            {"infrequent": "0%", "stored": "500TB"},
            [AWS.line("filesystem-capacity", "efs-standard", stored)],
        ),
    ]


@need
def need_20(asked: Asked) -> list[Candidate]:
    stored = asked.bytes("capacity")
    whole = up(stored / GIB) * GIB
    follows = 100 * MIB + whole / GIB * MIB / 10

    def openzfs(rate: int) -> Candidate:
        lines = [
            AWS.line("filesystem-capacity", "fsx-openzfs-multi-az-1-ssd", whole),
            AWS.line("filesystem-throughput", "fsx-openzfs-multi-az-1", rate * MIB),
        ]
        settings = {"throughput": f"{rate}MiB/s", "capacity": gibibytes(whole)}
        return Candidate("fsx-openzfs-multi-az", settings, lines, too_slow(rate * MIB, asked.sold))

    filestore = up(stored / GIB, 2560) * GIB
    both = up(asked.sold / MIB)
    bought = [
        AZURE.line("filesystem-capacity", "files-ssd-v2-zrs", whole),
        AZURE.line("filesystem-throughput", "files-ssd-v2-zrs", (both - 100) * MIB),
    ]
    settings = {"throughput": f"{both}MiB/s", "capacity": gibibytes(whole)}
    return [
        Candidate("azure-files-v2-zrs", settings, bought),
        Candidate(
            "azure-files-zrs",
            {"capacity": gibibytes(whole)},
            [AZURE.line("filesystem-capacity", "files-premium-zrs", whole)],
            too_slow(follows, asked.sold),
        ),
        openzfs(1280),
        Candidate("efs-bursting", {"stored": "20TB"}, [AWS.line("filesystem-capacity", "efs-standard", stored)]),
        Candidate(
            "gcp-filestore-regional-large",
            {"capacity": gibibytes(filestore)},
            [GCP.line("filesystem-capacity", "filestore-regional", filestore)],
        ),
        openzfs(640),
    ]

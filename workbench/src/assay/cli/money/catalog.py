"""`assay catalog`."""

from typing import TYPE_CHECKING, Any

import typer

from assay.model.base import AssayError
from assay.model.units import UnitError, about_duration, about_number, format_size, parse_size, parse_throughput
from assay.terminal.command_group import group
from assay.terminal.output import print_json, print_line, print_table

if TYPE_CHECKING:
    from assay.model.money.catalog import (
        CatalogEntry,
        FileSystemLimits,
        FileSystemType,
        Instance,
        VolumeLimits,
        VolumeType,
    )

app = group()

NETWORK_BURST = "5 to 60 min, of saved credits"
"""Source: docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html; not published by type."""
RATES = ("rate_", "small_rate", "knee_rate", "sustained_max", "burst_per_tib", "max_read", "max_write", "per_client")
"""Prefixes of the fields that hold bytes per second."""
LUSTRE_RATES = ("per_tib", "write_per_tib", "disk_burst", "write_disk_burst", "network", "network_burst")
LIMIT_COLUMNS = ("size", "limit", "sustained", "burst", "burst duration")


@app.callback()
def command() -> None:
    """Show cloud services and their limits: instances, volumes, file systems, object storage, tables.

    Limits are those that the provider states, each with its source: sustained, in bursts, and how long a burst lasts.

    Example: `assay catalog show gp2 --size 500GiB`, `assay catalog show i3en.24xlarge`
    """


@app.command(name="list")
def list_entries(
    family: str = typer.Option("", "--family", metavar="NAME", help="Instances of a family, such as i3en."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """List the entries; for instances, the families, or all sizes of one family.

    Example: `assay catalog list --family i3en`
    """
    from assay.model.money.catalog import family_of
    from assay.money.cost.catalog import catalog

    known = catalog()
    if family:
        found = known.family(family)
        if as_json:
            print_json(list(found))
            return
        columns = (
            "instance",
            "vCPUs",
            "memory",
            "disks",
            "network sustained",
            "burst",
            "to volumes sustained",
            "burst ",
        )
        print_table(columns, [_instance_row(each) for each in found], right=columns[1:3] + columns[4:])
        return
    families: dict[str, list[str]] = {}
    for name in known.instance_names():
        families.setdefault(family_of(name), []).append(name)
    if as_json:
        services = [{"name": each.name, "kind": _kind(each)} for each in known.services()]
        print_json({"services": services, "families": families})
        return
    rows = [(each.name, _kind(each), str(each.date or "")) for each in known.services()]
    print_table(("name", "what it is", "figures of"), rows)
    print_line(f"{sum(map(len, families.values()))} instance types; `--family NAME` shows the sizes of one of:")
    print_line(", ".join(families))


@app.command()
def show(
    name: str = typer.Argument(..., metavar="NAME", help="An entry of `assay catalog list`, or an instance type."),
    size: str = typer.Option("", "--size", metavar="SIZE", help="Size of the volume or file system, such as 5TB."),
    iops: int = typer.Option(None, "--iops", metavar="N", help="Provisioned IOPS, for gp3, io1 and io2."),
    throughput: str = typer.Option(
        "",
        "--throughput",
        metavar="RATE",
        help="Provisioned throughput, such as 500MiB/s, for gp3 and efs-provisioned.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Show an entry with its limits, sustained and in bursts, how long a burst lasts, and the source.

    Example: `assay catalog show gp3 --size 5TB --iops 8000 --throughput 500MiB/s`
    """
    from assay.cli.money.catalog_managed import show_managed
    from assay.model.money.catalog import FileSystemType, Instance, ManagedType, VolumeType
    from assay.money.cost.catalog import catalog

    entry = catalog().entry(name)
    wanted = _parse_options(size, iops, throughput)
    if isinstance(entry, ManagedType):
        show_managed(entry, *wanted, as_json=as_json)
        return
    if not isinstance(entry, VolumeType | FileSystemType) and any(each is not None for each in wanted):
        raise AssayError(
            f"{name} has no size, IOPS or throughput to choose",
            "leave them out: only volumes and file systems have them",
        )
    limits = _limits(entry, *wanted) if isinstance(entry, VolumeType | FileSystemType) else []
    if as_json:
        found = [{"size": each, **limit.model_dump(mode="json")} for each, limit in limits]
        print_json({"kind": _kind(entry), **entry.model_dump(mode="json"), "limits": found})
        return
    print_line(f"{entry.name}: {_kind(entry)}")
    if isinstance(entry, Instance):
        print_table(("limit", "sustained", "burst", "burst duration"), _instance_rows(entry))
    else:
        print_table(("what", "figure"), _figures(entry))
    if limits:
        print_table(LIMIT_COLUMNS, [row for each, limit in limits for row in _limit_rows(each, limit)])
        for how in dict.fromkeys(limit.how for _, limit in limits) if size else ():
            print_line(f"How: {how}")
    elif isinstance(entry, VolumeType | FileSystemType):
        print_line(f"Its limits depend on what is provisioned: {_example_command(entry)}")
    for line in entry.source_lines():
        print_line(line)


def _parse_options(size: str, iops: int | None, throughput: str) -> tuple[int | None, int | None, float | None]:
    """Return size in bytes, IOPS and bytes per second as the options state them."""
    try:
        wanted = parse_size(size) if size else None
    except UnitError as error:
        raise error.at("--size") from None
    try:
        rate = parse_throughput(throughput) if throughput else None
    except UnitError as error:
        raise error.at("--throughput") from None
    if size == "" and (iops is not None or rate is not None):
        raise AssayError("--iops and --throughput need --size", "add a size, such as --size 1TiB")
    return wanted, iops, rate


def _limits(
    entry: "VolumeType | FileSystemType", size: int | None, iops: int | None, rate: float | None
) -> "list[tuple[int, VolumeLimits | FileSystemLimits]]":
    """Return the limits at the requested size, or at a few possible sizes."""
    from assay.model.money.catalog import LustreType, ProvisionedVolume, VolumeType, filesystem_limits, volume_limits
    from assay.model.money.catalog_entry import GIB, TIB

    if isinstance(entry, VolumeType):
        if size is not None:
            return [(size, volume_limits(entry, size, iops, rate))]
        if isinstance(entry, ProvisionedVolume) and entry.iops_free is None:
            return []
        least, most = entry.min_size, entry.max_size
        sizes = sorted({min(most, max(least, each)) for each in (least, 500 * GIB, TIB, most)})
        return [(each, volume_limits(entry, each)) for each in sizes]
    if iops is not None:
        raise AssayError(f"{entry.name} has no provisioned IOPS", "leave --iops out; gp3, io1 and io2 have them")
    if size is not None:
        return [(size, filesystem_limits(entry, size, rate))]
    if getattr(entry, "mode", "") == "provisioned":
        return []
    sizes = [100 * GIB, TIB, 10 * TIB]
    if isinstance(entry, LustreType):
        sizes = list(dict.fromkeys(entry.capacity_for(each) for each in sizes))
    return [(each, filesystem_limits(entry, each)) for each in sizes]


def _example_command(entry: "CatalogEntry") -> str:
    from assay.model.money.catalog import VolumeType

    more = "--iops 10000" if isinstance(entry, VolumeType) else "--throughput 256MiB/s"
    return f"`assay catalog show {entry.name} --size 1TiB {more}`"


def _limit_rows(size: int, limits: "VolumeLimits | FileSystemLimits") -> list[tuple[str, ...]]:
    from assay.model.money.catalog import VolumeLimits

    long = _how_long(limits, limits.burst_seconds)
    rate_long = _how_long(limits, limits.rate_burst_seconds) if isinstance(limits, VolumeLimits) else long
    rows = [
        ("read", limits.read_baseline, limits.read_burst),
        ("write", limits.write_baseline, limits.write_burst),
    ]
    if rows[0][1:] == rows[1][1:]:
        rows = [("read and write", *rows[0][1:])]
    found = [(what, _rate(keeps), _rate(burst) if burst != keeps else "") for what, keeps, burst in rows]
    if isinstance(limits, VolumeLimits):
        burst = str(limits.iops_burst) if limits.iops_burst != limits.iops_baseline else ""
        found.append(("IOPS", str(limits.iops_baseline), burst))
    elif limits.read_iops is not None:
        found.append(("IOPS, reads", "", str(limits.read_iops)))
        found.append(("IOPS, writes", "", str(limits.write_iops)))
    times = {"IOPS": long}
    return [
        (
            format_size(size) if place == 0 else "",
            what,
            keeps,
            burst,
            times.get(what, rate_long) if keeps and burst else "",
        )
        for place, (what, keeps, burst) in enumerate(found)
    ]


def _how_long(limits: "VolumeLimits | FileSystemLimits", seconds: float | None) -> str:
    if seconds is None:
        return "not published"
    text = f"{about_duration(seconds)} from a full bucket"
    hours = getattr(limits, "burst_hours_per_day", None)
    return text if hours is None else f"{about_number(hours)} h of each day; {text}"


def _rate(rate: float | None) -> str:
    """Return a rate in MB/s and MiB/s, since providers use both."""
    return "" if rate is None else f"{rate / 1e6:,.6g} MB/s ({rate / 2**20:,.5g} MiB/s)"


def _gbit(rate: float | None) -> str:
    return "not known" if rate is None else f"{rate * 8 / 1e9:g} Gbit/s"


def _memory(size: int) -> str:
    return f"{size / 2**30:g} GiB"


def _disks(entry: "Instance") -> str:
    return ", ".join(f"{disks.count} x {format_size(disks.size)} {disks.kind}" for disks in entry.disks) or "none"


def _instance_row(entry: "Instance") -> tuple[str, ...]:
    """Return an instance as a row of the list."""
    return (
        entry.name,
        str(entry.vcpus),
        _memory(entry.memory),
        _disks(entry),
        _gbit(entry.network_baseline),
        _gbit(entry.network_burst) if entry.network_burst != entry.network_baseline else "",
        _gbit(entry.ebs_baseline)
        if entry.ebs_baseline is not None
        else "network"
        if "." in entry.name
        else "not known",
        _gbit(entry.ebs_burst) if entry.ebs_burst != entry.ebs_baseline else "",
    )


def _instance_rows(entry: "Instance") -> list[tuple[str, ...]]:
    """Return all facts of an instance as rows."""
    network = entry.network_burst != entry.network_baseline
    rows = [
        ("vCPUs", str(entry.vcpus), "", ""),
        ("memory", _memory(entry.memory), "", ""),
        ("local disks", _disks(entry), "", ""),
        ("network, in words", entry.network_words or "not known", "", ""),
        (
            "network, each way",
            _gbit(entry.network_baseline),
            _gbit(entry.network_burst) if network else "",
            NETWORK_BURST if network else "",
        ),
    ]
    if entry.ebs_baseline is None:
        # AWS states this for its older types; for other providers nothing was found.
        shares = "." in entry.name
        return [*rows, ("to volumes", "shares the network" if shares else "not known", "", "")]
    burst = entry.ebs_burst_seconds is not None
    long = "at least 30 min once in 24 h" if burst else ""
    iops = (str(entry.ebs_iops_baseline), str(entry.ebs_iops_burst) if burst else "", long)
    rate = (_rate(entry.ebs_baseline), _rate(entry.ebs_burst) if burst else "", long)
    return [*rows, ("to volumes", *rate), ("IOPS to volumes", *iops)]


def _figures(entry: "CatalogEntry") -> list[tuple[str, str]]:
    """Return the stated figures of a service as rows, without the limits that follow from its size."""
    hidden = {"name", "source", "date", "stated", "checked", "consistency", "note", "family", "kind"}
    sizes = {"min_size", "max_size", "largest_io", "knee_io", "small_size", "credits_per_tib", "min_object_size"}
    sizes |= {"read_unit", "write_unit", "partition_size", "largest_item", "step"}
    rows = []
    for field, value in entry.model_dump().items():
        if field in hidden or value in (None, ""):
            continue
        if field == "capacities":
            text = ", ".join(map(format_size, value))
        elif field in sizes:
            text = format_size(value)
        else:
            text = _rate(value) if field.startswith(RATES) else f"{value:g}" if isinstance(value, float) else str(value)
            text += " MB/s per TiB" if field in LUSTRE_RATES else ""
        rows.append((field.replace("_", " "), text))
    return rows


def _kind(entry: "CatalogEntry") -> str:
    from assay.model.money import catalog

    kinds: tuple[tuple[type[Any], str], ...] = (
        (catalog.Instance, "instance"),
        (catalog.VolumeType, "volume type"),
        (catalog.FileSystemType, "file system type"),
        (catalog.ObjectClass, "object class"),
        (catalog.TableType, "table type"),
        (catalog.ManagedType, "managed service"),
    )
    return next(word for kind, word in kinds if isinstance(entry, kind))

"""`assay aoe`: disks behind ATA over Ethernet."""

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_USAGE, AssayError
from assay.terminal.command_group import group

app = group()

INTERFACES = typer.Option(
    [],
    "--interface",
    "-i",
    metavar="NAME",
    help="Network interface to search. Repeatable. Default: all that are up.",
)
TRACE = typer.Option(False, "--trace", help="Print each frame on the interfaces, decoded.")
JSON = typer.Option(False, "--json", help="Print JSON.")
DISK = typer.Argument(..., metavar="eSHELF.SLOT", help="Address of the disk, such as e1.0.")


@app.callback()
def command() -> None:
    """Find, describe, attach and mirror disks behind ATA over Ethernet (AoE). Needs root or `CAP_NET_RAW`.

    Studies measure them as targets of `kind: aoe`.

    Example: `assay aoe discover`, `assay measure aoe://eth1/e1.0 --destroy`
    """


@app.command()
def discover(
    interfaces: list[str] = INTERFACES,
    wait: int = typer.Option(
        1000, min=10, max=600_000, metavar="MS", help="Time to wait for answers, in milliseconds."
    ),
    trace: bool = TRACE,
    as_json: bool = JSON,
) -> None:
    """List the disks that answer.

    The exit code is 1 if none answers.

    Example: `assay aoe discover --interface eth1 --trace`
    """
    from assay.launch.aoe import discover_disks
    from assay.terminal.output import note, print_json, print_table

    disks = discover_disks(interfaces, wait, trace)
    if as_json:
        print_json(disks)
    elif disks:
        columns = ("disk", "interface", "station", "buffers", "sectors per frame", "firmware", "text")
        print_table(columns, [_row(disk) for disk in disks])
    else:
        note("no disk answers: check that a server runs and exports disks on the network of this interface")
    for disk in disks:
        if disk["twice"]:
            note(
                f"{disk['address']}: several stations on {disk['interface']} have this address, which corrupts data; "
                "give each disk its own"
            )
    if not disks:
        raise typer.Exit(EXIT_INCOMPLETE)


def _row(disk: dict[str, object]) -> tuple[str, ...]:
    sectors = str(disk["sectors"] or "as many as fit")
    return (
        str(disk["address"]),
        str(disk["interface"]),
        str(disk["station"]),
        str(disk["buffers"]),
        sectors,
        f"{disk['firmware']:04x}",
        str(disk["text"]),
    )


@app.command()
def info(
    disk: str = DISK,
    interfaces: list[str] = INTERFACES,
    trace: bool = TRACE,
    as_json: bool = JSON,
) -> None:
    """Describe one disk and the ways to it. Nothing is written to it.

    Example: `assay aoe info e1.0`
    """
    from assay.launch.aoe import describe_disk
    from assay.model.units import format_size
    from assay.terminal.output import print_json, print_table

    found = describe_disk(disk, interfaces, trace)
    if as_json:
        print_json(found)
        return
    rows = [
        ("address", found["address"]),
        ("model", found["model"]),
        ("serial number", found["serial"]),
        ("firmware", found["firmware"]),
        ("size", f"{format_size(found['bytes'])} ({found['bytes']:,} bytes)"),
        ("flush", found["flush"] or "none: written data may not be stable"),
        *((f"through {way['interface']}", _way(way, found["sectors_a_frame"])) for way in found["ways"]),
    ]
    print_table(("what", "found"), rows)


def _way(way: dict[str, object], sectors: int) -> str:
    return (
        f"station {way['station']}, MTU {way['mtu']}, {sectors} sectors per frame, "
        f"{way['buffers']} commands in flight at most"
    )


@app.command()
def attach(
    disks: list[str] = typer.Argument(..., metavar="eSHELF.SLOT...", help="Addresses of disks, such as e1.0."),
    interfaces: list[str] = INTERFACES,
    as_json: bool = JSON,
) -> None:
    """Attach disks as block devices, for file systems, and for RAID over several. Prints one a line. Needs root.

    They stay until they are detached. No kernel module for AoE is needed: a file (FUSE) and a loop device represent the
    disk. Its data is not changed.

    Example: `assay aoe attach e1.0 e2.0`, then `mkfs.btrfs -d raid1 /dev/loop0 /dev/loop1`
    """
    from assay.launch.attach_disks import attach as attach_disk
    from assay.terminal.output import print_json, print_line

    made = [attach_disk(disk, interfaces) for disk in disks]
    if as_json:
        print_json([one._asdict() for one in made])
    else:
        for one in made:
            print_line(one.device)


@app.command()
def pairs(
    disks: list[str] = typer.Argument(..., metavar="eSHELF.SLOT...", help="Addresses of disks, such as e1.0."),
    interfaces: list[str] = INTERFACES,
) -> None:
    """Print pairs of disks that can mirror each other, on two different servers, one pair a line.

    It is an error if not all disks can be paired this way.

    Example: `assay aoe pairs e1.0 e1.1 e2.0 e2.1`
    """
    from assay.launch.aoe import discover_disks
    from assay.launch.mirrored.array import servers_of
    from assay.model.site.mirrors import mirror_pairs
    from assay.terminal.output import print_line

    for pair in mirror_pairs(servers_of(discover_disks(interfaces, 1000, False), disks)):
        print_line(" ".join(pair))


@app.command()
def raid(
    at: str = typer.Argument(..., metavar="DIRECTORY", help="Where the file system is mounted."),
    disks: list[str] = typer.Argument(..., metavar="eSHELF.SLOT...", help="Addresses of disks, such as e1.0."),
    interfaces: list[str] = INTERFACES,
    level: str = typer.Option(
        "raid10", "--level", metavar="LEVEL", help="raid10, raid1, or raid0, which has no copies."
    ),
    destroy: bool = typer.Option(False, "--destroy", help="Required: all data on the disks may be lost."),
) -> None:
    """Make a file system over disks (btrfs), with each mirror on two servers, and keep it until Ctrl-C. Needs root.

    A disk that does not answer for 15 s is dropped, so that its mirror is read without delay; when it answers again, it
    is rebuilt. The placement of the copies is read from the file system after its creation and after each rebuild.

    Example: `assay aoe raid /mnt/san e1.0 e1.1 e2.0 e2.1 --destroy`
    """
    from assay.cli.disks.raid import serve_raid

    serve_raid(at, disks, interfaces, level, destroy)


@app.command()
def attached(as_json: bool = JSON) -> None:
    """List the disks that are attached, with their block devices.

    Example: `assay aoe attached`
    """
    from assay.launch.attach_disks import list_attached as attached_disks
    from assay.terminal.output import note, print_json, print_table

    found = attached_disks()
    if as_json:
        print_json([one._asdict() for one in found])
    elif found:
        print_table(("disk", "device", "file"), list(found))
    else:
        note("no disk is attached")


@app.command()
def detach(
    disks: list[str] = typer.Argument(None, metavar="[eSHELF.SLOT...]", help="Addresses of disks."),
    every: bool = typer.Option(False, "--all", help="All attached disks."),
    force: bool = typer.Option(False, "--force", help="Detach disks in use, too; I/O to them then fails."),
) -> None:
    """Detach disks: remove their block devices. Disks in use are refused.

    Example: `assay aoe detach e1.0`, `assay aoe detach --all`
    """
    from assay.launch.attach_disks import detach as detach_disk
    from assay.launch.attach_disks import list_attached as attached_disks

    if bool(disks) == every:
        raise AssayError("no disk is named", "name one of `assay aoe attached`, or write --all", EXIT_USAGE)
    for disk in [one.disk for one in attached_disks()] if every else disks:
        detach_disk(disk, force)

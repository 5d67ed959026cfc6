"""`assay preflight`."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from assay.model.base import EXIT_INCOMPLETE, EXIT_INTERRUPTED, AssayError
from assay.model.units import UnitError, about_duration, about_number, parse_duration, parse_throughput
from assay.terminal.output import as_path, json_text, note, print_json, print_line, print_table
from assay.terminal.output_file import FORCE, NETWORK_MARK, OutputFile, check_one_printed, output_option

if TYPE_CHECKING:
    from assay.model.result.network import NetworkFindings, NetworkMeasurements, PathMeasurement
    from assay.run.preflight_hosts import PreflightHosts
    from assay.wires.preflight import PreflightOptions

MAX_SECONDS = 60
MAX_STREAMS = 64
SCHEMA = "assay.network/1"
"""Name and version of the JSON; the number changes when a reader of the old one would be misled."""


def command(
    study: Path = typer.Argument(
        None, parser=as_path, metavar="STUDY", help="Study file: use its hosts, and the servers of its network targets."
    ),
    hosts: str = typer.Option("", "--hosts", metavar="NODESET", help="Clients. Default: this machine."),
    servers: str = typer.Option(
        "", "--servers", metavar="LIST", help="Node sets, or HOST:PORT of an iperf3 server that already runs."
    ),
    inventory: str = typer.Option(
        "", "--inventory", metavar="FILE", help="File that says how to reach hosts and servers."
    ),
    box: str = typer.Option("", "--box", metavar="NAME", help="Use the clients and servers of this running box."),
    time: str = typer.Option("2s", "--time", help="Length of each measurement of bandwidth."),
    parallel: int = typer.Option(4, "--parallel", help="TCP connections of each pair, in addition to a test with one."),
    link: str = typer.Option("", "--link", metavar="RATE", help="Nominal rate of each host's link, such as 10Gb/s."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
    output: Path | None = output_option("Write the JSON to a file, too."),
    force: bool = FORCE,
) -> None:
    """Measure the network between clients and servers before measuring storage over it.

    Bandwidth by iperf3 in both directions, each client alone and all together; round trips; packet sizes; links.
    Exit codes: 0 all measured, 1 something could not be measured, 2 wrong input, 130 interrupted.

    Example: `assay preflight --hosts client[1-4] --servers store1`, `assay preflight --box office`
    """
    from assay.analyse.network import network_findings
    from assay.launch.shell import close_shells, make_shell
    from assay.wires.preflight import run_preflight

    options = _options(time, parallel)
    # Check the output before minutes of measuring, not after.
    file = None if output is None else OutputFile(output, NETWORK_MARK, force)
    check_one_printed(json=as_json, output=file)
    try:
        with _places(study, hosts, servers, inventory, box) as places:
            places = _with_link_rate(places, link)
            _announce(places, options)
            network = run_preflight([make_shell(host) for host in places.clients], places.servers, options)
    except KeyboardInterrupt:
        note("stopped: all started programs are ended, and nothing is stored")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        close_shells()
    found = network_findings(network)
    document = {"schema": SCHEMA, "network": network.model_dump(mode="json"), **found.model_dump(mode="json")}
    if file is not None:
        file.write(json_text(document))
    if as_json:
        print_json(document)
    elif file is None or not file.prints:
        _print(network, found)
    missing = sum(item.kind == "not measured" for item in found.findings)
    if missing:
        note(f"{missing} {'thing' if missing == 1 else 'things'} could not be measured")
        raise typer.Exit(EXIT_INCOMPLETE)


def _options(time: str, parallel: int) -> "PreflightOptions":
    from assay.wires.preflight import PreflightOptions

    try:
        seconds = parse_duration(time) / 1e9
    except UnitError as error:
        raise error.at("--time") from None
    if seconds != int(seconds) or not 1 <= seconds <= MAX_SECONDS:
        raise AssayError(
            f"--time {time}: is not a whole number of seconds from 1 to {MAX_SECONDS}", "write a time such as 2s"
        )
    if not 1 <= parallel <= MAX_STREAMS:
        raise AssayError(f"--parallel {parallel}: is not from 1 to {MAX_STREAMS}", "write a number such as 4")
    return PreflightOptions(seconds=int(seconds), streams=tuple(sorted({1, parallel})), report=note)


@contextlib.contextmanager
def _places(study: Path | None, hosts: str, servers: str, inventory: str, box: str) -> Iterator["PreflightHosts"]:
    """Yield clients and servers from the one source that the user named: a study, a box, an inventory or names."""
    from assay.run.preflight_hosts import box_hosts, named_hosts, preflight_study_hosts

    if sum(bool(source) for source in (study, box, inventory)) > 1 or (study and (hosts or servers)):
        hint = "a study has its own hosts and servers; --hosts and --servers choose from a box or an inventory"
        raise AssayError("STUDY, --box and --inventory exclude each other", hint)
    if study is not None:
        from assay.cli.studyfile import exit_with_problems, read_study
        from assay.plan.load import load_study

        loaded = load_study(read_study(study), str(Path.cwd()), folder=str(study.absolute().parent))
        if loaded.study is None:
            exit_with_problems(study, loaded.problems)
        with preflight_study_hosts(loaded.study, study.absolute().parent, note) as places:
            yield places
    elif box:
        with box_hosts(box, hosts, servers, note) as places:
            yield places
    elif servers:
        with named_hosts(hosts, servers, inventory, Path.cwd(), note) as places:
            yield places
    else:
        hint = "`assay preflight --hosts client[1-4] --servers store1`, or a study, or --box NAME"
        raise AssayError("no servers are named", hint)


def _with_link_rate(places: "PreflightHosts", link: str) -> "PreflightHosts":
    """Return the places with the rate of `--link` for each host that has no link rate of its own."""
    from dataclasses import replace

    if not link:
        return places
    try:
        rate = parse_throughput(link)
    except UnitError as error:
        raise error.at("--link") from None
    clients = tuple(host if host.link else host.model_copy(update={"link": rate}) for host in places.clients)
    servers = tuple(server if server.link else replace(server, link=rate) for server in places.servers)
    return replace(places, clients=clients, servers=servers)


def _announce(places: "PreflightHosts", options: "PreflightOptions") -> None:
    from assay.wires.preflight import estimate_seconds

    clients, servers = len(places.clients), len(places.servers)
    words = f"{clients} client{'s' * (clients > 1)}, {servers} server{'s' * (servers > 1)}"
    note(f"{words}: about {about_duration(estimate_seconds(clients, servers, options))}")


def _print(network: "NetworkMeasurements", found: "NetworkFindings") -> None:
    _print_pairs(network)
    _print_rounds(network)
    rows = [
        [
            item.place,
            item.host,
            "to servers" if item.direction == "write" else "to clients",
            _bits(item.value * 8) if item.value is not None else "",
            item.how if item.value is not None else item.reason,
        ]
        for item in found.ceilings
    ]
    print_line("Ceiling of each link:")
    print_table(["link", "of", "direction", "ceiling", "method, or why unknown"], rows, right=("ceiling",))
    if not found.findings:
        print_line("No problems found for measuring storage over this network.")
    for finding in found.findings:
        print_line(f"{finding.kind}: {finding.text}")
        print_line(f"    {finding.remedy}")


def _print_pairs(network: "NetworkMeasurements") -> None:
    rtts = {(item.client, item.server): item for item in network.rtts}
    mtus = {(item.client, item.server): item for item in network.mtus}
    rates: dict[tuple[object, ...], PathMeasurement] = {
        (path.client, path.server, path.direction, path.streams): path
        for path in network.paths
        if path.scope == "alone"
    }
    kinds = [(direction, streams) for direction in ("write", "read") for streams in network.streams]
    headings = [
        f"{'to server' if direction == 'write' else 'to client'}, {streams} TCP" for direction, streams in kinds
    ]
    rows = []
    for pair, rtt in rtts.items():
        times = "" if rtt.median is None else " / ".join(_ms(time) for time in (rtt.min, rtt.median, rtt.max))
        mtu = mtus[pair].mtu
        cells = [_bits(path.bits_per_s) if (path := rates.get((*pair, *kind))) else "" for kind in kinds]
        method = f" {rtt.method}" if rtt.method == "tcp" else ""
        rows.append([*pair, times + method * bool(times), "" if mtu is None else str(mtu), *cells])
    print_line("Each client and each server alone; round trips least / median / most in ms:")
    print_table(
        ["client", "server", "round trip", "packet", *headings], rows, right=("packet", *headings), least=("packet",)
    )


def _print_rounds(network: "NetworkMeasurements") -> None:
    """Print the sums of the transfers that ran at the same time."""
    sums: dict[tuple[str, str], dict[str, list[PathMeasurement]]] = {}
    for path in network.paths:
        if path.scope != "alone":
            pair = {"client": (path.client, "all"), "server": ("all", path.server), "all": ("all", "all")}[path.scope]
            sums.setdefault(pair, {}).setdefault(path.direction, []).append(path)
    if not sums:
        return
    rows = [
        [*pair, *(_sum(found.get(direction, [])) for direction in ("write", "read"))] for pair, found in sums.items()
    ]
    print_line("All at the same time, sums:")
    print_table(["clients", "servers", "to servers", "to clients"], rows, right=("to servers", "to clients"))


def _sum(paths: "list[PathMeasurement]") -> str:
    failed = sum(path.bits_per_s is None for path in paths)
    return _bits(sum(path.bits_per_s or 0.0 for path in paths)) + (f" ({failed} failed)" if failed else "")


def _bits(bits: float | None) -> str:
    if bits is None:
        return "failed"
    return f"{about_number(bits / 1e9)} Gb/s" if bits >= 1e9 else f"{about_number(bits / 1e6)} Mb/s"


def _ms(seconds: float | None) -> str:
    return about_number(1000 * (seconds or 0.0))

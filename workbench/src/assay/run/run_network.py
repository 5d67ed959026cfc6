"""Measures what the links between the hosts and the servers of a run carry, before its cases."""

from dataclasses import replace

from assay.analyse.network import network_findings
from assay.launch.shell import make_shell
from assay.model.base import PrintLine
from assay.model.result.network import NetworkMeasurements
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.run.fleet import Fleet
from assay.run.preflight_hosts import servers_of_study
from assay.wires.preflight import PreflightOptions, estimate_seconds, run_preflight

SHORT_OPTIONS = PreflightOptions(seconds=1, streams=(4,))
"""Options of the short measurement before each run; `assay preflight` takes longer."""


def measure_network(
    study: Study, fleet: Fleet, print_line: PrintLine, limit: float | None = None
) -> NetworkMeasurements | None:
    """Measure bandwidth, round trips and packet sizes; None without a server to measure to.

    Args:
        study: The study.
        fleet: The hosts that generate the load.
        print_line: Prints a line.
        limit: Seconds that it may take; longer measurements are left out. None for no limit.
    """
    hosts, servers = fleet.hosts, servers_of_study(study, fleet.enterable_hosts)
    if not servers:
        return None
    counts = f"{len(hosts)} host{'s' * (len(hosts) != 1)} and {len(servers)} server{'s' * (len(servers) != 1)}"
    closed = sum(server.is_latency_only for server in servers)
    variants = (SHORT_OPTIONS, replace(SHORT_OPTIONS, bandwidth=False))
    lengths = [estimate_seconds(len(hosts), len(servers), options, closed) for options in variants]
    fits = [place for place, seconds in enumerate(lengths) if limit is None or seconds <= limit]
    if not fits:
        print_line(f"no time to measure the network between {counts}")
        return None
    options, about = variants[fits[0]], "" if limit is not None else f", about {about_duration(lengths[0])}"
    only_distances = closed == len(servers) or not options.bandwidth
    what = f"round trips between {counts}" if only_distances else f"bandwidth and round trips between {counts}"
    print_line(f"measuring the network first: {what}{about}")
    network = run_preflight([make_shell(host) for host in hosts], servers, options)
    for finding in network_findings(network).findings:
        print_line(f"network: {finding.text}. {finding.remedy}")
    return network

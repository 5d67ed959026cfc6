"""What the links between the hosts and the servers of a run carry, measured before its cases."""

from dataclasses import replace

from assay.analyse.network import network_findings
from assay.launch.shell import make_shell
from assay.model.base import Say
from assay.model.result.network import Network
from assay.model.site.host import THIS_HOST
from assay.model.study.study import Study
from assay.model.units import about_duration
from assay.run.fleet import Fleet
from assay.run.preflight_places import from_study
from assay.wires.preflight import Options, estimate_seconds, run_preflight

SHORT = Options(seconds=1, streams=(4,))
"""Before each run; `assay preflight` takes its time."""


def measure_network(study: Study, fleet: Fleet | None, say: Say, limit: float | None = None) -> Network | None:
    """Bandwidth, round trips and packet sizes; None without a server to measure to.

    Args:
        study: The study.
        fleet: The hosts; None if this machine generates the load.
        say: Takes what there is to say.
        limit: Seconds that it may take; what takes longer is left out. None: any.
    """
    hosts = fleet.hosts if fleet is not None else (THIS_HOST,)
    servers = from_study(study, fleet.entered if fleet is not None else hosts)
    if not servers:
        return None
    those = f"{len(hosts)} host{'s' * (len(hosts) != 1)} and {len(servers)} server{'s' * (len(servers) != 1)}"
    closed = sum(server.closed for server in servers)
    ways = (SHORT, replace(SHORT, bandwidth=False))
    takes = [estimate_seconds(len(hosts), len(servers), options, closed) for options in ways]
    fits = [place for place, seconds in enumerate(takes) if limit is None or seconds <= limit]
    if not fits:
        say(f"no time to measure the network between {those}")
        return None
    options, about = ways[fits[0]], "" if limit is not None else f", about {about_duration(takes[0])}"
    apart = closed == len(servers) or not options.bandwidth
    what = f"how far apart {those} are" if apart else f"what {those} can exchange"
    say(f"network first: {what}{about}")
    found = run_preflight([make_shell(host) for host in hosts], servers, options)
    for finding in network_findings(found).findings:
        say(f"network: {finding.text}. {finding.remedy}")
    return found

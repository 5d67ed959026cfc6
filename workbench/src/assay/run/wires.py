"""What the links between the hosts and the servers of a run carry, measured before its cases."""

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


def measure_network(study: Study, fleet: Fleet | None, say: Say) -> Network | None:
    """Bandwidth, round trips and packet sizes; None without a server to measure to.

    Args:
        study: The study.
        fleet: The hosts; None if this machine generates the load.
        say: Takes what there is to say.
    """
    hosts = fleet.hosts if fleet is not None else (THIS_HOST,)
    servers = from_study(study, fleet.entered if fleet is not None else hosts)
    if not servers:
        return None
    those = f"{len(hosts)} host{'s' * (len(hosts) != 1)} and {len(servers)} server{'s' * (len(servers) != 1)}"
    closed = sum(server.closed for server in servers)
    takes = about_duration(estimate_seconds(len(hosts), len(servers), SHORT, closed))
    what = f"how far apart {those} are" if closed == len(servers) else f"what {those} can exchange"
    say(f"network first: {what}, about {takes}")
    found = run_preflight([make_shell(host) for host in hosts], servers, SHORT)
    for finding in network_findings(found).findings:
        say(f"network: {finding.text}. {finding.remedy}")
    return found

"""The environment of the other hosts of a run, read over their shells."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from assay.launch.environment.reading import Section
from assay.launch.environment.server_settings import settings_script
from assay.launch.shell import Shell
from assay.model.base import AssayError
from assay.model.secret import redact
from assay.model.site.host import MAX_HOSTS
from assay.model.site.nodes import expand_nodes

SECONDS = 20.0
AT_ONCE = 32

_SCRIPT = r"""
one() { printf '%s\t' "$1"; shift; "$@" 2>/dev/null | head -n 1 | tr -d '\n'; printf '\n'; }
one kernel uname -srm
one 'kernel command line' cat /proc/cmdline
one 'operating system' sh -c '. /etc/os-release && echo "$PRETTY_NAME"'
one machine cat /sys/class/dmi/id/product_name
one cpu sed -n 's/^model name[^:]*: //p' /proc/cpuinfo
one cpus getconf _NPROCESSORS_ONLN
one memory sed -n 's/^MemTotal: *//p' /proc/meminfo
one 'frequency policy' cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
one 'clock source' cat /sys/devices/system/clocksource/clocksource0/current_clocksource
one smt cat /sys/devices/system/cpu/smt/control
one 'transparent huge pages' cat /sys/kernel/mm/transparent_hugepage/enabled
one 'tcp congestion control' cat /proc/sys/net/ipv4/tcp_congestion_control
one 'tcp rmem' cat /proc/sys/net/ipv4/tcp_rmem
one 'tcp wmem' cat /proc/sys/net/ipv4/tcp_wmem
for i in /sys/class/net/*; do
  [ "${i##*/}" != lo ] || continue
  driver=$(readlink "$i/device/driver") speed=$(cat "$i/speed" 2>/dev/null)
  case $speed in '' | -*) speed= ;; *) speed=", $speed Mbit/s" ;; esac
  one "interface ${i##*/}" echo "mtu $(cat "$i/mtu"), $(cat "$i/operstate")${driver:+, driver ${driver##*/}}$speed"
done
if grep -qs 'Amazon EC2' /sys/class/dmi/id/sys_vendor && command -v curl >/dev/null; then
  ask() { curl -fsS -m 2 --noproxy '*' "$@" 2>/dev/null; }
  at=http://169.254.169.254/latest
  token=$(ask -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' $at/api/token)
  for i in image:ami-id zone:placement/availability-zone 'placement group:placement/group-name'; do
    value=$(ask -H "X-aws-ec2-metadata-token: $token" "$at/meta-data/${i#*:}") && one "${i%%:*}" echo "$value"
  done
fi
"""


def capture_hosts(shells: Sequence[Shell]) -> dict[str, Section]:
    """Return a section `host NAME` for each host; hosts with equal facts share one section `hosts NODESET`.

    Args:
        shells: Shells of the hosts, in order.
    """
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        found = list(pool.map(_read_host, shells))
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for shell, section in zip(shells, found, strict=True):
        alike.setdefault(tuple(section.items()), []).append(shell.host.name)
    return {_title(names): dict(facts) for facts, names in alike.items()}


def sections_by_host(environment: Mapping[str, Section]) -> dict[str, Section]:
    """Return an environment with a section `host NAME` of each host in place of those that several hosts share."""
    found: dict[str, Section] = {}
    for title, section in environment.items():
        word, _, nodes = title.partition(" ")
        names = [f"host {name}" for name in expand_nodes(nodes, MAX_HOSTS)] if word == "hosts" else [title]
        found |= dict.fromkeys(names, section)
    return found


def _read_host(shell: Shell) -> Section:
    found: Section = {}
    # Programs of servers may hang; the kernel facts are kept in that case.
    for what, text in (("all", _SCRIPT), ("mounts and servers", settings_script())):
        try:
            found |= _facts(shell.run(["sh", "-c", f"{text}true"], SECONDS).out.splitlines())
        except AssayError as error:
            return {**found, what: f"unknown: {error.message}"}
    return found


def _facts(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        name, _, value = line.partition("\t")
        if name:
            yield name, redact(value.strip()) or "unknown: the host does not report it"


def _title(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"host {names[0]}"
    from ClusterShell.NodeSet import NodeSet

    return f"hosts {NodeSet.fromlist(list(names), resolver=None)}"

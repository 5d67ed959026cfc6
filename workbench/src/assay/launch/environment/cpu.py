"""The processors: how many, how fast they may run, and which mitigations slow them down."""

import os
from collections.abc import Mapping

from assay.launch.environment.reading import Files, Section, number_list, value_or_unknown, yes_or_no

CPUS = "/sys/devices/system/cpu"
NO_POLICY = "the kernel does not control the frequency (no cpufreq)"


def describe_cpu(files: Files) -> Section:
    """Return model, topology, frequency policy, idle states, mitigations and load."""
    first = first_processor(files)
    usable = os.sched_getaffinity(0)
    return {
        "model": _model(first),
        "microcode": first.get("microcode", "none: not reported here"),
        **_topology(files),
        "online": value_or_unknown(lambda: _count_and_list(files.text(f"{CPUS}/online"))),
        "usable": f"{len(usable)} ({number_list(usable)})",
        "isolated": files.read(f"{CPUS}/isolated", "not offered by this kernel"),
        "smt": files.read(f"{CPUS}/smt/control", "not offered by this kernel"),
        **_frequency(files),
        "idle_driver": files.read(f"{CPUS}/cpuidle/current_driver", "no cpuidle"),
        "idle_governor": _first_of(files, f"{CPUS}/cpuidle/current_governor", f"{CPUS}/cpuidle/current_governor_ro"),
        **_vulnerabilities(files),
        "load_before": value_or_unknown(lambda: " ".join(files.text("/proc/loadavg").split()[:3])),
    }


def first_processor(files: Files) -> dict[str, str]:
    """Return the first processor of /proc/cpuinfo; with many processors the whole file takes long to read."""
    found: dict[str, str] = {}
    try:
        with files.path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, colon, value = line.partition(":")
                if not colon and found:
                    break
                found[name.strip()] = " ".join(value.split())
    except OSError:
        return {}
    return found


def _model(first: Mapping[str, str]) -> str:
    for name in ("model name", "Model", "cpu model", "cpu"):
        if first.get(name):
            return first[name]
    if "CPU part" in first:
        return f"implementer {first.get('CPU implementer')}, part {first['CPU part']}"
    return "unknown: /proc/cpuinfo names no model"


def _topology(files: Files) -> Section:
    """Return the numbers of sockets, cores and threads that are online."""
    cores = set()
    threads = 0
    for name in files.names(CPUS):
        if name.startswith("cpu") and name[3:].isdigit():
            folder = f"{CPUS}/{name}/topology"
            try:
                cores.add((files.text(f"{folder}/physical_package_id"), files.text(f"{folder}/core_id")))
            except OSError:
                continue
            threads += 1
    if not threads:
        return {"sockets": f"unknown: {CPUS}/cpu0/topology cannot be read"}
    sockets = {socket for socket, _ in cores}
    return {"sockets": str(len(sockets)), "cores": str(len(cores)), "threads": str(threads)}


def _count_and_list(text: str) -> str:
    ends = [part.partition("-") for part in text.split(",")]
    return f"{sum(int(last or first) - int(first) + 1 for first, _, last in ends)} ({text})"


def _first_of(files: Files, *names: str) -> str:
    return files.read(next((name for name in names if files.exists(name)), names[0]), "no cpuidle")


def _frequency(files: Files) -> Section:
    """Return the frequency policy.

    Source: Documentation/admin-guide/pm/cpufreq.rst and intel_pstate.rst.
    """
    folder = f"{CPUS}/cpufreq"
    policies = [f"{folder}/{name}" for name in files.names(folder) if name.startswith("policy")]
    found = {
        "governor": _of_policies(files, policies, "scaling_governor"),
        "frequency_driver": _of_policies(files, policies, "scaling_driver"),
        "minimum_mhz": _of_policies(files, policies, "scaling_min_freq", mhz=True),
        "maximum_mhz": _of_policies(files, policies, "scaling_max_freq", mhz=True),
        "boost": _boost(files),
    }
    if any(files.exists(f"{policy}/energy_performance_preference") for policy in policies):
        found["energy_preference"] = _of_policies(files, policies, "energy_performance_preference")
    return found


def _of_policies(files: Files, policies: list[str], name: str, mhz: bool = False) -> str:
    """Return one value if all policies agree; otherwise each value with its CPUs."""
    if not policies:
        return f"none: {NO_POLICY}"
    cpus: dict[str, set[int]] = {}
    for policy in policies:
        value = files.read(f"{policy}/{name}")
        value = f"{int(value) / 1000:g}" if mhz and value.isdigit() else value
        members = files.read(f"{policy}/affected_cpus").split()
        cpus.setdefault(value, set()).update(int(cpu) for cpu in members if cpu.isdigit())
    if len(cpus) == 1:
        return next(iter(cpus))
    return "; ".join(f"{value} (CPUs {number_list(members)})" for value, members in sorted(cpus.items()))


def _boost(files: Files) -> str:
    """Return whether CPUs may exceed their nominal frequency: yes, no, or why that is unknown."""
    no_turbo = files.read(f"{CPUS}/intel_pstate/no_turbo")
    if no_turbo in ("0", "1"):
        return yes_or_no("1" if no_turbo == "0" else "0")
    return yes_or_no(files.read(f"{CPUS}/cpufreq/boost", "the kernel has no switch for it here"))


def _vulnerabilities(files: Files) -> Section:
    """Return the CPU flaws that the kernel mitigates, and those that it does not."""
    folder = f"{CPUS}/vulnerabilities"
    mitigated, vulnerable = [], []
    for name in files.names(folder):
        text = files.read(f"{folder}/{name}")
        if text.startswith("Mitigation"):
            mitigated.append(f"{name} ({text.removeprefix('Mitigation').lstrip(':; ')})")
        elif text != "Not affected":
            vulnerable.append(name)
    if not files.exists(folder):
        return {"mitigations": "none: not reported by this kernel"}
    return {"mitigations": ", ".join(mitigated) or "none", "vulnerable_to": ", ".join(vulnerable) or "none"}

"""Caveats on where targets are: mount options, shared file systems, distance to their servers."""

from assay.analyse.anomalies.plateau import plateaus
from assay.model.result.result import ResultRow
from assay.model.result.summary_page import Caveat
from assay.model.result.verdict import Verdict
from assay.model.study.names import MIXES, READS, WRITES
from assay.report import numbers
from assay.report.view import RunView

NO_BARRIERS = frozenset({"nobarrier", "barrier=0"})
"""Mount options with which a flush does not empty the write cache of the device (ext4(5), xfs(5), btrfs(5))."""
LINK_CEILINGS = frozenset({"link", "client link", "server link", "shared link"})
"""Ceilings of the network."""
ROUND_TRIP_SHARE = 0.5
"""From this share of the mean latency on, the network's round trip counts as the limit."""
MAX_OPTIONS = 4
"""Most mount options that are shown for a target."""


def _mount(view: RunView, target: str, item: str) -> str:
    return view.run.environment.get(f"target {target}", {}).get(item, "")


def without_barriers(view: RunView) -> list[Caveat]:
    """Warn of targets that are written to and mounted without barriers."""
    written = {row.case.target for row in view.analysis.rows if row.operation in WRITES | MIXES}
    names = [name for name in view.targets if NO_BARRIERS & set(_mount(view, name, "options").split(","))]
    names = [name for name in names if name in written]
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    text = f"{numbers.listing(names)} {verb} mounted without barriers: synced data can be lost when power fails, and"
    return [Caveat(text=f"{text} syncs cost less than they should.", remedy="Mount with barriers, and measure again.")]


def journalled_data(view: RunView) -> list[Caveat]:
    """Warn of targets mounted so that all data goes through the journal (ext4(5): no direct I/O, each write twice)."""
    names = [name for name in view.targets if "data=journal" in _mount(view, name, "options").split(",")]
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    text = f"{numbers.listing(names)} {verb} mounted with data=journal: data is written twice, and direct I/O goes"
    text += " through the page cache."
    return [Caveat(text=text, remedy="Mount with data=ordered to measure the storage itself.")]


def different_read_ahead(view: RunView) -> list[Caveat]:
    """Warn of compared targets with different read-ahead, if the run has buffered reads."""
    buffered = any(
        row.operation in READS and row.case.parameters.get_value("cache") != "direct" for row in view.analysis.rows
    )
    known = {name: _mount(view, name, "read_ahead_kib") for name in view.targets}
    if not buffered or not all(known.values()) or len(set(known.values())) == 1:
        return []
    sizes = ", ".join(f"{size} KiB on {name}" for name, size in known.items())
    text = f"Read-ahead differs on this host: {sizes}. A difference of buffered reads may come from this."
    return [Caveat(text=text, remedy="Set both to the same value (blockdev --setra), or use cache: direct.")]


def round_trip(row: ResultRow, view: RunView) -> float | None:
    """Return the round trip to a result's servers in seconds, if it is at least half of the mean latency; else None.

    The mean latency is the number of operations in flight divided by their rate (Little's law). Percentiles would be
    missing where there are few operations.
    """
    network, place = view.run.network, next((one for one in view.run.places if one.target == row.case.target), None)
    if network is None or place is None or row.iops is None or row.iops.median <= 0:
        return None
    trips = [one.median for one in network.rtts if one.server in place.servers and one.median is not None]
    return (
        min(trips)
        if trips and min(trips) >= ROUND_TRIP_SHARE * row.case.parameters.in_flight / row.iops.median
        else None
    )


def different_mounts(view: RunView) -> list[Caveat]:
    """Warn of compared targets whose file systems have one type but different mount options."""
    known = {name: _mount(view, name, "options").split(",") for name in view.targets if _mount(view, name, "options")}
    types = {_mount(view, name, "filesystem") for name in known}
    if len(known) < len(view.targets) or len(types) != 1:
        return []
    common = set.intersection(*map(set, known.values())) | NO_BARRIERS | {"rw"}
    own = {name: [word for word in words if word not in common][:MAX_OPTIONS] for name, words in known.items()}
    parts = [f"{name} with {', '.join(words)}" for name, words in own.items() if words]
    if not parts:
        return []
    text = f"Mount options differ: {'; '.join(parts)}. A part of any difference may come from them."
    return [Caveat(text=text, remedy="Mount both alike to compare the storage.")]


def same_storage(view: RunView) -> list[Caveat]:
    """Warn of compared targets that are on the same file system."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in view.targets:
        key = _mount(view, name, "source"), _mount(view, name, "mount_point")
        if all(key):
            groups.setdefault(key, []).append(name)
    found = next((names for names in groups.values() if len(names) > 1), None)
    if found is None:
        return []
    text = (
        f"{numbers.listing(found)} are on the same file system: a difference between them is not caused by the storage."
    )
    return [Caveat(text=text, remedy="Name a directory on each storage that you want to compare.")]


def unknown_link(view: RunView) -> list[Caveat]:
    """Warn of targets across a network whose link was not measured and whose limit is not known otherwise."""
    rows = view.analysis.rows
    known = {
        ceiling.target for ceiling in view.run.ceilings if ceiling.name in LINK_CEILINGS and ceiling.value is not None
    }
    explained = set(plateaus(rows, view.run.places)) | {
        row.case.target for row in rows if Verdict.NETWORK_BOUND in row.verdicts
    }
    network = view.run.network
    measured = {path.server for path in network.paths if path.bits_per_s is not None} if network is not None else set()
    remote = [
        place.target for place in view.run.places if not measured.issuperset(place.servers) and not place.started_server
    ]
    names = [name for name in remote if not known & {name, ""} and name not in explained]
    if not names:
        return []
    text = f"The link to the servers of {numbers.listing(names)} was not measured: it may be the limit."
    return [Caveat(text=text, remedy="Start `iperf3 -s` on them, or state its rate: ceilings: {link: 10Gb/s}.")]

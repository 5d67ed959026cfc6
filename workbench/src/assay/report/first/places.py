"""Caveats of where targets lie: without barriers, on one file system, behind a link that was not measured."""

from assay.analyse.odd.plateau import plateaus
from assay.model.result.first_page import Caveat
from assay.model.result.verdict import Verdict
from assay.model.study.names import MIXES, WRITES
from assay.report import numbers
from assay.report.view import View

NO_BARRIERS = frozenset({"nobarrier", "barrier=0"})
"""Mount options without which a flush also empties the write cache of the device (ext4(5), xfs(5), btrfs(5))."""
LINKS = frozenset({"link", "client link", "server link", "shared link"})
"""Ceilings of the network."""
MOST_OPTIONS = 4
"""Of one target are shown."""


def _mount(view: View, target: str, item: str) -> str:
    return view.run.environment.get(f"target {target}", {}).get(item, "")


def without_barriers(view: View) -> list[Caveat]:
    """Targets that are written to and mounted without barriers."""
    written = {row.case.target for row in view.analysis.rows if row.operation in WRITES | MIXES}
    names = [name for name in view.targets if NO_BARRIERS & set(_mount(view, name, "options").split(","))]
    names = [name for name in names if name in written]
    if not names:
        return []
    verb = "is" if len(names) == 1 else "are"
    text = f"{numbers.listing(names)} {verb} mounted without barriers: synced data can be lost when power fails, and"
    return [Caveat(text=f"{text} syncs cost less than they should.", remedy="Mount with barriers, and measure again.")]


def different_mounts(view: View) -> list[Caveat]:
    """Targets that are compared, on file systems of one type with different mount options."""
    known = {name: _mount(view, name, "options").split(",") for name in view.targets if _mount(view, name, "options")}
    types = {_mount(view, name, "filesystem") for name in known}
    if len(known) < len(view.targets) or len(types) != 1:
        return []
    common = set.intersection(*map(set, known.values())) | NO_BARRIERS | {"rw"}
    own = {name: [word for word in words if word not in common][:MOST_OPTIONS] for name, words in known.items()}
    parts = [f"{name} with {', '.join(words)}" for name, words in own.items() if words]
    if not parts:
        return []
    text = f"Mount options differ: {'; '.join(parts)}. A part of any difference may come from them."
    return [Caveat(text=text, remedy="Mount both alike to compare the storage.")]


def same_storage(view: View) -> list[Caveat]:
    """Targets that are compared and lie on one file system."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in view.targets:
        key = _mount(view, name, "source"), _mount(view, name, "mount_point")
        if all(key):
            groups.setdefault(key, []).append(name)
    found = next((names for names in groups.values() if len(names) > 1), None)
    if found is None:
        return []
    text = f"{numbers.listing(found)} lie on the same file system: a difference is not one of the storage."
    return [Caveat(text=text, remedy="Name a place on each storage that you want to compare.")]


def unknown_link(view: View) -> list[Caveat]:
    """Targets across a network whose link was not measured, where nothing else says what limits them."""
    rows = view.analysis.rows
    known = {ceiling.target for ceiling in view.run.ceilings if ceiling.name in LINKS and ceiling.value is not None}
    named = set(plateaus(rows, view.run.places)) | {
        row.case.target for row in rows if Verdict.NETWORK_BOUND in row.verdicts
    }
    away = [place.target for place in view.run.places if place.servers and not place.started]
    names = [name for name in away if not known & {name, ""} and name not in named]
    if not names:
        return []
    text = f"What the link to the servers of {numbers.listing(names)} carries was not measured: it may be the limit."
    return [Caveat(text=text, remedy="Start `iperf3 -s` on them, or state it: ceilings: {link: 10Gb/s}.")]

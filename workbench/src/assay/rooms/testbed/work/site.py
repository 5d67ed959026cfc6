"""A cluster in a box as the site of a run: a box that comes up for it, or one that is up already."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from assay.model.base import AssayError, PrintLine
from assay.model.quoting import FileOrigin, hide_content
from assay.model.site.box import Box, HostSpec
from assay.model.site.box_servers import BoxMount
from assay.model.site.host import Host, HostMount
from assay.model.site.login import parse_logins
from assay.model.study.hosts import Hosts, expand_names
from assay.model.study.target import Target
from assay.model.units import choices_hint
from assay.model.yaml_files import read_model
from assay.rooms.testbed.work.box import GUIDE, load_box, preset_names, read_box_file
from assay.rooms.testbed.work.find import running_boxes
from assay.rooms.testbed.work.layout import MEMORY_FILESYSTEMS, login_of, mount_command
from assay.rooms.testbed.work.running import RunningBox
from assay.rooms.testbed.work.up import bring_up, check_possible
from assay.site.inventory.names import node_names
from assay.site.site import SERVER_SECONDS, Site, SiteState, refuse_too_few
from assay.site.stored_files import errors_as_named
from assay.store.entries import TESTBED

CLIENT, SERVER = "client", "server"
"""Roles of the hosts of a box. Clients generate the load unless the study names other hosts."""
HOST_SECONDS = 0.4
"""Time to make a host with its link and disks and to copy the engine to it. Measured with 2 to 13 hosts."""


class BoxSite:
    """A box that is brought up for a run; if this process is killed, the next `remove_dead_boxes` removes it."""

    more_hosts_hint = "name as many under `hosts`"

    def __init__(
        self,
        ref: str,
        written: Hosts,
        base: Path,
        is_run_folder: bool = False,
        targets: Mapping[str, Target] = MappingProxyType({}),
    ) -> None:
        """Read nothing yet.

        Args:
            ref: Name of a preset, or path of a file.
            written: The hosts that generate the load, as a study names them; if it names none, the clients of the box.
            base: Folder that the path of the file is relative to.
            is_run_folder: `base` is the folder of a run, which stores the file under a fixed name.
            targets: Targets of the study.
        """
        self._ref, self._written, self._base, self._targets = ref, written, base, targets
        self._file = TESTBED if is_run_folder else ref
        self._running: RunningBox | None = None

    @property
    def files(self) -> Mapping[str, Callable[[], bytes]]:
        """The file of the box, unless it is a preset."""
        if self._ref in preset_names():
            return {}
        return {TESTBED: self._copied}

    def _copied(self) -> bytes:
        """Return the content of the file of the box, which is validated first.

        Raises:
            AssayError: The file does not describe a box.
        """
        path = self._base / self._file
        data = read_box_file(path, self._ref)
        with hide_content(self._ref, "a box", f"assay testbed up {path}", FileOrigin(self._base), path, data):
            read_model(Box, data, self._ref, GUIDE, "box")
        return data

    @property
    def mount_points(self) -> Sequence[str]:
        """See `Site`."""
        named = self._named()
        members = [
            one for one in self._load().all_hosts() if one.name in named or (not named and CLIENT in one.spec.all_roles)
        ]
        each = [{mount.at for mount in remountable_mounts(member.spec)} for member in members]
        return sorted(set.intersection(*each)) if each else []

    def filesystem_at(self, host: str, path: str) -> str:
        """See `Site`: that of the host's disk which is mounted there."""
        disks = [disk for one in self._load().all_hosts() if one.name == host for disk in one.spec.disks]
        found = [disk for disk in disks if disk.mount is not None and f"{path}/".startswith(f"{disk.mount}/")]
        return max(found, key=lambda disk: len(disk.mount or "")).filesystem_type if found else ""

    def check(self, needed: int) -> None:
        """See `Site`."""
        names = [member.name for member in self._load().all_hosts() if CLIENT in member.spec.all_roles]
        if self._written.nodes:
            names = list(self._named())
        refuse_too_few(needed, names, "use a larger box, or name more of its hosts")

    def check_ready(self, _needed: int) -> None:
        """See `Site`: checks programs and rights, and that the box has the named hosts."""
        box = self._load()
        self._chosen([member.name for member in box.all_hosts()])
        check_possible(box, {mount.type for target in self._targets.values() for mount in target.study_mounts})

    def startup_seconds(self, _needed: int) -> float:
        """See `Site`."""
        members = list(self._load().all_hosts())
        servers = sum(len(member.spec.servers) for member in members)
        return HOST_SECONDS * len(members) + SERVER_SECONDS * servers

    def up(self, print_line: PrintLine) -> SiteState:
        """See `Site`."""
        box = self._load()
        print_line(f"box {box.name}: {box.description}" if box.description else f"box {box.name}")
        # Several runs may use the same description at once: each gets its own box.
        self._running = bring_up(box, f"{box.name[:16].rstrip('-')}-run-{os.getpid()}", owned=True)
        try:
            known = {host.name: host for host in box_hosts(self._running)}
            names = self._chosen(known) or names_with_role(self._running, CLIENT, known)
            state = box_site_state(self._running, tuple(known[name] for name in names))
            return replace(state, targets=self._signed_in(self._running), mounts=_mounts(box, self._running))
        except BaseException:
            self.down(print_line)
            raise

    def down(self, print_line: PrintLine) -> None:
        """See `Site`."""
        if self._running is not None:
            running, self._running = self._running, None
            if left := running.down():
                print_line(f"box {running.state.box}: {left}")

    def _signed_in(self, running: RunningBox) -> dict[str, Target]:
        """Return the targets that get credentials of users of the box, with these credentials."""
        logins = {
            (host.name, user): path
            for host in running.hosts
            for server in host.servers
            for user, path in server.credentials.items()
        }
        found = {name: target.with_logins(logins) for name, target in self._targets.items()}
        return {name: target for name, target in found.items() if target is not self._targets[name]}

    def _load(self) -> Box:
        with errors_as_named(self._base / self._file, self._ref):
            return load_box(
                self._ref if self._ref in preset_names() else self._file, self._base, FileOrigin(self._base)
            )

    def _named(self) -> tuple[str, ...]:
        """Return the hosts that the study names.

        Raises:
            AssayError: A host is named with a user or port, which hosts of a box do not have.
        """
        logins = (login for text in self._written.nodes for login in parse_logins(text))
        other = next((login.nodes for login in logins if login.user or login.number), None)
        if other is not None:
            raise AssayError(f"hosts: {other} is a host of the box, which takes no user and no port", f"write {other}")
        return expand_names(self._written.nodes, "host")

    def _chosen(self, known: Iterable[str]) -> Sequence[str]:
        """Return the names of the hosts that the study names; none means the clients of the box.

        Args:
            known: Names of all hosts of the box.

        Raises:
            AssayError: The box has no such host, or the study names an inventory, too.
        """
        if self._written.is_described:
            raise AssayError("a study has a box or other hosts, not both", "remove one of the two")
        names, host_names = self._named(), list(known)
        missing = [name for name in names if name not in host_names]
        if missing:
            raise AssayError(f"the box has no host {missing[0]}", f"it has {', '.join(host_names)}")
        return names


class OpenBox(Site):
    """A box that is up already and stays up."""

    more_hosts_hint = "name hosts of the box"

    def __init__(self, name: str, clients: str = "", servers: str = "") -> None:
        """Look up nothing yet.

        Args:
            name: Name under which the box runs.
            clients: Node set of the clients; if empty, the hosts with the role client.
            servers: Node set of the servers; if empty, the hosts with the role server.
        """
        self._name, self._words = name, {CLIENT: clients, SERVER: servers}

    def check(self, _needed: int) -> None:
        """See `Site`: the box must be up."""
        self._find()

    def check_ready(self, _needed: int) -> None:
        """See `Site`: `check` is enough."""

    def startup_seconds(self, _needed: int) -> float:
        """See `Site`."""
        return 0.0

    def up(self, print_line: PrintLine) -> SiteState:
        """See `Site`; nothing has to be made."""
        box = self._find()
        dead = [host.name for host in box.hosts if not box.is_alive(host.name)]
        if dead:
            print_line(f"box {box.name}: left out, because no longer alive: {', '.join(dead)}")
        return box_site_state(box, self._with(box, CLIENT, bool(dead)), self._with(box, SERVER, bool(dead)))

    def down(self, print_line: PrintLine) -> None:
        """Do nothing: the box stays up."""

    def _find(self) -> RunningBox:
        boxes = {box.name: box for box in running_boxes()}
        if self._name not in boxes:
            hint = choices_hint(self._name, boxes, none=f"`assay testbed up {self._name}` brings it up")
            raise AssayError(f"no box {self._name} is up", hint)
        return boxes[self._name]

    def _with(self, box: RunningBox, role: str, dead: bool) -> tuple[Host, ...]:
        """Return the hosts that were named for a role, or else those that have it."""
        known = {host.name: host for host in box_hosts(box)}
        names = node_names(self._words[role]) if self._words[role] else names_with_role(box, role, known)
        missing = [name for name in names if name not in known]
        if missing or not names:
            state = "living host" if dead else "host"
            fault = f"no {state} {missing[0]}" if missing else f"no {state} with the role {role}"
            raise AssayError(f"box {box.name} has {fault}", f"it has {', '.join(known)}")
        return tuple(known[name] for name in names)


def _mounts(box: Box, running: RunningBox) -> dict[str, tuple[HostMount, ...]]:
    """Return host -> what the box has mounted on it."""
    servers = {host.name: host.servers for host in running.hosts}
    return {
        member.name: tuple(
            HostMount(mount.at, mount.source, tuple(mount_command(mount, login_of(mount, servers))))
            for mount in remountable_mounts(member.spec)
        )
        for member in box.all_hosts()
    }


def remountable_mounts(spec: HostSpec) -> tuple[BoxMount, ...]:
    """Return the mounts of a host that keep their data when they are unmounted."""
    return tuple(mount for mount in spec.mounts if mount.type not in MEMORY_FILESYSTEMS)


def box_site_state(box: RunningBox, clients: tuple[Host, ...], servers: tuple[Host, ...] | None = None) -> SiteState:
    """Return the state of a site that is a box which is up.

    Args:
        box: The box.
        clients: Hosts that generate the load.
        servers: Hosts that serve storage; None for those with the role server.
    """
    made = box_hosts(box)
    known = {host.name: host for host in made}
    if servers is None:
        servers = tuple(known[name] for name in names_with_role(box, SERVER, known))
    others = tuple(host for host in made if host not in clients)
    return SiteState(clients, servers, made, others, server_facts=server_facts(box))


def box_hosts(box: RunningBox) -> tuple[Host, ...]:
    """Return the living hosts of a box that is up, with their links as its file states them."""
    return tuple(
        Host(
            name=host.name,
            address=host.address,
            kind="box",
            enter=tuple(box.enter(host.name)),
            link=host.link / 8 if host.link else None,
            site=host.site,
            line=host.line / 8 if host.line else None,
        )
        for host in box.hosts
        if box.is_alive(host.name)
    )


def names_with_role(box: RunningBox, role: str, known: Mapping[str, Host]) -> Sequence[str]:
    """Return the names of the known hosts with a role."""
    return [host.name for host in box.hosts if role in host.roles and host.name in known]


def server_facts(box: RunningBox) -> dict[str, dict[str, str]]:
    """Return `server HOST KIND` -> facts about each server of a box."""
    return {
        f"server {host.name} {server.kind}": {
            "version": server.version,
            "configuration sha256": server.sha256,
            "exports": ", ".join(server.exports),
            **{key: ", ".join(names) for key in ("devices", "buckets", "tables") if (names := getattr(server, key))},
            **{key: named for key in ("mount", "source") if (named := getattr(server, key)) is not None},
            "link": f"{host.link / 1e6:g} Mbit/s" if host.link else "unshaped",
        }
        for host in box.hosts
        for server in host.servers
    }

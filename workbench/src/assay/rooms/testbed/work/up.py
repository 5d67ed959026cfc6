"""Brings a box up."""

import itertools
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from assay.journal.processes import ProcessIdentity, boot_id, start_time
from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import Box, BoxHost, Disk, HostSpec
from assay.model.site.box_servers import NAME_PATTERN
from assay.model.site.box_state import BoxState, RunningHost, RunningServer
from assay.rooms.testbed.work import disks, layout, ssh, users
from assay.rooms.testbed.work.clean import raise_if_left, remove_parts
from assay.rooms.testbed.work.find import remove_dead_boxes
from assay.rooms.testbed.work.folders import box_lock, boxes_root, disks_root, make_disks_folder
from assay.rooms.testbed.work.journal import BoxJournal
from assay.rooms.testbed.work.programs import check_programs, check_rights, find_switch
from assay.rooms.testbed.work.running import RunningBox, enter_words
from assay.rooms.testbed.work.servers import READY_TIMEOUT_SECONDS, HostServer, new_server
from assay.rooms.testbed.work.state import is_up, read_state, write_state
from assay.servers.kinds import load_kind
from assay.site.installed import checked_output

SWITCH_NAMESPACE = "switch"
"""Name of the namespace with the switch end of all links; no host has this name."""
BRIEF_LOCK_TIMEOUT_SECONDS = 1.0
"""Longest wait for the lock, which another command may hold briefly to look for remains of a box of that name."""
SSHD_SECONDS = 10
"""Longest wait until an sshd listens."""
MAX_LINE_BYTES = 4096
"""Most bytes read of a line that a host's init prints."""
PARALLEL_HOSTS = 8
"""Number of hosts that are made in parallel."""


def bring_up(box: Box, name: str = "", owned: bool = False) -> RunningBox:
    """Bring a box up, after removing the remains of earlier ones.

    Args:
        box: The box, as `load_box` reads it.
        name: Name under which it runs; the box's own name if empty.
        owned: The box belongs to this process: after its end the next `remove_dead_boxes` removes the box.

    Returns:
        The box; all its servers answer.

    Raises:
        AssayError: This process lacks rights, a program is missing, a box of that name is up, or a step fails. A
            partly made box is removed.
    """
    name = name or box.name
    if not NAME_PATTERN.fullmatch(name):
        raise AssayError(f"`{name}` is not a name for a box", "write small letters, digits and `-`, a letter first")
    switch = check_possible(box)
    remove_dead_boxes()
    with box_lock(name, BRIEF_LOCK_TIMEOUT_SECONDS) as folder:
        if is_up(read_state(folder)):
            raise AssayError(f"box {name} is up already", f"`assay testbed down {name}` removes it", EXIT_REFUSED)
        raise_if_left(remove_parts(folder))
        try:
            return _Builder(box, name, folder, switch).build(owned)
        except BaseException:
            remove_parts(folder)
            raise


def check_possible(box: Box, types: Iterable[str] = ()) -> str:
    """Check whether a box can be brought up on this machine, without changing anything.

    Args:
        box: The box, as `load_box` reads it.
        types: Types of file systems that a study mounts on its hosts.

    Returns:
        Path of assay-switch.

    Raises:
        AssayError: This process lacks rights, a program is missing, or a mount would hide files that hosts need.
    """
    check_rights()
    check_programs(box, types)
    switch = find_switch()
    _check_hidden(box, [switch, str(boxes_root()), str(disks_root())])
    return switch


def _single_disks(spec: HostSpec) -> list[Disk]:
    """Return the disks of a host one by one, also those of a RAID."""
    return [disk for disk in spec.disks for _ in range(disk.count)]


def _check_hidden(box: Box, needed: list[str]) -> None:
    """Refuse disks and mounts whose top-level directory hides files that hosts need."""
    for spec in box.hosts.values():
        places = [("a shared directory", box.shared)] if box.shared is not None else []
        places += [("a disk", disk.mount) for disk in spec.disks if disk.mount is not None]
        places += [("a mount", at) for at in spec.mount_points]
        for what, place in places:
            top = "/".join(place.split("/")[:2])
            for path in needed:
                if path.startswith(f"{top}/"):
                    message = f"{what} at {place} would hide {path} from the host"
                    raise AssayError(message, "mount it at another directory, such as /export", EXIT_REFUSED)


class _Builder:
    """Makes one box, many hosts at a time."""

    def __init__(self, box: Box, name: str, folder: Path, switch: str) -> None:
        self.box, self.name, self.folder, self.switch = box, name, folder, switch
        self.members = box.all_hosts()
        self.disks = disks_root() / name
        self.groups: dict[str, str] = {}
        self.group_version = 1
        self.inits: dict[str, ProcessIdentity] = {}
        self.devices: dict[str, dict[str, str]] = {member.name: {} for member in self.members}
        """Host -> name of an unmounted device -> its path."""

    def build(self, owned: bool) -> RunningBox:
        """Make everything; the state is written last."""
        self.journal = BoxJournal(self.folder, self.disks)
        try:
            make_disks_folder(self.disks, self.folder)
            (self.folder / "hosts").write_text(layout.hosts_file(self.box))
            self._make_groups()
            if self.box.shared is not None:
                users.make_shared_directory(self.box.users, self.box.shared, self.folder, self.disks)
            with ThreadPoolExecutor(PARALLEL_HOSTS) as pool:
                try:
                    hosts = self._make(pool)
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        finally:
            self.journal.close()
        inside = self.inits[SWITCH_NAMESPACE]
        state = BoxState(
            name=self.name,
            box=self.box.name,
            boot=boot_id(),
            switch_pid=inside.pid,
            switch_start=inside.start,
            owner_pid=os.getpid() if owned else 0,
            owner_start=(start_time(os.getpid()) or 0) if owned else 0,
            shared=self.box.shared or "",
            users=self.box.users,
            hosts=hosts,
        )
        write_state(self.folder, state)
        return RunningBox(self.folder, state)

    def _make(self, pool: ThreadPoolExecutor) -> tuple[RunningHost, ...]:
        inits = {SWITCH_NAMESPACE: pool.submit(self._init, SWITCH_NAMESPACE, HostSpec())}
        inits |= {member.name: pool.submit(self._init, member.name, member.spec) for member in self.members}
        names = ["client_key", *(member.name for member in self.members)]
        (self.folder / "ssh").mkdir()
        keys = [pool.submit(ssh.make_keys, self.folder / "ssh", [name]) for name in names]
        if self.box.shared is not None:
            homes = users.homes(self.disks)
            keys += [pool.submit(users.make_keys, homes / user, self.folder) for user in self.box.users]
        images: dict[str, list[Future[None]]] = {
            member.name: [
                pool.submit(disks.make_image, disk, self._image(member, number))
                for number, disk in enumerate(_single_disks(member.spec))
            ]
            for member in self.members
        }
        self.inits = {name: made.result() for name, made in inits.items()}
        self._join()
        for key in keys:
            key.result()
        enter = {member.name: self._enter(member.name) for member in self.members}
        ssh.write_files(self.folder / "ssh", self.members, enter)
        for image in itertools.chain(*images.values()):
            image.result()
        tasks = {member.name: pool.submit(self._host, member) for member in self.members}
        hosts = {name: made.result() for name, made in tasks.items()}
        servings = self._serve(pool, hosts)
        servers = {name: tuple(serving.running_state() for serving in found) for name, found in servings.items()}
        list(pool.map(lambda member: self._mount(member, servers), self.members))
        return tuple(hosts[name].model_copy(update={"servers": servers[name]}) for name in hosts)

    def _enter(self, name: str) -> list[str]:
        return enter_words(self.inits[name].pid, self.groups.get(name, ""))

    def _image(self, member: BoxHost, number: int) -> Path:
        return self.disks / f"{member.name}-{number}.img"

    def _attach(self, member: BoxHost, number: int) -> str:
        """Attach an image file, and return its loop device.

        The command runs in the host's pid namespace, so that it cannot outlive the host, but sees the files of the
        machine, so that the device has the image's path there.
        """
        enter = enter_words(self.inits[member.name].pid, "", ("--pid",))
        image = str(self._image(member, number))
        return checked_output([*enter, "losetup", "--find", "--show", image], f"disk of {member.name}").strip()

    def _make_groups(self) -> None:
        for member in self.members:
            if disks.has_disk_limits(member.spec):
                hierarchy = disks.find_hierarchy()
                path = hierarchy.folder / f"{disks.group_prefix(boxes_root())}{self.name}-{member.name}"
                self.journal.group(path)
                disks.make_group(hierarchy, path)
                self.groups[member.name], self.group_version = str(path), hierarchy.version

    def _mount_options(self, name: str, spec: HostSpec) -> list[str]:
        """Return the mounts of a host as options of `assay-switch init`."""
        binds = [(str(self.folder / "hosts"), "/etc/hosts")]
        places = [*(disk.mount for disk in spec.disks if disk.mount is not None), *spec.mount_points]
        if self.box.shared is not None and name != SWITCH_NAMESPACE:
            places.append(self.box.shared)
            binds += users.bind_mounts(self.box.shared, self.folder, self.disks)
        words = [word for place in places for word in ("--empty", place)]
        for server in spec.servers:
            for path in load_kind(server.kind).private_folders:
                own = self.folder / "private" / name / path.lstrip("/")
                own.mkdir(parents=True, exist_ok=True)
                binds.append((str(own), path))
        return words + [word for bind in dict.fromkeys(binds) for word in ("--bind", ":".join(bind))]

    def _init(self, name: str, spec: HostSpec) -> ProcessIdentity:
        """Make the namespaces of a host, and return its init, which starts only after the journal has recorded it."""
        words = [self.switch, "init", "--name", name, "--folder", str(self.folder), *self._mount_options(name, spec)]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd="/") as first:
            assert first.stdin and first.stdout and first.stderr
            line = first.stdout.readline(MAX_LINE_BYTES).strip()
            if line.isdigit():
                process = ProcessIdentity(int(line), start_time(int(line)) or 0)
                self.journal.init(process)
                first.stdin.write("go\n")
                first.stdin.flush()
                line = first.stdout.readline(MAX_LINE_BYTES).strip()
            if line != "ready":
                error_text = first.stderr.readline(MAX_LINE_BYTES).strip().removeprefix("error: ")
                raise AssayError(f"host {name} cannot be made: {error_text or 'its init died'}", "", EXIT_REFUSED)
        return process

    def _join(self) -> None:
        """Make the switches and the links to them."""
        pids = {name: init.pid for name, init in self.inits.items()}
        text = layout.batch_script("ip", layout.switch_links(self.box, pids))
        text += layout.batch_script("tc", layout.switch_shapers(self.box))
        # Enter only the network namespace: `ip` must see process ids as this machine does.
        inside = [*enter_words(self.inits[SWITCH_NAMESPACE].pid, "", ("--net",)), "sh", "-e", "-c", text]
        checked_output(inside, "links of the box")
        for words in layout.switch_commands(self.box, self.switch):
            checked_output([*self._enter(SWITCH_NAMESPACE), *words], "switch")

    def _host(self, member: BoxHost) -> RunningHost:
        """Set up network, disks and sshd of a host, after its namespaces and before its servers."""
        spec = member.spec
        text = layout.host_script(member, self.box)
        group = self.groups.get(member.name, "")
        numbers = itertools.count()
        for disk in spec.disks:
            devices = [self._attach(member, next(numbers)) for _ in range(disk.count)]
            if disk.device is not None:
                (self.devices[member.name][disk.device],) = devices
            text += layout.disk_script(disk, devices, group, self.group_version)
        for path in spec.required_directories:
            text += f"mkdir -p '{path}'\nchmod 1777 '{path}'\n"
        enter = self._enter(member.name)
        checked_output([*enter, "sh", "-e", "-c", text], f"host {member.name}")
        checked_output([*enter, *ssh.server_command(self.folder / "ssh", member)], f"sshd of {member.name}")
        ready = [self.switch, "ready", "--within-ms", str(SSHD_SECONDS * 1000), f"{member.address}:22"]
        checked_output([*enter, *ready], f"sshd of {member.name}")
        init = self.inits[member.name]
        return RunningHost(
            name=member.name,
            address=member.address,
            pid=init.pid,
            start=init.start,
            link=spec.link,
            delay=spec.delay,
            loss=spec.loss,
            site=spec.site,
            line=self.box.wan.link if self.box.wan is not None else None,
            roles=spec.all_roles,
            exports=spec.exports,
            group=group,
            mounts=spec.mount_points,
        )

    def _serve(self, pool: ThreadPoolExecutor, hosts: Mapping[str, RunningHost]) -> dict[str, list[HostServer]]:
        """Start all servers, wait until they answer, and run the steps that follow. All hosts exist by now."""
        peers: dict[str, dict[str, str]] = {}
        for member in self.members:
            for server in member.spec.servers:
                peers.setdefault(server.kind, {})[member.name] = member.address
        servings = {
            member.name: [
                new_server(
                    *(self._enter(member.name), hosts[member.name], server, self.folder),
                    *(peers[server.kind], self.devices[member.name]),
                    hosts[server.upstream].address if server.source is not None else "",
                )
                for server in member.spec.servers
            ]
            for member in self.members
        }
        for re_exports in (False, True):
            # Servers that re-export others start when those answer.
            batch = [[one for one in found if bool(one.upstream) is re_exports] for found in servings.values()]
            list(pool.map(_begin, batch))
            list(pool.map(_settle, batch))
        # One after the other: a server that joins a cluster finds those before it.
        for serving in itertools.chain(*servings.values()):
            serving.run_later_steps("all")
        return servings

    def _mount(self, member: BoxHost, servers: Mapping[str, Sequence[RunningServer]]) -> None:
        """Mount on a host what its description says, such as exports of other hosts."""
        for mount in member.spec.mounts:
            what, enter = f"{mount.at} on {member.name}", self._enter(member.name)
            checked_output([*enter, "mkdir", "-p", mount.at], what)
            checked_output([*enter, *layout.mount_command(mount, layout.login_of(mount, servers))], what)


def _begin(servings: Sequence[HostServer]) -> None:
    """Start the servers of one host, in the order of the file."""
    for serving in servings:
        serving.begin()


def _settle(servings: Sequence[HostServer]) -> None:
    """Wait until each server of one host answers, and run the steps that follow."""
    for serving in servings:
        serving.wait(READY_TIMEOUT_SECONDS)
        serving.run_later_steps("own")

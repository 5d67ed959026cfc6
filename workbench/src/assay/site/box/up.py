"""Bringing a box up."""

import itertools
import os
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from assay.model.base import EXIT_REFUSED, AssayError
from assay.model.site.box import NAME, Box, BoxState, HostSpec, Member, RunningHost, RunningServer
from assay.servers.kinds import digest, found_words, load_kind, render
from assay.site.box import disks, layout, ssh
from assay.site.box.clean import clean, raise_if_left
from assay.site.box.find import sweep
from assay.site.box.folders import boxes_root, disks_root, locked, make_disks_folder
from assay.site.box.journal import Journal
from assay.site.box.process import Process, boot_id, start_time
from assay.site.box.run import check_programs, check_rights, find_program, find_switch, run
from assay.site.box.running import READY_SECONDS, RunningBox, prefix, start, wait_ready
from assay.site.box.state import is_up, read_state, write_state

SWITCH = "switch"
"""Name of the namespace in which all links meet; no host has it."""
PATIENCE_SECONDS = 1.0
"""Longest wait for another command that only looks whether something was left of a box of that name."""
SSHD_SECONDS = 10
"""Longest that an sshd may take to listen."""
TOGETHER = 8
"""Hosts that are made at the same time."""


def bring_up(box: Box, name: str = "", owned: bool = False) -> RunningBox:
    """Bring a box up; what earlier ones left is removed first.

    Args:
        box: As `load_box` reads it.
        name: What it runs as; the box's own name if empty.
        owned: It is of this process: once that is dead, the next look at boxes removes it.

    Returns:
        The box, with all servers answering.

    Raises:
        AssayError: This process may not, a program is missing, a box of that name is up, or something fails; then
            nothing of it is left.
    """
    name = name or box.name
    if not NAME.fullmatch(name):
        raise AssayError(f"`{name}` is not a name for a box", "write small letters, digits and `-`, a letter first")
    check_rights()
    check_programs(box)
    switch = find_switch()
    _check_hidden(box, [switch, str(boxes_root()), str(disks_root())])
    sweep()
    with locked(name, PATIENCE_SECONDS) as folder:
        if is_up(read_state(folder)):
            raise AssayError(f"box {name} is up already", f"`assay testbed down {name}` removes it", EXIT_REFUSED)
        raise_if_left(clean(folder))
        try:
            return _Builder(box, name, folder, switch).build(owned)
        except BaseException:
            clean(folder)
            raise


def _check_hidden(box: Box, needed: list[str]) -> None:
    """Refuse disks whose top directory hides what the hosts need."""
    for spec in box.hosts.values():
        for disk in spec.disks:
            top = "/".join(disk.mount.split("/")[:2])
            for path in needed:
                if path.startswith(f"{top}/"):
                    message = f"a disk at {disk.mount} would hide {path} from the host"
                    raise AssayError(message, "mount it at another directory, such as /export", EXIT_REFUSED)


class _Builder:
    """Makes one box, many hosts at a time."""

    def __init__(self, box: Box, name: str, folder: Path, switch: str) -> None:
        self.box, self.name, self.folder, self.switch = box, name, folder, switch
        self.members = box.members()
        self.disks = disks_root() / name
        self.groups: dict[str, str] = {}
        self.group_version = 1
        self.inits: dict[str, Process] = {}

    def build(self, owned: bool) -> RunningBox:
        """Make everything; the state is written last."""
        self.journal = Journal(self.folder, self.disks)
        try:
            make_disks_folder(self.disks, self.folder)
            (self.folder / "hosts").write_text(layout.hosts_file(self.box))
            self._make_groups()
            with ThreadPoolExecutor(TOGETHER) as pool:
                try:
                    hosts = self._make(pool)
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        finally:
            self.journal.close()
        inside = self.inits[SWITCH]
        state = BoxState(
            name=self.name,
            box=self.box.name,
            boot=boot_id(),
            switch_pid=inside.pid,
            switch_start=inside.start,
            owner_pid=os.getpid() if owned else 0,
            owner_start=(start_time(os.getpid()) or 0) if owned else 0,
            hosts=hosts,
        )
        write_state(self.folder, state)
        return RunningBox(self.folder, state)

    def _make(self, pool: ThreadPoolExecutor) -> tuple[RunningHost, ...]:
        inits = {SWITCH: pool.submit(self._init, SWITCH, HostSpec())}
        inits |= {member.name: pool.submit(self._init, member.name, member.spec) for member in self.members}
        names = ["client_key", *(member.name for member in self.members)]
        (self.folder / "ssh").mkdir()
        keys = [pool.submit(ssh.make_keys, self.folder / "ssh", [name]) for name in names]
        images: dict[str, list[Future[None]]] = {
            member.name: [
                pool.submit(disks.make_image, disk, self._image(member, number))
                for number, disk in enumerate(member.spec.disks)
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
        # Servers last among the tasks of a host, the hosts with servers first: they take longest.
        ordered = sorted(self.members, key=lambda member: not member.spec.servers)
        made_hosts = {member.name: pool.submit(self._host, member) for member in ordered}
        return tuple(made_hosts[member.name].result() for member in self.members)

    def _enter(self, name: str) -> list[str]:
        return prefix(self.inits[name].pid, self.groups.get(name, ""))

    def _image(self, member: Member, number: int) -> Path:
        return self.disks / f"{member.name}-{number}.img"

    def _attach(self, member: Member, number: int) -> str:
        """The loop device of a disk.

        Among the host's processes, so that it does not outlive them, but with the machine's view of files: by its
        path there the device is found again.
        """
        enter = prefix(self.inits[member.name].pid, "", ("--pid",))
        image = str(self._image(member, number))
        return run([*enter, "losetup", "--find", "--show", image], f"disk of {member.name}").strip()

    def _make_groups(self) -> None:
        for member in self.members:
            if disks.limited(member.spec):
                hierarchy = disks.find_hierarchy()
                path = hierarchy.folder / f"{disks.group_prefix(boxes_root())}{self.name}-{member.name}"
                self.journal.group(path)
                disks.make_group(hierarchy, path)
                self.groups[member.name], self.group_version = str(path), hierarchy.version

    def _own(self, name: str, spec: HostSpec) -> list[str]:
        """What a host has of its own, as words for `assay-switch init`."""
        binds = [(str(self.folder / "hosts"), "/etc/hosts")]
        words = [word for disk in spec.disks for word in ("--empty", disk.mount)]
        for server in spec.servers:
            for path in load_kind(server.kind).private:
                own = self.folder / "private" / name / path.lstrip("/")
                own.mkdir(parents=True, exist_ok=True)
                binds.append((str(own), path))
        return words + [word for bind in dict.fromkeys(binds) for word in ("--bind", ":".join(bind))]

    def _init(self, name: str, spec: HostSpec) -> Process:
        """Make the namespaces of a host. Its init begins only when it is in the journal."""
        words = [self.switch, "init", "--name", name, "--folder", str(self.folder), *self._own(name, spec)]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd="/") as first:
            assert first.stdin and first.stdout and first.stderr
            line = first.stdout.readline().strip()
            if line.isdigit():
                process = Process(int(line), start_time(int(line)) or 0)
                self.journal.init(process)
                first.stdin.write("go\n")
                first.stdin.flush()
                line = first.stdout.readline().strip()
            if line != "ready":
                said = first.stderr.readline().strip().removeprefix("error: ")
                raise AssayError(f"host {name} cannot be made: {said or 'its init died'}", "", EXIT_REFUSED)
        return process

    def _join(self) -> None:
        """Make the switches and the links to them."""
        pids = {name: init.pid for name, init in self.inits.items()}
        text = layout.batch("ip", layout.switch_links(self.box, pids))
        text += layout.batch("tc", layout.switch_shapers(self.box))
        # In the switch's network alone: `ip` is to understand the ids of processes that are known here.
        inside = [*prefix(self.inits[SWITCH].pid, "", ("--net",)), "sh", "-e", "-c", text]
        run(inside, "links of the box")
        for words in layout.switch_commands(self.box, self.switch):
            run([*self._enter(SWITCH), *words], "switch")

    def _host(self, member: Member) -> RunningHost:
        """All of a host that comes after its namespaces: network, disks, sshd, servers."""
        spec = member.spec
        text = layout.host_script(member, self.box)
        group = self.groups.get(member.name, "")
        for number, disk in enumerate(spec.disks):
            device = self._attach(member, number)
            text += layout.disk_script(disk, device, group, self.group_version)
        for path in spec.exports:
            text += f"mkdir -p '{path}'\nchmod 1777 '{path}'\n"
        enter = self._enter(member.name)
        run([*enter, "sh", "-e", "-c", text], f"host {member.name}")
        run([*enter, *ssh.server_command(self.folder / "ssh", member)], f"sshd of {member.name}")
        ready = [self.switch, "ready", "--within-ms", str(SSHD_SECONDS * 1000), f"{member.address}:22"]
        run([*enter, *ready], f"sshd of {member.name}")
        init = self.inits[member.name]
        host = RunningHost(
            name=member.name,
            address=member.address,
            pid=init.pid,
            start=init.start,
            link=spec.link,
            delay=spec.delay,
            loss=spec.loss,
            site=spec.site,
            roles=spec.all_roles,
            exports=spec.exports,
            group=group,
        )
        servers = tuple(self._server(host, server.kind, server.exports) for server in spec.servers)
        return host.model_copy(update={"servers": servers})

    def _server(self, host: RunningHost, kind_name: str, exports: tuple[str, ...]) -> RunningServer:
        """Configure and start a server, and wait until it answers."""
        kind, enter = load_kind(kind_name), self._enter(host.name)
        folder = self.folder / "servers"
        folder.mkdir(exist_ok=True)
        path = folder / f"{host.name}-{kind_name}.conf"
        words = {"host": host.name, "address": host.address, "configuration": str(path), **found_words(kind)}
        text = render(kind, {**words, "log": str(path.with_suffix(".log"))}, exports)
        path.write_text(text)
        if kind.folders:
            run([*enter, "mkdir", "-p", *kind.folders], f"{kind_name} on {host.name}")
        start(enter, host, kind_name, path, first=True)
        wait_ready(enter, host, kind_name, READY_SECONDS, path)
        return RunningServer(
            kind=kind_name,
            version=_version(kind.packages[0], kind.version),
            configuration=str(path),
            sha256=digest(text),
            exports=exports,
        )


def _version(package: str, command: tuple[str, ...]) -> str:
    """Version of a package, or what a program says of itself."""
    if find_program("dpkg-query"):
        try:
            return run(["dpkg-query", "--show", "--showformat=${Version}", package], package)
        except AssayError:
            pass
    return next(iter(run(command, package).splitlines()), "unknown")

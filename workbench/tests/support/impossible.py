"""Studies that cannot run, each for one reason: what is wrong with the file, the machine, or the place."""

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loop_devices import loop_device, need_root, small_file_system

from assay.launch import cgroup, machine_checks
from assay.launch.places import Owner
from assay.rooms.testbed.work import programs
from assay.site import installed
from assay.store.lock import RunLock


class Ground:
    """Where a study is written and what is done to the machine for it; all is undone at the end."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, stack: contextlib.ExitStack) -> None:
        self.folder, self.patch, self.stack = folder, patch, stack

    def path_without(self, *programs: str) -> None:
        """Leave programs out of PATH."""
        away = self.folder / "bin"
        away.mkdir()
        for name in ("sh", "mount", "ip", "tc", "nsenter", "losetup", "ssh", "mpirun", "sshd", "ssh-keygen"):
            found = programs_found(name)
            if name not in programs and found:
                (away / name).symlink_to(found)
        self.patch.setenv("PATH", str(away))
        self.patch.setattr("assay.site.installed.search_path", lambda: str(away))

    def mounted(self, *options: str) -> Path:
        """A mounted tmpfs."""
        need_root()
        point = self.folder / "mounted"
        point.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", str(point)], check=True)
        self.stack.callback(subprocess.run, ["umount", str(point)], check=True)
        return point

    def loop(self, **how: Any) -> str:
        """A loop device."""
        return self.stack.enter_context(loop_device(self.folder, 32 << 20, **how))


def programs_found(name: str) -> str | None:
    """Where a program is before PATH is changed."""
    return installed.find_program(name)


WORK = {"operations": ["write", "read"], "file_size": "64KiB", "record_size": "4KiB", "cache": "keep"}
Change = Callable[[Ground, dict[str, Any]], None]
"""Changes a study that could run."""


def sound(ground: Ground) -> dict[str, Any]:
    """A study that can run."""
    return {
        "study": "one-fault",
        "question": "Is it refused?",
        "targets": {"disk": {"kind": "file", "path": str(ground.folder / "target")}},
        "workloads": {"grid": dict(WORK)},
        "repeats": 1,
        "ceilings": "none",
        "network": "none",
    }


def text(changed: dict[str, Any]) -> str:
    """It as a file; JSON is YAML."""
    return json.dumps(changed, indent=1)


def work(**changes: Any) -> Change:
    return lambda _, study: study["workloads"]["grid"].update(changes)


def top(**changes: Any) -> Change:
    return lambda _, study: study.update(changes)


def target(**changes: Any) -> Change:
    return lambda _, study: study["targets"]["disk"].update(changes)


def instead(**fields: Any) -> Change:
    """Another target, with what one does there."""

    def change(_ground: Ground, study: dict[str, Any]) -> None:
        study["targets"] = {"disk": fields}
        if fields["kind"] == "s3":
            study["workloads"] = {"grid": {"operations": ["put"], "object_size": "1KiB", "objects": 2}}
        if fields["kind"] == "dynamodb":
            study["workloads"] = {"grid": {"operations": ["put"], "object_size": "1KiB", "objects": 2}}
        if fields["kind"] in ("device", "aoe"):
            study["workloads"]["grid"] |= {"layout": "shared", "cache": "direct"}

    return change


def on(path: Callable[[Ground], str], **work: Any) -> Change:
    def change(ground: Ground, study: dict[str, Any]) -> None:
        study["targets"]["disk"]["path"] = path(ground)
        study["workloads"]["grid"] |= work

    return change


def device(path: Callable[[Ground], str], **work: Any) -> Change:
    def change(ground: Ground, study: dict[str, Any]) -> None:
        instead(kind="device", path=path(ground))(ground, study)
        study["workloads"]["grid"] |= work

    return change


def two(path: str, more: Callable[[Ground], None] = lambda _: None) -> Change:
    """A second target, below the test's folder."""

    def change(ground: Ground, study: dict[str, Any]) -> None:
        more(ground)
        study["targets"]["other"] = {"kind": "file", "path": str(ground.folder / path)}

    return change


def hosts(written: Any, file: bytes | None = None, **work: Any) -> Change:
    """On other hosts, of which the inventory says so much."""

    def change(ground: Ground, study: dict[str, Any]) -> None:
        if file is not None:
            (ground.folder / "hosts.txt").write_bytes(file)
        study["hosts"] = written
        study["workloads"]["grid"] |= work

    return change


def box(told: str, before: Callable[[Ground], None] = lambda _: None, **more: Any) -> Change:
    """In a cluster in a box, of a file or by a name."""

    def change(ground: Ground, study: dict[str, Any]) -> None:
        need_root()
        before(ground)
        if "\n" in told:
            (ground.folder / "box.yaml").write_text(told)
        study.update({"testbed": "box.yaml" if "\n" in told else told, **more})

    return change


def variable(name: str, value: str) -> Callable[[Ground], None]:
    return lambda ground: ground.patch.setenv(name, value)


def after(before: Callable[[Ground], None], change: Change = lambda *_: None) -> Change:
    def both(ground: Ground, study: dict[str, Any]) -> None:
        before(ground)
        change(ground, study)

    return both


def _made(ground: Ground, name: str, content: str | None = None) -> str:
    path = ground.folder / name
    path.parent.mkdir(exist_ok=True)
    path.mkdir() if content is None else path.write_text(content)
    return str(path)


def _link(ground: Ground) -> str:
    (ground.folder / "link").symlink_to(_made(ground, "real"))
    return str(ground.folder / "link")


def _marked(ground: Ground) -> str:
    """A directory of a run that is at work."""
    run = ground.folder / "living"
    run.mkdir()
    lock = RunLock(run / "run.lock")
    ground.stack.callback(lock.release)
    path = Path(_made(ground, "marked"))
    mark = Owner("20260101-000000-living", run).mark(keep=False).model_dump_json()
    (path / ".assay-target").write_text(mark)
    return str(path)


def _held(ground: Ground) -> str:
    """A device that another run has."""
    import fcntl

    path = ground.loop()
    fd = os.open(path, os.O_RDONLY)
    ground.stack.callback(os.close, fd)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return path


def _mounted_device(ground: Ground) -> str:
    return ground.stack.enter_context(small_file_system(ground.folder, 32 << 20))[0]


def _sectors(ground: Ground, kind: str) -> str:
    """A file system on sectors of 4 KiB."""
    need_root()
    image = ground.folder / "image"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    made = subprocess.run(["losetup", "-b", "4096", "--find", "--show", str(image)], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(made.stderr)
    loop = made.stdout.strip()
    ground.stack.callback(subprocess.run, ["losetup", "--detach", loop], check=True)
    if kind == "device":
        return loop
    subprocess.run([f"mkfs.{kind}", "-q", loop], check=True, capture_output=True)
    point = ground.folder / "mount"
    point.mkdir()
    subprocess.run(["mount", loop, str(point)], check=True)
    ground.stack.callback(subprocess.run, ["umount", str(point)], check=True)
    return str(point / "t")


def _not_root(ground: Ground) -> None:
    ground.patch.setattr(programs.os, "geteuid", lambda: 1000)


def _no_drop(ground: Ground) -> None:
    ground.patch.setattr(machine_checks, "DROP_CACHES", ground.folder)


def _no_groups(ground: Ground) -> None:
    ground.patch.setattr(cgroup, "find_controller", lambda: cgroup.MemoryController(1, ground.folder / "none", "limit"))


def _engine(answer: str) -> Callable[[Ground], None]:
    def put(ground: Ground) -> None:
        program = ground.folder / "engine"
        program.write_text(f"#!/bin/sh\necho '{answer}'\n")
        program.chmod(0o755)
        ground.patch.setenv("ASSAY_ENGINE", str(program))

    return put


def _broken_server(ground: Ground) -> None:
    """A server of the user's own, whose program is not there."""
    (ground.folder / "own").mkdir()
    (ground.folder / "own" / "broken.yaml").write_text(BROKEN)
    ground.patch.setenv("ASSAY_SERVERS", str(ground.folder / "own"))


def _keys(ground: Ground) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        ground.patch.setenv(name, "x")


def _no_keys(ground: Ground) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        ground.patch.delenv(name)
    ground.patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    ground.patch.setenv("HOME", str(ground.folder))


def _allocated(ground: Ground) -> None:
    ground.patch.setenv("SLURM_JOB_ID", "7")
    ground.patch.setenv("SLURM_JOB_NODELIST", "n[1-2]")


def _read_only(ground: Ground) -> Path:
    return ground.mounted("-o", "ro,size=1m")


BROKEN = """kind: broken
description: a server whose program is not there
programs: [assay-no-such-program]
install_hint: get it from its maker
start:
  - [assay-no-such-program]
foreground: true
port: 9999
ready: ["http://$address:$port/"]
pidfile: /run/broken.pid
bucket: ""
"""
PAIR = "name: pair\nhosts: {client: {}, server: {servers: [%s], disks: [{size: 64MiB, mount: /export}]}}\n"
NFS = {"kind": "nfs", "servers": "127.0.0.1:1", "mount_port": 1, "export": "/export", "timeout": "1s"}
NEAR = {"targets": {"disk": {"kind": "file", "path": "/export/t"}}}
FILE: dict[str, Change] = {
    "an unknown key": top(colour="red"),
    "no workload": lambda _, study: study.pop("workloads"),
    "an unknown kind": target(kind="fiel"),
    "a parameter of fio": work(iodepth=4),
    "an unknown operation": work(operations=["wriet"]),
    "no operation": work(operations=[]),
    "a size that is none": work(file_size="large"),
    "a record larger than the file": work(record_size="1MiB"),
    "no lane": work(lanes=0),
    "a time that is none": work(runtime="soon"),
    "an unknown target": work(targets=["disc"]),
    "no repeat": top(repeats=0),
    "an unknown cache policy": work(cache="none"),
    "a parent directory": on(lambda _: "/var/../tmp/t"),
    "an unknown price book": top(prices={"book": "no-such-book", "designs": {"disk": {"design": "nfs-volumes"}}}),
    "an unknown design": top(prices={"book": "aws-eu-west-1", "designs": {"disk": {"design": "no-such-design"}}}),
    "several hosts and none named": work(hosts=2),
    "direct sizes": work(file_size="10kB", record_size="1kB", cache="direct"),
    "sets on a device": device(lambda _: "/dev/null", files=4),
    "cache: drop without rights": after(_no_drop, work(cache="drop")),
    "cache: remount of what is not mounted": work(cache="remount"),
    "cache: limit without rights": after(_no_groups, work(cache="limit", memory_limit="128MiB")),
}
"""What is wrong with the file, or asks for what a study cannot have."""
PLACES: dict[str, Change] = {
    "no directory above": on(lambda ground: f"{ground.folder}/none/t"),
    "a file above": on(lambda ground: _made(ground, "file", "") + "/t"),
    "a file": on(lambda ground: _made(ground, "file", "")),
    "a link": on(_link),
    "things of others": on(lambda ground: str(Path(_made(ground, "full/of", "x")).parent)),
    "a run that is at work": on(_marked),
    "a directory twice": two("target"),
    "one directory in the other": two("target/inner"),
    "two names of one directory": two(
        "alias/target", lambda ground: (ground.folder / "alias").symlink_to(ground.folder)
    ),
    "too large": on(lambda ground: f"{ground.mounted('-o', 'size=8m')}/t", file_size="1GiB", record_size="1MiB"),
    "memory without a cache to empty": on(lambda ground: f"{ground.mounted()}/t", cache="evict"),
    "a read-only file system": on(lambda ground: f"{_read_only(ground)}/t"),
    "a mount that is not there": on(lambda _: "/mnt/assay-nothing-here"),
    "sectors of 4 KiB below ext4": on(lambda ground: _sectors(ground, "ext4"), record_size="512B", cache="direct"),
    "sectors of 4 KiB": device(lambda ground: _sectors(ground, "device"), record_size="512B"),
    "no device": device(lambda ground: f"{ground.folder}/none"),
    "a device that is none": device(lambda ground: _made(ground, "file", "x")),
    "a device by a link to nothing": device(lambda ground: str(_dangling(ground))),
    "a mounted device": device(_mounted_device),
    "a device that another run has": device(_held),
    "a device that is too small": device(lambda ground: ground.loop(), file_size="64MiB", record_size="1MiB"),
    "a read-only device": device(lambda ground: _read_only_device(ground)),
    "a device twice": lambda ground, study: _device_twice(ground, study),
}
"""What is wrong with the place."""
MACHINE: dict[str, Change] = {
    "no such CPU": work(cpus="1023"),
    "no such NUMA node": work(numa_node=77),
    "no engine": after(variable("ASSAY_ENGINE", "/none/engine")),
    "an engine of another contract": after(_engine('{"spec_version": 1}')),
    "an engine that is none": after(_engine("hello")),
    "no engine with MPI": lambda ground, study: _mpi(ground, study),
    "a server that is not installed": after(_broken_server, instead(kind="s3", server="broken", bucket="abc")),
    "no credentials": after(_no_keys, instead(kind="s3", endpoint="http://127.0.0.1:1", bucket="abc")),
    "no service of objects": after(_keys, instead(kind="s3", endpoint="http://127.0.0.1:1", bucket="abc")),
    "no service of tables": after(_keys, instead(kind="dynamodb", endpoint="http://127.0.0.1:1", table="abc")),
    "no NFS server": instead(**NFS),
    "no interface": instead(kind="aoe", interfaces="none0", address="e1.0"),
    "results in a file": lambda ground, _: ground.patch.setenv("ASSAY_RUNS", _made(ground, "file", "")),
    "results below a file": lambda ground, _: ground.patch.setenv("ASSAY_RUNS", _made(ground, "file", "") + "/runs"),
    "results on a read-only file system": lambda ground, _: ground.patch.setenv(
        "ASSAY_RUNS", str(_read_only(ground) / "runs")
    ),
}
"""What the machine lacks."""
SITES: dict[str, Change] = {
    "no inventory": hosts({"inventory": "nosuch.txt"}),
    "an inventory that is a directory": hosts({"inventory": "."}),
    "an inventory without hosts": hosts({"inventory": "hosts.txt"}, b"# none\n"),
    "an inventory that is no text": hosts({"inventory": "hosts.txt"}, b"n1\n\xff\n"),
    "an inventory of Ansible with an odd port": hosts(
        {"inventory": "hosts.txt"}, b"[clients]\nn1 ansible_host=10.0.0.1 ansible_port=many\n"
    ),
    "an unknown group": hosts({"inventory": "hosts.txt", "hosts": "@nosuch"}, b"n1\n"),
    "a host that is not in the inventory": hosts({"inventory": "hosts.txt", "hosts": "n2"}, b"n1\n"),
    "too few hosts": hosts(["n1", "n2"], hosts=3),
    "too few hosts in the inventory": hosts({"inventory": "hosts.txt"}, b"n1\nn2\n", hosts=3),
    "too few nodes of the allocation": after(_allocated, hosts("allocation", hosts=3)),
    "no ssh": after(lambda ground: ground.path_without("ssh"), hosts(["n1"])),
    "no mpirun": after(lambda ground: ground.path_without("mpirun"), top(hosts=["n1"], launcher="mpirun")),
    "a device on other hosts": after(lambda _: None, lambda ground, study: _far_device(ground, study)),
    "cache: limit on other hosts": hosts(["n1"], cache="limit", memory_limit="128MiB"),
    "an unknown box": box("no-such-box"),
    "no file of a box": box("none.yaml"),
    "a file of a box that is none": box("name: x\nhosts: 5\n"),
    "a host that the box does not have": box("office", hosts=["nobody"], **NEAR),
    "too few hosts in the box": box("office", workloads={"grid": {**WORK, "hosts": 99}}, **NEAR),
    "nothing in the box to mount anew": box("office", workloads={"grid": {**WORK, "cache": "remount"}}, **NEAR),
    "a box without rights": box("office", _not_root, **NEAR),
    "a box without its switch": box("office", variable("ASSAY_SWITCH", "/none"), **NEAR),
    "a box without a program": box(PAIR % "", lambda ground: ground.path_without("losetup"), **NEAR),
    "a box whose server is not installed": box(
        "name: pair\nhosts: {client: {}, server: {servers: [{kind: broken, buckets: [abc]}]}}\n", _broken_server, **NEAR
    ),
    "a box that hides what hosts need": box(
        "name: hidden\nhosts: {client: {disks: [{size: 64MiB, mount: %s/x}]}}\n"
        % ("/".join(str(Path(programs.find_switch())).split("/")[:2]) if os.geteuid() == 0 else "/work"),
        **NEAR,
    ),
}
"""What is wrong with hosts, and with boxes."""
FAULTS = {**FILE, **PLACES, **MACHINE, **SITES}


def _dangling(ground: Ground) -> Path:
    (ground.folder / "by-id").symlink_to(ground.folder / "none")
    return ground.folder / "by-id"


def _read_only_device(ground: Ground) -> str:
    path = ground.loop()
    subprocess.run(["blockdev", "--setro", path], check=True)
    # The kernel keeps it for whoever gets the loop device next.
    ground.stack.callback(subprocess.run, ["blockdev", "--setrw", path], check=True)
    return path


def _device_twice(ground: Ground, study: dict[str, Any]) -> None:
    path = ground.loop()
    (ground.folder / "alias").symlink_to(path)
    instead(kind="device", path=path)(ground, study)
    study["targets"]["other"] = {"kind": "device", "path": str(ground.folder / "alias")}


def _far_device(ground: Ground, study: dict[str, Any]) -> None:
    instead(kind="device", path="/dev/sdz")(ground, study)
    study["hosts"] = ["n1"]


def _mpi(ground: Ground, study: dict[str, Any]) -> None:
    ground.patch.setenv("ASSAY_ENGINE_MPI", "/none/engine")
    study["targets"] = {"disk": {"kind": "mpiio", "path": str(ground.folder / "t")}}
    study["workloads"]["grid"] |= {"layout": "shared"}
    study |= {"hosts": ["n1"], "launcher": "mpirun"}


@contextlib.contextmanager
def faulty(folder: Path, change: Change) -> Iterator[str]:
    """The text of a study with one fault, while there is what makes it one."""
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        ground = Ground(folder, patch, stack)
        study = sound(ground)
        change(ground, study)
        yield text(study)

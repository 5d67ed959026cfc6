"""Virtual machines that boot from user data, emulated by QEMU, and a network between them.

Each has two interfaces: the first is that of the network between guests, with the default route, as the only one of an
instance; the second is only for this machine to log in and to be sent signals. No root is needed, and nothing of this
machine's network is changed. QEMU is a child of the test and ends with it.
"""

import contextlib
import http.server
import json
import os
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guest_image import LABEL, GuestImage
from s3_servers import free_port

PROGRAM = "qemu-system-x86_64"
ACCELERATOR = os.environ.get("ASSAY_VM_ACCELERATOR", "tcg")
"""tcg emulates the processor, on every machine; kvm is faster where /dev/kvm works."""
MTU = 9000
HOST_SEEN_BY_GUESTS = "10.0.2.2"
LOGIN = "admin"
PATIENCE_S = 5400
"""An emulated processor of a machine that is busy with something else is slow, and no measure of anything."""
NETWORK = """version: 2
ethernets:
  cluster:
    match: {{macaddress: "{first}"}}
    addresses: [{address}/24]
    gateway4: 10.9.0.254
  login:
    match: {{macaddress: "{second}"}}
    addresses: [10.0.2.15/24]
"""


@dataclass(frozen=True)
class GuestPlan:
    """What a guest has.

    Attributes:
        number: From 1; its address in the network is 10.9.0.NUMBER.
        user_data: As EC2 would give it.
        disks: Bytes of each NVMe disk besides the root disk.
        wire: Unix socket by which guests are connected.
        memory_mb: In MiB.
    """

    number: int
    user_data: str
    wire: Path
    disks: Sequence[int] = ()
    memory_mb: int = 1024

    @property
    def address(self) -> str:
        """In the network between guests."""
        return f"10.9.0.{self.number}"


@dataclass
class Guest:
    """A guest that runs."""

    plan: GuestPlan
    folder: Path
    port: int
    process: subprocess.Popen[bytes]

    def ssh_words(self) -> list[str]:
        """The words before a command that is executed in it."""
        return ["ssh", "-F", str(self.folder.parent / "ssh.conf"), self.folder.name]

    def run(self, command: str, patience_s: float = PATIENCE_S) -> subprocess.CompletedProcess[str]:
        """Execute a line of shell in it, as root."""
        words = [*self.ssh_words(), "sudo", "sh", "-c", shlex.quote(command)]
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=patience_s
        )

    def must(self, command: str) -> str:
        """Execute a line that must succeed; returns what it printed."""
        done = self.run(command)
        assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr[-2000:]}"
        return done.stdout.strip()

    def wait_for_ssh(self, not_boot: str = "") -> str:
        """Wait until somebody can log in; returns the id of the boot, another one than `not_boot`."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit and self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                boot = self.run("cat /proc/sys/kernel/random/boot_id", 60).stdout.strip()
                if boot and boot != not_boot:
                    return boot
            time.sleep(2)
        raise AssertionError(f"nobody can log in to guest {self.plan.number}:\n{self.console()}")

    def reboot(self) -> None:
        """Boot it again, and wait until it is up."""
        before = self.wait_for_ssh()
        self.run("systemctl reboot", 60)
        self.wait_for_ssh(before)
        self.run("systemctl is-system-running --wait")

    def status(self) -> dict[str, Any]:
        """What the script of its role wrote down."""
        found: dict[str, Any] = json.loads(self.must("cat /var/lib/assay/role.status.json"))
        return found

    def console(self) -> str:
        """The last lines of its console."""
        return "\n".join((self.folder / "console.log").read_text(errors="replace").splitlines()[-40:])


@contextlib.contextmanager
def started(image: GuestImage, plan: GuestPlan, folder: Path) -> Iterator[Guest]:
    """A guest that boots; it ends with the block, whatever is going on in it."""
    folder.mkdir()
    _write_seed(plan, folder)
    subprocess.run(
        ["qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", str(image.disk), str(folder / "root.qcow2")],
        check=True,
    )
    port = free_port()
    _write_ssh(folder, port)
    words = _qemu_words(image, plan, folder, port)
    with (folder / "qemu.log").open("wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield Guest(plan, folder, port, process)
    finally:
        process.kill()
        process.wait()


def _macs(number: int) -> tuple[str, str]:
    return f"52:54:00:09:00:{number:02x}", f"52:54:00:0a:00:{number:02x}"


def _write_seed(plan: GuestPlan, folder: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "key")], check=True)
    first, second = _macs(plan.number)
    key = (folder / "key.pub").read_text().strip()
    seed = folder / "seed"
    seed.mkdir()
    (seed / "user-data").write_text(plan.user_data)
    (seed / "meta-data").write_text(
        f"instance-id: i-{plan.number:017x}\nlocal-hostname: ip-10-9-0-{plan.number}\npublic-keys: ['{key}']\n"
    )
    (seed / "network-config").write_text(NETWORK.format(first=first, second=second, address=plan.address))


def _write_ssh(folder: Path, port: int) -> None:
    """Add the guest to what ssh knows, by the name of its folder."""
    with (folder.parent / "ssh.conf").open("a") as file:
        file.write(
            f"Host {folder.name}\n  HostName 127.0.0.1\n  Port {port}\n  User {LOGIN}\n  IdentityFile {folder}/key\n"
            f"  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking accept-new\n  IdentitiesOnly yes\n"
            "  BatchMode yes\n  ConnectTimeout 30\n  LogLevel ERROR\n"
        )


def _qemu_words(image: GuestImage, plan: GuestPlan, folder: Path, port: int) -> list[str]:
    first, second = _macs(plan.number)
    is_first = "on" if plan.number == 1 else "off"
    socket = f"stream,id=n0,server={is_first},addr.type=unix,addr.path={plan.wire}"
    words = [PROGRAM, "-M", "q35", "-accel", ACCELERATOR, "-cpu", "max", "-smp", "1", "-m", str(plan.memory_mb)]
    words += ["-nodefaults", "-no-user-config", "-display", "none", "-serial", f"file:{folder}/console.log"]
    words += ["-kernel", str(image.kernel), "-initrd", str(image.initrd)]
    # The kernel's check of its timer fails where the emulator has to wait for a processor.
    words += ["-append", f"root=LABEL={LABEL} rw console=ttyS0 mitigations=off no_timer_check"]
    words += ["-drive", f"file={folder}/root.qcow2,if=virtio,format=qcow2,cache=unsafe"]
    words += ["-drive", f"file=fat:{folder}/seed,if=none,id=seed,format=vvfat,label=cidata,readonly=on"]
    words += ["-device", "virtio-blk-pci,drive=seed"]
    words += ["-netdev", socket]
    words += ["-device", f"virtio-net-pci,netdev=n0,mac={first},host_mtu={MTU},romfile="]
    words += ["-netdev", f"user,id=n1,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-device", f"virtio-net-pci,netdev=n1,mac={second},romfile="]
    words += ["-device", "virtio-rng-pci"]
    for index, size in enumerate(plan.disks):
        disk = folder / f"disk{index}.raw"
        with disk.open("wb") as file:
            file.truncate(size)
        words += ["-drive", f"file={disk},if=none,id=d{index},format=raw,cache=unsafe"]
        words += ["-device", f"nvme,drive=d{index},serial=vol{plan.number}{index}"]
    return words


@dataclass
class Signals:
    """A place to which hosts send their signals.

    Attributes:
        port: On this machine, where guests reach it at 10.0.2.2.
        bodies: What has been sent so far.
    """

    port: int
    bodies: list[dict[str, str]] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        """As the address of a wait condition."""
        return f"http://{HOST_SEEN_BY_GUESTS}:{self.port}/signal?Expires=1&Signature=a%2Fb%3D"

    def wait(self, count: int) -> list[dict[str, str]]:
        """Wait until so many have been sent."""
        with self.arrived:
            if not self.arrived.wait_for(lambda: len(self.bodies) >= count, PATIENCE_S):
                raise AssertionError(f"{len(self.bodies)} of {count} signals came: {self.bodies}")
            return list(self.bodies)


@contextlib.contextmanager
def signals() -> Iterator[Signals]:
    """A server that takes signals while the block runs."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with place.arrived:
                place.bodies.append(body)
                place.arrived.notify_all()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    place = Signals(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield place
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

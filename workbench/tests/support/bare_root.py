"""A Debian with Python and nothing else, in which programs are executed as on a machine that has just been set up.

The root is made once by debootstrap and kept in target/test-caches. Each test writes into a layer above it, which is
mounted in a mount namespace of its own for each command and thrown away. No compiler is in it.
"""

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from paths import REPOSITORY

CACHES = REPOSITORY / "target" / "test-caches"
OLDEST, NEWEST = "bookworm", "sid"
"""Suites of Debian with the oldest and the newest Python that Assay claims."""
MIRROR = os.environ.get("ASSAY_DEBIAN_MIRROR", "http://deb.debian.org/debian")
PACKAGES = "python3,python3-venv,ca-certificates"
CLOUD = "cloud"
CLOUD_PACKAGES = "python3,cloud-init,python3-cffi-backend,curl"
"""Of a root that boots from user data; debootstrap does not find what provides the third, a virtual dependency."""
GUEST = "guest"
GUEST_PACKAGES = (
    f"{CLOUD_PACKAGES},linux-image-cloud-amd64,systemd-sysv,systemd-resolved,udev,dbus,initramfs-tools,netplan.io,"
    "openssh-server,sudo,kmod,procps,ca-certificates"
)
"""Of the root of a virtual machine."""
ROOTS = {CLOUD: CLOUD_PACKAGES, GUEST: GUEST_PACKAGES}
"""Name of a root that is no suite -> its packages."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENTER = """
set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /sys "$2/root/sys"
mount --rbind /dev "$2/root/dev"
mount --bind "$3" "$2/root/root/.cache"
inside=$2/root folder=$4
shift 4
exec /usr/sbin/chroot "$inside" sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"""
"""For sh in a mount namespace: root, layers, pip's cache, folder, and the command."""


@dataclass(frozen=True)
class BareRoot:
    """One layer above a root.

    Attributes:
        base: The root.
        layers: Folder of what is written.
        namespaces: Options of unshare, for what else it does not share with this machine.
    """

    base: Path
    layers: Path
    namespaces: tuple[str, ...] = ()

    @property
    def upper(self) -> Path:
        """What has been written, as a tree; files laid there before a command are seen by it."""
        return self.layers / "upper"

    def run(
        self, words: Sequence[str], folder: str = "/root", settings: Mapping[str, str] | None = None, columns: int = 0
    ) -> subprocess.CompletedProcess[str]:
        """Execute a command in the root; what it prints is returned as one text.

        Args:
            words: The command.
            folder: Where it is executed, in the root.
            settings: Variables.
            columns: Width of the terminal that it writes to; 0: it writes into a pipe.
        """
        cache = CACHES / "pip"
        cache.mkdir(parents=True, exist_ok=True)
        variables = {
            "PATH": PATH,
            "HOME": "/root",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **pip_settings(self),
            **(settings or {}),
        }
        own = ["--mount", "--pid", "--fork", "--kill-child", *self.namespaces]
        enter = ["unshare", *own, "sh", "-c", ENTER, "sh"]
        command = [*enter, str(self.base), str(self.layers), str(cache), folder, *words]
        if columns:
            return _on_terminal(command, variables, columns)
        return subprocess.run(
            command,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def must(self, *words: str, folder: str = "/root") -> str:
        """Execute a command that must succeed; returns what it printed."""
        done = self.run(words, folder)
        assert done.returncode == 0, f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-4000:]}"
        return done.stdout


def _on_terminal(command: list[str], variables: Mapping[str, str], columns: int) -> subprocess.CompletedProcess[str]:
    """Execute a command whose output goes to a terminal of so many columns."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=its, stderr=its)
    os.close(its)
    said = bytearray()
    # Reading fails when the last process that has the terminal has ended.
    with contextlib.suppress(OSError), os.fdopen(ours, "rb", buffering=0) as terminal:
        while part := terminal.read(65536):
            said += part
    text = said.decode("utf-8", "replace").replace("\r\n", "\n")
    return subprocess.CompletedProcess(command, process.wait(), text)


def pip_settings(root: BareRoot) -> dict[str, str]:
    """Where pip gets packages from, as on this machine, certificates included."""
    names = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "http_proxy", "https_proxy", "no_proxy")
    found = {name: os.environ[name] for name in names if name in os.environ}
    bundle = os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE")
    if bundle and Path(bundle).is_file():
        inside = root.upper / "etc" / "pip-certificates.crt"
        inside.parent.mkdir(parents=True, exist_ok=True)
        if not inside.exists():
            shutil.copyfile(bundle, inside)
        found["PIP_CERT"] = "/etc/pip-certificates.crt"
    return {**found, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}


def bare_root(suite: str, layers: Path) -> BareRoot:
    """A new layer above the root of a suite of Debian, which is made first where it is not there yet.

    The test is skipped, with the reason, where it cannot be made.
    """
    base = CACHES / f"root-{suite}"
    if reason := bootstrap(suite, base):
        pytest.skip(reason)
    for name in ("upper", "work", "root"):
        (layers / name).mkdir(parents=True, exist_ok=True)
    for name in ("etc", "root/.cache"):
        (layers / "upper" / name).mkdir(parents=True, exist_ok=True)
    shutil.copyfile("/etc/resolv.conf", layers / "upper" / "etc" / "resolv.conf")
    (layers / "upper" / "etc" / "hostname").write_text("bare\n")
    return BareRoot(base, layers)


def cloud_root(layers: Path) -> BareRoot:
    """The same with cloud-init, as at a first boot: its host name and network are its own."""
    root = bare_root(CLOUD, layers)
    return BareRoot(root.base, root.layers, ("--uts", "--net", "--ipc"))


def bootstrap(name: str, base: Path) -> str:
    """Make the root of a suite, or one of ROOTS, where it is not there yet.

    Returns why that is not possible, or nothing.
    """
    suite, packages = (OLDEST, ROOTS[name]) if name in ROOTS else (name, PACKAGES)
    if os.geteuid() != 0:
        return "a bare root needs root: debootstrap and chroot"
    if base.is_dir():
        return ""
    if shutil.which("debootstrap") is None:
        return "there is no debootstrap: apt-get install debootstrap"
    made = base.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)
    made.parent.mkdir(parents=True, exist_ok=True)
    words = ["debootstrap", "--variant=minbase", f"--include={packages}", suite, str(made), MIRROR]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["it says nothing"])[-1]
        return f"debootstrap cannot make {suite} from {MIRROR}: {last}"
    made.rename(base)
    return ""


if __name__ == "__main__":
    # A step of its own: it downloads and unpacks Debian, and tests nothing.
    for one in (OLDEST, NEWEST, CLOUD):
        if problem := bootstrap(one, CACHES / f"root-{one}"):
            print(f"SKIPPED: {problem}")

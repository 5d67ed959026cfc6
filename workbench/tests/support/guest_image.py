"""The disk image of virtual machines: a Debian with its cloud kernel and cloud-init, as providers have it.

What roles install is in a package source inside the image, since guests have no way out; it is not installed.
"""

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bare_root import CACHES, GUEST, bootstrap

FOLDER = CACHES / "guests"
SOURCE = "var/local/debs"
FOR_ROLES = ("nfs-kernel-server", "nfs-common", "mdadm", "lvm2", "xfsprogs", "e2fsprogs", "curl")
IMAGE_SIZE = "3G"
LABEL = "assay-root"
FILES = {
    "etc/fstab": f"LABEL={LABEL} / ext4 defaults 0 1\n",
    "etc/hostname": "debian\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/resolv.conf": "",
    "etc/apt/sources.list": f"deb [trusted=yes] file:/{SOURCE} ./\n",
    # As in Debian's own images, but for the place of packages and what is mounted.
    "etc/cloud/cloud.cfg.d/90-image.cfg": (
        "datasource_list: [NoCloud]\nmanage_etc_hosts: true\napt: {preserve_sources_list: true}\n"
    ),
    # Emulated processors start slowly; nothing here is to give up meanwhile.
    "etc/systemd/system.conf.d/90-slow.conf": "[Manager]\nDefaultTimeoutStartSec=900\nDefaultDeviceTimeoutSec=600\n",
    # Else to make it once more, with the array in it, takes a quarter of an hour.
    "etc/initramfs-tools/conf.d/90-slow": "MODULES=dep\nCOMPRESS=gzip\n",
}


@dataclass(frozen=True)
class GuestImage:
    """What a guest is booted from; each writes into a layer above the disk."""

    disk: Path
    kernel: Path
    initrd: Path


def guest_image() -> GuestImage | str:
    """The image, made where it is not there yet; or why that is not possible."""
    image = GuestImage(FOLDER / "disk.raw", FOLDER / "kernel", FOLDER / "initrd")
    if image.disk.exists():
        return image
    root = CACHES / f"root-{GUEST}"
    if problem := bootstrap(GUEST, root):
        return problem
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (root / SOURCE / "Packages").exists() and (problem := fill_source(root)):
        return problem
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).unlink(missing_ok=True)
        (root / path).write_text(text)
    # Empty: each guest gives itself one, as images of providers do.
    (root / "etc/machine-id").write_text("")
    (root / "var/lib/dbus/machine-id").unlink(missing_ok=True)
    for name, target in (("vmlinuz", image.kernel), ("initrd.img", image.initrd)):
        shutil.copyfile(sorted((root / "boot").glob(f"{name}-*"))[-1], target)
    made = image.disk.with_suffix(".new")
    made.unlink(missing_ok=True)
    words = ["mke2fs", "-q", "-t", "ext4", "-L", LABEL, "-d", str(root), str(made), IMAGE_SIZE]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        return f"mke2fs cannot make the disk: {done.stdout.strip()[-300:]}"
    made.rename(image.disk)
    return image


def fill_source(root: Path) -> str:
    """Download what roles install into a package source in a root; why that is not possible, or nothing."""
    # It is a link to what systemd-resolved writes.
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
    for words in (["clean"], ["update"], ["install", "-y", "--no-install-recommends", "--download-only", *FOR_ROLES]):
        # A mount namespace of its own: nothing that a script there mounts stays.
        command = ["unshare", "--mount", "chroot", str(root), "apt-get", "-q", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            return f"packages for the guests cannot be downloaded: {done.stdout.strip()[-300:]}"
    (root / SOURCE).mkdir(parents=True, exist_ok=True)
    paragraphs = []
    for package in sorted((root / "var/cache/apt/archives").glob("*.deb")):
        file = Path(shutil.move(package, root / SOURCE / package.name))
        about = subprocess.run(["dpkg-deb", "-f", str(file)], stdout=subprocess.PIPE, text=True, check=True).stdout
        sums = f"Size: {file.stat().st_size}\nSHA256: {hashlib.sha256(file.read_bytes()).hexdigest()}\n"
        paragraphs.append(f"{about.rstrip()}\nFilename: ./{file.name}\n{sums}")
    (root / SOURCE / "Packages").write_text("\n".join(paragraphs))
    shutil.rmtree(root / "var/lib/apt/lists")
    return ""


if __name__ == "__main__":
    # A step of its own: it downloads and unpacks Debian, and tests nothing.
    if isinstance(problem := guest_image(), str):
        raise SystemExit(f"error: {problem}")

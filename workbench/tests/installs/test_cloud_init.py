"""User data of our stacks, at a first boot by Debian's own cloud-init, in a root of its own.

Nothing of a kernel is set up here: `make test-vm` does that with the same user data in virtual machines. The root has
no network and no package sources, so that a role that needs packages fails, as behind a firewall.
"""

import base64
import gzip
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bare_root import cloud_root
from resolved_stack import ResolvedStack, stack_template

from assay.rooms.deploy.work.roles.scripts import packed_script

SIGNALS = "/var/lib/signals"
URL = "http://127.0.0.1:8099/signal?key=a%2Fb&Signature=c%3D"
"""Of a wait condition: it has the characters that such an address has."""
SYSTEM = """
datasource_list: [NoCloud, None]
growpart: {mode: "off"}
resize_rootfs: false
apt: {preserve_sources_list: true}
network: {config: disabled}
ssh_deletekeys: false
ssh_genkeytypes: [ed25519]
"""
"""The root shares the disks of this machine, which are not to grow, and has no interface and no ssh."""
BOOT = f"""
ip link set lo up
mkdir -p {SIGNALS}
python3 /root/signals.py & server=$!
cloud-init init --local && cloud-init init && cloud-init modules --mode=config && cloud-init modules --mode=final
echo "exit code $?"
uname -n >/root/uname
kill $server
"""
SERVER = f"""
import http.server, os
class Signals(http.server.BaseHTTPRequestHandler):
    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = self.path.encode() + b"\\n" + (self.headers["Content-Type"] or "").encode() + b"\\n" + body
        open("{SIGNALS}/%d" % len(os.listdir("{SIGNALS}")), "wb").write(text)
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", 8099), Signals).serve_forever()
"""
NFS = {"ServersHandle": URL, "ClientsHandle": URL, "Storage1.PrivateIp": "10.42.16.7"}


class FirstBoot:
    """A root after its first boot."""

    def __init__(self, layers: Path, user_data: str) -> None:
        """Boot by user data, as far as it goes."""
        self.root = cloud_root(layers)
        seed = "var/lib/cloud/seed/nocloud"
        for path, text in {
            f"{seed}/user-data": user_data,
            f"{seed}/meta-data": "instance-id: i-0123456789abcdef0\nlocal-hostname: ip-10-42-16-7\n",
            "etc/cloud/cloud.cfg.d/90-test.cfg": SYSTEM,
            "etc/apt/sources.list": "",
            "etc/ssh/ssh_host_ed25519_key": "",
            "root/signals.py": SERVER,
        }.items():
            path = self.root.upper / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.printed = self.root.must("sh", "-c", BOOT)

    def text(self, path: str) -> str:
        """A file that the boot wrote."""
        return (self.root.upper / path.lstrip("/")).read_text()

    def mode(self, path: str) -> int:
        """Its permissions."""
        return (self.root.upper / path.lstrip("/")).stat().st_mode & 0o7777

    def errors(self) -> list[str]:
        """What cloud-init itself noticed, and what it logged as a warning: unknown keys are no errors to it."""
        found = json.loads(self.text("/var/lib/cloud/data/result.json"))["v1"]["errors"]
        return [*found, *re.findall(r"^.*(?:WARNING|ERROR).*$", self.text("/var/log/cloud-init.log"), re.M)]

    def signal(self) -> tuple[str, str, dict[str, str]]:
        """Path, content type and body of the only signal."""
        (only,) = (self.root.upper / SIGNALS.lstrip("/")).iterdir()
        path, kind, body = only.read_text().split("\n", 2)
        return path, kind, json.loads(body)


@pytest.fixture
def layers(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed: what is in it may be hundreds of megabytes."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def test_a_client_of_a_bucket_boots_and_signals(layers: Path) -> None:
    stack = ResolvedStack(stack_template("s3-tiered"), {"Mpi": "none", "LoginUser": "ann"}, NFS)
    boot = FirstBoot(layers, stack.user_data("ClientLaunchTemplate"))
    assert "exit code 0" in boot.printed
    assert boot.errors() == []
    assert boot.text("/etc/assay/client.env") == f"SIGNAL_URL={URL}\nMPI=none\nPROXY=\n"
    assert boot.mode("/etc/assay/client.env") == 0o600
    assert boot.mode("/etc/assay/client.sh") == 0o755
    assert re.search("^ann:x:.*:/bin/bash$", boot.text("/etc/passwd"), re.M), "the user who logs in"
    state = json.loads(boot.text("/var/lib/assay/client.status.json"))
    assert (state["role"], state["state"]) == ("client", "done")
    assert {step["state"] for step in state["steps"]} == {"already so"}
    path, kind, body = boot.signal()
    # A content type would make the signature of the address wrong.
    assert (path, kind) == (URL.removeprefix("http://127.0.0.1:8099"), "")
    assert (body["Status"], body["Reason"], body["Data"]) == ("SUCCESS", "client is set up", "")


def test_a_server_without_packages_signals_its_own_first_error(layers: Path) -> None:
    stack = ResolvedStack(stack_template("nfs-gp3", "volumes=4"), {"NfsdThreads": "48"}, NFS)
    boot = FirstBoot(layers, stack.user_data("StorageLaunchTemplate"))
    assert boot.text("/etc/hostname") == "storage1\n"
    assert boot.text("/root/uname") == "storage1\n"
    values = dict(line.split("=", 1) for line in boot.text("/etc/assay/nfs-server.env").splitlines())
    assert values["ALLOWED"] == "10.42.0.0/16"
    assert (values["NFSD_THREADS"], values["POOL"], values["POOL_DISK_COUNT"]) == ("48", "raid0", "4")
    packed = base64.b64decode(packed_script("nfs-server"))
    assert boot.text("/etc/assay/nfs-server.sh") == gzip.decompress(packed).decode()
    state = json.loads(boot.text("/var/lib/assay/nfs-server.status.json"))
    assert state["state"] == "failed"
    last = state["steps"][-1]
    assert (last["step"], last["state"]) == ("packages", "failed")
    assert "nfs-kernel-server" in last["output"]
    _, _, body = boot.signal()
    assert body["Status"] == "FAILURE"
    assert re.match("storage1 packages: E: .*nfs-kernel-server", body["Reason"], re.S)
    assert any("scripts_user" in each for each in boot.errors())

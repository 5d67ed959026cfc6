"""Scripts of roles: whole, of a size that user data can have, and with every value that their steps use declared."""

import base64
import gzip
import os
import re
import subprocess
from pathlib import Path

import pytest

from assay.model.base import AssayError
from assay.rooms.deploy.work.roles.description import FOLDER, known_variables, load_role, load_step, steps_of
from assay.rooms.deploy.work.roles.scripts import (
    check_values,
    packed_script,
    role_env,
    role_names,
    role_script,
    role_variables,
)

OWN = {"STATE", "PLAN", "WORK", "STEPS", "PORTS", "APT_PACKAGES", "DNF_PACKAGES"}
"""What the preamble sets."""
MAX_PACKED = 14_500
"""Bytes of a packed script, so that user data, with its values and the rest of it, has at most 16 KiB."""


@pytest.mark.parametrize("role", role_names())
def test_each_role_has_all_that_its_steps_call(role: str) -> None:
    """Each step has its three functions, and the values that they use have a meaning and a default that is valid."""
    script = role_script(role)
    for name in load_role(role).steps:
        for part in ("check", "plan", "run"):
            assert f"\n{name}_{part}() {{" in script, f"{name}_{part}"
    for name, about in role_variables(role).items():
        assert about.accepts(about.default) or about.is_required, (name, about.default)
    assert len(packed_script(role)) < MAX_PACKED
    assert gzip.decompress(base64.b64decode(packed_script(role))).startswith(b"#!/bin/sh\n")


@pytest.mark.parametrize("path", sorted((FOLDER / "steps").glob("*.sh")), ids=lambda path: path.stem)
def test_steps_declare_the_values_that_they_use(path) -> None:
    """What is written $LIKE_THIS is a variable of the step or of one that it needs, and each has a meaning."""
    step = load_step(path.stem)
    declared = {name for one in steps_of((step.name,)) for name in one.variables} | {"SIGNAL_URL", "HOST_NAME"}
    used = set(re.findall(r"\$\{?([A-Z][A-Z_]+)\b", step.body)) - OWN
    used -= {name for one in steps_of((step.name,)) for name in re.findall(r"^([A-Z_]+)=", one.body, re.M)}
    assert used <= declared
    assert declared <= set(known_variables())


def test_values_are_checked() -> None:
    """Unknown, missing and malformed values are refused; a value can never be more than one line."""
    check_values("nfs-server", {"ALLOWED": "10.0.0.0/16 fd00::/8", "POOL": "raid0", "MKFS_OPTIONS": "-d su=128k,sw=4"})
    for values in (
        {},
        {"ALLOWED": ""},
        {"ALLOWED": "*"},
        {"ALLOWED": "10.0.0.0/16", "POOLS": "lvm"},
        {"ALLOWED": "10.0.0.0/16 10.1.0.0/160"},
        {"ALLOWED": "10.0.0.0/16", "EXPORT": "/a b"},
        {"ALLOWED": "10.0.0.0/16", "EXPORT": "/export/"},
        {"ALLOWED": "10.0.0.0/16", "EXPORT": "/../etc"},
        # Octal to a shell.
        {"ALLOWED": "10.0.0.0/16", "POOL_DISK_COUNT": "08"},
        {"ALLOWED": "10.0.0.0/16", "HOST_NAME": "a\nROLE=x"},
        {"ALLOWED": "10.0.0.0/16", "POOL_DISKS": "/dev/sdb; reboot"},
    ):
        with pytest.raises(AssayError):
            check_values("nfs-server", values)
    assert role_env({"POOL": "lvm", "SERVERS": "a b"}) == "POOL=lvm\nSERVERS=a b\n"


def test_a_daemon_without_systemd_does_not_have_the_lock(tmp_path: Path) -> None:
    """It lives for ever, and no other run could begin."""
    for name, body in {"service": '[ -e /proc/$$/fd/9 ] || echo "$@"', "update-rc.d": ""}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    begun = role_script("client").removesuffix('main "$@"\n')
    text = f"{begun}has_systemd() {{ false; }}\nexec 9>/dev/null\nservice_on nfsd\n"
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh"], input=text, env=path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("nfsd restart\n", "")


def test_roles_of_one_host_are_joined() -> None:
    """A host of two roles does the common steps once."""
    script = role_script("nfs-server+nfs-client")
    steps = re.search(r"^STEPS='(.*)'$", script, re.M)[1].split()
    assert len(steps) == len(set(steps))
    assert {"nfs_export", "client_mount"} <= set(steps)
    assert script.count("\nhostname_run() {") == 1

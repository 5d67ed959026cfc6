"""What a host is asked of its mounts and servers."""

import subprocess

import pytest

from assay.launch.environment.remote import capture_hosts
from assay.launch.environment.server_settings import SMB_CLIENT, settings_script
from assay.launch.shell import CommandResult, LocalShell
from assay.model.base import AssayError
from assay.model.site.host import THIS_HOST


def test_mounts_of_smb_are_told_by_the_names_that_windows_has() -> None:
    """No kernel here mounts CIFS: the part that reads options is given some."""
    functions, _, _ = settings_script().partition("seen=\n")
    options = "rw,vers=3.1.1,sign,multichannel,max_channels=4,rsize=4194304,echo_interval=60,username=alice"
    text = f'{functions}smb //nas/share "{options}"'
    told = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True).stdout
    found = dict(line.split("\t") for line in told.splitlines())
    assert len(found) == len(SMB_CLIENT)
    assert found["smb EnableMultiChannel //nas/share"] == "multichannel max_channels=4 (multichannel max_channels)"
    assert found["smb RequireSecuritySignature //nas/share"] == "sign (sign seal)"
    assert found["smb MaxCmds //nas/share"] == "not set (max_credits)"
    assert "alice" not in told


def test_a_program_that_hangs_takes_nothing_else_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = LocalShell(THIS_HOST)
    whole = shell.run

    def run(words: list[str], seconds: float) -> CommandResult:
        if "exportfs" in words[2]:
            raise AssayError("it did not answer within 20 s")
        return whole(words, seconds)

    monkeypatch.setattr(shell, "run", run)
    ((_, found),) = capture_hosts([shell]).items()
    assert (
        found["kernel"].startswith("Linux") and found["mounts and servers"] == "unknown: it did not answer within 20 s"
    )

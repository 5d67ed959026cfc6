"""Passwords in what machines tell of themselves: in no form, in no place, are they kept."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_machine import machine
from soak import times

from assay.launch.binary import last_line
from assay.launch.environment import capture_environment
from assay.launch.shell import CommandResult
from assay.launch.ssh_faults import explain_failure
from assay.model.base import AssayError
from assay.model.secret import redact, redact_command, redact_word
from assay.model.site.host import Host
from assay.plan.text import study_text
from assay.rooms.foreign.work.ior import ior_study
from assay.rooms.slurm.work.programs import complaint_text as told_by_slurm
from assay.rooms.slurm.work.script import check_options

SECRETS = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x24F, exclude_characters='"'), min_size=1, max_size=20
)
"""Any signs but blanks, which the kernel writes as \\040 in its tables, and the quotes of a command line."""


def marked(secret: str) -> str:
    """With a beginning and an end that no form has by itself, as `secret` has `cret`."""
    return f"S3cr{secret}X9z"


FORMS = (
    "//user:{}@server/share",
    "//DOMAIN;user:{}@10.0.0.1/share",
    "//DOM\\user%{}@server/share",
    "user:{}@host:/x",
    "https://user:{}@bucket.example.org/a",
    "s3fs#key:{}@bucket",
    "source=user:{}@host:/x",
    "rw,username=me,password={},vers=3.1.1",
    "rw,pass={}",
    "rw,passwd={},ro",
    "PASSWORD2={}",
    "rw,secret={},name=admin",
    "rw,sec_key={}",
    "api_token={}",
    "luks.passphrase={}",
    "user=me%{},vers=3",
)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=times(60, 600))
@example(secret=":@")
@given(secret=SECRETS)
def test_no_form_keeps_any_part_of_a_secret(form: str, secret: str) -> None:
    for found in (redact(form.format(marked(secret))), redact_word(form.format(marked(secret)))):
        assert "S3cr" not in found
        assert marked(secret)[-3:] not in found
        assert redact(found) == found


@settings(max_examples=times(60, 600))
@given(
    before=st.sampled_from(["quiet root=/dev/vda1", "cifs rw,vers=3", ""]), form=st.sampled_from(FORMS), secret=SECRETS
)
def test_what_is_around_a_secret_stays(before: str, form: str, secret: str) -> None:
    found = redact(f"{before} {form.format(marked(secret))} end=1")
    assert found.startswith(before)
    assert found.endswith(" end=1")
    assert "S3cr" not in found


@pytest.mark.parametrize(
    "text",
    [
        "/dev/vda1",
        "server1:/export",
        "[fd00::1]:/export",
        "rw,relatime,vers=4.2,rsize=1048576,proto=tcp,clientaddr=10.0.0.1,addr=fd00::1",
        "rw,credentials=/etc/cifs/me,secretfile=/etc/ceph/x,passwd_file=/etc/s3",
        "spec_store_bypass_disable=on console=ttyS0,115200 root=UUID=1-2",
        "#1 SMP Debian 6.1 (builder@host) (gcc 12.2.0)",
        "user@host",
    ],
)
def test_what_holds_no_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == redact_word(text) == text


def test_a_source_with_blanks_is_one_word() -> None:
    assert redact_word("//user:my pass@server/the share") == "//...@server/the share"


MOUNTINFO = r"""21 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
40 21 0:50 / /mnt/a rw - cifs //user:S3c\040ret@server/share rw,vers=3.1.1,password=S3c,ret,uid=0
41 21 0:51 / /mnt/b rw - fuse.x user:S3cret@host:/x rw,secret=S3cret,credentials=/etc/x
"""


def test_nothing_captured_has_a_password(tmp_path: Path) -> None:
    files = machine(
        tmp_path,
        {
            "/proc/self/mountinfo": MOUNTINFO,
            "/proc/cmdline": "quiet nfsroot=//u:S3cret@h/x luks.key='S3c ret' pass=S3cret",
        },
    )
    found = capture_environment({"a": (False, "/mnt/a/x"), "b": (False, "/mnt/b/x")}, files)
    assert "S3c" not in str(found)
    assert "ret@" not in str(found)
    assert found["target a"]["source"] == "//...@server/share"
    assert found["target a"]["options"] == "rw,vers=3.1.1,password=(redacted),uid=0"
    assert found["target b"]["source"] == "...@host:/x"
    assert found["target b"]["options"] == "rw,secret=(redacted),credentials=/etc/x"
    assert found["kernel"]["command_line"] == "quiet nfsroot=//...@h/x luks.key=(redacted) pass=(redacted)"


SAID = (
    *("AWS_SECRET_ACCESS_KEY=S3cret", "password=S3cret", "password2=S3cret", "pass=S3cret", "username=a%S3cret"),
    *("//me:S3cret@nas1/share", "https://me:S3cret@host/x", "--export=ALL,TOKEN=S3cret", "--export=TOKEN=S3cret"),
)


@pytest.mark.parametrize("said", SAID)
def test_what_programs_and_command_lines_say_is_told_without_passwords(said: str, tmp_path: Path) -> None:
    """In the errors of ssh, mount, Slurm and engines, in the heads of studies, and in a run's command."""
    host = Host(name="n1", kind="ssh", address="n1")
    told = [
        CommandResult(1, "", f"mount error: {said}\n").last_line,
        explain_failure(host, f"ssh: {said}\n").message,
        told_by_slurm(f"sbatch: error: {said}"),
        last_line(f"error: {said}\n".encode()),
        redact_command(["assay", "run", "x.yaml", said]),
        redact_command(["assay", "run", f"-x {said}"]),
        study_text({}, [f"From: {said} mpirun -np 4 ior"]),
        ior_study(f"{said} mpirun -np 4 ior -w -o /x/f", lambda path: "") if "=" in said and "-" not in said else "",
    ]
    assert not [text for text in told if "S3cret" in text]
    if said.startswith("--"):
        with pytest.raises(AssayError, match="--slurm has a password in --export"):
            check_options(f"-N 2 {said}")


def test_an_option_of_sbatch_that_only_sounds_so_is_taken() -> None:
    assert check_options("--wckey=project --signal=B:TERM@60 -A token --mail-user=me@x.org -t 1:00:00 -p a") != []

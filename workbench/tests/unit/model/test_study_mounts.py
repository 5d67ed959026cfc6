"""What a study may have mounted on its hosts, and what not."""

from typing import Any

import pytest
from plan_tools import study
from pydantic import ValidationError

from assay.model.study.mounts import NETWORK_TYPES, StudyMount
from assay.plan.crosscheck import crosscheck

GOOD = {"source": "nas1:/export", "at": "/mnt/a", "type": "nfs4"}


def test_options_are_those_of_mount() -> None:
    assert StudyMount(**GOOD).all_options == ""
    assert StudyMount(**GOOD, options="vers=4.1,nconnect=4").all_options == "vers=4.1,nconnect=4"
    cifs = {**GOOD, "type": "cifs", "source": "//nas1/data", "credentials": "/root/.smb"}
    assert StudyMount(**cifs, options="vers=3.1.1").all_options == "vers=3.1.1,credentials=/root/.smb"
    assert StudyMount(**{**GOOD, "type": "ceph", "credentials": "/root/key"}).all_options == "secretfile=/root/key"


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "ext4"},
        {"type": "fuse.sshfs"},
        {"source": "/etc"},
        {"source": ""},
        {"source": "-o"},
        {"source": "LABEL=data"},
        {"source": "UUID=1-2"},
        {"source": "PARTLABEL=data"},
        {"at": "/"},
        {"at": "/mnt/../etc"},
        {"options": "bind"},
        {"options": "log-file=/etc/passwd"},
        {"options": "password=secret"},
        {"options": "remount"},
        {"options": "ro,Bind"},
        {"options": "ro,,rw"},
        {"credentials": "/root/x"},
        {"user": "alice"},
    ],
)
def test_what_is_of_the_host_itself_or_runs_programs_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        StudyMount(**{**GOOD, **fields})
    assert all(StudyMount(**{**GOOD, "type": one}) for one in NETWORK_TYPES)


def target(at: str, path: str, **more: str) -> dict[str, Any]:
    return {"kind": "file", "path": path, "mounts": [{**GOOD, "at": at, **more}]}


def faults(**targets: dict[str, Any]) -> list[str]:
    whole = study(targets={"store": target("/mnt/a", "/mnt/a/assay")}, hosts="client[1-2]")
    found = study(targets={name: {**one, "mounts": []} for name, one in targets.items()}, hosts="client1")
    mounted = {
        name: one.model_copy(update={"mounts": tuple(StudyMount(**mount) for mount in targets[name]["mounts"])})
        for name, one in found.targets.items()
    }
    assert list(crosscheck(whole)) == []
    return [fault.message for fault in crosscheck(found.model_copy(update={"targets": mounted}))]


def test_mounts_are_for_hosts_and_for_what_lies_in_them() -> None:
    right = target("/mnt/a", "/mnt/a/assay")
    assert faults(store=right) == []
    with pytest.raises(AssertionError, match="Assay mounts on hosts, and the study names none"):
        study(targets={"store": right})
    (twice,) = faults(store=right, other=target("/mnt/a", "/mnt/a/other", options="ro"))
    assert "already where target `store` has something else mounted" in twice
    assert faults(store=right, other=target("/mnt/a", "/mnt/a/other")) == []
    with pytest.raises(AssertionError, match="no directory below /mnt/a"):
        study(targets={"store": target("/mnt/a", "/mnt/ab/assay")}, hosts="client1")


@pytest.mark.parametrize(
    "at",
    [
        *(
            "/etc",
            "/etc/ssh",
            "/usr/bin",
            "/usr/local/lib",
            "/bin",
            "/lib64",
            "/root",
            "/root/.ssh",
            "/root/mnt",
            "/tmp",
            "/home",
            "/home/me",
        ),
        *("/home/me/.ssh", "/home/me/.config/x", "/mnt/.hidden", "/var", "/var/lib/x", "/run/assay", "/proc", "/sys/x"),
        *("/dev/shm", "/boot", "/sbin", "/opt/x", "/var/tmp", "/var/spool/cron"),
    ],
)
def test_nothing_of_a_systems_or_a_home_is_covered(at: str) -> None:
    with pytest.raises(ValidationError, match="where nothing is mounted"):
        StudyMount(**{**GOOD, "at": at})


@pytest.mark.parametrize("at", ["/mnt", "/mnt/a", "/srv/a", "/data", "/home/me/mnt", "/tmp/a", "/var/tmp/a", "/files"])
def test_a_place_of_ones_own_may_be_named(at: str) -> None:
    assert StudyMount(**{**GOOD, "at": at}).at == at


@pytest.mark.parametrize(
    "fields",
    [
        *({"options": f"vers=3.0,{one}"} for one in ("username=a%bcd", "password2=x", "pass=x", "passwd=x", "token=x")),
        *({"options": one} for one in ("PASSWORD=x", "user=a%b", "suid", "dev", "exec", "users", "defaults")),
        *({"source": one} for one in ("//me:word@nas1/share", "//me%word@nas1/share", "nas1:/x,password=y")),
    ],
)
def test_passwords_and_rights_are_not_written_in_studies(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        StudyMount(**{**GOOD, **fields})
    shown = caught.value.errors(include_input=False)[0]["msg"]
    assert not any(word in shown for word in ("bcd", "word@", "=x", "=y")), "what is refused is not repeated"


def test_mounts_cover_neither_each_other_nor_targets() -> None:
    outer, inner = target("/mnt/a", "/mnt/a/assay"), target("/mnt/a/in", "/mnt/a/in/assay")
    assert any("covers /mnt/a/in, where target `inner`" in line for line in faults(outer=outer, inner=inner))
    beside = {"kind": "file", "path": "/mnt/a/own", "mounts": []}
    (told,) = faults(store=outer, beside=beside)
    assert "covers /mnt/a/own of target `beside`" in told

"""NFS exports and SMB shares as studies name them: their servers, shares and logins."""

from typing import Any

import pytest
from plan_tools import load, study, written

from assay.kinds.exports import ExportTarget

NFS = {"kind": "nfs", "servers": "nas1", "export": "/export"}
SMB = {"kind": "smb", "servers": "nas1", "shares": "data"}


def target(known: dict[str, Any], **changes: Any) -> ExportTarget:
    found = study(targets={"store": {**known, **changes}}).targets["store"]
    assert isinstance(found, ExportTarget)
    return found


def refused(known: dict[str, Any], **changes: Any) -> str:
    """Message and hint of the one thing that is wrong with a target."""
    (problem,) = load(written(targets={"store": {**known, **changes}})).problems
    return f"{problem.message} | {problem.hint}"


@pytest.mark.parametrize(
    ("servers", "shares", "path"),
    [
        ("nas1", "data", "//nas1/data/assay"),
        ("nas[1-2]", "data", "//nas1/data and 1 more/assay"),
        ("nas1", ["data", "more", "most"], "//nas1/data and 2 more/assay"),
        ("nas[1-3]", ["data", "more"], "//nas1/data and 5 more/assay"),
    ],
)
def test_the_path_of_shares_counts_each_share_on_each_server(servers: str, shares: Any, path: str) -> None:
    assert target(SMB, servers=servers, shares=shares).path == path


def test_the_path_of_exports_counts_servers() -> None:
    assert target(NFS).path == "nas1:/export/assay"
    assert target(NFS, servers="nas[1-3]", export="/", directory="mine").path == "nas1 and 2 more:/mine"


@pytest.mark.parametrize(("known", "usual"), [(NFS, 2049), (SMB, 445)])
def test_a_port_is_for_servers_that_are_written_without_one(known: dict[str, Any], usual: int) -> None:
    several = ["nas[1-2]", "nas3:7", "[fe80::1]", "[fe80::1]:8"]
    plain, moved = target(known, servers=several), target(known, servers=several, port=9)
    names = ("nas1", "nas2", "nas3", "fe80::1", "fe80::1")
    assert [service[:2] for service in plain.services] == list(zip(names, (usual, usual, 7, usual, 8), strict=True))
    assert [service[:2] for service in moved.services] == list(zip(names, (9, 9, 7, 9, 8), strict=True))
    assert plain.job_target().model_dump()["servers"] == ["nas1", "nas2", "nas3:7", "[fe80::1]", "[fe80::1]:8"]
    assert moved.job_target().model_dump()["servers"] == ["nas1:9", "nas2:9", "nas3:7", "[fe80::1]:9", "[fe80::1]:8"]
    assert moved.job_target(servers=1).model_dump()["servers"] == ["nas1:9"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": 2.1, "encryption": True}, "SMB 2.1 has no encryption"),
        ({"version": "2.1", "channels": 2}, "SMB 2.1 has no multichannel"),
        ({"version": "1.0"}, "`1.0` is not a version of SMB that Assay supports | write one of 2.1, 3.0, 3.0.2, 3.1.1"),
        ({"version": True}, "is not a version of SMB"),
        ({"shares": []}, "names no shares"),
        ({"shares": 7}, "names no shares"),
        ({"shares": "a/b"}, "is not the name of a share"),
        ({"shares": ["data", ""]}, "is not the name of a share"),
        ({"shares": "x" * 81}, "is not the name of a share"),
        ({"shares": ["data", "DATA"]}, "a share comes twice"),
        ({"user": ""}, "is not the name of a user"),
        ({"user": "al\nice"}, "is not the name of a user"),
        ({"credentials": "login"}, "is not the path of a file with credentials"),
    ],
)
def test_what_no_share_can_be_is_refused(changes: dict[str, Any], words: str) -> None:
    assert words in refused(SMB, **changes)


@pytest.mark.parametrize("changes", [{"version": 2.1}, {"version": 3.0, "encryption": True, "channels": 2}])
def test_what_a_version_can_do_is_taken(changes: dict[str, Any]) -> None:
    assert target(SMB, **changes).job_target().model_dump()["version"] == str(changes["version"])


def test_a_login_of_the_testbed_is_for_its_server_and_user() -> None:
    logins = {("nas1", "alice"): "/a", ("nas1", "bob"): "/b", ("nas9", "carol"): "/c"}

    def signed_in(**changes: Any) -> Any:
        return target(SMB, **changes).with_logins(logins).model_dump()["credentials"]

    assert signed_in(user="bob") == "/b"
    assert signed_in() == "/a"
    assert signed_in(user="carol") is None
    assert signed_in(user="bob", credentials="/own") == "/own"

"""Disks behind ATA over Ethernet as studies name them, and as they are typed."""

from typing import Any

import pytest
from plan_tools import load, study, written

from assay.contract._answers import BackendCapabilities
from assay.kinds.aoe.uri import parse_uri
from assay.kinds.handler import handler_of
from assay.model.base import AssayError
from assay.model.study.target import Target

DISK = {"kind": "aoe", "interfaces": "eth1", "address": "e1.0"}


def target(**changes: Any) -> Target:
    return study(targets={"store": {**DISK, **changes}}).targets["store"]


def refused(**changes: Any) -> str:
    """Message and hint of the one thing that is wrong with a target."""
    (problem,) = load(written(targets={"store": {**DISK, **changes}})).problems
    return f"{problem.message} | {problem.hint}"


def test_shelf_and_slot_are_read_from_the_address() -> None:
    told = target(address="e065.4", interfaces=["eth1", "eth2"], window=8, timeout="2s").job_target(destroy=True)
    assert told.model_dump(mode="json") == {
        "kind": "aoe",
        "interfaces": ["eth1", "eth2"],
        "shelf": 65,
        "slot": 4,
        "destroy": True,
        "window": 8,
        "sectors": None,
        "timeout_ns": 2_000_000_000,
    }
    assert target(address="e065.4", interfaces=["eth1", "eth2"]).path == "e65.4 on eth1 and eth2"


@pytest.mark.parametrize("wrong", ["1.0", "e1", "e1.255", "e65535.0", "e-1.0", "e1.0 ", "", 1.0, None, ["e1.0"]])
def test_what_is_no_address_is_refused(wrong: object) -> None:
    assert "is not the address of a disk | write shelf and slot, such as e1.0" in refused(address=wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "names no interfaces"),
        (7, "names no interfaces"),
        ([f"eth{number}" for number in range(9)], "names no interfaces"),
        (["eth1", "eth1"], "interface eth1 comes twice"),
        ("an-interface-name-that-is-long", "is not the name of a network interface"),
        ("eth/1", "is not the name of a network interface"),
        ("..", "is not the name of a network interface"),
        ([1], "is not the name of a network interface"),
    ],
)
def test_what_are_no_interfaces_is_refused(wrong: object, message: str) -> None:
    assert message in refused(interfaces=wrong)


def test_its_servers_are_known_if_the_study_names_them() -> None:
    assert target().services == ()
    named = target(servers=["server[1-2]", "10.0.0.2"])
    assert [(service.name, service.port) for service in named.services] == [
        ("server1", None),
        ("server2", None),
        ("10.0.0.2", None),
    ]
    assert "names no servers" in refused(servers=7)
    assert "comes twice" in refused(servers=["a", "a"])


def test_a_word_for_it_is_taken_only_with_the_users_consent() -> None:
    found = {"kind": "aoe", "interfaces": ["eth1", "eth2"], "address": "e1.0"}
    assert parse_uri("aoe://eth1,eth2/e1.0", destroy=True) == found
    assert parse_uri("/dev/sdx", destroy=True) is None
    with pytest.raises(AssayError, match="all data on the disk would be overwritten"):
        parse_uri("aoe://eth1/e1.0", destroy=False)
    for half in ("aoe://", "aoe://eth1", "aoe:///e1.0"):
        with pytest.raises(AssayError, match="interface or address is missing"):
            parse_uri(half, destroy=True)


def test_no_engine_is_asked_before_the_user_has_given_the_disk_up() -> None:
    class Probing:
        run, destroy = "0" * 32, False

        def probe_target(self, *_: object, **__: object) -> BackendCapabilities:
            pytest.fail("an engine was asked")

    with pytest.raises(AssayError, match=r"e1\.0 on eth1: all data on the disk would be overwritten") as caught:
        handler_of(target()).probe(Probing())  # type: ignore[arg-type]
    assert "--destroy" in caught.value.hint

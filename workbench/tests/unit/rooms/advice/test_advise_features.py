"""Protocols, write-once storage, who runs it, small files by the second, and what the need leaves open."""

import pytest
from advise_tools import best

from assay.money.books.books import load_book
from assay.rooms.advice.model.advice import Advice
from assay.rooms.advice.model.need import Need
from assay.rooms.advice.work.advise import advise

AWS = load_book("aws-us-east-1")
SHARES = {"capacity": "20TB", "read": "150MB/s", "durability": "zone", "book": "aws-us-east-1"}


def answer(**changes: object) -> Advice:
    """Return the advice for shares of 20 TB on AWS."""
    need = {"need": "x", "access": "file", **SHARES, **changes}
    return advise(Need.model_validate({key: value for key, value in need.items() if value is not None}), AWS)


@pytest.mark.parametrize(
    ("protocol", "families"), [("smb", {"fsx-windows", "fsx-ontap", "nfs"}), ("nfs", {"efs", "fsx-ontap", "nfs"})]
)
def test_only_designs_with_the_protocol_meet_the_need(protocol, families):
    found = answer(protocol=protocol)
    assert {item.family for item in found.options} <= families | {"fsx-openzfs"}
    other = {"smb": "efs-elastic", "nfs": "fsx-windows"}[protocol]
    (alone,) = answer(protocol=protocol, candidates=[other]).rejected
    assert f"`{protocol}` is needed" in str([check.text for check in alone.failed_checks])


def test_what_is_not_stated_and_would_change_the_choice_is_named_with_the_choice_then():
    two = {"candidates": ["efs-bursting", "fsx-windows-hdd-multi-az"], "active": "20%"}
    found = answer(**two)
    (open_question,) = [item for item in found.changes if item.kind == "requirement" and "smb" in item.text]
    assert (
        best(answer(protocol="smb", candidates=["efs-bursting", "fsx-windows-hdd-multi-az"])).label == open_question.to
    )
    assert not [item for item in answer(protocol="smb").changes if "protocol" in item.text]


def test_a_managed_service_is_not_run_by_the_user_and_volumes_are_used_on_his_own_host():
    run = answer(managed=True, candidates=["nfs-volumes"])
    assert run.result == "none" and "its user runs it" in str(run.rejected[0].failed_checks)
    attached = answer(managed=True, clients=1, candidates=["direct-volumes"])
    assert attached.result == "recommended"


@pytest.mark.parametrize(
    ("design", "result"), [("s3", "recommended"), ("fsx-ontap", "recommended"), ("efs-elastic", "none")]
)
def test_data_that_must_not_be_deleted_need_a_lock(design, result):
    access = "object" if design == "s3" else "file"
    found = answer(worm=True, access=access, clients=100, candidates=[design])
    assert found.result == result


@pytest.mark.parametrize(("rate", "outcome"), [("100/s", "met"), ("300/s", "unproven"), ("5000/s", "failed")])
def test_small_files_a_second_are_held_against_the_round_trips_of_all_clients(rate, outcome):
    """20 clients x 1 stream / (4 x 3.3 to 33 ms) on hard disks: 150 to 500 a second."""
    found = answer(profile={"small_files": rate, "streams": 1}, clients=20, candidates=["fsx-windows-hdd-multi-az"])
    closest = [item.closest for item in found.rejected if item.closest is not None]
    option = next(iter((*found.options, *found.unproven, *closest)))
    (check,) = [each for each in option.checks if each.requirement == "small_files"]
    assert check.outcome == outcome and "150 to 500 small files/s" in check.text


def test_a_number_of_streams_that_is_not_stated_limits_no_small_files():
    """40 TB at 2.5 GB/s in files of 128 kB: 12 clients reach 1.92 GB/s with one stream each."""
    asked = {"capacity": "40TB", "read": "2.5GB/s", "write": "300MB/s", "clients": 12}
    asked |= {"client": "25Gb/s", "durability": "host", "candidates": ["own-nfs-flash"]}
    profile = {"pattern": "random", "record": "128kB", "small_files": True}
    for streams, result in (({}, "unproven"), ({"streams": 1}, "none")):
        need = Need.model_validate({"need": "x", "access": "file", **asked, "profile": {**profile, **streams}})
        assert advise(need, [load_book("own-2026")]).result == result


def test_both_bytes_and_operations_are_apart():
    """2,000 operations of 8 KiB are 16 MB/s; 400 MB/s beside them are of larger records, not 48,828 of 8 KiB."""
    asked = {"profile": {"pattern": "random", "record": "8KiB"}, "read": "400MB/s", "read_iops": "2000/s"}
    found = best(answer(**asked, access="block", clients=1, candidates=["direct-volumes"]))
    assert (found.set["iops"], found.set["throughput"]) == (3000, "382MiB/s")


@pytest.mark.parametrize(
    ("active", "read", "design"),
    [("5%", "60TB", "s3-tiered"), ("5%", "20TB", "s3-archive"), ("0%", "20TB", "s3-archive")],
)
def test_data_that_are_read_more_than_once_a_month_are_not_in_an_archive(active, read, design):
    asked = {"access": "object", "capacity": "400TB", "read": None, "durability": "region", "active": active}
    asked |= {"recovery": "24h", "monthly": {"read": read}, "profile": {"cold": True, "record": "128MiB"}}
    assert best(answer(**asked)).design == design


def test_the_instance_of_attached_volumes_is_named_and_not_in_the_price():
    found = best(answer(access="block", clients=1, candidates=["direct-volumes"]))
    assert {line.dimension for line in found.price.lines} <= {"volume-capacity", "volume-iops", "volume-throughput"}
    assert "is not in the price" in found.conditions[0]
    named = best(answer(access="block", clients=1, client="c6in.8xlarge", candidates=["direct-volumes"]))
    assert named.set["instance"] == "c6in.8xlarge" and named.price.month == found.price.month


def test_hours_that_nobody_states_decide_between_a_service_and_servers_and_the_answer_says_so():
    designs = {"candidates": ["beegfs-volumes", "fsx-lustre-scratch"], "durability": None, "data": "scratch"}
    fast = designs | {"capacity": "50TB", "read": "10GB/s", "write": "2GB/s", "months": 6}
    found = answer(**fast)
    assert best(found).design == "fsx-lustre-scratch"
    assert "19 h a month are assumed" in next(item.text for item in found.reasons if item.about == "administration")
    (turn,) = [item for item in found.changes if item.kind == "administration"]
    less, more = (answer(**fast, admin_hours={"own": round(float(turn.at) + step, 2)}) for step in (-0.1, 0.1))
    assert (best(less).design, best(more).design) == ("beegfs-volumes", "fsx-lustre-scratch")


def test_moving_out_is_priced():
    """80 TB = 74,506 GiB: 100 for nothing, 10,140 at 0.09, 40,960 at 0.085, 23,306 at 0.07 = 6,025.6 for leaving."""
    found = best(answer(access="object", capacity="80TB", candidates=["s3"]))
    assert "6,025.6" in next(text for text in found.conditions if "moving all 80 TB out" in text)

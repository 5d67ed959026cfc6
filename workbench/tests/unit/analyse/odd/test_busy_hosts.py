"""Notes on what hosts across a network were too busy with, and on what was lost on the way."""

from typing import Any

from builders import make_case, make_place, make_sample, row_of

from assay.analyse.anomalies.notes import notes
from assay.model.result.host_use import DiskUse, HostUse, LinkUse
from assay.model.result.result import ResultRow


def row(**fields: Any) -> ResultRow:
    ordinary = {"host": "server1", "shared": False, "seconds": 5.0, "cpu": 0.2, "cpu_peak": 0.3, "cpus": 2}
    use = HostUse(**{**ordinary, **fields})
    found = row_of(make_case("c0001", "store"), [100e6] * 3)
    samples = tuple(make_sample("c0001", repeat, 100e6, uses=(use,)) for repeat in (1, 2, 3))
    return found.model_copy(update={"samples": samples})


def found(one: ResultRow) -> str:
    return " ".join(note for note in notes([one], {"store": make_place()}) if "server1" in note)


def disk(name: str, busy: float) -> DiskUse:
    return DiskUse(name=name, busy=busy, busy_peak=busy, read=0, written=1e6, queue=2)


def test_full_cpus_and_disks_of_a_server_are_noted() -> None:
    assert found(row()) == ""
    assert "the CPUs were busy 97 % of the time" in found(row(cpu=0.97))
    assert "disk sda was busy 95 % of the time" in found(row(disks=(disk("sda", 0.95), disk("sdb", 0.2))))


def test_of_hosts_that_share_a_machine_only_their_own_disks_count() -> None:
    assert found(row(shared=True, cpu=0.97, disks=(disk("vda", 0.99),))) == ""
    assert "disk loop3 was busy 99 % of the time" in found(row(shared=True, disks=(disk("loop3", 0.99),)))


def test_what_was_lost_on_the_way_is_counted_over_all_repeats() -> None:
    assert "300 of 60,000 TCP segments were sent again" in found(row(segments=20_000, segments_again=100))
    assert found(row(segments=2_000_000, segments_again=100)) == ""
    link = LinkUse(name="eth0", received=1e6, sent=1e6, received_peak=1e6, sent_peak=1e6, drops=2)
    assert "9 frames were dropped" in found(row(links=(link,), softnet_drops=1))

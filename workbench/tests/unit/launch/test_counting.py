"""From lines of `assay-engine counters` to what a host did while a phase went on."""

from assay.contract._generated import Counters
from assay.launch.host_counters import MAX_POINTS, CountersLine, host_use

SECOND = 10**9


def line(at: float, **fields: object) -> CountersLine:
    """At so many seconds: half of the CPU time is work, 100 bytes per nanosecond... of everything, as told."""
    ns = int(at * SECOND)
    link = {"received_bytes": int(at * 50e6), "sent_bytes": int(at * 1e6), "receive_drops": 0, "send_drops": 0}
    disk = {"read_bytes": 0, "write_bytes": int(at * 30e6), "reads": 0, "writes": 1, "read_ns": 0}
    disk |= {"write_ns": int(at * 4 * SECOND), "busy_ns": int(at * 0.8 * SECOND)}
    told: dict[str, object] = {
        "at_ns": ns,
        "cpu": {"busy_ns": ns, "idle_ns": ns, "stolen_ns": 0},
        "cpus": 2,
        "links": {"eth0": {**link, "speed": 10**9}, "idle0": {**link, "received_bytes": 7, "sent_bytes": 7}},
        "disks": {"sda": disk},
        "mounts": {"/my\\040nas": {"read_bytes": int(at * 7e6), "write_bytes": 0}},
        "io_pressure": {"some_ns": int(at * 0.5 * SECOND), "full_ns": int(at * 0.25 * SECOND)},
        "segments": int(at * 1000),
        "segments_again": int(at * 2),
        "softnet_drops": 5,
    }
    return CountersLine(1000.0 + at, Counters.model_validate({**told, **fields}))


def test_rates_and_shares_are_those_between_the_first_and_the_last_line_of_the_phase() -> None:
    lines = [line(number / 2) for number in range(21)]
    use = host_use("server1", False, lines, 1002.0, 1006.0, {})
    assert use is not None
    assert (use.host, use.seconds, use.cpu, use.cpus) == ("server1", 4.0, 0.5, 2)
    (link,) = use.links
    assert (link.name, link.received, link.sent, link.share) == ("eth0", 50e6, 1e6, 50e6 / 125e6)
    (disk,) = use.disks
    assert (disk.name, disk.written) == ("sda", 30e6)
    assert abs(disk.busy - 0.8) < 1e-6 and abs(disk.queue - 4.0) < 1e-6
    assert [(mount.name, mount.read, mount.written) for mount in use.mounts] == [("/my nas", 7e6, 0.0)]
    assert (use.io_some, use.io_full) == (0.5, 0.25)
    assert (use.segments, use.segments_again, use.softnet_drops) == (4000, 8, 0)
    assert [round(point.at, 2) for point in use.course][:2] == [0.25, 0.75]
    assert all(abs(point.received - 50e6) < 1 for point in use.course)


def test_a_phase_with_fewer_than_two_lines_tells_nothing() -> None:
    assert host_use("a", False, [line(1), line(2)], 1000.5, 1001.5, {}) is None
    assert host_use("a", False, [], 0, 9e9, {}) is None


def test_the_busiest_interval_is_the_peak() -> None:
    lines = [line(number) for number in range(5)]
    quick = {"eth0": {"received_bytes": 500 * 10**6, "sent_bytes": 4 * 10**6, "receive_drops": 3, "send_drops": 1}}
    use = host_use("a", False, [*lines[:4], line(4, links=quick)], 1000, 1004, {})
    assert use is not None
    (link,) = use.links
    assert link.received_peak == 350e6 and link.received == 125e6
    assert (link.drops, link.speed, link.share) == (4, None, None)


def test_hosts_that_share_a_machine_know_the_speed_of_links_only_by_what_is_stated() -> None:
    lines = [line(number) for number in range(3)]
    use = host_use("a", True, lines, 1000, 1002, {})
    assert use is not None and use.links[0].speed is None
    assert use.own_disks == (), "a machine's disk is not one host's"
    use = host_use("a", True, lines, 1000, 1002, {"eth0": 100e6})
    assert use is not None and use.links[0].share == 0.5


def test_traffic_of_programs_of_one_host_is_none_between_hosts() -> None:
    inside = {"lo": {"received_bytes": 0, "sent_bytes": 0, "receive_drops": 0, "send_drops": 0}}
    later = {"lo": {**inside["lo"], "received_bytes": 10**9, "sent_bytes": 10**9}}
    use = host_use("a", False, [line(0, links=inside, io_pressure=None), line(1, links=later)], 1000, 1002, {})
    assert use is not None and [link.name for link in use.links] == ["lo"] and use.outer_links == ()
    assert [point.received for point in use.course] == [0.0] and use.io_full is None


def test_a_short_program_is_counted_from_the_line_before_it_to_the_one_after_it() -> None:
    lines = [line(number) for number in range(6)]
    use = host_use("a", False, lines, 1002.3, 1002.4, {}, around=True)
    assert use is not None and (use.seconds, use.links[0].received) == (1.0, 50e6)
    use = host_use("a", False, lines, 1002.3, 1003.4, {}, around=True)
    assert use is not None and use.seconds == 2.0
    assert host_use("a", False, lines, 1007, 1008, {}, around=True) is None


def test_a_long_course_has_few_points() -> None:
    use = host_use("a", False, [line(number) for number in range(1001)], 1000, 2000, {})
    assert use is not None and len(use.course) <= MAX_POINTS + 1
    assert use.course[-1].at > 980

"""One control beside the repeats, from what its parts measured."""

import pytest
from builders import make_sample

from assay.model.result.sample import HostShare, Sample
from assay.model.result.watch import Watch
from assay.plan.controls import WAITS, WORKS
from assay.run import control


def works(hosts: int = 0, **changes: object) -> Sample:
    """The part that never waits, 100 ns long, on so many hosts; 0: on this machine alone."""
    shares = tuple(HostShare(host=f"host{number}", status="done") for number in range(hosts))
    return make_sample(cpus=6, cpu_wait_ns=7, elapsed_ns=100, hosts=shares, **changes)


def watch(elapsed: int, away: int | None) -> Watch:
    return Watch(interval_ns=1, elapsed_ns=elapsed, away_ns=away)


@pytest.mark.parametrize(
    ("hosts", "lanes", "lane_ns", "wait_ns"),
    [(0, 1, 100, 7), (0, 6, 600, 7), (1, 2, 200, 7), (3, 2, 600, 7), (6, 1, 600, 7)],
)
def test_the_time_of_all_lanes_of_all_hosts_counts(hosts: int, lanes: int, lane_ns: int, wait_ns: int) -> None:
    found = control.combined_reading({WAITS: works(), WORKS: works(hosts)}, 1.0, 0.5, lanes)
    assert (found.at, found.seconds, found.lane_ns, found.wait_ns) == (1.25, 0.5, lane_ns, wait_ns)
    assert set(found.rates) == {WAITS, WORKS}


@pytest.mark.parametrize(("hosts", "lanes"), [(0, 7), (1, 7), (7, 1), (3, 3), (2, 4)])
def test_lanes_that_wait_for_each_other_say_nothing_of_the_machine(hosts: int, lanes: int) -> None:
    assert control.combined_reading({WAITS: works(), WORKS: works(hosts)}, 1.0, 0.5, lanes).wait_ns is None


@pytest.mark.parametrize(
    ("watches", "watched_ns", "away_ns"),
    [
        ((None, None), 0, None),
        ((watch(50, 3), None), 50, 3),
        ((watch(50, 3), watch(60, 0)), 110, 3),
        # What the kernel of one part does not tell is not known of all.
        ((watch(50, 3), watch(60, None)), 110, None),
    ],
)
def test_time_away_is_added_up_where_all_parts_know_it(
    watches: tuple[Watch | None, Watch | None], watched_ns: int, away_ns: int | None
) -> None:
    waits, busy = watches
    found = control.combined_reading({WAITS: works(watch=waits), WORKS: works(watch=busy)}, 1.0, 0.5, 1)
    assert (found.watched_ns, found.away_ns) == (watched_ns, away_ns)

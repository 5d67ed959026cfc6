"""How often `assay find` is right, at queues of a known knee on a virtual clock."""

from virtual_queue import VirtualQueue, fixed, lognormal

from assay.rooms.fit.model.bound import parse_latency_bound

QUEUES = {
    "one server, fixed 1 ms": (1, fixed(0.001), 1000, "p99<50ms", 955.0),
    "one server, fixed 0.5 ms": (1, fixed(0.0005), 2000, "p99<5ms", 1547.0),
    "four servers, fixed 2 ms": (4, fixed(0.002), 2000, "p99<10ms", 1741.5),
    "16 servers, fixed 20 ms": (16, fixed(0.02), 800, "p99<50ms", 733.0),
    "one server, lognormal 0.2 ms": (1, lognormal(0.0002, 0.7), 5000, "p99<5ms", 4238.0),
}
"""Name -> servers, service, capacity, bound, and the rate at which 1 % takes longer (of 10^7 operations)."""
SEARCHES = 10


def test_nine_of_ten_searches_are_within_three_percent_and_their_intervals_hold_the_knee() -> None:
    near, held = 0, 0
    for servers, service, capacity, bound, knee in QUEUES.values():
        for seed in range(SEARCHES):
            found = VirtualQueue(servers, service, seed).search(parse_latency_bound(bound), capacity, 115)
            near += found.estimate is not None and abs(found.estimate / knee - 1) <= 0.03
            held += (found.low or 0) <= knee <= (found.high or capacity)
    total = SEARCHES * len(QUEUES)
    assert near >= 0.9 * total, near
    assert held >= 0.9 * total, held

"""How clocks are compared before the first start."""

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.contract.messages import PongEvent
from assay.launch import group
from assay.launch.group import MIN_PINGS, Member
from assay.launch.launcher import MAX_PINGS, Pings
from assay.launch.parallel.step import EngineStep

MS = 1_000_000


class Line:
    """Engines that one launcher has started: each answers a ping after its own time, by a virtual clock."""

    def __init__(self, delays: list[int]) -> None:
        self.now, self.delays = MS, delays
        self.answers: list[tuple[int, int, int]] = []
        words = SimpleNamespace(send=lambda _to, _line: self.pinged())
        self.step = EngineStep(cast(Any, None), cast(Any, words), [f"h{number}" for number in range(len(delays))])
        self.engines = [self.engine(number) for number in range(len(delays))]

    def engine(self, number: int) -> Any:
        made = group._Engine(Member(f"h{number}", cast(Any, None), '{"phases": []}'), lambda _host, _event: None)
        made.speaks = True
        made.talk = cast(Any, SimpleNamespace(send_ping=self.step.send_ping, pings=self.step.pings, bye=None, name=""))
        return made

    def pinged(self) -> None:
        number = self.step.pings._sent[-1][0]
        self.answers += [(self.now + delay, host, number) for host, delay in enumerate(self.delays)]

    def turn(self) -> None:
        """All hear what has come by now, then are pinged where it is time."""
        come = sorted(answer for answer in self.answers if answer[0] <= self.now)
        self.answers = [answer for answer in self.answers if answer not in come]
        for at, host, number in come:
            self.engines[host].on_event(PongEvent(event="pong", ping=number, at_ns=at))
        for engine in self.engines:
            engine.ping(self.now / 1e9)


@given(st.lists(st.integers(1, 20_000), min_size=1, max_size=6))
@example([100, 200, 300])
@example([1, 1, 1])
def test_clocks_are_compared_as_fast_as_hosts_answer(delays: list[int]) -> None:
    line = Line([delay * 1000 for delay in delays])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic_ns", lambda: line.now)
        patch.setattr(time, "monotonic", lambda: line.now / 1e9)
        begun, turns = line.now, 0
        while not all(engine.has_clock for engine in line.engines):
            line.turn()
            line.now = max(line.now + 1000, min((at for at, _, _ in line.answers), default=line.now + 1000))
            turns += 1
            assert turns < 1000
    # Each answer follows its ping; one that was shared may be waited for besides.
    assert line.now - begun <= 2 * (MIN_PINGS + 1) * max(line.delays) + MS


def test_an_answer_counts_once() -> None:
    line = Line([100, 100])
    line.turn()
    line.now += 200
    for _ in range(3):
        line.engines[0].on_event(PongEvent(event="pong", ping=1, at_ns=5))
    line.engines[0].on_event(PongEvent(event="pong", ping=99, at_ns=5))
    assert len(line.engines[0]._answers) == 1


def test_only_pings_of_late_are_remembered() -> None:
    pings = Pings()
    assert pings.sent_at(1) is None
    assert not pings.is_pending(0, 10**18)
    assert [pings.next() for _ in range(MAX_PINGS + 2)] == list(range(1, MAX_PINGS + 3))
    assert pings.sent_at(2) is None
    assert pings.sent_at(3) is not None
    assert pings.sent_at(MAX_PINGS + 3) is None
    assert pings.is_pending(MAX_PINGS + 1, 10**18)
    assert not pings.is_pending(MAX_PINGS + 2, 10**18)

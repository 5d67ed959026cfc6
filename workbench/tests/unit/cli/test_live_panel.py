"""The drawing of the live view, as text, at several widths."""

import pytest
from builders import hdr
from rich.cells import cell_len

from assay.cli.live.panel import FINE, PLAIN, Glyphs, panel, sparkline
from assay.cli.live.progress import glyphs_for
from assay.cli.live.state import State
from assay.model.result.ceiling import CeilingShare
from assay.model.study.case import Case
from assay.model.study.parameters import Parameters
from assay.run.listener import HostInterval, Stretch, TimeLeft

SECOND = 10**9
CASE = Case(
    id="c0007",
    target="disk",
    workload="grid",
    operations=("write",),
    parameters=Parameters(file_size=1, record_size=1),
    axes={},
    label="disk / grid / record_size=64KiB",
)


def limits(moved: float, _ops: float) -> CeilingShare:
    return CeilingShare(name="device write", unit="bytes/s", value=9e8, measured=moved, share=moved / 9e8, how="")


def state(hosts: tuple[str, ...] = ("",), seconds: int = 8, label: str = CASE.label) -> State:
    """In the middle of a phase that gets faster from second to second."""
    found = State(40, 12, TimeLeft(200.0), lambda: 0.0)
    found.begin(CASE.model_copy(update={"label": label}), 2)
    found.phase("write", limits)
    for second in range(seconds):
        for number, host in enumerate(hosts):
            moved = (second + 1) * 1e8 / (number + 1)
            done = Stretch(second * SECOND, (second + 1) * SECOND, moved, moved / 65536)
            found.interval(HostInterval(host, done, in_operations=False, latencies=(hdr([75_000, 310_000]),)))
    return found


def drawn(seen: State, width: int, height: int = 40, letters: Glyphs = FINE) -> list[str]:
    lines = [line.head + line.text for line in panel(seen, width, height, letters)]
    assert all(cell_len(line) <= width for line in lines), lines
    return lines


def test_at_120_columns_everything_is_said() -> None:
    assert drawn(state(), 120) == [
        "12/40 " + "━" * 12 + "─" * 28 + " 3 min 20 s left",
        "case     c0007 repeat 2, write; disk / grid / record_size=64KiB",
        "rate     800 MB/s (12,207 ops/s) now, 450 MB/s over the last 8.0 s",
        "latency  p50 75.0 µs, p99 310 µs in the last interval",
        "limit    nearest limit is device write: 50 % of 900 MB/s",
        "history  ▂▃▄▅▅▆▇█ up to 800 MB/s",
    ]


def test_at_40_columns_the_numbers_stay_and_words_go() -> None:
    assert drawn(state(), 40) == [
        "12/40 ━━━━━───────────── 3 min 20 s left",
        "case     c0007 repeat 2, write; disk / …",
        "rate     800 MB/s; 450 MB/s in 8.0 s",
        "latency  p50 75.0 µs, p99 310 µs",
        "limit    device write: 50 %",
        "history  ▂▃▄▅▅▆▇█ up to 800 MB/s",
    ]


def test_at_80_columns_each_host_has_a_line() -> None:
    assert drawn(state(("east", "west")), 80)[2:] == [
        "rate     1.2 GB/s (18,311 ops/s) now, 675 MB/s over the last 8.0 s",
        "latency  p50 75.0 µs, p99 310 µs in the last interval",
        "limit    nearest limit is device write: 75 % of 900 MB/s",
        "history  ▂▃▄▅▅▆▇█ up to 1.2 GB/s",
        "host     east 800 MB/s now, 450 MB/s lately ━━━━━━━━━━━━━━━━━━━━",
        "host     west 400 MB/s now, 225 MB/s lately ━━━━━━━━━━",
    ]


def test_after_a_minute_it_is_the_last_minute() -> None:
    assert "over the last minute" in drawn(state(seconds=75), 120)[2]
    assert drawn(state(seconds=75), 40)[2].endswith("in 1 min")


def test_of_many_hosts_the_slowest_are_shown_where_the_terminal_is_low() -> None:
    hosts = tuple(f"h{number}" for number in range(10))
    lines = drawn(state(hosts), 80, height=10)
    assert len(lines) == 10
    assert [line.split()[1] for line in lines[6:9]] == ["h7", "h8", "h9"]
    assert lines[9] == "and 7 hosts more, none slower"
    assert len(drawn(state(hosts), 80, height=16)) == 16
    assert "h0 " in drawn(state(hosts), 80, height=16)[6]


@pytest.mark.parametrize("height", [1, 2, 5])
def test_a_terminal_of_few_lines_gets_the_most_important_ones(height: int) -> None:
    lines = drawn(state(("a", "b")), 80, height=height)
    assert len(lines) == height
    assert lines[0].startswith("12/40 ")


@pytest.mark.parametrize("width", [1, 2, 5, 9, 10, 20, 39])
@pytest.mark.parametrize("letters", [FINE, PLAIN])
def test_no_width_is_too_small(width: int, letters: Glyphs) -> None:
    drawn(state(("a", "b"), label="测试 " * 20), width, letters=letters)


def test_terminals_with_few_letters_get_only_those(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert glyphs_for("utf-8") == FINE
    assert glyphs_for("latin-1") == PLAIN
    monkeypatch.setenv("TERM", "linux")
    assert glyphs_for("utf-8") == PLAIN
    for line in drawn(state(("a", "b")), 80, letters=PLAIN):
        assert line.replace("µ", "u").isascii()


def test_before_anything_is_heard_there_are_as_many_lines() -> None:
    begun = State(40, 0, TimeLeft(200.0), lambda: 0.0)
    assert len(drawn(begun, 80)) == 6
    begun.begin(CASE, 1)
    assert drawn(begun, 80)[1:] == [
        "case     c0007 repeat 1; disk / grid / record_size=64KiB",
        *(f"{head:<9}–" for head in ("rate", "latency", "limit", "history")),
    ]


def test_an_end_and_failures_are_said() -> None:
    seen = state()
    seen.finish("errors")
    lines = drawn(seen, 80)
    assert lines[0].startswith("13/40, 1 not ok ━")
    assert lines[1].startswith("case     c0007 repeat 2: errors; disk")


def test_silence_takes_the_place_of_a_rate_that_is_not_any_more() -> None:
    now = 0.0
    seen = State(40, 0, TimeLeft(200.0), lambda: now)
    seen.begin(CASE, 1)
    seen.phase("write", limits)
    seen.interval(HostInterval("", Stretch(0, SECOND, 1e6, 1.0), in_operations=False))
    now = 12.0
    assert drawn(seen, 80)[2] == "rate     no progress for 12 s"


def test_names_are_told_in_operations() -> None:
    seen = State(1, 0, TimeLeft(1.0), lambda: 0.0)
    seen.begin(CASE, 1)
    seen.phase("stat", lambda _bytes, _ops: None)
    seen.interval(HostInterval("", Stretch(0, SECOND, 0.0, 12345.0), in_operations=True))
    assert drawn(seen, 80)[2] == "rate     12,345 ops/s now, 12,345 ops/s over the last 1.0 s"
    assert drawn(seen, 80)[4:] == ["limit    none known", "history  █ up to 12,345 ops/s"]


def test_what_a_study_or_host_says_moves_no_cursor() -> None:
    lines = drawn(state(("a\x1b[2J", "b"), label="x\x1b[2J\r"), 120)
    assert not any("\x1b" in line or "\r" in line for line in lines)


@pytest.mark.parametrize(
    ("rates", "letters"),
    [
        ([0.0, 1.0, 7.0], "▁▂█"),
        ([0.0, 0.0], "▁▁"),
        ([5.0, 5.0], "██"),
        ([], ""),
    ],
)
def test_a_spark_is_as_high_as_its_share_of_the_greatest(rates: list[float], letters: str) -> None:
    assert sparkline(rates, FINE) == letters

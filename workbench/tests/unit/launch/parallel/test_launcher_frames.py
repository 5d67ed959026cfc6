"""Lines of many hosts come out of one stream as they went in, whatever is between them."""

import random
import zlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from assay.launch.parallel.frames import LENGTH, Frames, Line

GOLDEN = Path(__file__).parents[5] / "contract/golden/frames.txt"
ROOM = LENGTH - 23
LETTERS = {"event": "eE", "host": "hH", "end": "xX"}


def framed(node: int, lines: list[tuple[str, bytes]], first: int = 0) -> list[bytes]:
    """The frames of a host, by the words of `frame.rs`."""
    frames = []
    for holds, text in lines:
        pieces = [text[at : at + ROOM] for at in range(0, len(text), ROOM)] or [b""]
        for place, piece in enumerate(pieces):
            letter = LETTERS[holds][place + 1 == len(pieces)]
            head = f"{node:05x}{(first + len(frames)) & 0xFFFF:04x}{letter}{len(piece):03x}".encode()
            frames.append(b"~" + head + f"{zlib.crc32(head + piece):08x}".encode() + piece.ljust(ROOM) + b"\n")
    return frames


def read(stream: bytes, piece: int) -> tuple[list[Line], list[bytes], Frames]:
    frames, lines, others = Frames(), [], []
    for at in range(0, len(stream), piece):
        more, strange = frames.feed(stream[at : at + piece])
        lines += more
        others += strange
    return lines, others, frames


def test_the_golden_sample_is_what_the_engine_wrote() -> None:
    lines, others, frames = read(GOLDEN.read_bytes(), 100)
    assert lines == [
        Line(3, "host", b"h3"),
        Line(3, "event", b'{"said":"' + b"a" * 600 + b'"}'),
        Line(3, "end", b'{"code":0}'),
    ]
    assert others == [] and frames.lost is None


TEXT = st.binary(max_size=1500).map(lambda text: text.replace(b"\n", b" "))
OWN = st.sampled_from(
    [b"srun: error: node3: task 2: Killed", b"~", b"", b"x" * 511, b"~00003" + b"0" * 505, b"x" * 600]
)


@given(
    told=st.dictionaries(st.integers(0, 5), st.lists(st.tuples(st.sampled_from(sorted(LETTERS)), TEXT), max_size=4)),
    own=st.lists(OWN, max_size=5),
    seed=st.integers(0, 1000),
    piece=st.integers(1, 3000),
)
def test_lines_of_all_hosts_come_out_whole(
    told: dict[int, list[tuple[str, bytes]]], own: list[bytes], seed: int, piece: int
) -> None:
    rows = [framed(node, lines) for node, lines in told.items()] + [[text + b"\n" for text in own]]
    stream, draw = b"", random.Random(seed)
    while rows := [row for row in rows if row]:
        stream += draw.choice(rows).pop(0)
    lines, others, frames = read(stream, piece)
    for node, wanted in told.items():
        assert [(line.holds, line.text) for line in lines if line.node == node] == wanted
    assert others == own
    assert frames.lost is None


def test_words_without_a_newline_do_not_spoil_the_frame_behind_them() -> None:
    lines, others, frames = read(b"warning: " + framed(1, [("event", b"{}")])[0], 4096)
    assert (lines, others, frames.lost) == ([Line(1, "event", b"{}")], [b"warning: "], None)


def test_what_is_missing_is_noticed() -> None:
    whole = framed(7, [("event", b"a" * 1200), ("event", b"{}")])
    _, _, frames = read(b"".join(whole[:1] + whole[2:]), 4096)
    assert frames.lost == 7
    damaged = whole[0].replace(b"a", b"b", 1)
    _, others, frames = read(damaged + b"".join(whole[1:]), 4096)
    assert (len(others), frames.lost) == (1, 7)


def test_numbers_start_again_after_their_last() -> None:
    many = [("event", b"{}")] * 70_000
    _, _, frames = read(b"".join(framed(2, many)), 1 << 16)
    assert frames.lost is None

"""Lines of many hosts come out of one stream as they went in, whatever is between them."""

import random
import selectors
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.launch.parallel.frames import LENGTH, FrameReader, HostLine
from assay.launch.parallel.step import EngineStep, HostProcess

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


def read(stream: bytes, piece: int) -> tuple[list[HostLine], list[bytes], FrameReader]:
    frames, lines, others = FrameReader(), [], []
    for at in range(0, len(stream), piece):
        more, strange = frames.feed(stream[at : at + piece])
        lines += more
        others += strange
    return lines, others, frames


def test_the_golden_sample_is_what_the_engine_wrote() -> None:
    lines, others, frames = read(GOLDEN.read_bytes(), 100)
    assert lines == [
        HostLine(3, "host", b"h3"),
        HostLine(3, "event", b'{"said":"' + b"a" * 600 + b'"}'),
        HostLine(3, "end", b'{"code":0}'),
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
        assert [(line.kind, line.text) for line in lines if line.node == node] == wanted
    assert others == own
    assert frames.lost is None


def test_words_without_a_newline_do_not_spoil_the_frame_behind_them() -> None:
    lines, others, frames = read(b"warning: " + framed(1, [("event", b"{}")])[0], 4096)
    assert (lines, others, frames.lost) == ([HostLine(1, "event", b"{}")], [b"warning: "], None)


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


def forged(node: int, letter: bytes, text: bytes, number: int = 0) -> bytes:
    head = f"{node:05x}{number & 0xFFFF:04x}".encode() + letter + f"{len(text):03x}".encode()
    return b"~" + head + f"{zlib.crc32(head + text):08x}".encode() + text.ljust(ROOM) + b"\n"


def test_frames_of_no_known_kind_and_of_no_host_are_the_launchers_own_words() -> None:
    frames = FrameReader(2)
    for frame in (forged(0, b"q", b"x"), forged(0, b"\xff", b"x"), forged(2, b"e", b"x"), forged(0xFFFFF, b"e", b"x")):
        assert frames.feed(frame) == ([], [frame.rstrip(b"\n")])
    assert frames.long is frames.lost is None


def test_a_line_without_end_is_not_kept() -> None:
    frames, most = FrameReader(2), 1 << 18
    frames.expect(1, most)
    for number in range(3 * most // ROOM):
        frames.feed(forged(1, b"e", b"x" * ROOM, number))
        assert sum(map(len, frames._begun.values())) <= most
    assert frames.long == 1


@pytest.mark.parametrize(
    "words",
    [
        *(b'{"code":1e999,"complaint":""}', b'{"code":99999999999,"complaint":""}', b'{"code":true,"complaint":""}'),
        *(
            b"[" * 100_000,
            b"\xff",
            b"[]",
            b'{"code":1}',
            b'{"code":"1","complaint":"x"}',
            b'{"code":NaN,"complaint":1}',
        ),
    ],
)
def test_last_words_that_are_none_are_a_fault_and_no_more(words: bytes) -> None:
    with subprocess.Popen(["true"]) as process:
        talk = HostProcess(EngineStep(process, Silent(), ["a"]), 0)
        talk.set_result(words)
    assert (talk.returncode, talk.complaint) == (1, b"the host's exit report cannot be parsed")


class Silent:
    """Takes words for nobody."""

    def send(self, to: str, line: bytes) -> None:
        """See `LineSender`."""

    def attach(self, selector: selectors.BaseSelector) -> None:
        """See `LineSender`."""

    def close(self) -> None:
        """See `LineSender`."""


def test_random_streams_of_forged_frames_end_in_no_other_error() -> None:
    chance = random.Random(3)
    frames = FrameReader(4)
    for _ in range(3000):
        text = chance.randbytes(chance.randrange(0, ROOM))
        frame = bytearray(forged(chance.randrange(0, 6), bytes([chance.randrange(256)]), text.replace(b"\n", b"")))
        if chance.random() < 0.3:
            frame[chance.randrange(len(frame))] = chance.randrange(256)
        frames.feed(bytes(frame))

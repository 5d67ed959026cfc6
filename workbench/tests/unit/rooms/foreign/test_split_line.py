"""A command line as it stands in a script: where its output goes is no part of the work."""

import pytest

from assay.model.base import AssayError
from assay.rooms.foreign.work.line import split_line

LINES = {
    "tool -a x > out.txt 2>&1": ("-a", "x"),
    "tool -a x >|out.txt": ("-a", "x"),
    "tool -a x &> out.txt": ("-a", "x"),
    "tool -a 2>/dev/null x | tee log | grep y": ("-a", "x"),
    "tool f{1..3} {a,b}c": ("f1", "f2", "f3", "ac", "bc"),
    "tool n{08..10} x{2..1} y{9..10}": ("n08", "n09", "n10", "x2", "x1", "y9", "y10"),
    "tool 'f{1..3}' h{1...4} ${x,y} {a}": ("f{1..3}", "h{1...4}", "${x,y}", "{a}"),
}


@pytest.mark.parametrize("line", LINES)
def test_words_are_those_that_the_program_sees(line: str) -> None:
    assert split_line(line, ("tool",)).words == LINES[line]


@pytest.mark.parametrize("line", ["tool -a | tee x && rm y", "tool < in", "tool a{1..9999}", "tool {1..99}{1..99}"])
def test_what_changes_the_work_is_refused(line: str) -> None:
    with pytest.raises(AssayError):
        split_line(line, ("tool",))

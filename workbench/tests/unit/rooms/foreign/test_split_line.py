"""A command line as it stands in a script: where its output goes is no part of the work."""

import pytest

from assay.model.base import AssayError
from assay.rooms.foreign.work.line import split_line, unset_variables

LINES = {
    "tool -a x > out.txt 2>&1": ("-a", "x"),
    "tool -a x >|out.txt": ("-a", "x"),
    "tool -a x &> out.txt": ("-a", "x"),
    "tool -a 2>/dev/null x | tee log | grep y": ("-a", "x"),
    "tool f{1..3} {a,b}c": ("f1", "f2", "f3", "ac", "bc"),
    "tool n{08..10} x{2..1} y{9..10}": ("n08", "n09", "n10", "x2", "x1", "y9", "y10"),
    "tool -a x |tee log": ("-a", "x"),
    "tool -a x>out.txt 2>>err | tee -a log &": ("-a", "x"),
    "tool -a x |& tee log": ("-a", "x"),
    "tool 'a|b' \"c;d\" e\\&f": ("a|b", "c;d", "e&f"),
    "tool --key=$(jq -r .key 'a b.json') --host=`hostname -s`": (
        "--key=$(jq -r .key 'a b.json')",
        "--host=`hostname -s`",
    ),
    "tool $FOLDER/x \"${FOLDER}/$MORE\" '$FOLDER' \\$FOLDER ${SIZE:-4g} ${FOLDER:-y}": (
        *("/m/x", "/m/-v -w", "$FOLDER", "$FOLDER", "4g", "/m"),
    ),
    "tool $MORE x$MORE $NOTHING": ("-v", "-w", "x-v", "-w", "$NOTHING"),
    "tool 'f{1..3}' h{1...4} ${x,y} {a}": ("f{1..3}", "h{1...4}", "${x,y}", "{a}"),
}


@pytest.mark.parametrize("line", LINES)
def test_words_are_those_that_the_program_sees(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDER", "/m")
    monkeypatch.setenv("MORE", "-v -w")
    monkeypatch.delenv("NOTHING", raising=False)

    assert split_line(line, ("tool",)).words == LINES[line]


WRONG = (
    *("tool -a | tee x && rm y", "tool -a | tee x || y", "tool < in", "tool <<end", "tool & rm y", "cd /m; tool"),
    *("tool a{1..9999}", "tool {1..99}{1..99}"),
    *("tool 'x", 'tool "x', "tool $(x", "tool `x", 'tool "x\\'),
)


@pytest.mark.parametrize("line", WRONG)
def test_what_changes_the_work_is_refused(line: str) -> None:
    with pytest.raises(AssayError):
        split_line(line, ("tool",))


@pytest.mark.parametrize("dash", "\u2013\u2014\u2212\u2010")
def test_an_option_with_a_dash_of_print_is_refused_by_its_name(dash: str) -> None:
    with pytest.raises(AssayError) as caught:
        split_line(f"tool -a {dash}c", ("tool",))

    assert caught.value.message.startswith(f"'{dash}c' begins with")
    assert split_line(f"tool 'a' '{dash}c' x{dash}y", ("tool",)).words == ("a", f"{dash}c", f"x{dash}y")


def test_the_program_is_the_word_of_its_name_and_else_one_close_to_it() -> None:
    parts = split_line("oc exec tool-pod -n tool.x -- tool -a", ("tool",))

    assert (parts.before, parts.words) == (("oc", "exec", "tool-pod", "-n", "tool.x", "--"), ("-a",))
    assert split_line("./tool-4.0 -a", ("tool",)).program == "./tool-4.0"


def test_variables_that_are_not_set_are_named_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDER", "/m")
    for name in ("ONE", "TWO"):
        monkeypatch.delenv(name, raising=False)

    assert unset_variables("tool $TWO ${ONE} '$THREE' \"$TWO\" $FOLDER ${FOUR:-1}") == ["TWO", "ONE"]

"""How dialogues with the program are held: what must fit, and what is written anew."""

import pytest
from dialogues import fits, hold, masked, read


def test_a_file_is_turns_and_answers() -> None:
    first, second = read("$ assay a\nx\n\ny\n% assay b\n")
    assert (first.command, first.exact, first.answer) == ("assay a", True, ("x", "", "y"))
    assert (second.typed, second.exact, second.answer) == ("% assay b", False, ())


def test_a_file_that_begins_with_an_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with something typed"):
        read("x\n$ assay\n")


@pytest.mark.parametrize(
    ("expected", "heard", "good"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "c"], ["a", "b", "c", "b", "c"], True),
        (["a", "...", "c"], ["a", "b"], False),
        (["...", "b", "...", "d"], ["b", "x", "d"], True),
        (["...", "b", "...", "d"], ["d", "b"], False),
        (["..."], [], True),
        ([], ["a"], False),
    ],
)
def test_three_points_stand_for_any_lines(expected: list[str], heard: list[str], good: bool) -> None:
    assert fits(expected, heard) is good


def test_only_the_words_of_a_masked_line_count() -> None:
    assert (
        masked("read   4 KiB   1,234.5 MB/s  ±0.3 %") == masked("read 64 KiB 9.1 MB/s ±12 %") != masked("write 4 KiB")
    )
    assert masked("IPv4 io_uring2") == "IPv4 io_uring2"


def test_answers_that_fit_stay_as_they_were_written() -> None:
    text = "$ a\n...\nlast\n% b\nN rows\n[exit code N]\n".replace("code N", "code 3")
    said = {"a": (0, "one\nlast\n"), "b": (3, "17 rows\n")}
    assert hold(text, lambda command: said[command]) == (text, [])


def test_an_answer_that_does_not_fit_is_named_and_written_anew() -> None:
    new, wrong = hold("$ a\nold\n", lambda _command: (2, "new\n"))
    assert new == "$ a\nnew\n[exit code 2]\n"
    assert wrong == ["$ a: another answer:\nnew\n[exit code 2]"]


def test_a_line_that_is_too_wide_is_wrong_whatever_stands_for_it() -> None:
    _, wrong = hold("$ a\n...\n", lambda _command: (0, "x" * 81 + "\n" + "y" * 80))
    assert wrong == [f"$ a: 81 columns: {'x' * 81}"]

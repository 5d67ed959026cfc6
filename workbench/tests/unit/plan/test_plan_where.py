import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import times

from assay.model.study.parameters import Parameters
from assay.plan.where import MAX_CHARACTERS, MAX_DEPTH, Condition, ExpressionError

VALUES = {**Parameters(file_size=2**20, record_size=4096).__dict__, "target": "disk", "workload": "grid"}


def holds(text, **changes):
    return Condition(text, ("disk", "memory"), ("grid",)).holds({**VALUES, **changes})


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("record_size <= file_size", True),
        ("record_size == 4KiB and file_size == 1MiB", True),
        ("record_size == 4096B", True),
        ("record_size * queue_depth > 16MiB", False),
        ("file_size / 2 == 512KiB", True),
        ("file_size // 3 == 349525", True),
        ("file_size % 3 == 1", True),
        ("-record_size < 0", True),
        ("4KiB <= record_size < 8KiB", True),
        ("target == 'disk'", True),
        ('target in ["disk", "memory"] and not target == "memory"', True),
        ("target not in ('memory', 'disk')", False),
        ("rate == null or rate > 1000/s", True),
        ("rate != null and rate > 1000/s", False),
        ("verify == false", True),
        ("not verify", True),
        ("cache != 'keep' or layout == 'shared'", True),
        ("runtime == none", True),
        ("1.5MiB > file_size", True),
        ("record_size\n  <=\n  file_size", True),
    ],
)
def test_expressions(text, answer):
    assert holds(text) is answer


def test_durations_and_rates_have_units():
    assert holds("runtime > 500ms and rate >= 1000/s", runtime=10**9, rate=1000.0)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "record_size.bit_length() > 2",
        "(lambda: 1)() == 1",
        "[x for x in (1, 2)] == 1",
        "record_size if verify else 1",
        "file_size ** 99999999 > 1",
        "file_size << 9 > 1",
        "record_size := 4",
        "record_size; file_size",
        "f'{record_size}' == 'a'",
        "record_size is 4",
        "target[0] == 'd'",
        "unknown > 1",
        "record_size == 64kb",
        "record_size == 4KB",
        "target == 'tape'",
        "cache in ['direct', 'warm']",
        "layout == separate",
        "1j == 1",
        "b'a' == target",
        "",
        "(" * 300,
        "record_size > " + "1 + " * 400 + "1",
    ],
)
def test_everything_else_is_refused_before_it_is_evaluated(text):
    with pytest.raises(ExpressionError) as caught:
        Condition(text, ("disk",), ("grid",))
    assert caught.value.hint and "\n" not in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "1 == " + "-" * 980 + "1",
        "1 == " + "+" * 500 + "1",
        "1 == " + "1+" * 495 + "1",
        "not " * 240 + "verify",
        "1 in " + "[" * 150 + "1" + "]" * 150,
        "1 == 1 and (" * 70 + "verify" + ")" * 70,
    ],
)
def test_deep_expressions_are_refused_however_they_nest(text):
    assert len(text) <= MAX_CHARACTERS
    with pytest.raises(ExpressionError) as caught:
        Condition(text)
    assert f"{MAX_DEPTH} levels" in caught.value.message


def test_a_long_flat_expression_is_fine():
    assert holds(" or ".join(f"record_size == {size}" for size in range(4060, 4098)))
    assert holds("1 == " + "-" * (MAX_DEPTH - 4) + "1")


@pytest.mark.parametrize("text", ["9**9**9 > 1", "2 ** 2 == 4", "1 << 10 == 1024", "'a' * 1000000000 == 'b'"])
def test_what_could_take_for_ever_is_refused(text):
    with pytest.raises(ExpressionError):
        holds(text)


@pytest.mark.parametrize(
    "text",
    [
        "record_size < target",
        "rate > 5/s",
        "record_size",
        "1 / (lanes - 1) > 0",
        "target + 'x' == 'y'",
        "not lanes",
        "verify + 1 == 1",
    ],
)
def test_what_cannot_be_worked_out_is_an_error_not_false(text):
    with pytest.raises(ExpressionError) as caught:
        holds(text)
    assert caught.value.hint


def test_a_word_without_quotes_gets_the_right_hint():
    with pytest.raises(ExpressionError) as caught:
        Condition("layout == shared")
    assert "'shared'" in caught.value.hint


@settings(max_examples=times(50, 3000))
@given(st.text("record_size targt'\"()[]<>=!+-*/%0123456789.KMiBs,and or not", max_size=40))
def test_no_text_brings_it_down(text):
    try:
        assert holds(text) in (True, False)
    except ExpressionError as error:
        assert error.message and error.hint

"""Numbers in a text that refer to results: the grammar, and what is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from priced import priced_run
from sample_run import sample_run

from assay.report.view import RunView
from assay.rooms.paper.work.lookup import Quoted, quoted
from assay.rooms.paper.work.prose import WrongProseError, read_prose
from assay.rooms.paper.work.references import ReferenceCall, WrongReferenceError, parse_reference

WORDS = st.from_regex(r"[\w.:/+-]+", fullmatch=True)
VALUES = st.one_of(WORDS, st.text(st.characters(exclude_characters='"\n'), max_size=8).map(lambda text: f'"{text}"'))
READ_64 = "memory, grid, read, file_size=64MiB, record_size=64KiB"


@pytest.fixture(scope="module")
def views() -> dict[str, RunView]:
    return {"a": RunView(sample_run())}


def number(text: str, views: dict[str, RunView]) -> Quoted:
    return quoted(parse_reference(text), views)


@given(
    WORDS, st.lists(VALUES, max_size=4), st.dictionaries(WORDS, VALUES, max_size=3), st.sampled_from(["", " ", "  "])
)
def test_calls_are_read_as_they_are_written(name: str, first: list[str], named: dict[str, str], gap: str) -> None:
    items = [*first, *(f"{key}{gap}={gap}{value}" for key, value in named.items())]
    call = parse_reference(f"{gap}{name}{gap}({gap}{f',{gap}'.join(items)}{gap})")
    plain = [value.strip('"') if value.startswith('"') else value for value in first]
    assert (call.name, list(call.positional)) == (name, plain)
    assert [key for key, _ in call.named] == list(named)


@given(st.text(max_size=40))
def test_any_other_text_is_refused_in_one_way(text: str) -> None:
    try:
        assert isinstance(parse_reference(text), ReferenceCall)
    except WrongReferenceError as error:
        assert error.message and "\n" not in error.message


@given(st.text(st.sampled_from('{}(),="` \n*#-ab'), max_size=60))
def test_any_prose_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        read_prose(text, {})
    except WrongProseError as error:
        assert 0 <= error.line <= text.count("\n")


def test_a_result_is_named_by_place_or_by_name(views: dict[str, RunView]) -> None:
    found = number(f"rate(a, {READ_64})", views)
    assert found.text.endswith(" MB/s") and found.doubts == ()
    assert found == number(f"rate({READ_64})", views)
    named = 'rate(run=a, target=memory, workload="grid", operation=read, file_size=67108864, record_size="64 KiB")'
    assert found == number(named, views)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("rate(disk, grid, write)", "names 15 results", "file_size=16MiB|64MiB|256MiB; record_size=4KiB|"),
        ("rate(disc, grid, write)", "no result has target `disc`", "did you mean `disk`?"),
        ("rate(disk, grid, write, record_size=5KiB)", "no result has record_size `5KiB`", "did you mean"),
        ("rate(disk, grid, write, colour=red)", "no result has a `colour`", "one of: target, workload"),
        ("rate(run=b, target=disk)", "the paper has no run `b`", "one of: a"),
        ("rate(disk, grid, write, read, more)", "too many values", "run, target, workload, operation"),
        ("rate(disk, target=memory)", "gives `target` twice", "leave one out"),
        ("rate(rate(disk))", "has a call inside", "only `ratio`"),
        ("rate(memory, grid, write, file_size=256MiB, record_size=4KiB)", "there is no rate", "leave it out"),
        ("ratio(disk, memory)", "needs two rates", "ratio(rate(...), rate(...))"),
        ("cost(disk)", "run a has no prices", "`prices:`"),
        ("rates(disk)", "no reference `rates`", "did you mean `rate`?"),
        ("__import__('os')", "`'` is not part", "in quotes"),
        ("rate(disk", "is missing", "write one such as"),
        ("disk", "is not a reference", "write one such as"),
        ("rate(a=1, a=2)", "stands there twice", "leave one out"),
        ("rate(a=1, disk)", "behind one with a name", "put it first"),
        ("a(b(c(d(e(f(1))))))", "nested too deeply", "write one such as"),
    ],
)
def test_what_is_wrong_is_named_with_the_choices(views: dict[str, RunView], text: str, message: str, hint: str) -> None:
    with pytest.raises(WrongReferenceError) as error:
        number(text, views)
    assert message in error.value.message and hint in error.value.hint


def test_a_decided_ratio_has_no_doubt_and_is_that_of_the_medians(views: dict[str, RunView]) -> None:
    other = READ_64.replace("memory", "disk")
    found = number(f"ratio(rate({READ_64}), rate({other}))", views)
    rates = [
        float(number(f"rate({one})", views).text.removesuffix(" MB/s").replace(",", "")) for one in (READ_64, other)
    ]
    assert found.doubts == () and float(found.text.removesuffix("×")) == pytest.approx(rates[0] / rates[1], rel=0.05)


def test_doubtful_numbers_are_named(views: dict[str, RunView]) -> None:
    assert number("rate(disk, cached, read)", views).doubts == (
        "disk, read: the result is cached; usable: for the cache only",
    )
    mixed = f"ratio(rate({READ_64}), rate(disk, depth, random_read, queue_depth=1))"
    assert "no comparison of these two results was made" in number(mixed, views).doubts[0]
    both = views | {"b": views["a"]}
    assert "different runs" in number(f"ratio(rate(a, {READ_64}), rate(b, {READ_64}))", both).doubts[0]


def test_costs_are_those_of_the_cost_table() -> None:
    views = {"a": RunView(priced_run())}
    assert number("cost(disk)", views) == number("cost(a, disk)", views) == Quoted("336.82 USD")
    with pytest.raises(WrongReferenceError) as error:
        number("cost(disc)", views)
    assert error.value.hint == "did you mean `disk`?"


def test_other_values_of_a_result_can_be_referred_to(views: dict[str, RunView]) -> None:
    """In the words of the tables, with their units."""
    rate = number(f"rate({READ_64})", views).text
    assert number(f"interval({READ_64})", views).text.startswith(f"{rate} (")
    assert number(f"iops({READ_64})", views).text.endswith(" operations/s")
    for name in ("latency", "p50", "max"):
        assert number(f"{name}({READ_64})", views).text.split()[-1] in ("ns", "µs", "ms")
    with pytest.raises(WrongReferenceError, match="there is no reference `p98`"):
        number(f"p98({READ_64})", views)

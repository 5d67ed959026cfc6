"""A study that is changed for one command: what is set, what is kept, and that its text says all of it."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from plan_tools import load, written

from assay.model.base import AssayError
from assay.model.source import read_source
from assay.model.study.study import Study
from assay.plan.change import Change
from assay.plan.load import load_study
from assay.plan.text import study_text

TWO: dict[str, Any] = written(w_targets=["disk"]) | {
    "targets": {"disk": {"kind": "file", "path": "/tmp/assay-a"}, "other": {"kind": "file", "path": "/tmp/assay-b"}},
    "workloads": {
        "data": {"operations": ["write", "read"], "file_size": "1MiB", "record_size": "4KiB"},
        "names": {"operations": ["create", "stat"], "files": 10, "targets": ["disk"]},
    },
}


def changed(data: dict[str, Any] = TWO, **change: Any) -> Study:
    """What a changed study means, read from its text."""
    text = study_text(Change(**change).apply(data), ["made"])
    found = load_study(text.encode())
    assert found.study is not None, found.problems
    return found.study


def refused(data: dict[str, Any] = TWO, **change: Any) -> tuple[str, str]:
    """Why a change is refused, and the hint."""
    with pytest.raises(AssayError) as told:
        Change(**change).apply(data)
    return told.value.message, told.value.hint


def test_a_value_is_set_in_each_workload_that_uses_the_parameter_and_in_no_other() -> None:
    found = changed(values=("record_size=8KiB",))
    assert found.workloads["data"].record_size.values() == (8192,)
    assert found.workloads["data"].swept_fields == ()
    assert found.workloads["names"].record_size.values() == (None,)


def test_several_values_are_an_axis_and_what_a_file_may_have_may_be_typed() -> None:
    assert changed(values=("record_size=4KiB,1MiB",)).workloads["data"].swept_fields == ("record_size",)
    spans = changed(values=("record_size={from: 4KiB, to: 16KiB, factor: 2}",))
    assert spans.workloads["data"].record_size.values() == (4096, 8192, 16384)
    listed = changed(values=('cpus=["0-3,6"]',))
    assert listed.workloads["data"].cpus.values() == ("0-3,6",)


def test_a_value_of_the_defaults_gives_way() -> None:
    data = {**TWO, "defaults": {"sync": "none"}}
    assert changed(data, values=("sync=fdatasync",)).workloads["data"].sync.values() == ("fdatasync",)


def test_repeats_take_the_place_of_all_that_the_study_says_of_them() -> None:
    found = changed({**TWO, "repeats": {"decide": "5%", "max": 16}}, repeats=7)
    assert (found.repeats, found.repeating.is_adaptive) == (7, False)


def test_only_what_is_asked_for_is_kept() -> None:
    assert list(changed(only=("names",)).workloads) == ["names"]
    found = changed(targets=("other",))
    assert (list(found.targets), list(found.workloads)) == (["other"], ["data"])
    assert changed(targets=("other", "disk")).workloads["data"].targets == ("disk", "other")


def test_a_target_that_an_expression_names_stays_known() -> None:
    exclude = {"known": {"when": "target == 'other' and record_size == 4KiB", "why": "it takes an hour"}}
    data = {**TWO, "workloads": {"data": {**TWO["workloads"]["data"], "exclude": exclude}}}
    found = changed(data, targets=("disk",))
    assert list(found.targets) == ["disk", "other"] and found.workloads["data"].targets == ("disk",)


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"values": ("bs=4k",)}, "no parameter `bs`", "fio's `bs` is `record_size` here"),
        ({"values": ("recordsize=4KiB",)}, "no parameter `recordsize`", "did you mean `record_size`?"),
        ({"values": ("record_size=4k",)}, "unknown unit `k` in `4k`", "write 4KiB (x 2^10) or 4kB (x 10^3)"),
        ({"values": ("lanes=0",)}, "0 is out of range", "it must be 1 to"),
        ({"values": ("lanes",)}, "not of the form NAME=VALUE", "--set record_size=4KiB,1MiB"),
        ({"values": ("lanes=1,,2",)}, "a value is empty", "--set record_size=4KiB,1MiB"),
        ({"values": ("record_size=[4KiB",)}, "the bracket that opens here is not closed", "add the bracket"),
        ({"values": ("object_size=4KiB",)}, "no workload of the study uses object_size", "it is for put"),
        ({"only": ("dat",)}, "the study has no workload `dat`", "did you mean `data`?"),
        ({"targets": ("disc",)}, "the study has no target `disc`", "did you mean `disk`?"),
        ({"only": ("names",), "targets": ("other",)}, "no workload is left at --target other", "names is at disk"),
    ],
)
def test_what_fits_nothing_is_told_in_one_line(change: dict[str, Any], message: str, hint: str) -> None:
    found = refused(**change)
    assert message in found[0] and hint in found[1] and "\n" not in "".join(found)


def test_repeats_that_decide_between_targets_need_two() -> None:
    data = {**TWO, "repeats": {"decide": "5%", "max": 16}}
    assert refused(data, targets=("disk",))[1] == "state the number of repeats: --repeats 5"
    assert changed(data, targets=("disk",), repeats=5).repeats == 5


WORDS = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\x7f"), max_size=12).filter(
    lambda text: all(not 0x7F <= ord(sign) < 0xA0 for sign in text)
)
SCALARS = WORDS | st.integers(-(10**20), 10**20) | st.booleans() | st.none()
SPECIAL = st.sampled_from(["1e5", "1.50", "010", "yes", "null", "1:30", "2026-01-01", "~", "true", "- a", "# b", "<<"])
VALUES = st.recursive(SCALARS | SPECIAL, lambda inner: st.lists(inner, max_size=3), max_leaves=8)


@given(st.dictionaries(WORDS.filter(lambda key: key != "<<"), VALUES, min_size=1, max_size=5))
def test_a_study_that_is_written_is_read_as_it_was(data: dict[str, Any]) -> None:
    source = read_source(study_text(data, ["head"]).encode())
    assert (source.data, source.problems) == (data, [])


@pytest.mark.parametrize("number", ["1.50", "1e5", "0.1", "1.5E-3"])
def test_numbers_keep_their_digits(number: str) -> None:
    data = read_source(f"price: {number}".encode()).data
    assert study_text(data, []) == f"price: {number}\n"


def test_the_text_is_yaml_to_others_too() -> None:
    assert yaml.safe_load(study_text(TWO, ["made"])) == TWO
    assert load(TWO).study is not None


def test_a_value_may_be_for_one_workload() -> None:
    work = {"operations": ["write"], "file_size": "1MiB", "record_size": "4KiB"}
    data = {"study": "s", "targets": {"t": {"kind": "file", "path": "/x"}}, "workloads": {"a": work, "b": work}}
    found = Change(values=("b.record_size=64KiB",)).apply(data)["workloads"]
    assert (found["a"]["record_size"], found["b"]["record_size"]) == ("4KiB", "64KiB")

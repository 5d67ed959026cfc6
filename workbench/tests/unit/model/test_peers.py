"""What people type who know fio or iozone: the message names this tool's word."""

import pytest
from paths import GOLDEN

from assay.model.study.names import OPERATIONS as OURS
from assay.model.study.parameters import DEFINITIONS
from assay.model.study.peers import OPERATIONS, TARGETS, WORKLOADS
from assay.model.study.study import Study
from assay.plan.load import load_study

HEAD = "study: s\nquestion: q?\ntargets: {d: {kind: file, path: /mnt/d/assay}}\n"
STUDY = {field.alias or name for name, field in Study.model_fields.items()}
ELSEWHERE = {"operations", "commands", "path", *STUDY}


def problem(text: str, word: str) -> str:
    """The hint of the problem whose message names a word."""
    found = [each.hint for each in load_study(text.encode()).problems if f"`{word}`" in each.message]
    assert len(found) == 1, load_study(text.encode()).problems
    return found[0]


@pytest.mark.parametrize("place", ["workload", "study", "defaults"])
def test_a_field_of_another_program_is_told_by_our_name_wherever_it_is_typed(place: str) -> None:
    typed = "".join(f"\n  '{word}': 4" for word in WORKLOADS)
    work = "\n    ".join(["workloads:\n  w:", "operations: [write]", "file_size: 1MiB", "record_size: 4KiB"])
    written = {
        "workload": f"{work}{typed}".replace("\n  '", "\n    '"),
        "study": f"{work}{typed}".replace("\n  '", "\n'"),
        "defaults": f"{work}\ndefaults:{typed}",
    }
    problems = load_study(f"{HEAD}{written[place]}\n".encode()).problems
    told = {each.message.split("`")[1]: each.hint for each in problems}
    assert told == {word: peer.hint(word) for word, peer in WORKLOADS.items()}
    assert len(problems) == len(WORKLOADS) > 700


def test_what_takes_its_place_is_a_field_of_ours() -> None:
    assert {peer.field for peer in WORKLOADS.values()} <= {"", *DEFINITIONS, *ELSEWHERE}


@pytest.mark.parametrize("name", ["words", "w2"])
def test_every_word_that_people_typed_is_known(name: str) -> None:
    """108 words of fio, vdbench, elbencho, warp and iozone."""
    problems = load_study((GOLDEN / "peers" / f"{name}.yaml").read_bytes()).problems
    unknown = [each for each in problems if "unknown key" in each.message]
    assert len(unknown) > 30
    assert not [each for each in unknown if "known here" in each.hint or "did you mean" in each.hint]


def test_a_word_that_is_only_a_little_like_ours_is_not_taken_for_it() -> None:
    work = "operations: [write], file_size: 1MiB, record_size: 4KiB"
    for word, hint in (("ratio", "known here: "), ("record_sise", "did you mean `record_size`?")):
        assert problem(f"{HEAD}workloads: {{w: {{{work}, {word}: 4}}}}\n", word).startswith(hint)


def test_no_word_of_another_program_is_one_of_ours() -> None:
    assert not set(WORKLOADS) & (set(DEFINITIONS) | {"operations", *STUDY})
    assert not set(OPERATIONS) & set(OURS)
    assert set(TARGETS) <= set(WORKLOADS)


@pytest.mark.parametrize("word", OPERATIONS)
def test_an_operation_of_another_program_is_told_by_our_name(word: str) -> None:
    peer = OPERATIONS[word]
    assert not peer.field or peer.field in OURS
    text = f"{HEAD}workloads: {{w: {{operations: [{word}], file_size: 1MiB, record_size: 4KiB}}}}\n"
    assert problem(text, word) == peer.hint(word)


def test_a_field_that_is_there_under_another_name_is_not_said_to_be_missing() -> None:
    found = load_study(f"{HEAD}workloads: {{w: {{rw: randread, size: 1g, bs: 4k}}}}\n".encode()).problems
    assert [each.message for each in found] == [f"workloads.w: unknown key `{word}`" for word in ("rw", "size", "bs")]

"""What people type who know fio or iozone: the message names this tool's word."""

import pytest

from assay.model.study.names import OPERATIONS as OURS
from assay.model.study.parameters import DEFINITIONS
from assay.model.study.peers import OPERATIONS, TARGETS, WORKLOADS, Peer
from assay.model.study.study import Study
from assay.plan.load import load_study

HEAD = "study: s\nquestion: q?\ntargets: {d: {kind: file, path: /mnt/d/assay}}\n"
STUDY = {field.alias or name for name, field in Study.model_fields.items()}
ELSEWHERE = {"operations", "path", *STUDY}


def problem(text: str, word: str) -> str:
    """The hint of the problem whose message names a word."""
    found = [each.hint for each in load_study(text.encode()).problems if f"`{word}`" in each.message]
    assert len(found) == 1, load_study(text.encode()).problems
    return found[0]


@pytest.mark.parametrize(("word", "peer"), WORKLOADS.items(), ids=lambda item: item if isinstance(item, str) else "")
def test_a_field_of_another_program_is_told_by_our_name_wherever_it_is_typed(word: str, peer: Peer) -> None:
    told = f"{peer.program}'s `{word}`"
    assert peer.hint(word).startswith(told)
    assert not peer.ours or peer.ours in DEFINITIONS or peer.ours in ELSEWHERE
    workload = "operations: [write], file_size: 1MiB, record_size: 4KiB"
    assert problem(f"{HEAD}workloads: {{w: {{{workload}, {word}: 4}}}}\n", word).startswith(told)
    assert problem(f"{HEAD}workloads: {{w: {{{workload}}}}}\n{word}: 4\n", word).startswith(told)
    assert problem(f"{HEAD}defaults: {{{word}: 4}}\nworkloads: {{w: {{{workload}}}}}\n", word).startswith(told)


def test_no_word_of_another_program_is_one_of_ours() -> None:
    assert not set(WORKLOADS) & (set(DEFINITIONS) | {"operations", *STUDY})
    assert not set(OPERATIONS) & set(OURS)
    assert set(TARGETS) <= set(WORKLOADS)


@pytest.mark.parametrize("word", OPERATIONS)
def test_an_operation_of_another_program_is_told_by_our_name(word: str) -> None:
    peer = OPERATIONS[word]
    assert not peer.ours or peer.ours in OURS
    text = f"{HEAD}workloads: {{w: {{operations: [{word}], file_size: 1MiB, record_size: 4KiB}}}}\n"
    assert problem(text, word) == peer.hint(word)


def test_a_field_that_is_there_under_another_name_is_not_said_to_be_missing() -> None:
    found = load_study(f"{HEAD}workloads: {{w: {{rw: randread, size: 1g, bs: 4k}}}}\n".encode()).problems
    assert [each.message for each in found] == [f"workloads.w: unknown key `{word}`" for word in ("rw", "size", "bs")]

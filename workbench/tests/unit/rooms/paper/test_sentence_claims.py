"""Sentences of authors against the runs of a paper: what is named, by kind, and what is left alone."""

import pytest
from builders import answered, make_analysis, make_case, row_of
from priced import prices

from assay.model.result.verdict import Verdict
from assay.report.view import RunView
from assay.rooms.paper.work.claims.check import SentenceCheck
from assay.rooms.paper.work.claims.quantities import Kind, find_quantities
from assay.rooms.paper.work.claims.reading import RemarkKind
from assay.rooms.paper.work.claims.sentences import split_sentences

KIB = 1024
SPEEDS = {
    ("disk", "write"): (100e6, 400e6, 800e6),
    ("disk", "random_read"): (92.1e6, 334e6, 900e6),
    ("memory", "write"): (2310e6, 3000e6, 3200e6),
    ("memory", "random_read"): (4710e6, 9000e6, 9500e6),
    ("tape", "write"): (101e6, 402e6, 797e6),
    ("archive", "random_read"): (21.3e9, 21.3e9, 21.3e9),
}
"""Target and operation -> bytes per second with records of 4 KiB, 64 KiB and 1 MiB; `archive` is cached."""
TRUE = (
    "Memory writes records of 4 KiB at 2,310 MB/s.",
    "With 4 KiB records, memory writes at 2.3 GB/s, which is 18.5 Gb/s.",
    "The disk reads 64 KiB records at random at about 330 MB/s.",
    "Random reads of 4 KiB from the disk reach 92 MB/s and those of 64 KiB 334 MB/s.",
    "Memory is faster than the disk for writes.",
    "The disk is not faster than memory.",
    "Nowhere is the disk faster than memory.",
    "Memory writes 4 KiB records 23 times as fast as the disk.",
    "For random reads of 1 MiB the disk reaches roughly a tenth of the rate of memory.",
    "Random reads of the disk range from 92 to 900 MB/s.",
    "The disk never writes at less than 100 MB/s.",
    "The disk gets faster with larger records.",
    "Going from 4 KiB to 64 KiB records, the write rate of the disk grows by a factor of four.",
    "Memory has the highest write rate.",
    "At 4 KiB it is undecided whether the disk or the tape writes faster.",
    "The disk costs 336.82 USD a month, and memory 5.88 USD an hour.",
    "The disk is cheaper than memory.",
    "The archive returned 21.3 GB/s, which is a cached number.",
    "Memory wrote 4 KiB records at 2,310 MB/s, 23 times what the disk did.",
    "Random reads of the disk give 92 MB/s with the smallest records of 4 KiB, the next ones give 334 MB/s.",
    "The disk writes at 400 MB/s, less than twice the 334 MB/s at which it reads 64 KiB records at random.",
    "With records beyond 4 KiB, the disk writes between 400 and 800 MB/s.",
    "Writing 4 KiB records, disk and tape together reach 201 MB/s.",
    "Each of the four clients got 25 MB/s when the disk wrote 4 KiB records.",
    "The disk writes 4 KiB records at 100 MB/s over a 1 Gbit/s link.",
    "In an earlier project the disk wrote 4 KiB records at 70 MB/s.",
    "A cluster of four nodes reached 2.1 GB/s.",
    "NVMe drives are advertised with 7,000 MB/s.",
    "Would the disk be faster than memory with more requests?",
    "Tape has been in use since 1951, and the disk since 1956.",
    "Memory forgets 4 KiB as fast as 4 GB when the power fails.",
)
FALSE = {
    "Memory writes records of 4 KiB at 2,810 MB/s.": RemarkKind.NUMBER,
    "With 4 KiB records, memory writes at 2.31 MB/s.": RemarkKind.UNIT,
    "The disk reads 64 KiB records at random at 334 Mb/s.": RemarkKind.UNIT,
    "The disk writes fastest with records of 64 KB.": RemarkKind.UNIT,
    "The disk is faster than memory for writes.": RemarkKind.DIRECTION,
    "Memory is not faster than the disk.": RemarkKind.DIRECTION,
    "There is no difference between disk and memory for writes.": RemarkKind.DIRECTION,
    "The tape writes faster than the disk.": RemarkKind.UNDECIDED,
    "Memory writes 4 KiB records 30 times as fast as the disk.": RemarkKind.NUMBER,
    "Random reads of the disk range from 92 to 500 MB/s.": RemarkKind.NUMBER,
    "The disk never writes at less than 300 MB/s.": RemarkKind.NUMBER,
    "The disk gets slower with larger records.": RemarkKind.DIRECTION,
    "Going from 4 KiB to 64 KiB records, the write rate of the disk doubles.": RemarkKind.NUMBER,
    "The disk has the highest write rate.": RemarkKind.DIRECTION,
    "The disk costs 336.82 USD a year.": RemarkKind.PRICE,
    "The disk costs 236.82 USD a month.": RemarkKind.PRICE,
    "Memory is cheaper than the disk.": RemarkKind.DIRECTION,
    "Memory wrote 4 KiB records at 2,610 MB/s, more than the disk did.": RemarkKind.NUMBER,
    "The disk writes 4 KiB records at 2,310 MB/s, and memory writes them at 100 MB/s.": RemarkKind.NUMBER,
    "With 4 KiB records the disk reaches 92.1 MB/s for writes and 100 MB/s for random reads.": RemarkKind.NUMBER,
    "For writes the disk outran memory.": RemarkKind.DIRECTION,
    "Moving from 4 KiB to 64 KiB records, the write rate of the disk rose eightfold.": RemarkKind.NUMBER,
    "The archive reads records of 4 KiB at random at 21.3 GB/s.": RemarkKind.UNSOUND,
    "The disk writes records of 2 MiB at 900 MB/s.": RemarkKind.UNSUPPORTED,
}


@pytest.fixture(scope="module")
def check() -> SentenceCheck:
    rows = []
    for (target, operation), speeds in SPEEDS.items():
        spread = 12 if target == "tape" else 90
        for size, speed in zip((4 * KIB, 64 * KIB, KIB * KIB), speeds, strict=True):
            case = make_case(f"{target}-{size}", target, (operation,), axes={"record_size": size})
            verdict = Verdict.CACHED if target == "archive" else Verdict.OK
            rows.append(
                row_of(
                    case,
                    [speed * (1 + (place - 2) / spread) for place in range(5)],
                    verdict,
                    operation=operation,
                )
            )
    base = make_analysis()
    run = base.run.model_copy(update={"prices": prices()})
    return SentenceCheck({"a": RunView(answered(base.model_copy(update={"run": run, "rows": tuple(rows)})))})


def kinds(check: SentenceCheck, text: str) -> list[RemarkKind]:
    return [found.fault.kind for found in check.faults(split_sentences(text, []))]


@pytest.mark.parametrize("sentence", TRUE)
def test_what_the_runs_say_or_do_not_speak_of_is_left_alone(check: SentenceCheck, sentence: str) -> None:
    assert kinds(check, sentence) == []


@pytest.mark.parametrize(("sentence", "kind"), tuple(FALSE.items()))
def test_what_the_runs_contradict_or_do_not_decide_is_named(
    check: SentenceCheck, sentence: str, kind: RemarkKind
) -> None:
    assert set(kinds(check, sentence)) == {kind}


def test_a_remark_has_the_line_of_its_sentence_and_the_reference_that_mends_it(check: SentenceCheck) -> None:
    text = "# Slow\n\nIt was new. Memory\nwrites 4 KiB records\nat 9 GB/s.\n\n- The disk is faster than memory.\n"
    number, claim = check.faults(split_sentences(text, []))
    assert (number.line, claim.line) == (2, 6)
    assert number.fault.text.endswith(
        "write {{ rate(target=memory, workload=grid, operation=write, record_size=4096) }}"
    )
    assert claim.fault.words == "faster"


def test_a_pronoun_stands_for_the_target_of_the_sentence_before(check: SentenceCheck) -> None:
    text = "We look at the disk. With 4 KiB records it writes 100 MB/s. With 64 KiB records it writes 500 MB/s."
    assert [found.fault.words for found in check.faults(split_sentences(text, []))] == ["500 MB/s"]


def test_a_unit_may_end_a_sentence(check: SentenceCheck) -> None:
    text = "J. Doe wrote at 5 MB/s. It took 3 ms. That is as much as 4 GB. Fig. 3 shows it."
    assert len(split_sentences(text, [])) == 4


def test_a_number_may_be_of_what_the_sentence_before_names(check: SentenceCheck) -> None:
    text = "We write to the disk in records of 4 KiB. Written was 100 MB/s, and never more than 120 MB/s by any client."
    assert kinds(check, text) == []


def test_numbers_of_references_are_not_questioned(check: SentenceCheck) -> None:
    assert kinds(check, "Memory writes 4 KiB records at 1 MB/s.") != []
    marked = split_sentences("Memory writes 4 KiB records at \x000\x00.", ["1 MB/s"])
    assert [*check.faults(marked)] == []


QUANTITIES = (
    ("1.5 million IOPS", Kind.OPERATIONS, 1.5e6),
    ("81,500 random reads per second", Kind.OPERATIONS, 81500),
    ("10 Gbit/s", Kind.THROUGHPUT, 1.25e9),
    ("2 MiB/s", Kind.THROUGHPUT, 2 * 1024 * 1024),
    ("64 KiB", Kind.SIZE, 65536),
    ("twice the rate", Kind.RATIO, 2),
    ("8.3× as fast", Kind.RATIO, 8.3),
    ("two thirds of it", Kind.RATIO, 2 / 3),
    ("twenty-one percent", Kind.PERCENT, 0.21),
    ("$1,234.50", Kind.MONEY, 1234.5),
    ("250 µs", Kind.TIME, 250e3),
    ("five times", Kind.COUNT, 5),
)


@pytest.mark.parametrize(("text", "kind", "value"), QUANTITIES)
def test_quantities_are_read_as_people_write_them(text: str, kind: Kind, value: float) -> None:
    (found,) = find_quantities(f"It is {text} here.")
    assert found.kind is kind
    assert found.value == pytest.approx(value)

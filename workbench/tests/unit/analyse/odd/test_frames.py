"""Notes on disks behind frames of the engine's own: what was sent again, and frames that carry little."""

from builders import make_case, make_place, make_sample, rated_row

from assay.analyse.anomalies.notes import notes
from assay.analyse.services import sample_report
from assay.model.result.observations import ServiceCounts
from assay.model.result.result import Estimate, ResultRow

MIB = 1 << 20


def row(frames: int, again: int, bytes_each: int, record: int = MIB) -> ResultRow:
    case = make_case("c0001", "disk", ("read",), record_size=record)
    service = ServiceCounts(frames=frames, frames_again=again)
    moved = {"read_bytes": frames * bytes_each, "write_bytes": 0, "elapsed_ns": 10**9}
    samples = tuple(make_sample("c0001", repeat, 100e6, service=service, **moved) for repeat in (1, 2, 3))
    return rated_row(case, Estimate(median=100e6, low=99e6, high=101e6, n=3, spread=0.0), samples)


def found(one: ResultRow) -> str:
    return " ".join(note for note in notes([one], {"disk": make_place()}) if "frames" in note)


def test_frames_that_were_sent_again_are_told_with_their_share() -> None:
    assert "90 of 30,000 frames were sent again (0.003 of all)" in found(row(10_000, 30, 8704))
    assert found(row(10_000, 0, 8704)) == ""


def test_small_frames_are_told_with_their_rate_where_operations_are_larger() -> None:
    assert "100,000 frames/s carry 1,024 bytes each at most" in found(row(100_000, 0, 1024))
    assert found(row(100_000, 0, 1024, record=1024)) == ""


def test_a_disk_is_no_service_that_tells_of_units() -> None:
    assert sample_report(row(10, 0, 8704).samples[0]) is None

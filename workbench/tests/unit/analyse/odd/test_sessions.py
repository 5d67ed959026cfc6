"""Notes on sessions that were lost."""

from builders import make_case, make_place, make_sample, rated_row

from assay.analyse.anomalies.notes import notes
from assay.analyse.services import sample_report
from assay.model.result.observations import ServiceCounts
from assay.model.result.result import Estimate, ResultRow


def row(lost: int) -> ResultRow:
    service = ServiceCounts(sessions_lost=lost) if lost else None
    samples = tuple(make_sample("c0001", repeat, 100e6, service=service) for repeat in (1, 2))
    known = Estimate(median=100e6, low=99e6, high=101e6, n=2, spread=0.0)
    return rated_row(make_case("c0001", "share", ("read",)), known, samples)


def test_sessions_that_were_lost_are_counted_in_a_note_and_in_no_table_of_services() -> None:
    (note,) = [note for note in notes([row(3)], {"share": make_place()}) if "session" in note]
    assert "6 sessions were lost" in note
    assert not [note for note in notes([row(0)], {"share": make_place()}) if "session" in note]
    assert sample_report(row(3).samples[0]) is None

"""What services tell, of repeats and of results."""

from builders import make_sample
from service_rows import service_case, service_run

from assay.analyse.services import THROTTLES, row_report, sample_report
from assay.model.result.observations import ServiceCounts
from assay.model.result.sample import ErrorTally


def test_units_are_those_of_a_request_and_of_a_second() -> None:
    told = ServiceCounts(read_units=32.0, write_units=16.0)
    found = sample_report(make_sample(ops=64, elapsed_ns=2 * 10**9, service=told))
    assert found is not None
    assert (found.read_units, found.write_units, found.units_per_s, found.objects_per_s) == (0.5, 0.25, 24.0, 32.0)


def test_objects_of_batches_count_rather_than_their_requests() -> None:
    told = ServiceCounts(objects=90, unprocessed=10)
    found = sample_report(make_sample(ops=4, elapsed_ns=10**9, service=told))
    assert found is not None and (found.objects_per_s, found.unprocessed) == (90.0, 10)


def test_batches_that_were_done_in_part_are_told_and_share_the_units_that_they_took() -> None:
    # Batches of 25 items of 1 KiB: one was done, of three 10 items were left undone each.
    partly = ErrorTally(kind="fault", name="UnprocessedItems", count=3, example="x")
    told = ServiceCounts(objects=70, unprocessed=30, write_units=70.0)
    found = sample_report(make_sample(ops=1, elapsed_ns=10**9, service=told, errors=(partly,)))
    assert found is not None
    assert (found.objects_per_s, found.write_units, found.units_per_s, found.unprocessed) == (70.0, 17.5, 70.0, 30)


def test_what_was_left_undone_is_told_though_no_batch_was_done_whole() -> None:
    partly = ErrorTally(kind="fault", name="UnprocessedItems", count=2, example="x")
    told = ServiceCounts(objects=30, unprocessed=20, write_units=30.0)
    found = sample_report(make_sample(ops=0, elapsed_ns=10**9, service=told, errors=(partly,)))
    assert found is not None
    assert (found.objects_per_s, found.write_units, found.unprocessed) == (30.0, 15.0, 20)


def test_what_tells_nothing_and_throttles_nothing_has_no_line() -> None:
    assert sample_report(make_sample()) is None
    (put, get) = service_run(service_case(1, "bucket")).rows
    assert row_report(put) is row_report(get) is None


def test_throttles_are_told_of_services_that_tell_nothing_else() -> None:
    refused = [ErrorTally(kind="fault", name=name, count=2, example="x") for name in sorted(THROTTLES)]
    other = ErrorTally(kind="fault", name="AccessDenied", count=7, example="x")
    found = sample_report(make_sample(errors=(*refused, other)))
    assert found is not None
    assert (found.throttled, found.read_units, found.units_per_s) == (14, None, None)


def test_throttles_of_all_repeats_are_added_though_none_of_them_counts() -> None:
    (row, _) = service_run(service_case(1, "table"), throttled=5).rows
    found = row_report(row)
    assert found is not None and found.throttled == 15

"""The study that `assay measure` stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.kinds.uri import parse_uri
from assay.model.base import AssayError
from assay.plan.estimate import estimate_study
from assay.plan.expand import expand
from assay.plan.load import load_study
from assay.plan.measure import (
    DATA_OPERATIONS,
    LARGE_FILE_BYTES,
    SMALL_FILE_BYTES,
    WORK_SELECTIONS,
    Scale,
    Speeds,
    TooShort,
    choose_scale,
    measure_study,
    measure_text,
    place_names,
    probe_study,
)
from assay.plan.study_warnings import study_warnings

SCALE = Scale(64 << 20, 50_000_000, {"within": "5%", "min": 8, "max": 60}, 10)
DISK = {"kind": "file", "path": "/var/tmp/assay-measure"}
BUCKET = {"kind": "s3", "bucket": "logs", "existing": ""}


@pytest.mark.parametrize(
    ("places", "names"),
    [
        (["/var/tmp", "/dev/shm"], ["var-tmp", "dev-shm"]),
        (["/"], ["root"]),
        (["/", "/"], ["root", "root-2"]),
        (["nfs://nas1:2049/export/a", "s3://bucket/keys?endpoint=http://h:1"], ["export-a", "bucket-keys"]),
        (["null:"], ["null"]),
        (["/data/projects/alpha/scratch", "/data/projects/beta/scratch"], ["alpha-scratch", "beta-scratch"]),
        (["/a/" + "x" * 100], ["x" * 40]),
    ],
)
def test_places_have_names_of_their_own(places: list[str], names: list[str]) -> None:
    assert place_names(places) == names


@given(st.lists(st.text(max_size=60), min_size=1, max_size=20))
def test_names_are_such_as_a_study_may_have(places: list[str]) -> None:
    names = place_names(places)
    assert len(set(names)) == len(places)
    study = {**measure_study(dict.fromkeys(names, DISK), SCALE, "direct")}
    study["targets"] = {name: {"kind": "file", "path": f"/t/{number}"} for number, name in enumerate(names)}
    assert load_study(measure_text(study, places).encode()).problems == ()


@given(st.floats(1e5, 2e10), st.floats(0.01, 1), st.floats(4, 600), st.integers(1, 4))
def test_the_time_is_kept_on_any_order_of_magnitude_of_machine(
    large: float, part: float, seconds: float, count: int
) -> None:
    found = choose_scale(seconds, {f"t{number}": Speeds(large * part, large) for number in range(count)}, {})
    if isinstance(found, TooShort):
        assert found.missing_s > 0
        return
    assert found.file_size in (SMALL_FILE_BYTES, LARGE_FILE_BYTES) and found.rounds >= 3
    cases = sum(record * depth <= found.file_size for record in found.records for depth in found.depths)
    least = min(found.file_size / (large * part), found.phase_ns / 1e9)
    assert found.rounds * count * cases * len(DATA_OPERATIONS) * min(least, found.file_size / large) <= seconds
    # What is said of the bytes is between one file a case and two.
    whole = found.rounds * count * cases * found.file_size
    assert whole <= found.written <= 2 * whole + 1


def test_where_time_is_short_there_are_fewer_repeats_then_fewer_kinds_of_work_then_none() -> None:
    slow = Speeds(2e6, 2e7)
    found = [choose_scale(seconds, {"t": slow}, {}) for seconds in (60, 20, 10, 6, 4, 2, 1)]
    kinds = [0 if isinstance(one, TooShort) else len(one.records) * len(one.depths) for one in found]
    rounds = [one.rounds for one in found if isinstance(one, Scale) and not one.left_out]
    assert kinds == sorted(kinds, reverse=True) and {kinds[0], kinds[-1]} == {4, 0}
    assert rounds == sorted(rounds, reverse=True) and len(set(rounds)) > 1
    assert {one.left_out for one in found if isinstance(one, Scale)} <= {words for _, _, words in WORK_SELECTIONS}


def test_with_what_is_missing_the_least_fits() -> None:
    slow = Speeds(1e5, 1e6)
    found = choose_scale(5, {"t": slow}, {})
    assert isinstance(found, TooShort)
    assert isinstance(choose_scale(5 + found.missing_s + 0.1, {"t": slow}, {}), Scale)


def test_no_more_than_a_small_part_of_what_is_free_is_used() -> None:
    fast = {"t": Speeds(1e9, 5e9)}
    found, free = choose_scale(30, fast, {"t": 1 << 30}), choose_scale(30, fast, {"t": None})
    assert isinstance(found, Scale) and found.file_size <= (1 << 30) // 10
    assert isinstance(free, Scale) and free.file_size == LARGE_FILE_BYTES


def test_nothing_has_more_in_flight_than_a_file_holds() -> None:
    found = choose_scale(30, {"t": Speeds(1e7, 2e7)}, {})
    assert isinstance(found, Scale) and found.file_size == SMALL_FILE_BYTES
    study = load_study(measure_text(measure_study({"t": DISK}, found, "direct"), []).encode()).study
    assert study is not None
    points = {(case.parameters.record_size, case.parameters.queue_depth) for case in expand(study).cases}
    assert points == {(4096, 1), (4096, 32), (1 << 20, 1)}


def test_places_without_files_have_their_time_too() -> None:
    found = choose_scale(20, {}, {})
    assert isinstance(found, Scale) and found.written == 0 and found.rounds > 1


@pytest.mark.parametrize("targets", [{"a": DISK}, {"a": DISK, "b": BUCKET}, {"b": BUCKET}])
def test_the_study_is_one_that_loads_and_can_be_planned(targets: dict[str, dict[str, object]]) -> None:
    text = measure_text(measure_study(targets, SCALE, "direct"), ["/var/tmp"])
    loaded = load_study(text.encode())
    assert loaded.problems == () and loaded.study is not None
    cases = expand(loaded.study).cases
    assert estimate_study(loaded.study, cases).jobs >= len(cases)
    if "a" in targets:
        depths = {(case.parameters.record_size, case.parameters.queue_depth) for case in cases if case.target == "a"}
        assert depths == {(4096, 1), (4096, 32), (1 << 20, 1), (1 << 20, 32)}


@pytest.mark.parametrize("seconds", [2, 4, 10, 30, 60, 600])
@pytest.mark.parametrize("speed", [Speeds(2e6, 2e7), Speeds(1e8, 1e9), Speeds(2e9, 1e10)])
def test_check_has_no_doubts_of_what_is_saved(seconds: float, speed: Speeds) -> None:
    for places in (["a"], ["a", "b"]):
        found = choose_scale(seconds * len(places), dict.fromkeys(places, speed), {})
        if isinstance(found, TooShort):
            continue
        targets = {name: {"kind": "file", "path": f"/var/tmp/{name}"} for name in places}
        study = load_study(measure_text(measure_study(targets, found, "direct"), places).encode()).study
        assert study is not None
        cases = expand(study).cases
        assert study_warnings(study, cases, estimate_study(study, cases)) == ()


def test_the_first_look_is_a_study_too() -> None:
    assert load_study(measure_text(probe_study({"a": DISK}, "direct"), []).encode()).problems == ()


def test_what_is_typed_is_of_one_kind(tmp_path: object) -> None:
    assert parse_uri(str(tmp_path), False) == {"kind": "file", "path": f"{tmp_path}/assay-measure"}
    nfs = {"kind": "nfs", "servers": "nas1", "export": "/export/a", "directory": "assay-measure"}
    assert parse_uri("nfs://nas1/export/a", False) == nfs
    assert parse_uri("s3://bucket/logs/", False) == {"kind": "s3", "bucket": "bucket", "existing": "logs/"}
    written = parse_uri("s3://bucket/logs?endpoint=http://h:9000&region=eu-west-1", True)
    assert written == {
        "kind": "s3",
        "bucket": "bucket",
        "endpoint": "http://h:9000",
        "region": "eu-west-1",
        "prefix": "logs",
    }
    assert parse_uri("dynamodb://items", True) == {"kind": "dynamodb", "table": "items"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/no/such/place", "neither a directory nor a device"),
        ("", "a target is empty"),
        ("ftp://nas/share", "no such scheme"),
        ("nfs://nas1", "server or export is missing"),
        ("nfs:///export", "server or export is missing"),
        ("s3://", "not an address of this form"),
        ("s3://logs?colour=red", "not an address of this form"),
        ("s3://b?endpoint", "not an address of this form"),
        ("dynamodb://items", "only be measured by writing"),
        ("/dev/null", "neither a directory nor a device"),
    ],
)
def test_what_is_no_place_gets_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(AssayError) as error:
        parse_uri(text, False)
    assert said in error.value.message and error.value.hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("nas1:/export", "write nfs://nas1/export"),
        ("10.0.0.5:/srv/data", "write nfs://10.0.0.5/srv/data"),
        ("//nas1/data", "write smb://USER@nas1/data"),
        ("\\\\nas1\\data", "write smb://USER@nas1/data"),
        ("ftp://nas/share", "name a directory, "),
        (":/export", "name a directory, "),
    ],
)
def test_a_place_as_mount_has_it_is_named_as_here(text: str, hint: str) -> None:
    with pytest.raises(AssayError) as error:
        parse_uri(text, False)
    assert error.value.hint.startswith(hint)

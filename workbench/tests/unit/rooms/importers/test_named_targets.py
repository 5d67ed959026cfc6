"""Targets that the user names: `assay import nas=fio.json`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imported_samples import FILE, FOLDER

from assay.model.base import AssayError
from assay.model.study.axis import AxisValue
from assay.rooms.importers.work.results import ImportedResult, ToolOutput, rate_alone
from assay.rooms.importers.work.runs import make_run
from assay.rooms.importers.work.several_files import named_file, read_path, with_target
from assay.store import RunStore


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", fullmatch=True), st.text(min_size=1))
def test_a_target_stands_before_its_file(name: str, path: str) -> None:
    assert named_file(f"{name}={path}") == (name, path)
    assert named_file(f"/{name}={path}") == ("", f"/{name}={path}")


def test_a_file_whose_name_has_an_equals_sign_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bs=4k.json").touch()
    assert named_file("bs=4k.json") == ("", "bs=4k.json")
    assert named_file("nas=bs=4k.json") == ("nas", "bs=4k.json")


@pytest.mark.parametrize("argument", ["=fio.json", "nas=", "a b=fio.json", "-x=fio.json"])
def test_what_is_no_name_is_refused(argument: str) -> None:
    with pytest.raises(AssayError, match="no file, and no target and file") as error:
        named_file(argument)
    assert "nas=fio.json" in error.value.hint


@pytest.mark.parametrize(
    ("sample", "expected"),
    [("fio/3.33-direct.json", {"nas"}), ("iperf/2.0.9-parallel.txt", {"nas"})],
)
def test_the_name_takes_the_place_of_the_only_target(sample: str, expected: set[str]) -> None:
    read = read_path(str(FOLDER / sample))
    targets = {one.target for output in with_target(read, "nas").outputs for one in output.results}
    assert targets == expected
    assert with_target(read, "") is read


def test_several_targets_keep_their_own_names_behind_it() -> None:
    read = read_path(str(FOLDER / "fio"))
    before = {one.target for output in read.outputs for one in output.results}
    after = {one.target for output in with_target(read, "nas").outputs for one in output.results}
    assert len(before) > 1 and after == {f"nas {name}" for name in before}


def _cases(*results: tuple[str, str, dict[str, AxisValue]]) -> list[tuple[str, dict[str, AxisValue]]]:
    """Target and axes of each case of a run with these targets, operations and parameters."""
    made = [
        ImportedResult(
            name="job",
            line=number,
            target=target,
            workload="job",
            operation=operation,
            parameters=parameters,
            options={},
            figures=(),
            measured=rate_alone(1e6 * number, None),
        )
        for number, (target, operation, parameters) in enumerate(results, start=1)
    ]
    with TemporaryDirectory() as root:
        output = ToolOutput(file=FILE, results=tuple(made))
        with RunStore.open(make_run([output], Path(root), "named", "assay import")) as store:
            return [(case.target, case.axes) for case in store.cases()]


def test_a_setting_that_differs_only_between_targets_is_an_axis() -> None:
    found = _cases(("a", "read", {"record_size": 4096}), ("b", "read", {"record_size": 8192}))
    assert found == [("a", {"record_size": 4096}), ("b", {"record_size": 8192})]
    found = _cases(("a", "read", {"record_size": 4096}), ("b", "read", {"record_size": 4096, "lanes": 2}))
    assert found == [("a", {}), ("b", {})]


def test_a_setting_that_some_results_lack_tells_cases_of_a_target_apart() -> None:
    found = _cases(("a", "read", {"hosts": 2}), ("a", "read", {}), ("b", "read", {"hosts": 2}))
    assert found == [("a", {"hosts": 2}), ("a", {}), ("b", {"hosts": 2})]
    found = _cases(("a", "stride_read", {"stride": 4096}), ("a", "read", {}))
    assert found == [("a", {}), ("a", {})]

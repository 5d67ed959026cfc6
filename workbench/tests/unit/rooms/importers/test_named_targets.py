"""Targets that the user names: `assay import nas=fio.json`."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from imported_samples import FOLDER

from assay.model.base import AssayError
from assay.rooms.importers.work.several_files import named_file, read_path, with_target


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

"""`assay study from` writes a study that can be read, or nothing."""

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.model.base import AssayError
from assay.rooms.foreign.command import _write_study


def test_a_study_that_cannot_be_read_is_not_written(tmp_path: Path) -> None:
    text = (
        "study: x\ntargets: {a: {kind: file, path: /mnt/a}}\n"
        "workloads: {w: {operations: [read], record_size: 4KiB, files: 4, file_size: 1MiB, queue_depth: 4}}\n"
    )
    with pytest.raises(AssayError, match="one operation in flight"):
        _write_study(lambda: text, tmp_path / "x.yaml", False)
    assert not list(tmp_path.iterdir())


LINE = "fio --name=a --rw=read --size={size} --directory=/{folder} --output=$NOT_SET_C"


@pytest.mark.parametrize(
    ("size", "folder", "named"),
    [("1m", "$NOT_SET_A/${NOT_SET_B}", "NOT_SET_A, NOT_SET_B"), ("$NOT_SET_A", "m", "NOT_SET_A, NOT_SET_C")],
    ids=["in-the-study", "with-an-error"],
)
def test_unset_variables_that_matter_are_named_and_nothing_is_written(
    size: str, folder: str, named: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "x.yaml"

    assert main(["study", "from", "fio", LINE.format(size=size, folder=folder), "--output", str(output)]) == 2

    error, hint, *_ = capfd.readouterr().err.splitlines()
    assert error.endswith(f"not set: {named}")
    assert "NOT_SET_A=VALUE" in hint
    assert not output.exists()


def test_a_variable_that_is_set_has_its_value_and_others_that_do_not_matter_stay(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IS_SET", "m/n")

    assert main(["study", "from", "fio", LINE.format(size="1m", folder="$IS_SET")]) == 0

    study = capfd.readouterr().out
    assert "path: /m/n/assay-fio\n" in study
    assert "NOT_SET_C" in study.splitlines()[0]


@pytest.mark.parametrize("tool", ["fio", "iozone"])
def test_what_stands_before_a_program_and_is_left_out_is_noted(
    tool: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "job").write_text("[a]\nrw=${WAY}\nsize=1m\n")
    words = f"fio {tmp_path}/job" if tool == "fio" else "iozone -i 0"
    notes = {}
    for before in ("LD_PRELOAD=x.so WAY=read sudo", "WAY=read docker exec x"):
        assert main(["study", "from", tool, f"{before} {words}"]) == 0
        notes[before] = [line[2:].split(":")[0] for line in capfd.readouterr().out.splitlines() if line[:3] == "# *"]

    first, second = ({note[2:] for note in found} for found in notes.values())
    assert first & {"LD_PRELOAD", "sudo", "docker"} == {"LD_PRELOAD"}
    assert second & {"LD_PRELOAD", "sudo", "docker"} == {"docker"}
    assert ("WAY" in first) == (tool == "iozone")

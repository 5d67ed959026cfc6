"""`assay study from` writes a study that can be read, or nothing."""

from pathlib import Path

import pytest

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

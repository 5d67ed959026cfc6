"""A file with too many results is refused when one more is made, not after all of them have filled the memory."""

from pathlib import Path

import pytest

from assay.model.base import LineError
from assay.rooms.importers.work import registry, results

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "imports"
SAMPLES = {
    "dd": "dd/9.1-loop.txt",
    "hdparm": "hdparm/9.65-loop.txt",
    "ping": "ping/iputils-20221126.txt",
    "iozone": "iozone/3.508-auto.txt",
    "fio": "fio/3.33-jobs.json",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_with_one_result_too_many(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "output.txt"
    file.write_text((GOLDEN / SAMPLES[name]).read_text() * 2)
    found = sum(len(output.results) for output in registry.read_outputs(str(file)))

    monkeypatch.setattr(registry, "MAX_RESULTS", found)
    assert sum(len(output.results) for output in registry.read_outputs(str(file))) == found

    monkeypatch.setattr(registry, "MAX_RESULTS", found - 1)
    with pytest.raises(LineError, match="more than"):
        registry.read_outputs(str(file))


def test_results_that_are_not_read_from_a_file_are_not_counted() -> None:
    assert results.results_left.get() is None

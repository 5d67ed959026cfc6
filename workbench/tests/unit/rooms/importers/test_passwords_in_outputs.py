"""Passwords in outputs of tools are not in what is read from them, and each output of a tree has a report."""

import json
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.model.secret import redact_line
from assay.rooms.importers.work.registry import read_outputs

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "imports"
PASSWORD = "Pw0rd-of-nobody"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ior --S3.access-key x -w", "ior --S3.access-key (redacted) -w"),
        ("ior --token 'x y' -w", "ior --token (redacted) -w"),
        ("ior -o /m/x --S3.secret-key=x", "ior -o /m/x --S3.secret-key=(redacted)"),
        ("ior --keyfile /etc/k -k -w", "ior --keyfile /etc/k -k -w"),
    ],
)
def test_values_behind_names_of_options(line: str, expected: str) -> None:
    assert redact_line(line) == expected


def test_an_output_of_ior_with_keys_in_its_command_line(tmp_path: Path) -> None:
    file = tmp_path / "ior.txt"
    text = (GOLDEN / "ior" / "4.0.0-repeats.txt").read_text()
    file.write_text(text.replace(": ior -w", f": ior --S3.access-key {PASSWORD} --S3.secret-key={PASSWORD} -w"))

    (output,) = read_outputs(str(file))

    assert "(redacted)" in output.file.command
    assert PASSWORD not in output.model_dump_json()


def test_a_job_with_a_password_in_its_name(tmp_path: Path) -> None:
    file = tmp_path / "fio.json"
    document = json.loads((GOLDEN / "fio" / "3.33-read.json").read_text())
    document["jobs"][0]["jobname"] = f"a token={PASSWORD} http://u:{PASSWORD}@h"
    file.write_text(json.dumps(document))

    (output,) = read_outputs(str(file))

    assert "token=(redacted)" in output.results[0].name
    assert PASSWORD not in output.model_dump_json()


@pytest.mark.parametrize("ending", ["txt", "csv", "json"])
def test_a_report_of_sets_of_files_whose_number_is_not_known(ending: str, tmp_path: Path) -> None:
    page = tmp_path / "report.html"

    code = main(["report", str(GOLDEN / "elbencho" / f"3.1-9-tree.{ending}"), "--output", str(page)])

    assert code == 0
    assert "Imported" in page.read_text()

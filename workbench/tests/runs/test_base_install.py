"""What works where no extra is installed: all that it takes to measure, judge, compare and report."""

import json
import subprocess
import sys
from pathlib import Path

from run_tools import needs_engine, only_run, study
from series_tools import read_series
from without_extras import HIDDEN

from assay.model.extras import EXTRAS

PROGRAM = Path(__file__).parent.parent / "support" / "without_extras.py"


def base(folder: Path, *arguments: str, codes: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """A command as a base install runs it."""
    words = [sys.executable, str(PROGRAM), *arguments]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in codes, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_packages_of_extras_are_hidden(tmp_path: Path) -> None:
    brought = {name for packages in EXTRAS.values() for name in packages}
    assert brought <= HIDDEN
    for name in brought:
        script = f"import without_extras; without_extras.hide(); import {name}"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=PROGRAM.parent, capture_output=True, text=True, check=False
        )
        assert f"No module named '{name}'" in done.stderr


@needs_engine
def test_a_study_from_check_to_compare(tmp_path: Path) -> None:
    file = str(study(tmp_path, size="4MiB", record="[64KiB, 1MiB]"))
    base(tmp_path, "check", file)
    base(tmp_path, "plan", file)
    base(tmp_path, "run", file)
    run = only_run(tmp_path)
    assert read_series(run)
    assert "write" in base(tmp_path, "show", "last").stdout
    base(tmp_path, "report", "last", "-o", "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<table" in page
    base(tmp_path, "export", "last", "--format", "csv", "--output", "results.csv")
    base(tmp_path, "export", "last", "--format", "xlsx", "--output", "results.xlsx")
    assert json.loads(base(tmp_path, "export", "last", "--format", "json", "--output", "-").stdout)
    base(tmp_path, "run", file)
    first, second = sorted(folder.name for folder in run.parent.iterdir())
    # Two runs of one place may differ by chance, and that is told by the exit code.
    base(tmp_path, "compare", first, second, "--output", "compared.html", codes=(0, 1))
    assert "<table" in (tmp_path / "compared.html").read_text()
    said = base(tmp_path, "export", "last", "--format", "parquet", codes=(3,)).stderr.splitlines()
    assert said == [
        "error: the format parquet needs the Python package pyarrow, which is not installed",
        "hint: pip install 'assay[parquet]'",
    ]


@needs_engine
def test_a_server_that_an_extra_brings_is_refused_with_its_name(tmp_path: Path) -> None:
    file = str(study(tmp_path, kind="s3", more=", server: moto, bucket: plain", operations="put", size="4KiB"))
    text = Path(file).read_text().replace("file_size", "object_size").replace("    record_size: [64KiB, 128KiB]\n", "")
    Path(file).write_text(text.replace("    cache: keep\n", "    objects: 10\n"))
    said = base(tmp_path, "check", file, codes=(2,)).stderr
    assert "study.yaml:2: error: server moto needs the Python package moto" in said
    assert "hint: pip install 'assay[simulator]'; or leave out the targets with `server: moto`" in said


def test_a_base_install_knows_every_instance(tmp_path: Path) -> None:
    assert "hi1.4xlarge" in base(tmp_path, "catalog", "list", "--family", "hi1").stdout
    assert "m5.24xlarge" in base(tmp_path, "catalog", "list", "--family", "m5").stdout
    assert "DescribeInstanceTypes" in base(tmp_path, "catalog", "show", "i3en.24xlarge").stdout
    assert "network of i4i.4xlarge" in base(tmp_path, "price", "beegfs").stdout
    (tmp_path / "need.yaml").write_text("need: copies\naccess: object\ncapacity: 30TB\nbook: aws-us-east-1\n")
    done = base(tmp_path, "advise", "need.yaml")
    assert "s3" in done.stdout

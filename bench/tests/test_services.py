"""S3 services that rows speak to."""

from __future__ import annotations

import sys

import pytest
from model import AbsentError, Setting
from services import serving

NULL = """#!{python}
import sys
print("http://" + sys.argv[1].replace(":0", ":7"), flush=True)
sys.stdin.read()
"""


def test_a_service_runs_while_its_row_does(tmp_path):
    """What it has made is gone afterwards; one that is missing is named."""
    there = Setting(tmp_path, tmp_path, None, "", 1.0, {})
    with serving("assay-service", there), pytest.raises(AbsentError, match="assay-service is not"):
        there.served()
    program = tmp_path / "null"
    program.write_text(NULL.format(python=sys.executable))
    program.chmod(0o700)
    there.tools["assay-service"] = program
    with serving("assay-service", there):
        assert there.served().address == "127.0.0.1:7"
    with pytest.raises(AbsentError):
        there.served()
    assert list(tmp_path.iterdir()) == [program]
    with serving(None, there), pytest.raises(AbsentError):
        there.served()

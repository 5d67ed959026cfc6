"""The jobs that documents tell readers to run are jobs of this engine."""

import re
import subprocess

from paths import REPOSITORY
from run_tools import ENGINE, needs_engine

JOB = re.compile(r"echo '(\{\"spec_version\".*\})' > job\.json")


@needs_engine
def test_the_engine_takes_every_job_that_a_document_shows() -> None:
    jobs = {
        text: path for path in sorted((REPOSITORY / "docs").rglob("*.md")) for text in JOB.findall(path.read_text())
    }
    assert len(jobs) > 10
    for text, path in jobs.items():
        done = subprocess.run([ENGINE, "check", "-"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{path}: {done.stderr} {text}"

"""What is submitted to Slurm, and how its options are read."""

from pathlib import Path

import pytest

from assay.model.base import AssayError
from assay.rooms.slurm.work.script import check_options, node_count, script_text, stop_seconds, time_limit

COMMAND = ["/opt/my python", "-m", "assay", "run", "/home/me/assay-runs/r", "--resume"]
WHOLE = """\
#!/bin/sh
#SBATCH --job-name=assay-r
#SBATCH --output="/home/me/assay runs/r/job.out"
#SBATCH --open-mode=append
# Stop before the time limit: `assay run RUN --resume` measures the interrupted repeat again.
#SBATCH --signal=B:TERM@120
# A job that lost a node ends and is not requeued: resume the run yourself, on nodes that work.
#SBATCH --no-requeue
#SBATCH -p compute -N 16 -t 1:00:00 "--comment=it's \\"mine\\""
exec '/opt/my python' -m assay run /home/me/assay-runs/r --resume
"""


def test_the_script_is_this() -> None:
    options = check_options("""-p compute -N 16 -t 1:00:00 --comment="it's \\"mine\\"" """)
    assert script_text("r", Path("/home/me/assay runs/r/job.out"), options, COMMAND) == WHOLE


def test_without_options_there_is_no_line_for_them() -> None:
    assert "#SBATCH \n" not in script_text("r", Path("/r/job.out"), check_options(""), COMMAND)


@pytest.mark.parametrize("path", ["/home/%u/job.out", '/home/"a/job.out', "/home/a\\b/job.out", "/home/a\nb/job.out"])
def test_a_path_that_slurm_would_read_as_another_is_refused(path: str) -> None:
    with pytest.raises(AssayError, match="Slurm would interpret some characters"):
        script_text("r", Path(path), (), COMMAND)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("-p compute\nrm -rf /", "more than one line"),
        ("-p 'compute", "cannot be read: no closing quotation"),
        ("compute", "`compute` is not an option of sbatch"),
        ("-a 1-10", "cannot have -a: a run is one job"),
        ("-a1-10", "cannot have -a: a run is one job"),
        ("--array=1-10", "cannot have --array: a run is one job"),
        ("--arr=1-10", "cannot have --array: a run is one job"),
        ("-N 1 : -N 2", "cannot have `:`: a run is one job"),
        ("-N 2 --wrap hostname", "cannot have --wrap: Assay writes the script"),
        ("-N 2 -o /tmp/x", "cannot have -o: the job's output goes into the run's folder"),
        ("-N 2 --job-name=x", "cannot have --job-name: Assay finds the job by its name"),
    ],
)
def test_options_that_are_not_the_users_are_refused(written: str, message: str) -> None:
    with pytest.raises(AssayError, match=message):
        check_options(written)


@pytest.mark.parametrize(
    ("written", "seconds", "stop"),
    [
        ("-t 10", 600, 120),
        ("-t10", 600, 120),
        ("-t 1", 60, 15),
        ("-t 4", 240, 60),
        ("--time=1:30", 90, 22),
        ("--time 01:00:00", 3600, 120),
        ("-t 1-12", 129_600, 120),
        ("-t 1-12:30", 131_400, 120),
        ("-t 1-00:00:01", 86_401, 120),
        ("-t 10 -t 20", 1200, 120),
        ("-t INFINITE", None, 120),
        ("-t 0", None, 120),
        ("-p x", None, 120),
    ],
)
def test_the_time_limit_is_read_as_sbatch_does(written: str, seconds: int | None, stop: int) -> None:
    words = check_options(written)
    assert (time_limit(words), stop_seconds(words)) == (seconds, stop)


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("-N 16", 16),
        ("-N4", 4),
        ("--nodes=2-8", 2),
        ("--nodes 3", 3),
        ("-n 8", None),
        ("--ntasks=2", None),
        ("-w n1", None),
        ("", 1),
    ],
)
def test_the_nodes_are_counted(written: str, count: int | None) -> None:
    assert node_count(check_options(written)) == count

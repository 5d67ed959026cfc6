"""Runs that Slurm has, in a box: they wait, are cancelled, meet their time limit, lose a node or who follows them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from nfs_tools import box_of, boxes_below
from run_tools import ASSAY, ENGINE
from testbed_tools import assert_soon, inside, said

from assay.rooms.slurm.work.facts import SECTION
from assay.rooms.testbed.work.running import RunningBox
from assay.store import RunStore
from assay.store.entries import PROGRESS

HOSTS = """
  node[1-4]: {roles: [client], servers: [{kind: slurm}, {kind: openmpi}]}
shared: /shared
users: [alice]
"""
STUDY = """
study: job
question: Does it come to its end?
hosts: allocation
launcher: srun
network: none
ceilings: none
targets:
  data: {{kind: file, path: {place}}}
workloads:
  write: {{operations: [write, read], file_size: 4MiB, record_size: 64KiB, cache: keep, hosts: 3, runtime: {runtime}}}
repeats: {repeats}
"""
REPEATS = 4
LONG = 25
"""Repeats of a run that takes longer than Slurm takes to look at its jobs."""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBox]:
    folder = tmp_path_factory.mktemp("slurm")
    with boxes_below(folder), box_of(folder, HOSTS, "srun", "mpirun") as running:
        yield running


@pytest.fixture
def place(box: RunningBox, request: pytest.FixtureRequest) -> Iterator[str]:
    """A directory that all nodes see, for one test; afterwards no job of it is left, nor a process of Assay."""
    name = f"/shared/{request.node.name.replace('[', '-').rstrip(']')}"
    said(box, "node1", "mkdir", "-m", "777", "-p", f"{name}/data")
    yield name
    inside(box, "node1", "scancel", "--me")
    assert_soon(lambda: not said(box, "node1", "squeue", "-h"), lambda: said(box, "node1", "squeue"))
    for host in box.hosts:
        if box.is_alive(host.name):
            assert_soon(lambda host=host: not at_work(box, host.name), lambda host=host: at_work(box, host.name))


def at_work(box: RunningBox, host: str) -> str:
    """Processes of runs on a host."""
    listed = inside(box, host, "ps", "-eo", "pid,args", "--no-headers").stdout.splitlines()
    return "\n".join(line for line in listed if "assay-engine" in line or "--resume" in line)


def write_study(box: RunningBox, place: str, runtime: str = "500ms", repeats: int = REPEATS, more: str = "") -> None:
    text = STUDY.format(place=f"{place}/data", runtime=runtime + more, repeats=repeats)
    subprocess.run([*box.enter("node1"), "tee", f"{place}/study.yaml"], input=text.encode(), check=True, stdout=-3)


def words(box: RunningBox, place: str, *given: str, host: str = "node1") -> list[str]:
    """A command of Assay on a host, whose id there is kept beside the study."""
    out = ["--out", f"{place}/runs"]
    return [*box.enter(host), "sh", "-c", 'cd "$0" && echo $$ > pid && exec "$@"', place, ASSAY, *given, *out]


def assay(box: RunningBox, place: str, *given: str, host: str = "node1") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(box, place, *given, host=host), capture_output=True, text=True, timeout=300, check=False
    )


@contextlib.contextmanager
def followed(box: RunningBox, place: str, *given: str) -> Iterator["subprocess.Popen[str]"]:
    """A command of Assay that goes on."""
    with subprocess.Popen(
        words(box, place, *given), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def files_of(box: RunningBox, place: str) -> Path:
    """Where the machine itself has the one run of a place."""
    shared = Path(os.environ["ASSAY_BOXES"], "disks", box.name, "shared", place.removeprefix("/shared/"))
    (folder,) = (shared / "runs").iterdir()
    return folder


def told(box: RunningBox, place: str, what: str) -> int:
    """How often the run's jobs have told of such a thing."""
    with contextlib.suppress(ValueError, OSError):
        lines = (files_of(box, place) / PROGRESS).read_text().splitlines()
        return sum(json.loads(line)["what"] == what for line in lines)
    return 0


def await_told(box: RunningBox, place: str, what: str, count: int) -> None:
    assert_soon(lambda: told(box, place, what) >= count, lambda: f"{what}: {told(box, place, what)} of {count}")


def assert_whole(box: RunningBox, place: str, jobs: int, ends: Sequence[str], repeats: int = REPEATS) -> None:
    """All repeats are there, each once; each job is told of; no test data is left."""
    with RunStore.open(files_of(box, place)) as store:
        assert store.info().status == "complete"
        assert Counter((sample.case, sample.repeat) for sample in store.samples() if sample.operation == "write") == {
            ("c0001", repeat): 1 for repeat in range(1, repeats + 1)
        }
        assert store.outcome_counts() == {"ok": repeats}
        sections = [part for name, part in store.info().environment.items() if name.startswith(SECTION)]
    assert len(sections) == jobs
    assert [part["state"] for part in sections] == list(ends)
    for part in sections:
        assert part["scheduler"] == "Slurm"
        assert part["partition"] == "compute"
        assert part["nodes"].startswith("node[")
        assert part["submitted"] <= part["started"] <= part["ended"]
    assert said(box, "node1", "ls", "-A", f"{place}/data") == ""


def test_a_run_that_waits_says_why_and_comes_to_its_end(box: RunningBox, place: str) -> None:
    write_study(box, place)
    holder = said(
        box, "node1", "sbatch", "--parsable", "-N4", "--exclusive", "--wrap=sleep 1000", "-o/dev/null"
    ).strip()
    assert_soon(lambda: "RUNNING" in said(box, "node1", "squeue", "-h", "-o%T"), lambda: said(box, "node1", "squeue"))
    with followed(box, place, "run", "study.yaml", "--slurm", "-p compute -N 3") as process:
        assert process.stdout is not None
        lines, waits = [], False
        for line in process.stdout:
            lines.append(line)
            # There is a second such line if Slurm has found meanwhile when the job may start.
            if "waits: Resources" in line and not waits:
                waits = True
                listed = assay(box, place, "list", "--json")
                (run,) = json.loads(listed.stdout)
                assert (run["status"], run["finished"]) == ("queued", 0)
                assert "PENDING (Resources)" in run["job"]
                shown = assay(box, place, "show", "last")
                assert "PENDING (Resources); `assay attach" in shown.stdout
                again = assay(box, place, "run", "last", "--resume")
                assert again.returncode == 3
                assert "which is PENDING (Resources)" in again.stderr
                said(box, "node1", "scancel", holder)
        assert process.wait() == 0, "".join(lines)
    text = "".join(lines)
    assert "waits: Resources" in text
    assert "is RUNNING on node[" in text
    assert text.count(" ok in ") == REPEATS
    assert_whole(box, place, 1, ["COMPLETED"])


ENDS = {"stopped": (["-b", "-s", "TERM"], "FAILED"), "cancelled": ([], "CANCELLED")}
"""How the job is ended: options of scancel, and the state that it is in then."""


@pytest.mark.parametrize("how", ENDS)
def test_a_job_that_is_ended_is_resumed_in_a_new_one(how: str, box: RunningBox, place: str) -> None:
    options, state = ENDS[how]
    write_study(box, place)
    with followed(box, place, "run", "study.yaml", "--slurm", "-N 3") as process:
        await_told(box, place, "finish", 1)
        said(box, "node2", "scancel", "--me", *options)
        text, _ = process.communicate()
        assert process.returncode == 130, text
    assert "repeats are done, " in text
    if how == "stopped":
        # Slurm lets no process start any more in a job that is cancelled: then what is left goes when it is resumed.
        assert "the test data is removed" in text
        assert said(box, "node1", "ls", "-A", f"{place}/data") == ""
    assert " interrupted " in assay(box, place, "list").stdout
    again = assay(box, place, "run", "last", "--resume")
    assert again.returncode == 0, text + again.stderr
    assert_whole(box, place, 2, [state, "COMPLETED"])


def test_a_run_stops_before_its_time_limit(box: RunningBox, place: str) -> None:
    write_study(box, place, repeats=LONG)
    # Slurm sends the signal when it looks at its jobs, every 30 s; less than 110 s are left 10 s after the start.
    limited = assay(box, place, "run", "study.yaml", "--slurm", "-N 3 -t 2 --signal=B:TERM@110")
    assert limited.returncode == 130, limited.stderr
    assert " its time limit (00:02:00)" in limited.stderr
    assert said(box, "node1", "ls", "-A", f"{place}/data") == ""
    again = assay(box, place, "run", "last", "--resume", "--slurm", "-N 3 -t 10")
    assert again.returncode == 0, again.stderr
    assert_whole(box, place, 2, ["FAILED", "COMPLETED"], LONG)
    with RunStore.open(files_of(box, place)) as store:
        (first, _) = (part for name, part in store.info().environment.items() if name.startswith(SECTION))
    assert first["stopped"].startswith("stopped ")
    assert first["options"] == "-N 3 -t 2 --signal=B:TERM@110"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP], ids=lambda how: how.name)
def test_a_run_goes_on_without_whoever_follows_it(how: signal.Signals, box: RunningBox, place: str) -> None:
    write_study(box, place)
    with followed(box, place, "run", "study.yaml", "--slurm", "-N 3") as process:
        await_told(box, place, "begin", 1)
        said(box, "node1", "sh", "-c", f"kill -{how.name.removeprefix('SIG')} $(cat {place}/pid)")
        text, _ = process.communicate()
        assert process.returncode != 0
    assert told(box, place, "finish") < REPEATS
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert "`assay attach " in text
    # From another node.
    attached = assay(box, place, "attach", "last", host="node4")
    assert attached.returncode == 0, attached.stderr
    assert_whole(box, place, 1, ["COMPLETED"])
    late = assay(box, place, "attach", "last")
    assert late.returncode == 0, late.stderr


def test_what_slurm_does_not_take_leaves_nothing(box: RunningBox, place: str) -> None:
    write_study(box, place)
    refused = assay(box, place, "run", "study.yaml", "--slurm", "-p nosuch -N 3")
    assert refused.returncode == 3
    assert "Slurm refused the job: " in refused.stderr
    assert "nvalid partition" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert said(box, "node1", "ls", "-A", f"{place}/runs") == ""
    few = assay(box, place, "run", "study.yaml", "--slurm", "-N 2")
    assert few.returncode == 3
    assert "the study needs 3 hosts, but the job requests 2 nodes" in few.stderr


@pytest.mark.parametrize("options", ["-N 3", "-N 3 -n 5"], ids=["one-cpu-each", "uneven"])
def test_each_node_has_as_many_tasks_as_the_study_says(options: str, box: RunningBox, place: str) -> None:
    write_study(box, place, more=", tasks_per_host: 2")
    done = assay(box, place, "run", "study.yaml", "--slurm", options)
    assert done.returncode == 0, done.stderr
    assert_whole(box, place, 1, ["COMPLETED"])


def test_what_the_job_refuses_is_an_error_of_whoever_follows_it(box: RunningBox, place: str) -> None:
    write_study(box, place)
    for done in (
        assay(box, place, "run", "study.yaml", "--slurm", "-n 1"),
        assay(box, place, "attach", "last", host="node2"),
    ):
        assert done.returncode == 3, done.stderr
        assert "the study needs 3 hosts, and has 1: node" in done.stderr


def python_for_all(box: RunningBox) -> list[str]:
    """A command that an ordinary user can run, which is Assay."""
    sources = Path(__file__).resolve().parents[2] / "src"
    libraries = next(path for path in sys.path if path.endswith("site-packages"))
    name = f"python3.{sys.version_info.minor}"
    for program in (sys.executable, shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")):
        command = ["env", f"PYTHONPATH={sources}:{libraries}", program or name, "-m", "assay"]
        done = subprocess.run(
            [*box.enter_as("node1", "alice"), *command, "--version"], capture_output=True, check=False
        )
        if done.returncode == 0:
            return command
    pytest.skip(f"no Python here that an ordinary user can run has what Assay needs: {sys.executable} and {name}")


def test_an_ordinary_user_submits_runs(box: RunningBox, place: str) -> None:
    if not os.access(ENGINE, os.X_OK) or Path(ENGINE).stat().st_mode & 0o001 == 0:
        pytest.skip("the engine is not for everyone")
    python = python_for_all(box)
    write_study(box, place)
    script = (
        'cd ~ && mkdir -p data && sed s,PLACE/data,$HOME/data, > study.yaml && exec "$@" run study.yaml --slurm "-N 3"'
    )
    done = subprocess.run(
        [*box.enter_as("node1", "alice"), "sh", "-c", script, "sh", *python],
        input=STUDY.format(place="PLACE/data", runtime="100ms", repeats=3),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(" ok in ") == 3
    owner = said(box, "node1", "sh", "-c", "stat -c %U /shared/home/alice/assay-runs/*/run.sqlite")
    assert owner.strip() == "alice"


def test_a_run_that_loses_a_node_is_resumed_on_others(box: RunningBox, place: str) -> None:
    write_study(box, place, repeats=6)
    with followed(box, place, "run", "study.yaml", "--slurm", "-N 3 -w node[2-4]") as process:
        await_told(box, place, "finish", 1)
        os.kill(box.host("node4").pid, signal.SIGKILL)
        text, _ = process.communicate()
        assert process.returncode != 0, text
    with RunStore.open(files_of(box, place)) as store:
        assert store.pending()
        kept = [item for item in store.jobs() if item.status == "ok"]
    again = assay(box, place, "run", "last", "--resume", "--slurm", "-N 3")
    assert again.returncode == 0, again.stderr
    with RunStore.open(files_of(box, place)) as store:
        now = [item for item in store.jobs() if item.status == "ok"]
        sections = [part for name, part in store.info().environment.items() if name.startswith(SECTION)]
    # What was measured before stands.
    assert {(item.case, item.repeat) for item in kept} <= {(item.case, item.repeat) for item in now}
    assert_whole(box, place, 2, [part["state"] for part in sections], 6)
    assert sections[0]["state"] != "COMPLETED"

"""What Assay counts of a program against what strace and bash count of the same processes in the same repeat."""

import os
import shutil

import pytest
from run_tools import assay, only_run

from assay.model.result.tasks import TaskResult
from assay.store import RunStore

pytestmark = pytest.mark.skipif(
    not (shutil.which("strace") and shutil.which("bash") and os.environ.get("ASSAY_ENGINE")),
    reason="needs strace, bash and the engine",
)
PIPELINE = "head -c 12000000 /dev/urandom >data; sort data | gzip -1 | tee packed | wc -c; cp data copy"
CALLS = "read,pread64,readv,preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice"
SUMS = r"""
/(read|pread64|readv|preadv2?)(\(| resumed)/ && $NF ~ /^[0-9]+$/ { read += $NF }
/(write|pwrite64|writev|pwritev2?)(\(| resumed)/ && $NF ~ /^[0-9]+$/ { written += $NF }
/(copy_file_range|sendfile|splice)(\(| resumed)/ && $NF ~ /^[0-9]+$/ { read += $NF; written += $NF }
END { printf "read: %d\nwritten: %d\n", read, written }
"""
STUDY = """
study: counted
targets: {{disk: {{kind: file, path: {folder}/disk}}}}
commands:
  traced:
    inputs: {{pipeline: pipeline, sums: sums}}
    run:
      shell: |
        strace -f -qq -s 0 -e trace={calls} -o trace sh $inputs/pipeline
        wc -c trace
        awk -f $inputs/sums trace
    figures: {{trace: {{pattern: '([0-9]+) trace'}}, read: {{pattern: 'read: ([0-9]+)'}},
              written: {{pattern: 'written: ([0-9]+)'}}}}
    cache: keep
  timed:
    inputs: {{pipeline: pipeline}}
    run: [bash, -c, 'TIMEFORMAT="wall: %R user: %U system: %S"; time sh $inputs/pipeline']
    figures: {{wall: {{pattern: 'wall: ([0-9.]+)'}}, user: {{pattern: 'user: ([0-9.]+)'}},
              system: {{pattern: 'system: ([0-9.]+)'}}}}
    cache: keep
repeats: 2
ceilings: none
"""
MAX_OF_BYTES, MAX_OF_CPU = 0.005, 0.02
"""Shares by which both may differ."""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[TaskResult]]:
    """Command -> its task in each repeat."""
    folder = tmp_path_factory.mktemp("counted")
    (folder / "pipeline").write_text(PIPELINE)
    (folder / "sums").write_text(SUMS)
    (folder / "study.yaml").write_text(STUDY.format(folder=folder, calls=CALLS))
    assay(folder, "run", "study.yaml")
    with RunStore.open(only_run(folder)) as store:
        labels = {case.id: case.workload for case in store.cases()}
        found: dict[str, list[TaskResult]] = {name: [] for name in labels.values()}
        for sample in store.samples():
            found[labels[sample.case]] += sample.tasks
    return found


def test_bytes_are_those_that_strace_counts(tasks: dict[str, list[TaskResult]]) -> None:
    for task in tasks["traced"]:
        assert task.io is not None
        # strace writes its log, and awk reads it.
        log = task.figures["trace"]
        assert task.io.call_read_bytes == pytest.approx(task.figures["read"] + log, rel=MAX_OF_BYTES)
        assert task.io.call_write_bytes == pytest.approx(task.figures["written"] + log, rel=MAX_OF_BYTES)


def test_time_and_cpu_are_those_that_bash_prints(tasks: dict[str, list[TaskResult]]) -> None:
    for task in tasks["timed"]:
        # bash prints thousandths, and does not see its own start and end.
        assert task.elapsed_ns / 1e9 >= task.figures["wall"] - 0.001
        cpu = (task.user_ns + task.system_ns) / 1e9
        assert cpu == pytest.approx(task.figures["user"] + task.figures["system"], rel=MAX_OF_CPU, abs=0.03)
